"""Paper 000's bilateral staggered projections to the letter (Eq. 12, 15–18 and Alg. 3), for trees of hinges with planar loops, in NumPy.

They are what the authors' program runs. Of what follows from the equations as they stand, and is not so in RedMax here:

- v_m = J v of the end of a step is taken with the J of its beginning. The reactions then lack M J̇ v, and where they are added again
  (Alg. 3, line 24) the quadratic velocity vector acts twice.
- Eq. 17 subtracts two motions with different multipliers of the loops; Gᵀ times their difference counts as a reaction of joints.
- Friction is found for bodies that may come apart, and the iteration ends where forces change by 3 %.
"""

from __future__ import annotations

import time

import numpy as np
from redmax_scenes import builder_of, placed

import unibody as ub
from staggered_projections import staggered_projections
from unibody.algebra.friction.staggered import FrictionPoint, stagger
from unibody.contact.joint_friction import contacts_of
from unibody.spatial.pose import adjoint, rotation_from_vector, skew

REGULARISATION = 1e-6


def bracket(V):
    """ad(V) of a twist."""
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = skew(V[:3])
    out[3:, :3] = skew(V[3:])
    return out


def carried(X):
    """Ad(X) of a pose."""
    return adjoint(X.R, np.array(X.p))


class Paper:
    """A scene of `redmax_friction.json`, stepped as the paper says. Twists are of the bodies, in their axes at their centres of mass."""

    def __init__(self, case):
        self.case, self.joints = case, case["joints"]
        self.n, self.h = len(case["bodies"]), case["h"]
        self.inside = [placed(body["E_ji"]) for body in case["bodies"]]
        self.inertia = np.array([[*body["inertia"], body["inertia"][3], body["inertia"][3]] for body in case["bodies"]]).ravel()
        self.first = np.cumsum([0, *(len(j["q0"]) for j in self.joints)])
        self.q = np.array([x for j in self.joints for x in j["q0"]])
        self.v = np.zeros(self.q.size)
        turning = [(k, j) for k, j in enumerate(self.joints) if j["q0"]]
        self.rubs = [(k, j["parent"] - 1, self.points(j, j["axis"], self.inside[k].inverse())) for k, j in turning]
        for loop in case["constraints"]:
            a = loop["bodyA"] - 1
            self.rubs.append((a, loop["bodyB"] - 1, self.points(loop, self.joints[a]["axis"], ub.Pose(p=loop["xA"]))))
        self.u = np.zeros(sum(len(made.places) for _, _, (made, _) in self.rubs))
        self.rubbed = np.zeros(6 * self.n)
        """Friction is kept between steps as wrenches on bodies, in their axes."""

    def points(self, pin, axis, X_BM):
        """Contact points of a pin, and its frame in the body."""
        friction = ub.JointFriction("pin", self.case["coefficient"], radius=pin["contact_radius"], height=pin["contact_height"])
        return contacts_of(friction, ub.Revolute(axis)), X_BM

    def move(self):
        """Poses of the bodies, J and J̇ v."""
        self.X, frames = [], []
        J, Jdot = np.zeros((6 * self.n, self.q.size)), np.zeros((6 * self.n, self.q.size))
        for k, joint in enumerate(self.joints):
            turn = ub.Pose()
            if joint["q0"]:
                turn = ub.Pose.from_rotation(rotation_from_vector(np.array(joint["axis"]) * self.q[self.first[k]]))
            p = joint["parent"] - 1
            frames.append((frames[p] if p >= 0 else ub.Pose()) @ placed(joint["E_pj0"]) @ turn)
            self.X.append(frames[-1] @ self.inside[k])
            own, above = slice(6 * k, 6 * k + 6), slice(6 * p, 6 * p + 6)
            if p >= 0:
                across = carried(self.X[k].inverse() @ self.X[p])
                J[own] = across @ J[above]
            if joint["q0"]:
                J[own, self.first[k]] = carried(self.inside[k].inverse()) @ np.array([*joint["axis"], 0.0, 0.0, 0.0])
            if p >= 0:
                turning = J[own] @ self.v - across @ (J[above] @ self.v)
                Jdot[own] = across @ Jdot[above] - bracket(turning) @ across @ J[above]
        return J, Jdot @ self.v

    def loads(self, V):
        """Gyroscopic wrenches and weight."""
        out = np.zeros(6 * self.n)
        for k, X in enumerate(self.X):
            own = slice(6 * k, 6 * k + 6)
            out[own] = bracket(V[own]).T @ (self.inertia[own] * V[own])
            out[6 * k + 3 : 6 * k + 6] += X.R.T @ (self.inertia[6 * k + 3] * np.array(self.case["gravity"]))
        return out

    def closures(self):
        """G_m and what it is to be: points of planar loops stay together across the hinges' axes (y)."""
        G, g = np.zeros((2 * len(self.case["constraints"]), 6 * self.n)), []
        for r, loop in enumerate(self.case["constraints"]):
            gap = np.zeros(3)
            for body, x, sign in ((loop["bodyA"] - 1, loop["xA"], 1.0), (loop["bodyB"] - 1, loop["xB"], -1.0)):
                X, x = self.X[body], np.array(x, float)
                G[2 * r : 2 * r + 2, 6 * body : 6 * body + 6] = sign * (X.R @ np.hstack([-skew(x), np.eye(3)]))[[0, 2]]
                gap += sign * X.apply(x)
            g += [gap[0], gap[2]]
        return G, -self.case["feedback"] * np.array(g)

    def rows(self, a, b, X_BM, local):
        """Rows at a pin's frame M as rows on the twists of all bodies."""
        out = np.zeros((len(local), 6 * self.n))
        X_MW = (self.X[a] @ X_BM).inverse()
        out[:, 6 * a : 6 * a + 6] = local @ carried(X_MW @ self.X[a])
        if b >= 0:
            out[:, 6 * b : 6 * b + 6] = -local @ carried(X_MW @ self.X[b])
        return out

    def step(self):
        h, inverse = self.h, 1.0 / self.inertia
        J, curved = self.move()
        f = self.loads(J @ self.v)
        A = J.T @ (self.inertia[:, None] * J)
        reduced = A @ self.v + h * J.T @ (f - self.inertia * curved)
        maximal = self.inertia * (J @ self.v) + h * f
        G, target = self.closures()
        N = [self.rows(a, b, X, made.N) for a, b, (made, X) in self.rubs]
        T = np.concatenate([self.rows(a, b, X, made.T[:, 0]) for a, b, (made, X) in self.rubs])
        response = T @ (inverse[:, None] * T.T)
        last = {}

        def contact(u):
            """For friction impulses u on the tangents: Eq. 17, §5.2.2, Eq. 16."""
            rubbed = T.T @ u if last else self.rubbed
            free, _ = held(np.diag(self.inertia), G, maximal + rubbed, target)
            found, loops = held(A, G @ J, reduced + J.T @ rubbed, target)
            last["impulse"], last["friction"] = self.inertia * (J @ found - free), rubbed
            through = self.through_joints(last["impulse"].reshape(-1, 6))
            alphas = []
            for k, ((a, b, _), N_k) in enumerate(zip(self.rubs, N, strict=True)):
                wrench = np.zeros(6 * self.n)
                if k < len(self.rubs) - len(self.case["constraints"]):
                    wrench[6 * a : 6 * a + 6] = through[a]
                    if b >= 0:
                        wrench[6 * b : 6 * b + 6] = -carried(self.X[a].inverse() @ self.X[b]).T @ through[a]
                else:
                    r = k - len(self.rubs) + len(self.case["constraints"])
                    wrench = -G[2 * r : 2 * r + 2].T @ loops[2 * r : 2 * r + 2]
                gram = N_k @ (inverse[:, None] * N_k.T) + REGULARISATION * np.eye(len(N_k))
                alphas.append(np.abs(np.linalg.solve(gram, N_k @ (inverse * wrench))).reshape(-1, 2).sum(axis=1))
            slip = T @ (inverse * (maximal + last["impulse"])) + response @ u
            return FrictionPoint(np.sqrt(inverse) * last["impulse"], self.case["coefficient"] * np.concatenate(alphas), slip, response)

        widths, most = np.ones(self.u.size, np.int64), self.case["most"]
        done = stagger(contact, widths, self.u, np.sqrt(self.case["change"]), most, crawls_above=np.inf)
        self.u, self.rubbed = done.friction, last["friction"]
        self.carried = done.contact.bounds / self.case["coefficient"] / h
        self.v, _ = held(A, G @ J, reduced + J.T @ (last["impulse"] + last["friction"]), target)
        self.q = self.q + h * self.v

    def staggered_step(self, bilateral, tolerance, most):
        """Alg. 2 instead, with the curvature of the motion and without coordinates of joints: contact points alone hold the bodies."""
        h = self.h
        J, curved = self.move()
        # Rows hold at the end of the step as they do here: what bodies must follow, J̇ v, is no slip.
        w = J @ self.v + h * (self.loads(J @ self.v) / self.inertia - curved)
        N = np.concatenate([self.rows(a, b, X, made.N) for a, b, (made, X) in self.rubs])
        T = np.concatenate([self.rows(a, b, X, made.T[:, 0]) for a, b, (made, X) in self.rubs])
        began = time.process_time()
        V, _, found = staggered_projections(
            lambda X: X / self.inertia[:, None], N, T, w, lambda a: self.case["coefficient"] * np.abs(a).reshape(-1, 2).sum(axis=1),
            np.ones(len(T), np.int64), self.u, bilateral=bilateral, tolerance=tolerance, most=most,
        )  # fmt: skip
        self.seconds, self.u = time.process_time() - began, found.friction
        self.v = np.linalg.lstsq(J, V, rcond=None)[0]
        np.testing.assert_allclose(J @ self.v, V, atol=1e-7)  # no joint comes apart
        self.q = self.q + h * self.v
        return found.iterations

    def through_joints(self, wrench):
        """Wrenches through the joints from those on the bodies, leaves first."""
        wrench = wrench.copy()
        for k in range(self.n - 1, 0, -1):
            p = self.joints[k]["parent"] - 1
            if p >= 0:
                wrench[p] += carried(self.X[k].inverse() @ self.X[p]).T @ wrench[k]
        return wrench

    def energy(self):
        J, _ = self.move()
        V = J @ self.v
        return 0.5 * V @ (self.inertia * V) - sum(
            self.inertia[6 * k + 3] * np.dot(self.case["gravity"], X.p) for k, X in enumerate(self.X)
        )


