"""Bridge, umbrella and stiff chain: geometry, masses and counts of the RedMax authors' own scenes.

Numbers are of sueda/redmax, commit 40f89b2 (MIT licence), scenes loadBridge(20, 20), loadSimpleBridge(n) and loadUmbrella(n), as read
from the running program. The authors' y is up: their (x, y, z) is our (x, −z, y).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import unibody as ub
from unibody import scenes
from unibody.errors import ModelError

TURN = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
RUNS = {
    "bridge_20": ("bridge", {"n": 20, "towers": "flexible"}),
    "simplebridge_20": ("bridge", {"n": 20}),
    "simplebridge_80": ("bridge", {"n": 80}),
    "umbrella_10": ("umbrella", {"n": 10}),
    "umbrella_16": ("umbrella", {"n": 16}),
}
FIXED = {"anchorL": "left-abutment", "anchorR": "right-abutment", "towerleft": "left-tower", "towerright": "right-tower"}
DEFINITIONS = Path(__file__).resolve().parents[4] / "shared" / "reference" / "redmax_bridge_umbrella.json"
"""The authors' scenes in full, where they lie beside this repository."""


def our_name(name: str) -> str:
    """Our name of the authors' body."""
    if match := re.fullmatch(r"bp(\d+)", name):
        return f"deck{int(match[1]) - 1}"
    if match := re.fullmatch(r"t([lr])(\d+)", name):
        return f"{'left' if match[1] == 'l' else 'right'}-tower{match[2]}"
    if match := re.fullmatch(r"(rib|stretcher)(\d)c?(\d+)", name):
        return f"{match[1]}{match[2]}.{match[3]}"
    return FIXED.get(name, name)


def body(model: ub.Model, name: str):
    return model.bodies[model.body(name)]


def springs(model: ub.Model) -> list[ub.SpringDamper]:
    return [force for _, force in model.forces if isinstance(force, ub.SpringDamper)]


def ends(model: ub.Model, spring: ub.SpringDamper) -> list[np.ndarray]:
    return [body(model, point.body).X_WB.apply(point.p) for point in (spring.a, spring.b)]


@pytest.mark.parametrize("run", RUNS)
def test_bodies_joints_and_springs_are_the_authors(run):
    if not DEFINITIONS.exists():
        pytest.skip("the authors' definitions do not lie beside this repository; the tests below cite some of their numbers")
    recorded = json.loads(DEFINITIONS.read_text(encoding="utf-8"))["runs"][run]
    definition = recorded["definition"]
    name, parameters = RUNS[run]
    model = scenes.build(name, **parameters)
    assert model.nv == recorded["nr"]
    assert model.n_bodies - 1 == len(definition["bodies"])
    np.testing.assert_allclose(model.gravity, TURN @ definition["gravity"], atol=0)
    for theirs in definition["bodies"]:
        ours = body(model, our_name(theirs["name"]))
        # Sums of up to 80 steps of round-off, over 60 m.
        np.testing.assert_allclose(ours.X_WB.p, TURN @ theirs["world_pos0"], atol=1e-12)
        assert ours.mass == pytest.approx(theirs["mass"], rel=1e-13)
        # Rods have their axes, blocks stand upright; principal values do not depend on it.
        np.testing.assert_allclose(np.sort(np.diag(ours.inertia)), np.sort(theirs["I"]), rtol=1e-13)
        np.testing.assert_allclose(ours.inertia, np.diag(np.diag(ours.inertia)), atol=0)
    given = [c for c in definition["constraints"] if c["type"] == "spring_damper"]
    found = springs(model)
    assert len(found) == len(given)
    for theirs, ours in zip(given, found, strict=True):
        assert (ours.a.body, ours.b.body) == (our_name(theirs["a"]), our_name(theirs["b"]))
        assert ours.rest_length == pytest.approx(theirs["rest_length"], rel=1e-12)
        assert ours.stiffness == pytest.approx(theirs["k"] / theirs["rest_length"], rel=1e-12)
        assert ours.damping == pytest.approx(theirs["d"] / theirs["rest_length"], rel=1e-12)
    for theirs in definition["bodies"]:
        joint = model.joints[model.body(our_name(theirs["name"])) - 1]
        spring = dict(model.forces).get(f"{joint.name}.spring")
        held = (0.0, 0.0) if spring is None else (np.max(spring.stiffness), np.max(spring.damping))
        assert held == (theirs["k"], theirs["d"])


