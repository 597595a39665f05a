"""Tests of standing, resting and holding fail on runs that are broken on purpose: see `broken_runs`.

What runs within seconds is always run; the rest, with UNIBODY_MUTATIONS=all in the environment. A pair is listed where
physics says that the broken run must be seen: a stack stands without friction, and under half its weight, so that only its loads tell.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import unibody as ub

sys.path.insert(0, str(Path(__file__).parent))
from broken_runs import MUTATIONS, broken, one_sweep

TESTS = Path(__file__).parents[1]
STACKS, FRICTION = "verification/test_complementarity_stacks.py", "verification/test_complementarity_friction.py"
IMPULSE, PENALTY = "verification/test_impulse_contact.py", "verification/test_penalty_contact.py"
BARRIER, SUITE = "verification/test_barrier_impacts.py", "verification/test_rigid_ipc_suite.py"
SCENES, TOUCHING = "unit/scenes/test_contact_scenes.py", "unit/scenes/test_touching_scenes.py"
DEGENERATE, JOINTS = "verification/test_complementarity_degenerate.py", "verification/test_complementarity_joints.py"
FALLS = ("untouched", "first lets go", "last lets go", "upside down")

QUICK: list[tuple[str, str, tuple[Any, ...], tuple[str, ...]]] = [
    # file, test, its arguments, mutations that it must see
    (STACKS, "test_masses_a_million_apart", (1e6, 2), (*FALLS, "one pair apart", "half gravity")),
    (STACKS, "test_a_pair_of_cards_stands_above_the_bound_of_statics", (1.05, True), (*FALLS, "one pair apart", "frictionless")),
    (STACKS, "test_a_house_of_cards_stands", (), (*FALLS, "one pair apart", "frictionless")),
    (FRICTION, "test_block_topples_where_its_weight_leaves_its_base", (-1,), ("untouched", "upside down", "frictionless")),
    (IMPULSE, "test_block_sticks_on_a_slope", (), ("untouched", "upside down", "frictionless", "half gravity")),
    (IMPULSE, "test_stack_stands_and_carries_as_in_complementarity", (), (*FALLS, "one pair apart", "half gravity")),
    (IMPULSE, "test_rod_rests_on_its_limit", (), ("unlimited", "half gravity", "upside down")),
    (IMPULSE, "test_dry_friction_sticks_below_its_bound_and_slides_above", (), ("frictionless",)),
    (PENALTY, "test_a_block_that_sticks_creeps_as_fast_as_is_said", ("semi-implicit",), ("untouched", "frictionless", "half gravity")),
    (PENALTY, "test_a_rod_rests_on_its_hinge_and_on_the_ground", ("semi-implicit",), ("untouched", "half gravity", "upside down")),
    (PENALTY, "test_limits_loops_and_contact_act_together", ("semi-implicit",), ("untouched", "half gravity")),
    (TOUCHING, "test_a_domino_falls_over_above_its_least_push", (1.05, True), ("untouched", "frictionless")),
]  # fmt: skip
LONG: list[tuple[str, str, tuple[Any, ...], tuple[str, ...]]] = [
    (STACKS, "test_what_falls_on_a_stack_still_bounces", (), ("untouched", "last lets go", "bouncy")),
    (STACKS, "test_a_stack_stands_still_for_two_thousand_steps", (), (*FALLS, "half gravity")),
    (TOUCHING, "test_a_gripper_lifts_what_friction_holds_and_drops_what_it_does_not", (), ("untouched", "last lets go", "frictionless")),
    (TOUCHING, "test_dominoes_fall_one_after_the_other", (), (*FALLS, "one pair apart")),
    (FRICTION, "test_block_that_sticks_does_not_creep", (), ("untouched", "frictionless", "half gravity")),
    (BARRIER, "test_light_cards_carry_heavy_blocks", (), (*FALLS, "half gravity")),
    (BARRIER, "test_needle_triangles_carry_weight_like_others", (), ("untouched", "half gravity")),
    (SCENES, "test_contact_forces_of_a_resting_body_carry_its_weight", (), ("untouched", "frictionless", "half gravity")),
    (SCENES, "test_a_card_house_stands_with_friction_and_falls_without", (), (*FALLS, "one pair apart", "frictionless")),
    (SUITE, "test_card_house_of_two_levels_keeps_its_height", ("scene",), (*FALLS, "one pair apart", "frictionless")),
    (SUITE, "test_card_tent_stands_at_05_and_collapses_at_02", ("scene",), ("untouched", "first lets go", "last lets go")),
    (SUITE, "test_five_cubes_rest_on_each_other", ("scene",), (*FALLS, "one pair apart")),
]


def pairs(table: list[Any]) -> list[Any]:
    return [pytest.param(file, test, given, m, id=f"{test}, {m}") for file, test, given, every in table for m in every]


def load(file: str) -> Any:
    for folder in (TESTS, (TESTS / file).parent):
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
    spec = importlib.util.spec_from_file_location("mutated_" + Path(file).stem, TESTS / file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def called(file: str, test: str, given: tuple[Any, ...]) -> Callable[[], None]:
    """The test without its fixtures, of which scenes of the reference folder are the only one."""
    function = getattr(load(file), test)
    if given == ("scene",):
        folder = TESTS.parents[1] / "shared" / "reference" / "rigid-ipc" / "scenes" / "3D"
        if not folder.is_dir():
            pytest.skip("the rigid-ipc scenes are not at hand")
        given = (lambda name: folder / f"{name}.json",)
    return lambda: function(*given)


def kill(file: str, test: str, given: tuple[Any, ...], mutation: str) -> None:
    run = called(file, test, given)
    with broken(mutation) as told:
        try:
            run()
        except (AssertionError, ub.StepFailed):
            assert told, "no model was broken"
            return
    raise pytest.fail.Exception(f"{test} does not see that a run is broken: {mutation}")


@pytest.mark.parametrize(("file", "test", "given", "mutation"), pairs(QUICK))
def test_quick_tests_of_standing_see_broken_runs(file: str, test: str, given: tuple[Any, ...], mutation: str) -> None:
    kill(file, test, given, mutation)


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("UNIBODY_MUTATIONS") != "all", reason="half an hour; UNIBODY_MUTATIONS=all runs them")
@pytest.mark.parametrize(("file", "test", "given", "mutation"), pairs(LONG))
def test_long_tests_of_standing_see_broken_runs(file: str, test: str, given: tuple[Any, ...], mutation: str) -> None:
    kill(file, test, given, mutation)


def test_a_single_sweep_does_not_pass_for_a_solution() -> None:
    """Of two boxes with masses a million apart, a sweep from below knows nothing of the weight above."""
    run = called(STACKS, "test_masses_a_million_apart", (1e6, 5))
    with one_sweep(), pytest.raises(AssertionError):
        run()


def test_sound_runs_pass() -> None:
    """Without a mutation the same way of calling a test passes it: what kills it above is the mutation."""
    for file, test, given, _ in QUICK[:3]:
        called(file, test, given)()


def test_every_mutation_is_seen_by_some_test() -> None:
    used = {m for table in (QUICK, LONG) for _, _, _, every in table for m in every}
    assert used == set(MUTATIONS)
