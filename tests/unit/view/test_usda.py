"""USD text: what its own library reads from it is what was recorded (where usd-core is installed), and its text says so without."""

from __future__ import annotations

import re

import numpy as np
import pytest

import unibody as ub
from unibody.view.usda import write_usda


def recorded() -> ub.Recording:
    """Bodies with awkward names that swing and stand, a spring, a cable over a wheel, and a strip of cloth that falls."""
    b = ub.Builder()
    glass = ub.Placed(ub.Sphere(0.1), ub.Pose((0.2, 0, 0)), (1, 0, 0, 0.5))
    arm = b.body('1st "arm"', shape=[ub.Box((0.4, 0.1, 0.1)), glass], density=100.0)
    b.joint("pin", ub.Revolute((0, 1, 0)), b.world, arm, X_BM=ub.Pose((-0.2, 0, 0)))
    b.body("1st _arm_", shape=ub.Cylinder(0.1, 0.2), kind="static", X_WB=ub.Pose((1, 0, 0)))
    b.add(ub.SpringDamper(arm.at(0.2, 0, 0), b.world.at(0.5, 0, 1), stiffness=5.0))
    over = ub.Pulley(b.world.at(0, 0, 0.5), 0.05)
    b.add(ub.Cable([b.world.at(-1, 0, 0), over, arm.at(0.2, 0, 0)], stiffness=10.0))
    fabric = ub.Fabric(young=1e5, poisson=0.3, thickness=2e-3)
    b.cloth("flag", ub.TriMesh.grid((0.4, 0.2), 0.2, "regular"), fabric, 470, X_WB=ub.Pose((0, 0, 2)))
    return ub.Simulation(b.build(), "barrier", dt=0.01).run(0.05)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[ub.Recording, str]:
    rec = recorded()
    path = tmp_path_factory.mktemp("usd") / "scene.usda"
    assert rec.to_usda(path) == path
    return rec, str(path)


def test_usd_reads_what_was_recorded(made) -> None:
    """Poses and vertices at every frame, to the nine digits that are written; names, units and colours."""
    Usd = pytest.importorskip("pxr.Usd", reason="usd-core is not installed; pip install usd-core")
    UsdGeom = pytest.importorskip("pxr.UsdGeom")
    rec, path = made
    stage = Usd.Stage.Open(path)
    assert UsdGeom.GetStageUpAxis(stage) == "Z" and UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetEndTimeCode() == pytest.approx(24 * rec.t[-1])
    bodies = [p for p in stage.GetPrimAtPath("/World/Bodies").GetChildren()]
    assert [p.GetDisplayName() for p in bodies] == ['1st "arm"', "1st _arm_"] and len({p.GetName() for p in bodies}) == 2
    for k, t in enumerate(rec.t):
        M = np.array(UsdGeom.Xformable(bodies[0]).ComputeLocalToWorldTransform(24 * t))  # rows
        pose = rec.pose('1st "arm"')[k]
        np.testing.assert_allclose(M[3, :3], pose[:3], atol=1e-8)
        np.testing.assert_allclose(M[:3, :3].T, np.array(ub.Pose(wxyz=pose[3:]).R), atol=1e-6)  # USD turns between codes of nine digits
        flag = UsdGeom.Mesh(stage.GetPrimAtPath("/World/Deformables/flag"))
        np.testing.assert_allclose(np.array(flag.GetPointsAttr().Get(24 * t)), rec.vertices("flag")[k], atol=1e-6)  # floats of 32 bits
    sphere = UsdGeom.Mesh(bodies[0].GetChildren()[1])
    assert UsdGeom.PrimvarsAPI(sphere).GetPrimvar("displayOpacity").Get()[0] == 0.5
    for prim in stage.Traverse():
        if prim.IsA(UsdGeom.Mesh):
            mesh = UsdGeom.Mesh(prim)
            ok, why = UsdGeom.Mesh.ValidateTopology(
                mesh.GetFaceVertexIndicesAttr().Get(), mesh.GetFaceVertexCountsAttr().Get(), len(mesh.GetPointsAttr().Get(0))
            )
            assert ok, why
    cable = UsdGeom.BasisCurves(next(p for p in stage.GetPrimAtPath("/World/Strands").GetChildren() if "cable" in p.GetName().lower()))
    assert sum(cable.GetCurveVertexCountsAttr().Get()) == len(cable.GetPointsAttr().Get(0)) > 10


def test_the_text_says_frames_and_names(made) -> None:
    rec, path = made
    text = open(path, encoding="utf-8").read()
    assert text.startswith("#usda 1.0\n") and text.count("{") == text.count("}")
    translate = re.search(r"xformOp:translate\.timeSamples = \{\n(.*?)\n\}", text, re.DOTALL)
    assert translate is not None and len(translate.group(1).splitlines()) == len(rec)
    assert 'displayName = "1st \\"arm\\""' in text and "nan" not in text


def test_a_model_alone_and_a_wrong_ending(tmp_path) -> None:
    model = ub.scenes.build("double-pendulum")
    assert "timeSamples" not in write_usda(model, tmp_path / "m.usda").read_text()
    with pytest.raises(ub.ModelError, match=r"ends in '\.usd'"):
        write_usda(model, tmp_path / "m.usd")