@pytest.mark.parametrize(
    ("run", "mass", "positions"),
    [
        ("bridge_20", 51670.9754390156, {"bp1": (-11.403547587158288, 3.074951692240701, 0), "tl19": (-5, 9.75, 0)}),
        ("simplebridge_20", 18761.4327489746, {"bp20": (11.403699578643788, 3.074951692240701, 0)}),
        ("simplebridge_80", 18759.8893067221, {"bp38": (-0.751178437929587, 3.51262367562747, 0)}),
        ("umbrella_10", 239.522988907088, {"rib59": (-5.83242068852621, 13.2216317319201, -5.83242068852621), "runner": (0, 10, 0)}),
        ("umbrella_16", 237.509549963747, {"stretcher7c7": (-2.69797420830263, 35.2361577707279, 2.69797420830263)}),
    ],
)  # fmt: skip
def test_mass_and_places_are_the_authors(run, mass, positions):
    """Their total counts what is fixed, too."""
    name, parameters = RUNS[run]
    model = scenes.build(name, **parameters)
    assert sum(b.mass for b in model.bodies) == pytest.approx(mass, rel=1e-13)
    for theirs, p in positions.items():
        np.testing.assert_allclose(body(model, our_name(theirs)).X_WB.p, TURN @ p, atol=1e-12)


@pytest.mark.parametrize("n", [4, 5, 20, 41])
def test_bridge_has_n_or_three_n_freedoms_and_two_closing_rows(n):
    for towers, freedoms in (("rigid", n), ("flexible", 3 * n)):
        model = scenes.build("bridge", n=n, towers=towers)
        assert model.nv == freedoms
        assert sum(c.rows for _, c in model.constraints) == 2


def test_deck_misses_the_right_abutment_by_a_hair():
    """The authors' segment length is a mean; it leaves 1.52e-4 m to their first steps."""
    model = scenes.build("bridge", n=20)
    tip = body(model, "deck19").X_WB.apply(dict(model.constraints)["landing"].point.p)
    np.testing.assert_allclose(tip, (12.0 + 1.52e-4, 0.0, 3.0), atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"towers": "flexible", "anchors": "spread"}, {"cables": "each", "n": 41}, {"cables": 7}])
def test_cables_start_at_rest_and_run_from_deck_to_towers(options):
    model = scenes.build("bridge", **options)
    cables = springs(model)
    assert len(cables) == {"each": 41}.get(options.get("cables", 30), options.get("cables", 30))
    for cable in cables:
        foot, head = ends(model, cable)
        assert np.linalg.norm(head - foot) == pytest.approx(cable.rest_length, rel=1e-13)
        assert cable.stiffness * cable.rest_length == pytest.approx(2.5e7 if "towers" in options else 1e7)
        assert abs(head[0]) == pytest.approx(5.0) and foot[0] * head[0] >= -1e-3
    gaps = np.diff([ends(model, cable)[0][0] for cable in cables])
    # Even along the arch, whose slope stays below 0.125: cosines within 1 %.
    np.testing.assert_allclose(gaps, gaps.mean(), rtol=0.01)


def test_spread_anchors_rise_with_the_reach_of_their_cables():
    model = scenes.build("bridge", towers="flexible", anchors="spread", cables=30)
    for half in (springs(model)[:15], springs(model)[15:]):
        places = [ends(model, cable) for cable in half]
        order = np.argsort([abs(foot[0] - head[0]) for foot, head in places])
        heights = np.array([head[2] for _, head in places])[order]
        assert (np.diff(heights) > 0).all()
        assert heights[-1] == pytest.approx(10.0) and heights[0] > 4.0


@pytest.mark.parametrize("cables", [10, 30, 90])
def test_scaled_cables_are_together_as_stiff_as_the_authors_thirty(cables):
    scaled = springs(scenes.build("bridge", cables=cables, cable_stiffness="scaled"))
    assert sum(c.stiffness * c.rest_length for c in scaled) == pytest.approx(30 * 1e7)


