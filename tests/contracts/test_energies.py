"""What every energy promises: derivatives, invariance, zero modes, projection, a kernel that says what NumPy says, and plain refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from custom_energies import Gum, QuarticSpring

import unibody as ub
from unibody.energies import Stencils
from unibody.energies.base import EXACT, GRADIENT, PROJECTED, VALUE
from unibody.energies.evaluate import EnergyTables, by_numpy

EDGES_OF_TETS = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))


def two_tets(quadratic: bool) -> Any:
    """Two irregular tetrahedra at a common face; quadratic ones with edges that are bent at rest."""
    rng = np.random.default_rng(3)
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], float) + 0.1 * rng.standard_normal((5, 3))
    tets = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    if quadratic:
        numbers: dict[frozenset, int] = {}
        middles = [[numbers.setdefault(frozenset((int(t[a]), int(t[b]))), 5 + len(numbers)) for a, b in EDGES_OF_TETS] for t in tets]
        ends = np.array([sorted(pair) for pair in numbers])
        vertices = np.concatenate([vertices, vertices[ends].mean(axis=1) + 0.02 * rng.standard_normal((len(ends), 3))])
        tets = np.concatenate([tets, middles], axis=1)
    return SimpleNamespace(vertices=vertices, tets=tets)


def wavy_cloth() -> Any:
    """Four by three vertices, curved at rest, with a pattern; triangles with one, two and three neighbours."""
    rng = np.random.default_rng(4)
    u, v = (g.ravel() for g in np.meshgrid(np.arange(4.0), np.arange(3.0), indexing="ij"))
    flat = np.stack([u, v], axis=1) + 0.1 * rng.standard_normal((12, 2))
    vertices = np.concatenate([flat, 0.2 * np.sin(flat[:, :1]) + 0.1 * flat[:, 1:] ** 2], axis=1)
    corner = [3 * i + j for i in range(3) for j in range(2)]
    faces = np.array([t for a in corner for t in ((a, a + 3, a + 4), (a, a + 4, a + 1))])
    return SimpleNamespace(vertices=vertices, faces=faces)


def rod(bent: float, closed: bool = False) -> Any:
    """Six vertices, straight or in a curve in space."""
    s = np.linspace(0.0, 1.0, 6)
    vertices = np.stack([s, bent * s**2, bent * s**3 * (2.0 - s)], axis=1)
    following = np.arange(1, 7) % 6
    edges = np.stack([np.arange(6), following], axis=1)[: 6 if closed else 5]
    return SimpleNamespace(vertices=vertices, edges=edges, radius=0.05, closed=closed)


def bent_with_directors(bent: float = 0.5, closed: bool = False) -> ub.RodMesh:
    """The same with a director at each edge, at a twentieth of its length."""
    return ub.RodMesh(rod(bent).vertices, 0.05, closed).framed()


@dataclass
class Case:
    """An energy on a mesh, how far it may be shaken, and how many motions of the free body at rest cost nothing."""

    energy: ub.Energy
    mesh: Any
    shake: float
    free: int | None = 6
    stretch: float = 1.0
    stencils: Sequence[Stencils] = field(init=False)

    def __post_init__(self) -> None:
        self.stencils = self.energy.stencils(self.mesh)

    @property
    def X(self) -> np.ndarray:
        return self.mesh.vertices

    def shaken(self, seed: int, amount: float = 1.0) -> np.ndarray:
        return self.stretch * self.X + amount * self.shake * np.random.default_rng(seed).standard_normal(self.X.shape)


LAWS = {"neo-hookean": ub.NeoHookean, "co-rotated": ub.CoRotated, "stvk": ub.StVK, "custom-solid": Gum}
MAKERS: dict[str, Callable[[], Case]] = {
    **{name: lambda law=law: Case(law(1e3, 0.3), two_tets(False), 0.05) for name, law in LAWS.items()},
    **{f"{name}-quadratic": lambda law=law: Case(law(1e3, 0.3), two_tets(True), 0.02) for name, law in LAWS.items()},
    "membrane": lambda: Case(ub.Membrane(1e3, 0.3, 0.01), wavy_cloth(), 0.1, free=None),
    "woven": lambda: Case(ub.WovenMembrane(1e3, 2e2, 0.3, 0.01, shear=50.0), wavy_cloth(), 0.1, free=None),
    "strain-limit": lambda: Case(ub.StrainLimit(0.6, 1e3, 0.01), wavy_cloth(), 0.05, free=None, stretch=1.2),
    "shell": lambda: Case(ub.ShellBending(1.0, 0.3), wavy_cloth(), 0.1, free=None),
    "hinges": lambda: Case(ub.HingeBending(1.0), wavy_cloth(), 0.1, free=None),
    "fabric": lambda: Case(ub.Fabric(1e3, 0.3, 0.05), wavy_cloth(), 0.1),
    "fabric-woven": lambda: Case(ub.Fabric(1e3, 0.3, 0.05, warp=500.0, strain_limit=1.5), wavy_cloth(), 0.1),
    "fabric-c-ipc": lambda: Case(ub.Fabric(1e3, 0.3, 0.05, convention="c-ipc"), wavy_cloth(), 0.1),
    "rod-stretch": lambda: Case(ub.RodStretch(10.0), rod(0.3), 0.05, free=None),
    "rod-bend": lambda: Case(ub.RodBend(1.0), rod(0.0), 0.05, free=None),
    "rod-bend-curved": lambda: Case(ub.RodBend(1.0), rod(1.0), 0.02, free=None),
    "rod": lambda: Case(ub.RodMaterial(1e4), rod(0.0), 0.02, free=5),  # a line has no turn about itself
    "ring": lambda: Case(ub.RodMaterial(1e4), rod(1.0, closed=True), 0.02, free=None),
    "rod-twist": lambda: Case(ub.RodTwist(1.0), bent_with_directors(), 0.01, free=None),
    "rod-director": lambda: Case(ub.RodDirector(1.0), bent_with_directors(), 0.01, free=None),
    "rod-with-twist": lambda: Case(ub.RodMaterial(1e4, twist=True), bent_with_directors(0.0), 0.01),
    "ring-with-twist": lambda: Case(ub.RodMaterial(1e4, twist=True), bent_with_directors(1.0, closed=True), 0.01, free=None),
    "custom-spring": lambda: Case(QuarticSpring(), rod(0.3), 0.05, free=None),
}
SEEDS = (1, 2)


@pytest.fixture(params=MAKERS)
def case(request: pytest.FixtureRequest) -> Case:
    return MAKERS[request.param]()


def tables(case: Case) -> EnergyTables:
    return EnergyTables(case.stencils, len(case.X))


def matrix(t: EnergyTables) -> np.ndarray:
    """The blocks of the last evaluation, added up."""
    H = np.zeros((t.x.size, t.x.size))
    for batch in t.batches:
        for vertices, block in zip(batch.vertices, batch.blocks):
            places = (3 * vertices[:, None] + np.arange(3)).ravel()
            for i, row in zip(places, block):
                np.add.at(H[i], places, row)
    return H


def turned(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A rotation and a translation."""
    rng = np.random.default_rng(seed)
    R, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return R * np.sign(np.linalg.det(R)), rng.standard_normal(3)


