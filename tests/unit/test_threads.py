"""Threads: simulations of all solvers at once give what they give alone, long kernels let others run, a simulation is one thread's."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import unibody as ub
from unibody.kernel import Floats, kernel, long_kernel, prototype
from unibody.turn import Turn

PROGRAM = '''
import hashlib, json, sys, threading
from dataclasses import dataclass
import numpy as np
import unibody as ub

@dataclass(frozen=True)
class Breeze(ub.Force):
    """Without a kernel: compiled loops call it back, and it takes Python's lock for itself."""

    def bodies(self):
        return ["bob"]

    def apply(self, kinematics, loads):
        loads.add_force_at(kinematics, "bob", (0.0, 0.0, 0.0), np.array([30.0 + kinematics.t, 0.0, 0.0]))

def swing(breeze):
    b = ub.Builder()
    bob = b.body("bob", shape=ub.Box((0.1, 0.1, 1.0)))
    b.joint("pin", ub.Revolute(axis=(0, 1, 0)), parent=b.world, child=bob, X_BM=ub.Pose(p=(0, 0, 0.5)), q=0.8)
    b.add(ub.SpringDamper(b.world.at(1.0, 0.0, 0.0), bob.at(0.0, 0.0, -0.5), stiffness=20.0, damping=1.0))
    if breeze:
        b.add(Breeze())
    return b.build()

def drop():
    b = ub.Builder()
    b.body("box", shape=ub.Box((0.2, 0.2, 0.2)), X_WB=ub.Pose(p=(0.0, 0.0, 0.105)), V_WB=(0, 0, 0, 0.5, 0, 0))
    b.body("floor", shape=ub.Box((4.0, 4.0, 0.2)), X_WB=ub.Pose(p=(0.0, 0.0, -0.1)), kind="static")
    b.add(ub.Contact(friction=0.5))
    return b.build()

models = {"swing": swing(False), "breeze": swing(True), "drop": drop()}

def bits(job):
    model, solver = job
    rec = ub.Simulation(models[model], solver, 1e-3).run(0.02)
    return hashlib.sha256(b"".join(x.tobytes() for x in (rec.q, rec.v, rec.energy.total))).hexdigest()

def at_once(jobs):
    found, gate = [""] * len(jobs), threading.Barrier(len(jobs))

    def work(k):
        gate.wait()
        try:
            found[k] = bits(jobs[k])
        except BaseException as error:
            found[k] = repr(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(jobs))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return found

jobs = json.loads(sys.argv[1])
print(json.dumps([at_once(jobs), at_once(jobs), [bits(job) for job in jobs]]))
'''

SWINGING = [["swing", name] for name in ("articulated", "lagrange", "redmax", "penalty", "impulse")]


def run(jobs, **environment):
    """Digests of all results: made at once the first time, at once again, and alone."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(jobs)], env=os.environ | environment, capture_output=True, text=True, timeout=1500
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_eight_threads_of_a_fresh_process_compile_and_run_what_one_does(tmp_path):
    """With an empty cache, so that all of them want the same kernels at once."""
    jobs = [["swing", "articulated"], ["breeze", "articulated"]] * 4
    first, again, alone = run(jobs, UNIBODY_CACHE_DIR=str(tmp_path))
    assert first == again == alone
    assert all(len(digest) == 64 for digest in alone) and len(set(alone)) == 2


def test_simulations_of_all_solvers_at_once_give_what_they_give_alone():
    jobs = [*SWINGING, ["drop", "complementarity"], ["drop", "barrier"], ["drop", "penalty"]]
    first, again, alone = run(jobs)
    assert first == again == alone
    assert all(len(digest) == 64 for digest in alone)


@prototype
def Look(flag_out: Floats) -> None:
    """Something that the compiler cannot see into."""


@kernel
def look(flag_out: Floats) -> None:
    flag_out[1] += 1.0


@long_kernel
def wait_for(address: int, most: int, flag_out: Floats) -> int:
    for i in range(most):
        Look(address, flag_out)
        if flag_out[0] != 0.0:
            return i
    return most


def test_a_long_kernel_lets_other_threads_run():
    """It waits for what only another Python thread can do; with the lock held it would count to the end."""
    flag, most = np.zeros(2), 10**10
    address = look.address
    wait_for.load()
    begun = threading.Event()

    def other():
        begun.wait()
        flag[0] = 1.0

    thread = threading.Thread(target=other)
    thread.start()
    begun.set()
    turns = wait_for(address, most, flag)
    thread.join()
    assert turns < most


@pytest.mark.parametrize("verb", ["step", "run", "reset"])
def test_a_simulation_that_another_thread_is_running_refuses(verb):
    sim = ub.Simulation(ub.scenes.make("pendulum").model, "articulated", 1e-3)
    inside, leave = threading.Event(), threading.Event()

    def hold(t, state, control):
        inside.set()
        leave.wait()

    thread = threading.Thread(target=lambda: sim.run(0.002, control=hold))
    thread.start()
    inside.wait()
    try:
        with pytest.raises(RuntimeError, match="another thread is running this simulation; give every thread a Simulation of its own"):
            getattr(sim, verb)(*((0.001,) if verb == "run" else ()))
    finally:
        leave.set()
        thread.join()
    assert sim.state.t == pytest.approx(0.002)
    sim.step()


def test_a_recording_is_observed_while_its_simulation_goes_on_in_another_thread():
    """They share the arrays of one bound solver, and take turns."""
    sim = ub.Simulation(ub.scenes.make("double-pendulum").model, "articulated", 1e-3)
    rec = sim.run(0.2)
    thread = threading.Thread(target=lambda: sim.run(20.0, every=1000))
    thread.start()
    meanwhile = np.array([rec.observe(k).kinetic for k in range(len(rec))])
    thread.join()
    assert meanwhile.tobytes() == np.array([rec.observe(k).kinetic for k in range(len(rec))]).tobytes()
    assert sim.state.t == pytest.approx(20.2)


def test_copies_of_a_lock_are_locks_of_their_own():
    turn = Turn()
    with turn:
        for other in (copy.deepcopy(turn), pickle.loads(pickle.dumps(turn))):
            taken = []
            thread = threading.Thread(target=lambda: taken.append((other.at_once(), turn.at_once())))  # noqa: B023
            thread.start()
            thread.join()
            assert taken == [(True, False)]
