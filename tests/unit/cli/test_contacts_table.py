"""The command line and contact: the table of contacts, and a start without contact forces."""

from __future__ import annotations

import csv

SLIDING = """
import numpy as np
import unibody as ub

def build(*, friction: float = 1.5):
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    X = ub.Pose.about((0, 1, 0), 0.46, p=(0, 0, 0.001 + 0.5 * np.cos(0.46)))
    b.body("rod", shape=ub.Capsule(0.001, 1.0), mass=1.0, X_WB=X, V_WB=(0, 0, 0, -1, 0, 0))
    b.add(ub.Contact(friction=friction))
    return ub.scenes.Scene(b.build(), 0.03, 5e-3)
"""


def test_run_writes_contacts_and_check_names_painleves_rod(unibody, tmp_path):
    (tmp_path / "rod.py").write_text(SLIDING)
    answer = unibody("run", "rod.py", "-s", "complementarity", "--contacts", "c.csv", "--json")
    assert answer.code == 0 and answer.data["files"] == {"contacts": "c.csv"}
    with (tmp_path / "c.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[-1]["body"] == "rod" and rows[-1]["other"] == "ground" and float(rows[-1]["normal_force"]) > 0.0
    refused = unibody("run", "pendulum", "--duration", "0.01", "--contacts", "c.csv")
    assert refused.code == 2 and "knows no surfaces" in refused.err
    found = unibody("check", "rod.py", "--json").data["findings"]
    assert [f["elements"] for f in found if f["code"] == "no contact forces"] == [["rod", "ground"]]
    assert not [f for f in unibody("check", "rod.py", "-p", "friction=1.2", "--json").data["findings"] if "contact forces" in f["code"]]