def test_every_energy_of_the_package_is_among_the_cases() -> None:
    seen = {type(s.energy) for make in MAKERS.values() for s in make().stencils} | {type(make().energy) for make in MAKERS.values()}
    assert {getattr(ub, name) for name in ub.energies.__all__} - {ub.Energy} <= seen


@pytest.mark.parametrize("seed", SEEDS)
def test_gradients_and_hessians_are_derivatives(case: Case, seed: int) -> None:
    """Central differences with 1e-6 of the size: their own error is 1e-8 or less, relative to the largest number."""
    t, x = tables(case), case.shaken(seed).ravel()
    h = 1e-6 * np.ptp(case.X)
    assert np.isfinite(t.evaluate(x, EXACT))
    gradient, H = t.gradient.copy(), matrix(t)
    first, second = np.zeros(x.size), np.zeros((x.size, x.size))
    for k in range(x.size):
        step = h * (np.arange(x.size) == k)
        plus = t.evaluate(x + step, GRADIENT)
        second[k] = t.gradient
        minus = t.evaluate(x - step, GRADIENT)
        first[k], second[k] = (plus - minus) / (2.0 * h), (second[k] - t.gradient) / (2.0 * h)
    np.testing.assert_allclose(gradient, first, rtol=0.0, atol=1e-6 * np.abs(first).max())
    np.testing.assert_allclose(H, second, rtol=0.0, atol=1e-6 * np.abs(second).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_changes_in_rigid_motion(case: Case, seed: int) -> None:
    """Value the same, gradient turned, no force and no torque: to 1e-11 of what stands against each other, which round-off reaches in
    sums of some dozens of terms at positions of some metres."""
    t, x = tables(case), case.shaken(seed)
    value = t.evaluate(x, GRADIENT)
    g = t.gradient.reshape(-1, 3).copy()
    R, p = turned(seed)
    assert t.evaluate(x @ R.T + p, GRADIENT) == pytest.approx(value, rel=1e-11)
    size = np.abs(g).max()
    np.testing.assert_allclose(t.gradient.reshape(-1, 3), g @ R.T, rtol=0.0, atol=1e-10 * size)
    np.testing.assert_allclose(g.sum(axis=0), 0.0, atol=1e-11 * size)
    np.testing.assert_allclose(np.cross(x, g).sum(axis=0), 0.0, atol=1e-11 * size * np.abs(x).max())


def test_at_rest_there_is_no_energy_and_no_force(case: Case) -> None:
    """To round-off of terms that cancel, beside a stiffness times a length (squared)."""
    t, size = tables(case), np.ptp(case.X)
    value = t.evaluate(case.X, PROJECTED)
    stiffness = np.abs(t.block_values).max()
    assert abs(value) <= 1e-14 * stiffness * size**2
    assert np.abs(t.gradient).max() <= 1e-13 * stiffness * size


@pytest.mark.parametrize("name", [name for name, make in MAKERS.items() if make().free is not None])
def test_only_rigid_motions_of_a_free_body_cost_nothing_at_rest(name: str) -> None:
    case = MAKERS[name]()
    t = tables(case)
    t.evaluate(case.X, EXACT)
    values = np.linalg.eigvalsh(matrix(t))
    assert np.abs(values[: case.free]).max() <= 1e-12 * values[-1]
    assert values[case.free] > 1e-8 * values[-1]


@pytest.mark.parametrize("seed", SEEDS)
def test_projected_blocks_are_positive(case: Case, seed: int) -> None:
    t = tables(case)
    t.evaluate(case.shaken(seed, 2.0 if case.stretch == 1.0 else 1.0), PROJECTED)
    assert all(np.linalg.eigvalsh(b).min() >= -1e-13 * np.abs(b).max() for batch in t.batches for b in batch.blocks)


def test_projection_leaves_what_is_positive_as_it_is(case: Case) -> None:
    """At rest all blocks are; and blown up by a fifth those of solids and sheets, whose stresses then pull in all directions."""
    t = tables(case)
    grown = [1.2] if hasattr(case.mesh, "tets") else []
    for x in (case.X, *(k * case.X for k in grown)):
        t.evaluate(x, EXACT)
        exact = [batch.blocks.copy() for batch in t.batches]
        lowest = min(np.linalg.eigvalsh(b).min() / max(np.abs(b).max(), 1e-300) for blocks in exact for b in blocks)
        assert lowest > -1e-8
        t.evaluate(x, PROJECTED)
        for blocks, batch in zip(exact, t.batches):
            np.testing.assert_allclose(batch.blocks, blocks, rtol=0.0, atol=1e-8 * np.abs(blocks).max())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ask", (VALUE, GRADIENT, EXACT, PROJECTED))
def test_kernels_say_what_numpy_says(case: Case, ask: int, seed: int) -> None:
    """To 1e-12 of the largest number, stencils of each class apart."""
    x = case.shaken(seed)
    for s in case.stencils:
        if s.energy.add_kernel is None:
            continue
        t = EnergyTables([s], len(case.X))
        value = t.evaluate(x, ask)
        w, g, blocks = np.zeros(1), np.zeros(x.size), np.zeros(t.block_values.size)
        by_numpy(s.energy)(s.index.ravel(), s.parameters.ravel(), x.ravel(), ask, w, g, blocks)
        assert value == pytest.approx(w[0], rel=1e-12, abs=1e-300)
        if ask >= GRADIENT:
            np.testing.assert_allclose(t.gradient, g, rtol=0.0, atol=1e-12 * np.abs(g).max())
        if ask >= EXACT:
            np.testing.assert_allclose(t.block_values, blocks, rtol=0.0, atol=1e-12 * np.abs(blocks).max())


def test_a_kernel_does_no_more_than_it_is_asked_for(case: Case) -> None:
    t = tables(case)
    t.gradient[:], t.block_values[:] = np.nan, np.nan
    t.evaluate(case.X, VALUE)
    assert np.isnan(t.gradient).all() and np.isnan(t.block_values).all()
    t.evaluate(case.X, GRADIENT)
    assert np.isfinite(t.gradient).all() and np.isnan(t.block_values).all()


def inside_out(x: np.ndarray) -> np.ndarray:
    return x * np.array([1.0, 1.0, -1.0])


def flat(x: np.ndarray) -> np.ndarray:
    return x * np.array([1.0, 0.0, 0.0])


def long(x: np.ndarray) -> np.ndarray:
    return 3.0 * x


def folded(x: np.ndarray) -> np.ndarray:
    return np.abs(x - np.array([0.4, 0.0, 0.0]))


@pytest.mark.parametrize(
    ("name", "move"),
    [("neo-hookean", inside_out), ("neo-hookean", flat), ("neo-hookean-quadratic", inside_out), ("custom-solid", inside_out),
     ("membrane", flat), ("strain-limit", long), ("fabric-woven", long), ("rod-bend", folded)],
)  # fmt: skip
@pytest.mark.parametrize("ask", (VALUE, GRADIENT, EXACT, PROJECTED))
def test_what_is_not_allowed_costs_infinitely_much(name: str, move: Callable, ask: int) -> None:
    case = MAKERS[name]()
    for by_kernel in (True, False):
        value = 0.0
        for s in case.stencils:
            w, x = np.zeros(1), move(case.X).ravel()
            add = s.energy.add_kernel if by_kernel and s.energy.add_kernel is not None else by_numpy(s.energy)
            add(s.index.ravel(), s.parameters.ravel(), x, ask, w, np.zeros(x.size), np.zeros(9 * s.index.shape[1] * s.index.size))
            value += w[0]
        assert value == np.inf


@pytest.mark.parametrize("name", ["co-rotated", "stvk", "co-rotated-quadratic", "stvk-quadratic"])
def test_laws_that_allow_it_are_finite_inside_out(name: str) -> None:
    case = MAKERS[name]()
    t = tables(case)
    assert np.isfinite(t.evaluate(inside_out(case.shaken(1)), PROJECTED))
    assert np.isfinite(t.gradient).all() and np.isfinite(t.block_values).all()


def test_damping_is_carried_by_the_stencils() -> None:
    made = [ub.NeoHookean(1e3, 0.3, damping=0.1).stencils(two_tets(True)), ub.RodMaterial(1e3, damping=0.1).stencils(rod(0.0))]
    made.append(ub.Fabric(1e3, 0.3, 0.01, damping=0.1, strain_limit=0.2).stencils(wavy_cloth()))
    assert {s.damping for stencils in made for s in stencils} == {0.1}


def test_several_materials_of_one_class_are_one_batch() -> None:
    """Σ over both: the value is that of each apart, and the second's vertices are those behind the first's."""
    mesh = two_tets(False)
    soft, hard = (ub.NeoHookean(young, 0.3).stencils(mesh)[0] for young in (1e3, 1e5))
    t = EnergyTables([(soft, 0), (hard, 5), (QuarticSpring().stencils(rod(0.3))[0], 10)], 16)
    assert [type(b.energy).__name__ for b in t.batches] == ["NeoHookean", "QuarticSpring"] and t.python_classes == {QuarticSpring}
    x = np.concatenate([mesh.vertices, 1.1 * mesh.vertices, 1.1 * rod(0.3).vertices])
    apart = EnergyTables([hard], 5).evaluate(1.1 * mesh.vertices), EnergyTables(QuarticSpring().stencils(rod(0.3)), 6).evaluate(x[10:])
    assert t.evaluate(x, GRADIENT) == pytest.approx(sum(apart), rel=1e-12)
    assert np.abs(t.gradient[:15]).max() < 1e-9 * np.abs(t.gradient[15:]).max()


@dataclass(frozen=True)
class Failing(QuarticSpring):
    """Gives something wrong, as told."""

    way: str = ""

    def gradient(self, parameters: np.ndarray, x: np.ndarray) -> np.ndarray:
        if self.way == "raises":
            raise ZeroDivisionError("by nothing")
        return np.full((2, 3), np.nan) if self.way == "nan" else np.zeros(3)

    def value(self, parameters: np.ndarray, x: np.ndarray) -> float:
        return np.nan if self.way == "value" else 0.0


@pytest.mark.parametrize(
    ("way", "error", "words"),
    [("raises", ZeroDivisionError, "by nothing"), ("nan", ValueError, "Failing.gradient is not finite"),
     ("shape", ValueError, r"Failing.gradient has shape \(3,\); it must have \(2, 3\)"),
     ("value", ValueError, "the value of stencil 0 is nan")],
)  # fmt: skip
def test_what_users_code_raises_is_raised_again(way: str, error: type, words: str) -> None:
    t = EnergyTables(Failing(way=way).stencils(rod(0.3)), 6)
    with pytest.raises(error, match=words):
        t.evaluate(rod(0.3).vertices, GRADIENT)
    assert t.errors.element == "Failing" and t.errors.error is None


def test_kernels_of_another_signature_are_refused() -> None:
    @dataclass(frozen=True)
    class Odd(QuarticSpring):
        add_kernel = ub.SpringDamper.add_kernel

    with pytest.raises(ub.ModelError, match="Odd: its add_kernel has not the signature AddEnergy"):
        EnergyTables(Odd().stencils(rod(0.3)), 6)
