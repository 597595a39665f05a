"""One file adds one of everything, and everything that can take it takes it, with no file of the package edited.

`one_of_each.py` beside this test is that file: a joint, a force, a constraint, a time rule and a compiled solver. (A measure joins them
when elements offer `measures()`.) Each is compared with a stock element that is the same, or with a closed form. The file is loaded for
these tests only, and what it has entered is taken out again, so that other tests see the package as it is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import unibody as ub
from unibody.rules import RULES
from unibody.solvers import REGISTRY
from unibody.solvers.base import refusals

HERE = Path(__file__).parent
FILE = HERE / "one_of_each.py"
SOLVERS = tuple(REGISTRY)
STEP, LENGTH = 1e-3, 0.2


@pytest.fixture(scope="module")
def mine() -> Iterator[ModuleType]:
    """The user's file, imported; its solver and its rule leave their registries afterwards."""
    solvers, rules = dict(REGISTRY), dict(RULES)
    import one_of_each

    for registry, known, entry in ((REGISTRY, solvers, one_of_each.Verlet), (RULES, rules, one_of_each.Midpoint)):
        registry.setdefault(entry.name, entry)
        assert set(registry) == {*known, entry.name}  # by being defined
    yield one_of_each
    del REGISTRY[one_of_each.Verlet.name], RULES[one_of_each.Midpoint.name]


def run(model: ub.Model, solver: str | ub.solvers.Solver, dt: float = STEP, length: float = LENGTH) -> ub.Recording:
    return ub.Simulation(model, solver, dt=dt).run(length, every=round(length / dt), progress=False)


def able(model: ub.Model, solver: str) -> None:
    refused = refusals(REGISTRY[solver](), model)
    if refused:
        pytest.skip(f"{solver} says: {refused[0][1]}")


def nut(joint: ub.Joint) -> ub.Model:
    """A nut out of balance that falls along a leaning thread."""
    b = ub.Builder(gravity=(0.0, 0.0, -9.81))
    body = b.body("nut", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    b.joint("thread", joint, b.world, body, X_PF=ub.Pose.about((1, 0, 0), 0.3), v=-1.0)
    return b.build()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_joint_moves_like_the_stock_screw(mine: ModuleType, solver: str) -> None:
    """The same mathematics by another class: only round-off, and the last digits of iterations (1e-6 of what has moved 0.2 m), differ."""
    own, stock = nut(mine.Thread(0.1)), nut(ub.Screw((0, 0, 1), pitch=0.1))
    able(own, solver)
    ends = [run(model, solver) for model in (own, stock)]
    assert abs(ends[0].point("nut", (0.1, 0.0, 0.0))[-1] - ends[0].point("nut", (0.1, 0.0, 0.0))[0]).max() > 0.01
    np.testing.assert_allclose(*(rec.point("nut", (0.1, 0.0, 0.0))[-1] for rec in ends), atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_force_makes_an_oscillator(mine: ModuleType, solver: str) -> None:
    """x = x₀ cos ω t + (v₀/ω) sin ω t. Rules of the first order err by about ω² h t / 2 of it: 4e-4."""
    omega, x0, v0 = 2.0, np.array([1.0, 0.0, 0.5]), np.array([0.0, 1.0, 0.0])
    b = ub.Builder(gravity=None)
    bob = b.body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), X_WB=ub.Pose(tuple(x0)), V_WB=(0, 0, 0, *v0))
    b.add(mine.Tether(bob.at(0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 2.0 * omega**2))
    model = b.build()
    able(model, solver)
    exact = x0 * np.cos(omega * LENGTH) + v0 / omega * np.sin(omega * LENGTH)
    np.testing.assert_allclose(run(model, solver).point("bob", (0, 0, 0))[-1], exact, atol=1e-3)


def held(constraint: str, mine: ModuleType) -> ub.Model:
    """A bob on a sphere about the origin, thrown sideways."""
    b = ub.Builder()
    bob = b.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), X_WB=ub.Pose((0.6, 0.0, -0.8)), V_WB=(0, 0, 0, 0, 1.0, 0))
    tip, centre = bob.at(0, 0, 0), b.world.at(0, 0, 0)
    b.add(mine.OnSphere(tip, (0.0, 0.0, 0.0), 1.0) if constraint == "own" else ub.Distance(tip, centre))
    return b.build()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_constraint_holds_like_the_stock_distance(mine: ModuleType, solver: str) -> None:
    """On the sphere, and at the same place as a `Distance` takes it to. Penalties and barriers give way: by the stock's own violation."""
    own, stock = held("own", mine), held("stock", mine)
    able(own, solver)
    ends = [run(model, solver).point("bob", (0, 0, 0))[-1] for model in (own, stock)]
    assert np.linalg.norm(ends[0] - (0.6, 0.0, -0.8)) > 0.1
    slack = 1e-8 + 10.0 * abs(np.linalg.norm(ends[1]) - 1.0)
    assert abs(np.linalg.norm(ends[0]) - 1.0) < slack
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6 + slack)


