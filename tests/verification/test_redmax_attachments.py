"""Attachments by elimination against the paper's form (paper 000, Eq. 6): attached vertices as unknowns of their own, held by multipliers.

    [M̃_r  0    Jᵀ Γᵀ] [y]   [f̃_r]        H, R over all vertices that are free or attached, with Γ of the attached ones
    [0    H   −E    ] [a] = [R  ]        λ: the forces with which the bodies hold them
    [Γ J  −Eᵀ  0    ] [λ]   [0  ]

written out densely in NumPy from the skeleton alone (with the attached masses) and from the energies' Hessians; and the same form as
`redmax` has it (`linear="kkt"`), beside elimination over several steps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import unibody as ub
from unibody.coordinates.workspace import Y
from unibody.energies.base import PROJECTED
from unibody.energies.evaluate import EnergyTables
from unibody.solvers.redmax.flesh_tables import VertexTables, with_vertex_masses
from unibody.solvers.redmax.flesh_workspace import VERTEX_F
from unibody.solvers.redmax.linear import fill_dense
from verification.test_redmax_deformables import FLESH, limb, machine, mixed, run
from verification.test_redmax_flesh_rows import tied

H = 2e-3


def test_elimination_and_multipliers_give_the_same_accelerations() -> None:
    """In a state of motion, with damped flesh; both to round-off of one dense solution, 1e-9 of the accelerations."""
    model = limb(replace(FLESH, damping=1e-2)).build()
    bound = ub.solvers.RedMax().bind(model)
    state, memory = bound.start()
    control = model.neutral_control()
    state, memory, _, _ = bound.rollout(state, memory, control, H, 40, 1, False)
    q, v, _ = bound._unpack(state, memory)
    # by elimination
    system, held = bound.system, bound.system.vertices
    system.prepare(H)
    y = system.advance_from(state.t, q.copy(), v.copy(), control).copy()
    a = system.accelerations()[: 3 * len(held.free)]
    R = system.view(VERTEX_F).reshape(-1, 3).copy()
    # the skeleton alone: M̃_r, f̃_r and J
    heavy = with_vertex_masses(model, VertexTables(model))
    bare = ub.solvers.RedMax(linear="dense").bind(replace(heavy, deformables=(), attachments=()))
    nq, nv = model.nq, model.nv
    bare.system.prepare(H)
    alone = bare.system.advance_from(state.t, q[:nq].copy(), v[:nv].copy(), control).copy()
    M = np.zeros(nv * nv)
    fill_dense(bare.system.layout, bare.system.ints, bare.system.work, M)
    M = M.reshape(nv, nv)
    twists = np.stack([bare.system.push(q[:nq], unit) for unit in np.eye(nv)], axis=2)  # (bodies, 6, nv)
    poses = bound.observe(state, memory, control).poses
    # H over all vertices
    n, x = held.count, bound.observe(state, memory, control).vertices
    tables = EnergyTables([(s, d.first) for d in model.deformables for s in d.stencils], n)
    tables.evaluate(x, PROJECTED)
    K = np.diag(np.repeat(held.own_mass, 3))
    for batch in tables.batches:
        for vertices, block, damping in zip(batch.vertices, batch.blocks, batch.damping, strict=True):
            index = (3 * vertices[:, None] + np.arange(3)).ravel()
            K[np.ix_(index, index)] += H * (H + damping) * block
    # Γ J of attached vertices
    G = np.zeros((3 * len(held.held), nv))
    for k, ((_, body), p) in enumerate(zip(held.held.tolist(), held.held_p, strict=True)):
        rotation = ub.Pose(poses[body, :3], poses[body, 3:]).R
        G[3 * k : 3 * k + 3] = rotation @ (twists[body, 3:] + np.cross(twists[body, :3], p, axis=0))
    E = np.zeros((3 * n, len(G)))
    for k, vertex in enumerate(held.held[:, 0]):
        E[3 * vertex : 3 * vertex + 3, 3 * k : 3 * k + 3] = np.eye(3)
    zero, none = np.zeros((nv, 3 * n)), np.zeros((len(G), len(G)))
    matrix = np.block([[M, zero, G.T], [zero.T, K, -E], [G, -E.T, none]])
    found = np.linalg.solve(matrix, np.concatenate([M @ alone, R.ravel(), np.zeros(len(G))]))
    of_free = found[nv : nv + 3 * n].reshape(-1, 3)[held.free].ravel()
    assert np.abs(found[:nv] - y).max() < 1e-9 * np.abs(y).max()
    assert np.abs(of_free - a).max() < 1e-9 * np.abs(a).max()
    assert np.abs(y - alone).max() > 0.01 * np.abs(y).max()  # flesh matters
    assert system.view(Y).size == nv


SMALL = {
    "springs": lambda: limb(springs=True, cells=(4, 2, 2)).build(), "of all kinds": mixed, "rows": lambda: tied().build(),
    "loops and limits": lambda: machine().build(),
}  # fmt: skip


@pytest.mark.parametrize("rule", ["linearly-implicit", "bdf2"])
@pytest.mark.parametrize("name", SMALL)
def test_the_papers_form_moves_everything_as_elimination_does(name: str, rule: str) -> None:
    """Vertices, what joints and attachments bear and multipliers, to 1e-9 of the largest: springs between flesh and bones, cloth on solids,
    a driven body, loops, a drive, a coupling, a limit, rows on vertices. Newton's iteration ends at 1e-11 of the velocities."""
    model = SMALL[name]()
    ours, paper = (run(model, 4e-3, 1e-3, rule=rule, linear=linear, project=False) for linear in ("auto", "kkt"))
    for d in model.deformables:
        assert np.abs(ours.vertices(d.name) - paper.vertices(d.name)).max() < 1e-9 * np.abs(ours.vertices(d.name)).max()
    for names, told in (([j.name for j in model.joints], "reaction"), ([n for n, _ in model.constraints], "multiplier")):
        for each in names:
            found, wanted = (np.asarray(getattr(rec, told)(each)).reshape(len(rec.t), -1) for rec in (paper, ours))
            off = np.abs(found - wanted).max(axis=1)
            # bdf2's first step ends by taking κ h n off its velocities; what is told of it is one correction from there, and a correction
            # of some 1e-6 of the accelerations, as the drive from rest asks for, is another one in each form.
            assert off[1] < (1e-6 if rule == "bdf2" else 1e-8) * np.abs(wanted).max() + 1e-10
            assert np.delete(off, 1).max() < 1e-8 * np.abs(wanted).max() + 1e-10
    assert np.abs(ours.v).max() > 1e-3


def test_the_papers_form_asks_for_deformables() -> None:
    with pytest.raises(ub.ModelError, match="linear='kkt'.*deformables"):
        ub.Simulation(ub.scenes.build("stiff-chain", n=3), ub.solvers.RedMax(linear="kkt"), dt=1e-2)