def chain(n, mu, h):
    """Hinges at 45° in a row, as the scenes of `redmax_friction.json`, in m, kg, s."""
    turned = np.sqrt(0.5)
    link = {"inertia": [0.01, 0.05, 0.05, 1.0], "E_ji": [1, 0, 0, 0.25, 0, 1, 0, 0, 0, 0, 1, 0]}
    root = {
        "type": "JointRevolute", "parent": 0, "axis": [0, 0, 1], "q0": [0.0], "qdot0": [0.0], "contact_radius": 0.05, "contact_height": 0.1,
        "E_pj0": [1, 0, 0, 0, 0, turned, -turned, 0, 0, turned, turned, 0],
    }  # fmt: skip
    straight = [1, 0, 0, 0.5, 0, 1, 0, 0, 0, 0, 1, 0]
    joints = [root, *({**root, "parent": k, "E_pj0": straight, "q0": [0.2 * (-1) ** k]} for k in range(1, n))]
    return {
        "h": h, "gravity": [0, 0, -9.81], "bodies": [link] * n, "joints": joints, "constraints": [], "springs": [], "coefficient": mu
    }  # fmt: skip


def rubbed(case):
    """A case in a builder, with its friction."""
    b = builder_of(case)
    pins = {f"joint{k}": j for k, j in enumerate(case["joints"], 1) if j["q0"]} | {f"loop{k}": c for k, c in enumerate(case["constraints"])}
    for name, pin in pins.items():
        size = {"radius": pin["contact_radius"], "height": pin["contact_height"]}
        b.add(ub.JointFriction(name, case["coefficient"], **size), name=f"{name} rub")
    return b


def held(A, G, b, target):
    """x and multipliers with A x + Gᵀ λ = b, G x = target."""
    k = len(target)
    x = np.linalg.solve(np.block([[A, G.T], [G, np.zeros((k, k))]]), np.concatenate([b, target]))
    return x[: len(b)], x[len(b) :]