def smooth() -> ub.Model:
    """Two joints, one of them with a quaternion, springs and a damper."""
    b = ub.Builder()
    upper = b.body("upper", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.2, 0.1, 0.2))
    lower = b.body("lower", mass=0.5, inertia=(0.1, 0.2, 0.1))
    b.joint("ball", ub.Ball(), b.world, upper, X_BM=ub.Pose((0, 0, 0.5)), v=(1.0, 0.5, -1.0), stiffness=5.0)
    b.joint("hinge", ub.Revolute((0, 1, 0.2)), upper, lower, X_PF=ub.Pose((0, 0, -0.5)), X_BM=ub.Pose((0, 0, 0.4)), v=2.0, damping=0.1)
    b.add(ub.SpringDamper(lower.at(0, 0, -0.4), b.world.at(1, 0, -1), stiffness=10.0, damping=0.2, rest_length=0.5))
    return b.build()


PROBE = (0.1, 0.2, -0.4)


@pytest.mark.parametrize("given", ["by name", "as a class"])
@pytest.mark.parametrize("solver", ["articulated", "lagrange"])
def test_a_rule_has_the_order_it_declares(mine: ModuleType, solver: str, given: str) -> None:
    """log₂ of the ratio of errors of two step lengths, against the rule of Runge and Kutta in steps so short that its error is round-off.
    The next term of the error is felt: ±0.15."""
    model, rule = smooth(), mine.Midpoint.name if given == "by name" else mine.Midpoint
    exact = run(model, ub.solvers.Articulated(rule="rk4"), 1e-4).point("lower", PROBE)[-1]
    assert REGISTRY[solver](rule=rule) == REGISTRY[solver](rule="midpoint")
    ends = [run(model, REGISTRY[solver](rule=rule), LENGTH / n).point("lower", PROBE)[-1] for n in (40, 80, 160)]
    errors = [float(np.abs(end - exact).max()) for end in ends]
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(mine.Midpoint.order, abs=0.15), errors


def test_a_rule_is_known_to_the_check_and_to_the_command_line(mine: ModuleType) -> None:
    """A spring of rate ω has no stable step under μ = 1 + z + z²/2 (|μ| > 1 on the imaginary axis), with damping d up to about 2/d."""
    b = ub.Builder(gravity=None)
    bob = b.body("bob", mass=1.0, inertia=(1, 1, 1))
    b.joint("slide", ub.Prismatic((0, 0, 1)), b.world, bob, damping=100.0)
    assert ub.check(b.build()).safe_step("articulated", "midpoint").dt == pytest.approx(2.0 / 100.0, rel=1e-3)
    assert "midpoint" in REGISTRY["lagrange"].choices("rule")
    with pytest.raises(ub.ModelError, match="rule 'leapfrog' is unknown; give one of semi-implicit, midpoint, rk4, dopri5"):
        ub.solvers.Articulated(rule="leapfrog")


