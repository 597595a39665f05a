"""Contacts as rows: directions, wrenches on the two bodies, relative velocities.

A contact between bodies a and b at x, with its normal n from a to b, has the directions n, t₁, t₂. Along each the bodies part with the
velocity d·(u_b(x) − u_a(x)); an impulse λ acts on b as d λ at x, and on a against it. A fourth row is the turn about the normal,
n·(ω_b − ω_a), with a torque.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unibody.coordinates.held import Motion, cross_rows


@dataclass(frozen=True)
class ContactRows:
    """n contacts: bodies (n, 2), points (n, 3), directions (n, k, 3), the normal first; if `spin`, the last is that of a turn."""

    bodies: np.ndarray
    points: np.ndarray
    directions: np.ndarray
    spin: bool = False

    @property
    def width(self) -> int:
        """Rows of a contact."""
        return self.directions.shape[1]

    def velocities(self, motion: Motion, h: float) -> np.ndarray:
        """(n, k) after a time h of the rates of the motion."""
        apart = motion.at(self.bodies[:, 1], self.points, h) - motion.at(self.bodies[:, 0], self.points, h)
        out = np.einsum("nkj,nj->nk", self.directions, apart)
        if self.spin:
            turns = motion.spins(self.bodies[:, 1], h) - motion.spins(self.bodies[:, 0], h)
            out[:, -1] = np.einsum("nj,nj->n", self.directions[:, -1], turns)
        return out

    def wrenches(self, motion: Motion) -> np.ndarray:
        """(n, k, 2, 6) of unit impulses on a and b, in world axes at the centres of mass."""
        out = np.zeros((len(self.bodies), self.width, 2, 6))
        for side, sign in ((0, -1.0), (1, 1.0)):
            arm = (self.points - motion.centre[self.bodies[:, side]])[:, None, :]
            out[:, :, side, 3:] = sign * self.directions
            out[:, :, side, :3] = sign * cross_rows(arm, self.directions)
            if self.spin:
                out[:, -1, side, :3], out[:, -1, side, 3:] = sign * self.directions[:, -1], 0.0
        return out

    def on_bodies(self, wrenches: np.ndarray, impulses: np.ndarray, n_bodies: int) -> np.ndarray:
        """(bodies, 6) the sum of the wrenches of impulses (n, k)."""
        out = np.zeros((n_bodies, 6))
        np.add.at(out, self.bodies.ravel(), np.einsum("nk,nksj->nsj", impulses, wrenches).reshape(-1, 6))
        return out


def tangents(normals: np.ndarray, plane_normal: np.ndarray | None, along: np.ndarray | None = None) -> np.ndarray:
    """(n, 2, 3) two unit vectors across each normal, the first along the axis of the world that is most across it, or as near as can be
    to a direction that is wanted (n, 3; not numbers: none); in a plane (n, 1, 3), the one that lies in it."""
    if plane_normal is not None:
        return cross_rows(plane_normal, normals)[:, None, :]
    axis = np.eye(3)[np.abs(normals).argmin(axis=1)]
    if along is not None:
        lies = np.abs(np.einsum("nj,nj->n", along, normals)) < 1.0 - 1e-9
        axis = np.where(lies[:, None], along, axis)
    first = axis - np.einsum("nj,nj->n", axis, normals)[:, None] * normals
    first /= np.linalg.norm(first, axis=1)[:, None]
    return np.stack([first, cross_rows(normals, first)], axis=1)


def contact_rows(
    bodies: np.ndarray, points: np.ndarray, normals: np.ndarray, plane_normal: np.ndarray | None = None, along: np.ndarray | None = None,
    spin: bool = False,
) -> ContactRows:  # fmt: skip
    """Rows of contacts with friction."""
    normal = normals[:, None, :]
    spin = spin and plane_normal is None
    rows = [normal, tangents(normals, plane_normal, along), *([normal] if spin else [])]
    return ContactRows(bodies, points, np.concatenate(rows, axis=1), spin)
