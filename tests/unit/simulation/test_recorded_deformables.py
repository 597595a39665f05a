"""What a recording tells of deformables, from observations as a solver gives them."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import unibody as ub
from unibody.coordinates.affine.control_points import ControlPoints
from unibody.coordinates.observation import Observation, public_poses
from unibody.simulation.recording import Recording

sys.path.insert(0, str(Path(__file__).parents[2]))
from soft_parts import builder


def poses(model):
    return np.array([[*np.ravel(b.X_WB.R), *b.X_WB.p] for b in model.bodies])


def recording(told: bool = True, states: int = 3):
    """Of a motion in which all free vertices sink by 1 m/s and every force is known by its vertex and component."""
    model = builder().build()
    points = ControlPoints(model, model.n_frames, np.arange(model.n_frames))
    frames = np.zeros((model.n_frames, 4, 3))
    frames[: model.n_bodies] = [[b.X_WB.p, *b.X_WB.R.T] for b in model.bodies]

    def observe(state, memory, control):
        X, fall = poses(model), np.array([0.0, 0.0, -state.t])
        x = points.of(points.joined(frames, points.start[0][points.free] + fall, points.positions(state.t))).copy()
        down = np.broadcast_to((0, 0, -1.0), (len(points.free), 3))
        v = points.of(points.joined(np.zeros_like(frames), down, points.speeds(state.t))).copy()
        seen = {"vertices": x, "vertex_velocities": v, "vertex_reactions": forces(model), "vertex_contacts": 2.0 * forces(model)}
        return Observation(
            time=state.t, poses=public_poses(X), twists=np.zeros((model.n_bodies, 6)), joint_q=model.start_q(), joint_v=model.start_v(),
            kinetic=1.0, gravity=2.0, springs=3.0, powers=np.zeros(3), reactions=np.zeros((len(model.joints), 6)),
            constraint_wrenches=np.zeros((len(model.joints), 6)), violation=0.0, redundant=0, redundant_names=(),
            elastic=4.0 + state.t, **(seen if told else {}),
        )  # fmt: skip

    system = SimpleNamespace(notes=lambda: ())
    solver, turn = SimpleNamespace(name="barrier"), contextlib.nullcontext()
    bound = SimpleNamespace(model=model, solver=solver, observe=observe, turn=turn, system=system)
    out = Recording(bound, 0.1)
    for k in range(states):
        out.append(ub.State(0.1 * k, np.zeros(0), np.zeros(0), "affine"), np.zeros(1), np.zeros(1))
    return out


def forces(model):
    return np.arange(3.0 * model.n_vertices).reshape(-1, 3)


def test_vertices_and_their_velocities_are_those_of_the_deformable():
    rec = recording()
    block = rec.model.deformable("block")
    free = np.isin(np.arange(rec.model.n_vertices), rec.model.free_vertices)[block.vertices]
    x = rec.vertices("block")
    assert x.shape == (3, block.n, 3)
    np.testing.assert_array_equal(x[0], block.x0)
    np.testing.assert_allclose(x[2, free], block.x0[free] - (0, 0, 0.2), atol=1e-15)
    np.testing.assert_array_equal(x[2, ~free], block.x0[~free])
    np.testing.assert_array_equal(rec.velocities("block")[:, free], np.broadcast_to((0, 0, -1.0), (3, free.sum(), 3)))
    assert rec.vertices("hull").shape == (3, 8, 3)  # of a body, the corners of its shapes


def test_strains_begin_at_none_for_what_starts_at_rest():
    rec = recording()
    assert rec.strain("block").shape == (3, 12, 3) and rec.strain("flag").shape == (3, 8, 2) and rec.strain("rope").shape == (3, 5, 1)
    np.testing.assert_allclose(rec.strain("block")[0], 0.0, atol=1e-13)
    x = rec.vertices("rope")[2]
    length = np.linalg.norm(np.diff(x, axis=0), axis=1)
    rest = np.linalg.norm(np.diff(rec.model.deformable("rope").X, axis=0), axis=1)
    np.testing.assert_allclose(rec.strain("rope")[2, :, 0], length / rest - 1.0, atol=1e-14)


def test_reactions_are_those_of_the_vertices_that_are_held():
    rec = recording()
    all_forces = forces(rec.model)
    for held in (*rec.model.attachments, *rec.model.prescribed):
        np.testing.assert_array_equal(rec.reaction(held.name), np.broadcast_to(all_forces[held.vertices], (3, len(held.vertices), 3)))
    assert rec.reaction("hull").shape == (3, 6)  # a joint's
    np.testing.assert_array_equal(rec.contact_forces("lid")[1], 2.0 * all_forces[rec.model.deformable("lid").vertices])


def test_elastic_energy_is_part_of_the_potential():
    rec = recording()
    np.testing.assert_allclose(rec.energy.elastic, (4.0, 4.1, 4.2))
    np.testing.assert_allclose(rec.energy.potential, 5.0 + rec.energy.elastic)
    assert rec.reports[1].energies == pytest.approx({"kinetic": 1.0, "gravity": 2.0, "springs": 3.0, "elastic": 4.1, "total": 10.1})


def test_tables_and_arrays_tell_of_deformables():
    """Energies of a row add up to its total; places and velocities stand there by the names that observations have."""
    rec = recording()
    columns = rec.to_pandas()
    parts = columns[["kinetic", "gravity", "springs", "elastic"]].sum(axis=1)
    np.testing.assert_allclose(columns["total"], parts, rtol=1e-15)
    arrays = rec.arrays()
    assert arrays["deformable_names"].tolist() == ["flag", "rope", "block", "lid"] and arrays["elastic"].shape == (3,)
    for name, first in zip(arrays["deformable_names"], arrays["deformable_first"], strict=True):
        x = rec.vertices(str(name))
        np.testing.assert_array_equal(arrays["vertices"][:, first : first + x.shape[1]], x)


def test_a_point_of_a_deformable_has_no_pose():
    rec = recording()
    for ask in (rec.pose, rec.twist, rec.point, rec.vertices):
        with pytest.raises(ub.ModelError, match=r"'block.vertex\[0\]' is a point of a deformable and has no axes; ask for rec.vertices"):
            ask("block.vertex[0]")


def test_a_solver_that_does_not_tell_is_named():
    with pytest.raises(ub.ModelError, match="vertices: solver 'barrier' does not tell them of deformables"):
        recording(told=False).vertices("flag")
    with pytest.raises(ub.ModelError, match="deformable 'hull' is unknown"):
        recording().strain("hull")