def test_a_solver_runs_by_name_and_is_of_second_order(mine: ModuleType) -> None:
    """`Simulation` finds it by name; its energy errs by h², a quarter for half the step (±10 %: the next term)."""
    model = mine.build().model
    drifts = [np.ptp(ub.Simulation(model, "verlet", dt=dt).run(1.0, every=1).energy.total) for dt in (1e-2, 5e-3)]
    assert drifts[0] < 1e-3 and drifts[0] / drifts[1] == pytest.approx(4.0, rel=0.1)
    assert type(ub.Simulation(model, "verlet").solver) is mine.Verlet


def test_a_solver_refuses_and_is_named_among_those_that_can(mine: ModuleType) -> None:
    with pytest.raises(ub.Unsupported, match="solver 'verlet' cannot honour.*trees only.*Solvers that can: articulated"):
        ub.Simulation(held("stock", mine), "verlet")
    b = ub.Builder()
    b.body("stone", ub.Sphere(0.1), mass=1.0)
    b.body("floor", ub.Plane(), kind="static")
    b.add(ub.Contact())
    with pytest.raises(ub.Unsupported) as refused:
        ub.Simulation(b.build(), "articulated")
    assert "verlet" not in str(refused.value).split("Solvers that can:")[1]


def test_a_saved_simulation_goes_on_bit_for_bit(mine: ModuleType, tmp_path: Path) -> None:
    """Of the user's solver, and of a stock solver with the user's rule, over the user's elements."""
    for solver in ("verlet", ub.solvers.Articulated(rule=mine.Midpoint), ub.solvers.Lagrange(rule="midpoint")):
        whole, half = (ub.Simulation(mine.build().model, solver, dt=2e-3) for _ in range(2))
        for sim in (whole, half):
            sim.run(0.03)
        loaded = ub.Simulation.load(half.save(tmp_path / "half.npz"))
        assert loaded.solver == whole.solver and type(loaded.solver) is type(whole.solver)
        ends = [sim.run(0.03, every=5) for sim in (whole, loaded)]
        for quantity in ("t", "q", "v"):
            assert getattr(ends[0], quantity).tobytes() == getattr(ends[1], quantity).tobytes()


def in_another_process(*words: str, folder: Path) -> str:
    result = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_command_line_compares_it_by_name(tmp_path: Path) -> None:
    """A process that is given the file alone knows its solver and its rule. All three follow one motion to their orders: within 1e-6 m."""
    said = in_another_process(
        "-m", "unibody.cli", "compare", str(FILE), "--solvers", "verlet,articulated:rule=midpoint,lagrange:rule=midpoint", "--json",
        folder=tmp_path,
    )  # fmt: skip
    rows = json.loads(said)["solvers"]
    assert [row["solver"] for row in rows] == ["verlet", "articulated:rule=midpoint", "lagrange:rule=midpoint"]
    assert all(row["position_difference"] < 1e-6 for row in rows)


CONTINUED = """
import json, sys
import unibody as ub
from unibody import kernel

sim = ub.Simulation.load(sys.argv[1], trust=("one_of_each",))
rec = sim.run(0.03, every=15)
print(json.dumps([rec.q[-1].tobytes().hex(), [name for name, _, cached in kernel.compiled if not cached]]))
"""


def test_another_process_goes_on_bit_for_bit_and_compiles_nothing(mine: ModuleType, tmp_path: Path) -> None:
    """A file's solver is found by its module, if that is trusted; its kernels come out of the cache, like those of the package."""
    whole = ub.Simulation(mine.build().model, "verlet", dt=2e-3)
    whole.run(0.03)
    saved = whole.save(tmp_path / "half.npz")
    end = whole.run(0.03, every=15)
    q, compiled = json.loads(in_another_process("-c", CONTINUED, str(saved), folder=HERE))
    assert q == end.q[-1].tobytes().hex()
    assert compiled == []


def test_a_file_that_nobody_trusts_names_no_solver(mine: ModuleType, tmp_path: Path) -> None:
    saved = ub.Simulation(mine.build().model, "verlet").save(tmp_path / "own.npz")
    words = f"import unibody as ub\ntry: ub.Simulation.load({str(saved)!r})\nexcept ub.ModelError as error: print(error)"
    assert "nobody vouches" in in_another_process("-c", words, folder=tmp_path)
