"""Recording of contact: impulses of impacts beside forces of rest, what slides, and tables of both."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import unibody as ub

G = 9.81


def thrown(e: float = 0.5, law: str = "newton") -> ub.Model:
    """A ball that comes down obliquely, slides in its first impact, and comes to rest."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    b.body("ball", shape=ub.Sphere(0.1), mass=2.0, X_WB=ub.Pose((0, 0, 0.15)), V_WB=(0, 0, 0, 3.0, 0, -1.0))
    b.add(ub.Contact(friction=0.2, restitution=e, impact=law))
    return b.build()


@pytest.mark.parametrize(("law", "coordinates"), [("newton", "maximal"), ("poisson", "reduced"), ("stronge", "reduced")])
def test_impacts_have_impulses_and_rest_has_forces(law: str, coordinates: str) -> None:
    """m (1 + e) u in the first impact and μ times that across it, against the slip; afterwards m g and no impulse. All that contact gave
    is the change of momentum and the weight."""
    dt, e = 2.5e-3, 0.5
    recording = ub.Simulation(thrown(e, law), ub.solvers.Complementarity(coordinates=coordinates), dt=dt).run(0.45)
    impacts = recording.impacts
    first = impacts[0]
    speed = np.sqrt(1.0 + 2.0 * G * 0.05)
    assert first.bodies == ("ball", "ground") and first.approach == pytest.approx(speed, rel=0.02)
    assert first.impulse[2] == pytest.approx(2.0 * 1.5 * speed, rel=0.03) and first.sliding
    assert first.impulse[:2] == pytest.approx([-0.2 * first.impulse[2], 0.0], rel=1e-6, abs=1e-9)
    assert first.normal == pytest.approx([0, 0, 1]) and first.point[2] == pytest.approx(0.0, abs=5e-3)
    peaks = [i.approach for i in impacts[:3]]
    assert np.array(peaks[1:]) == pytest.approx(e * np.array(peaks[:-1]), rel=0.1)
    last = recording.contacts[-1]
    assert not last.hits.any() and not last.impulses.any() and last.normal_forces == pytest.approx([2.0 * G], rel=1e-6)
    given = dt * sum(c.on(2) for c in recording.contacts[1:])
    moved = 2.0 * (recording.twist("ball")[-1, 3:] - recording.twist("ball")[0, 3:])
    assert given == pytest.approx(moved + [0.0, 0.0, 2.0 * G * recording.t[-1]], abs=1e-8)


def test_an_impact_that_another_causes_in_the_same_step() -> None:
    """Three equal balls in a row without gaps to speak of: the second blow is an impact too, of the same impulse m u."""
    b = ub.Builder(gravity=None)
    for k, x in enumerate((0.0, 0.25, 0.45 + 1e-5)):
        b.body(f"ball{k}", shape=ub.Sphere(0.1), mass=1.0, X_WB=ub.Pose((x, 0, 0)), V_WB=(0, 0, 0, 1.0 if k == 0 else 0.0, 0, 0))
    b.add(ub.Contact(restitution=1.0))
    recording = ub.Simulation(b.build(), "complementarity", dt=1e-2).run(0.1)
    assert [set(i.bodies) for i in recording.impacts] == [{"ball0", "ball1"}, {"ball1", "ball2"}]
    assert [abs(i.impulse[0]) for i in recording.impacts] == pytest.approx([1.0, 1.0], rel=1e-9)
    assert [i.approach for i in recording.impacts] == pytest.approx([1.0, 1.0], rel=1e-9)
    assert recording.twist("ball2")[-1, 3] == pytest.approx(1.0, rel=1e-9)


def test_files_keep_impacts(tmp_path) -> None:
    """Saved and loaded, as a table and as arrays: the same numbers."""
    recording = ub.Simulation(thrown(), "complementarity", dt=5e-3).run(0.3)
    again = ub.Recording.load(recording.save(tmp_path / "run.npz"))
    assert len(again.impacts) == len(recording.impacts) > 2
    for ours, theirs in zip(again.impacts, recording.impacts, strict=True):
        assert ours.t == theirs.t and (ours.impulse == theirs.impulse).all() and ours.approach == theirs.approach
    with recording.contacts_to_csv(tmp_path / "contacts.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(c) for c in recording.contacts)
    hits = [r for r in rows if r["doing"] == "hits"]
    assert [float(r["impulse_z"]) for r in hits] == [float(i.impulse[2]) for i in recording.impacts]
    assert hits[0]["body"] == "ball" and hits[0]["other"] == "ground" and {r["doing"] for r in rows} >= {"hits", "slides"}
    with np.load(recording.to_npz(tmp_path / "plain.npz")) as arrays:
        assert len(arrays["contact_state"]) == len(rows)
        assert (arrays["contact_impulses"][arrays["contact_approach"] > 0.0][:, 2] > 0.0).all()
    apart = ub.Simulation(ub.scenes.make("pendulum").model, dt=1e-2).run(0.1)
    with np.load(apart.to_npz(tmp_path / "apart.npz")) as arrays:
        assert "contact_state" not in arrays


@pytest.mark.parametrize("solver", ["barrier", "penalty"])
def test_solvers_without_impacts_say_so(solver: str) -> None:
    """An empty list would say that nothing hit."""
    recording = ub.Simulation(thrown(0.0), solver, dt=2e-3).run(0.01)
    with pytest.raises(ub.ModelError, match=f"impacts: solver '{solver}' has none: .*; ask for rec.contacts, or run"):
        _ = recording.impacts
