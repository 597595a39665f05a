"""A URDF with its loops in a YAML file beside it: a four-bar against a pendulum, a rod against its length, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unibody as ub

pytest.importorskip("yourdfpy", reason="yourdfpy is not installed; pip install unibody[import]")
pytest.importorskip("yaml", reason="PyYAML is not installed; pip install unibody[import]")


def link(name: str, m: float, x: float, z: float) -> str:
    moments = '<inertia ixx="1e-9" iyy="1e-9" izz="1e-9" ixy="0" ixz="0" iyz="0"/>'
    return f'<link name="{name}"><inertial><origin xyz="{x} 0 {z}"/><mass value="{m}"/>{moments}</inertial></link>'


def joint(name: str, parent: str, child: str, xyz: str) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/><axis xyz="0 1 0"/>'
    return f'<joint name="{name}" type="continuous">{ends}</joint>'


FOUR_BAR = (
    '<robot name="four-bar"><link name="world"/>' + link("left", 1, 0, -0.25) + link("right", 1, 0, -0.25) + link("coupler", 2, 0.5, 0)
    + joint("p1", "world", "left", "0 0 0") + joint("p2", "world", "right", "1 0 0") + joint("c1", "left", "coupler", "0 0 -0.5")
    + "</robot>"
)  # fmt: skip
PIN = """loops:
  - {name: c2, type: revolute, parent: right, child: coupler, parent_pose: {xyz: [0, 0, -0.5]}, child_pose: {xyz: [1, 0, 0]},
     axis: [0, 1, 0]}
"""


def written(tmp_path: Path, loops: str | None = None, name: str = "four_bar.loops.yaml") -> Path:
    path = tmp_path / "four_bar.urdf"
    path.write_text(FOUR_BAR)
    if loops is not None:
        (tmp_path / name).write_text(loops)
    return path


def pushed(model: ub.Model, name: str) -> ub.Recording:
    sim = ub.Simulation(model, ub.solvers.Articulated(rule="rk4"), dt=1e-3)
    sim.control.flat[model.joint(name).v_start] = 2.0
    return sim.run(1.0, every=100)


@pytest.mark.parametrize(("name", "options"), [("four_bar.loops.yaml", {}), ("other.yaml", {"loops": "other.yaml"})])
def test_a_parallelogram_swings_as_a_pendulum(tmp_path, name: str, options: dict) -> None:
    """Cranks of 1 kg with their mass at 0.25 m and a coupler of 2 kg at 0.5 m, which does not turn: m l² = 0.625, m l = 1.5."""
    scene = ub.load(written(tmp_path, PIN, name), **options)
    assert [j.name for j in scene.model.loop_joints] == ["c2"] and "1 loops" in scene.notes
    b = ub.Builder()
    bob = b.body("bob", mass=1.5**2 / 0.625, inertia=(1e-9,) * 3)
    b.joint("pivot", ub.Revolute((0, 1, 0)), b.world, bob, X_BM=ub.Pose((0, 0, 0.625 / 1.5)))
    ours, pendulum = pushed(scene.model, "p1"), pushed(b.build(), "pivot")
    np.testing.assert_allclose(ours.joint("p1"), pendulum.joint("pivot"), atol=1e-7)  # the links' 1e-9 kg m² are in it
    assert ours.violation.max() < 1e-9


def test_rods_and_couplings(tmp_path) -> None:
    text = """loops:
  - {name: rod, type: distance, parent: left, child: right, parent_pose: {xyz: [0, 0, -0.5]}, child_pose: {xyz: [0, 0, -0.3]}}
couplings: [{follower: c1, leader: p2, multiplier: -0.5}]
"""
    scene = ub.load(written(tmp_path, text))
    rec = pushed(scene.model, "p1")
    apart = np.linalg.norm(rec.point("left", (0, 0, -0.5)) - rec.point("right", (0, 0, -0.3)), axis=1)
    np.testing.assert_allclose(apart, np.hypot(1.0, 0.2), atol=1e-8)
    np.testing.assert_allclose(rec.joint("c1"), -0.5 * rec.joint("p2"), atol=1e-8)
    assert np.ptp(rec.joint("p2")) > 0.1


def test_left_alone(tmp_path) -> None:
    assert not ub.load(written(tmp_path, PIN), loops=False).model.loop_joints


@pytest.mark.parametrize(("text", "says"), [
    ("loops: [", "no YAML"), ("loops: 3", "no list"), ("lops: []", "did you mean 'loops'|lops"), ("loops: [{name: x}]", "no 'type'"),
    (PIN.replace("revolute", "hinge"), "type.*hinge"), (PIN.replace("coupler", "nobody"), "nobody"),
    (PIN.replace(",\n     axis: [0, 1, 0]", ""), "no axis"),
    ("couplings: [{follower: nobody, leader: p1}]", "nobody"), (PIN.replace("[1, 0, 0]", "[1, 0]"), "child_pose"),
])  # fmt: skip
def test_refusals(tmp_path, text: str, says: str) -> None:
    with pytest.raises(ub.ModelError, match=says) as found:
        ub.load(written(tmp_path, text))
    assert "\n" not in str(found.value)


def test_a_file_that_is_missing(tmp_path) -> None:
    with pytest.raises(ub.ModelError, match=r"other\.yaml.*does not exist"):
        ub.load(written(tmp_path), loops="other.yaml")
