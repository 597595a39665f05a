"""Rows as functions of displacements: their derivatives, what hangs together, and joints whose displacements are curved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import unibody as ub
from unibody.coordinates.assembly import rows as assembly_rows
from unibody.coordinates.assembly.rows import Displaced
from unibody.coordinates.instant import Instant

JOINTS = {"free": ub.Free(), "ball": ub.Ball(), "planar": ub.Planar(), "composite": ub.Composite(ub.Prismatic((1, 0, 0)), ub.Ball())}


def held(joint: ub.Joint) -> ub.Model:
    """A body on a joint, with a rod to its side."""
    b = ub.Builder(gravity=None)
    body = b.body("body", mass=1.0, com=(0.1, 0, 0), inertia=(1, 1.2, 0.9))
    b.joint("joint", joint, b.world, body)
    b.add(ub.Distance(body.at(0.3, 0.2, 0.1), b.world.at(1.0, -0.4, 0.7), 1.0), name="rod")
    b.add(ub.PointOnLine(body.at(0, 0.4, 0), b.world.at(0, 0, 1), (0, 1, 1)), name="line")
    return b.build()


@pytest.mark.parametrize("name", JOINTS)
def test_derivatives_of_rows_by_displacements_are_those_of_differences(name: str, rng: np.random.Generator) -> None:
    """Displacements of about 1 rad and m, where T is far from 1."""
    model = held(JOINTS[name])
    at = Displaced(Instant(model))
    dofs, rows = np.arange(model.nv), np.arange(len(at.names))
    problem = at.problem(dofs, rows, np.eye(model.nv), np.ones(rows.size), np.zeros(model.nv))
    y = rng.standard_normal(model.nv)
    _, A = problem.evaluate(y)
    for k in range(model.nv):
        step = np.zeros(model.nv)
        step[k] = 1e-6
        difference = (problem.evaluate(y + step)[0] - problem.evaluate(y - step)[0]) / 2e-6
        np.testing.assert_allclose(A[:, k], difference, atol=1e-8)  # ε² and round-off over ε: some 1e-10


@pytest.mark.parametrize("joint", [ub.Free(), ub.Ball()], ids=["free", "ball"])
def test_series_of_groups_agree_with_differences_of_poses(joint: ub.Joint, rng: np.random.Generator) -> None:
    class Other(type(joint)):  # the same joint, not known by its class
        pass

    info = held(joint).joint("joint")
    d = rng.standard_normal(joint.nv)
    series = assembly_rows._displacing(info, np.array(info.q0), d)
    np.testing.assert_allclose(series, assembly_rows._displacing(replace(info, element=Other()), np.array(info.q0), d), atol=1e-8)


def test_parts_are_what_trees_and_rows_hold_together() -> None:
    """Two arms of two links each, one tied to a third body: two parts have rows, and a fixed joint cuts one."""
    b = ub.Builder(gravity=None)
    for arm in "ab":
        upper, lower = (b.body(f"{arm}{k}", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1)) for k in (1, 2))
        b.joint(f"{arm} shoulder", ub.Revolute(axis=(0, 0, 1)), b.world, upper)
        b.joint(f"{arm} elbow", ub.Revolute(axis=(0, 0, 1)), upper, lower, X_PF=ub.Pose((1, 0, 0)))
    loose = b.body("loose", mass=1.0, inertia=(1, 1, 1), X_WB=ub.Pose((2, 1, 0)))
    b.add(ub.Distance(lower.at(1, 0, 0), loose.at(), 1.0), name="tie")
    b.add(ub.JointCoupling(["a elbow"], [1.0]), name="straight")
    model = b.build()
    at = Displaced(Instant(model))
    names = {v: j.name for j in model.tree_joints for v in range(j.v_start, j.v_start + j.nv)}

    def groups(free: np.ndarray) -> list[set[str]]:
        return [{names[int(v)] for v in dofs} for dofs, _ in at.parts(free)]

    everything = np.arange(model.nv)
    free_name = model.tree_joints[-1].name if model.tree_joints[-1].nv == 6 else next(j.name for j in model.tree_joints if j.nv == 6)
    assert sorted(map(sorted, groups(everything))) == sorted(map(sorted, [{"a shoulder", "a elbow"}, {"b shoulder", "b elbow", free_name}]))
    without = np.array([v for v in everything if names[int(v)] != "a elbow"])
    parts = at.parts(without)
    assert parts[-1][0].size == 0 and [at.names[r] for r in parts[-1][1]] == ["straight"]
