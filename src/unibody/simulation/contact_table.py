"""Contacts of a recording as one table: a line per contact of every recorded state, which says whether it hits, slides or sticks."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unibody.coordinates.observation import Touching
from unibody.simulation.csv_cells import cell
from unibody.simulation.whole_file import whole_text

NUMBERS = (
    "x", "y", "z", "normal_x", "normal_y", "normal_z", "gap", "normal_force", "friction_x", "friction_y", "friction_z", "impulse_x",
    "impulse_y", "impulse_z", "approach",
)  # fmt: skip


def contact_columns(each: Sequence[Touching]) -> dict[str, np.ndarray]:
    """Of all contacts of all states, m in number: contact_state (m,) the state's row, contact_bodies (m, 2), contact_points,
    contact_normals (m, 3), contact_gaps (m,) [m], contact_normal_forces (m,) and contact_friction (m, 3) on the first body [N],
    contact_sliding (m,), contact_impulses (m, 3) [N s] and contact_approach (m,) [m/s] of impacts."""
    rows = np.repeat(np.arange(len(each)), [len(c) for c in each])
    out: dict[str, np.ndarray] = {"contact_state": rows}
    for name, width in (
        ("bodies", 2), ("points", 3), ("normals", 3), ("gaps", 0), ("normal_forces", 0), ("friction", 3), ("sliding", 0), ("impulses", 3),
        ("approach", 0),
    ):  # fmt: skip
        parts = [getattr(c, name) for c in each if len(c)]
        out[f"contact_{name}"] = np.concatenate(parts) if parts else np.zeros((0, width) if width else 0)
    return out


def write_contacts(each: Sequence[Touching], times: np.ndarray, bodies: Sequence[str], path: str | Path) -> Path:
    """The table as a .csv file, of states at these times; bodies by name."""
    columns, names = contact_columns(each), [cell(name) for name in bodies]
    wide = np.column_stack([
        columns["contact_points"], columns["contact_normals"], columns["contact_gaps"], columns["contact_normal_forces"],
        columns["contact_friction"], columns["contact_impulses"], columns["contact_approach"],
    ])  # fmt: skip
    with whole_text(path) as file:
        writer = csv.writer(file)
        writer.writerow(["t", "body", "other", "doing", *NUMBERS])
        for k, (state, (first, second)) in enumerate(zip(columns["contact_state"], columns["contact_bodies"].astype(int), strict=True)):
            doing = "hits" if columns["contact_approach"][k] > 0.0 else "slides" if columns["contact_sliding"][k] else "sticks"
            numbers = [repr(float(x)) for x in wide[k]]
            writer.writerow([repr(float(times[state])), names[first], names[second], doing, *numbers])
    return Path(path)
