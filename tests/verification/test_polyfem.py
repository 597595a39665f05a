"""PolyFEM's own scenes (shared/reference/polyfem), against the norms of the displacement that its test suite keeps.

    err_l2 = (∫ |u|²)^½,  err_h1_semi = (∫ |∇u|²)^½,  err_linf = max |u|,  over all deformables at the end of the steps that a file names

with u and ∇u taken in the middle of each linear tetrahedron, which is its quadrature of one point: exact for ∇u, not for u. Where nothing
touches, a step of implicit Euler is the same minimisation in both, and so are the norms. Where something rests on something, they differ by
the gaps at rest, which lie below d̂ = 1 mm and follow from a stiffness of contact that each program chooses for itself; the norms within
1 % are those of motions that are long beside it.

Compared loosely or not at all, and why: docs/howto/importing.md.
"""

from __future__ import annotations

import numpy as np
import pytest

import unibody as ub
from unibody.files.polyfem_source import read_polyfem
from verification.test_deformable_contact import intersections

CLOSE = 1e-9
"""Of norms of steps without contact: far above the tolerance of Newton's method, which ends at round-off there."""
WITHIN = 0.01
"""Asked for where something touches."""


@pytest.fixture
def path(reference):
    folder = reference / "polyfem" / "contact" / "examples" / "3D"
    if not folder.is_dir():
        pytest.skip("PolyFEM's scenes are not at hand")
    return lambda name: folder / f"{name}.json"


def steps_of(path, scene) -> int:
    count = read_polyfem(path)["tests"].get("time_steps", 1)
    return round(scene.duration / scene.dt) if count == "all" else count


def run(path, steps: int | None = None) -> ub.Recording:
    scene = ub.load(path)
    return ub.Simulation(scene.model, scene.solver, dt=scene.dt).run((steps or steps_of(path, scene)) * scene.dt)


def norms(rec: ub.Recording) -> dict[str, float]:
    """Of the displacement of all deformables at the end."""
    square = slope = most = 0.0
    for info in rec.model.deformables:
        tets = info.mesh.tets
        X, u = info.x0[tets], (rec.vertices(info.name)[-1] - info.x0)[tets]
        D = X[:, 1:] - X[:, :1]
        V, middle = np.linalg.det(D) / 6.0, u.mean(axis=1)
        square += V @ (middle**2).sum(axis=1)
        slope += V @ (np.linalg.solve(D, u[:, 1:] - u[:, :1]) ** 2).sum(axis=(1, 2))
        most = max(most, float(np.linalg.norm(middle, axis=1).max()))
    return {"err_l2": square**0.5, "err_h1_semi": slope**0.5, "err_h1": (square + slope) ** 0.5, "err_linf": most}


def check(path, rel: float, *names: str) -> ub.Recording:
    expected, rec = read_polyfem(path)["tests"], run(path)
    found = norms(rec)
    for name in names:
        assert found[name] == pytest.approx(expected[name], rel=rel, abs=1e-12), name
    return rec


def crossed(rec: ub.Recording) -> list:
    """Whatever crosses a deformable, in every fourth step; obstacles may lie in each other."""
    soft = {d.name for d in rec.model.deformables}
    return [found for found in intersections(rec, every=4) if soft & set(found[:2])]


FREE = ["unit-tests/5-cubes", "unit-tests/erleben/cliff-edges", "codimensional/mat-knives", "friction/arch"]
"""They fall for one step: u = g h² everywhere."""


@pytest.mark.parametrize("name", FREE)
def test_a_step_of_falling(path, name):
    rec = check(path(name), CLOSE, "err_l2", "err_h1", "err_linf")
    assert norms(rec)["err_h1_semi"] < 1e-9  # nothing is strained


@pytest.mark.parametrize("name", ["stress-tests/mat-twist", "large-ratios/sphere-mat"])
def test_a_step_of_matter_that_is_pulled_at_its_rims(path, name):
    """9126 tetrahedra held by 160 vertices that move: elasticity, inertia, boundary functions of x, y, z, t."""
    check(path(name), CLOSE, "err_l2", "err_h1", "err_h1_semi", "err_linf")