def test_weight_presses_on_the_middle_of_the_deck():
    for n in (20, 21):
        model = scenes.build("bridge", n=n, weight=4800.0)
        load = dict(model.forces)["weight"]
        assert body(model, load.body).X_WB.apply(load.at)[0] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize(("n", "freedoms"), [(10, 241), (16, 385), (22, 529), (32, 769), (46, 1105)])
def test_umbrella_has_the_freedoms_of_table_2(n, freedoms):
    model = scenes.build("umbrella", n=n)
    assert model.nv == freedoms == 1 + 16 * n + 16 * (n // 2)
    assert sum(c.rows for _, c in model.constraints) == 16
    assert len(springs(model)) == 8 * n


@pytest.mark.parametrize("n", [2, 7, 10])
def test_umbrella_starts_closed_with_its_canopy_at_rest(n):
    model = scenes.build("umbrella", n=n)
    for _, clasp in model.constraints:
        met, end = (body(model, point.body).X_WB.apply(point.p) for point in (clasp.point, clasp.on))
        np.testing.assert_allclose(met, end, atol=1e-13)
    for spring in springs(model):
        a, b = ends(model, spring)
        assert np.linalg.norm(b - a) == pytest.approx(spring.rest_length, rel=1e-12)


@pytest.mark.parametrize(("options", "count"), [({}, 10 + 3 + 1), ({"every": 0}, 10 + 1), ({"tie": False, "every": 5, "n": 20}, 18 + 4)])
def test_stiff_chain_has_the_springs_it_says(options, count):
    model = scenes.build("stiff-chain", **options)
    assert len(springs(model)) == count
    hangers = [s for s in springs(model) if s.b.body == "world"]
    for hanger in hangers:
        low, high = ends(model, hanger)
        np.testing.assert_allclose(high - low, (0, 0, 0.5), atol=1e-14)


def final_energy(stiffness: float, dt: float) -> float:
    """Kinetic energy after 0.2 s by explicit steps; infinite where they cannot go on."""
    try:
        rec = ub.Simulation(scenes.build("stiff-chain", stiffness=stiffness), solver="articulated", dt=dt).run(0.2)
    except ub.StepFailed:
        return np.inf
    T = float(rec.energy.kinetic[-1])
    return T if np.isfinite(T) else np.inf


def test_stiff_chain_is_too_much_for_explicit_steps():
    fallen = 12 * 9.81 * 9.81 * 0.2**2  # twice the energy that all links would have if they fell freely
    assert final_energy(1.0, 0.01) < fallen
    assert final_energy(1e6, 0.01) > 10 * fallen
    assert final_energy(1e10, 0.01) > 10 * fallen
    assert final_energy(1e6, scenes.make("stiff-chain", stiffness=1e6).dt) < fallen


@pytest.mark.parametrize("rule", ["linearly-implicit"])
@pytest.mark.parametrize("stiffness", [1.0, 1e4, 1e7, 1e10])
def test_stiff_chain_is_not_too_much_for_implicit_steps(rule, stiffness):
    model = scenes.build("stiff-chain", stiffness=stiffness)
    rec = ub.Simulation(model, solver=ub.solvers.RedMax(rule=rule), dt=0.01).run(0.2)
    assert 0.0 <= rec.energy.kinetic[-1] < 12 * 9.81 * 9.81 * 0.2**2


@pytest.mark.parametrize(
    ("name", "given", "complaint"),
    [
        ("bridge", {"n": 3}, "n=3 deck bodies are too few"),
        ("bridge", {"cables": -1}, "cables=-1 must not be negative"),
        ("bridge", {"k": -1.0}, "k=-1.0 must not be negative"),
        ("umbrella", {"n": 1}, "n=1 bodies in a rib are too few"),
        ("stiff-chain", {"n": 2}, "n=2 links are too few"),
        ("stiff-chain", {"stiffness": -1.0}, "must not be negative"),
        ("stiff-chain", {"bend": 2.0}, "bend=2.0 folds the chain back"),
    ],
)
def test_impossible_parameters_are_refused(name, given, complaint):
    with pytest.raises(ModelError, match=complaint):
        scenes.build(name, **given)
