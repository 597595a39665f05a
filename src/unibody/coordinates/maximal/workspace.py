"""The arrays of systems in maximal and planar coordinates, behind those that all systems have (`coordinates.workspace`).

Nodes are moving bodies in the order of the spanning forest, parents first. Below, n nodes, w velocities of a body (6, in a plane 3).
"""

from __future__ import annotations

from unibody.arena import SlotBlock
from unibody.coordinates.workspace import COMMON

MAXIMAL = SlotBlock("maximal coordinates", COMMON)
_int, _constant, _work = MAXIMAL.integers, MAXIMAL.constants, MAXIMAL.work

NODE_PARENT = _int("NODE_PARENT", "(n,) parent node, or −1")
NODE_ROWS = _int("NODE_ROWS", "(n,) rows of the node's joint, one per armature among them")
NODE_PLAN = _int("NODE_PLAN", "where the factors of each node begin (`algebra.saddle.baraff`); the last is their size")
NODE_BODY = _int("NODE_BODY", "(n, 2) body, and its place in the state")
NODE_JOINT = _int("NODE_JOINT", "(n, 2) relative joint or −1, 1 if the node is its parent")
DRIVEN = _int("DRIVEN", "(…, 2) kinematic body, place of its motion in SIGNALS")
GROUPS = _int("GROUPS", "rows that block Gauss–Seidel takes at once (`block_gauss_seidel`)")
NODE_M = _constant("NODE_M", "(n, w, w) mass matrices at origins in body axes")
PLANES = _constant("PLANES", "(bodies, 21) of planar worlds: n, e₁, e₂ in body axes, R_WB at angle 0, distance from the plane")
WORLD_PLANE = _constant("WORLD_PLANE", "(9,) n, e₁, e₂ in the world")
A_WB = _work("A_WB", "(bodies, 6) V̇_WB of driven bodies; 0 of others")
NODE_G = _work("NODE_G", "(n, w, w) rows of the node's joint on itself")
NODE_P = _work("NODE_P", "(n, w, w) and on its parent")
NODE_C = _work("NODE_C", "(n, w) compliances of these rows")
NODE_B = _work("NODE_B", "(n, w) right sides of these rows")
NODE_F = _work("NODE_F", "(n, w) loads with gravity and −V ×* M V")
NODE_Y = _work("NODE_Y", "(n, w) V̇ of nodes")
NODE_L = _work("NODE_L", "(n, w) multipliers of the nodes' joints")
SAVED_Y = _work("SAVED_Y", "(n, w) accelerations, set aside while a correction is solved for")
FACTOR = _work("FACTOR", "factors of the forest, or of the method that was chosen")
INVERSE = _work("INVERSE", "(n, w, w) M⁻¹, for block Gauss–Seidel")
SIDE = _work("SIDE", "(2, rows) right sides and multipliers, for block Gauss–Seidel")