@pytest.mark.parametrize("name", ["unit-tests/vertex-vertex", "unit-tests/vertex-face", "unit-tests/edge-edge"])
def test_a_tetrahedron_falls_onto_another_and_beside_it(path, name):
    """All steps of the file."""
    rec = check(path(name), WITHIN, "err_l2", "err_h1", "err_h1_semi", "err_linf")
    assert crossed(rec) == []


LONG = {"unit-tests/erleben/wedge-in-crack": 240, "unit-tests/erleben/spike-in-hole": 200, "unit-tests/erleben/spikes": 50,
    "unit-tests/erleben/internal-edges": 200, "unit-tests/erleben/cliff-edges": 100, "unit-tests/5-cubes": 30, "unit-tests/2-cubes": 4,
}  # fmt: skip
"""Steps with contact in them."""


@pytest.mark.parametrize("name", LONG)
def test_nothing_intersects(path, name):
    rec = run(path(name), LONG[name])
    assert any(len(c) for c in rec.contacts)
    assert crossed(rec) == []


def test_a_cube_at_rest_is_as_flat_as_its_weight_makes_it(path):
    """`internal-edges`: a cube of 1 m on smooth ground with edges in it. Its mean strain along y is − ρ g / 2 E, within what six linear
    tetrahedra that cannot slide apart at their faces leave of it: between the compressed modulus λ + 2 μ and a half of E."""
    rec = run(path("unit-tests/erleben/internal-edges"))
    d, x = rec.model.deformables[0], rec.vertices("cube0")[-1]
    high = d.x0[:, 1] > 0.4
    shrunk = (x[~high, 1].mean() - x[high, 1].mean()) + 1.0
    soft, stiff = 0.5 * 1e6, 1e6 * (1.0 - 0.4) / ((1.0 + 0.4) * (1.0 - 2.0 * 0.4))
    assert 1000.0 * 9.81 / (2.0 * stiff) < shrunk < 1000.0 * 9.81 / (2.0 * soft)


ALONG = np.array([np.cos(np.radians(26.565)), -np.sin(np.radians(26.565)), 0.0])
"""The way down the slopes of the friction tests, whose tangent is 0.5."""


def slid(rec: ub.Recording) -> float:
    x = rec.vertices("cube0").mean(axis=1) @ ALONG
    return float(x[-1] - x[0])


def test_a_cube_holds_on_the_slope_of_its_friction(path):
    """μ = 0.50, all 2.5 s: half a millimetre, which smooth friction and the drop at the start leave, as in the original's own norm."""
    file = path("friction/high-school-physics-slopetest-mu=0.50")
    expected, rec = read_polyfem(file)["tests"], run(file)
    assert 0.0 < slid(rec) < 1e-3
    assert norms(rec)["err_l2"] < 2.0 * expected["err_l2"] < 1e-3
    assert crossed(rec) == []


def test_a_cube_slides_where_friction_is_less(path):
    """μ = 0.49: (tan α − μ) g cos α t² / 2 in 2.5 s."""
    rec = run(path("friction/high-school-physics-slopetest-mu=0.49"), 100)
    assert slid(rec) == pytest.approx(0.5 * 0.01 * 9.81 * ALONG[0] * 2.5**2, rel=0.03)
    assert crossed(rec) == []


def test_a_cube_of_ten_tons_on_a_small_soft_one(path):
    """It squeezes the small cube to a fraction of its height, which does not turn inside out, and nothing goes through anything."""
    rec = run(path("large-ratios/large-mass-ratio"))
    x = rec.vertices("cube1")
    V = np.linalg.det(x[:, rec.model.deformables[1].mesh.tets][:, :, 1:] - x[:, rec.model.deformables[1].mesh.tets][:, :, :1])
    assert V.min() > 0.0
    assert np.ptp(x[:, :, 1], axis=1).min() < 0.05
    assert crossed(rec) == []
