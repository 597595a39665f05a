"""A stand-in for the model: bodies in random poses and joints in random positions, nothing joined to anything."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from unibody.element import LEDGER, Kinematics, Point
from unibody.forces.base import Loads
from unibody.joints import Ball, Composite, Free, Prismatic, Revolute, Universal
from unibody.spatial.pose import Pose, rotation_from_quaternion, rotation_from_vector, skew

BODIES = ["world", "a", "b", "c"]
JOINTS = {
    "hinge": Revolute((0, 1, 0)),
    "ball": Ball(),
    "free": Free(),
    "cardan": Universal(),
    "mixed": Composite(Prismatic((1, 0, 0)), Ball(), Revolute((0, 0, 1))),
}
MOTORS = 8


class FakeJoint:
    """A JointView: `scalar_dofs` gives, by degree of freedom, the q index of its coordinate."""

    def __init__(self, name: str, element, q_start: int, v_start: int):
        self.name, self.element, self.q_start, self.v_start = name, element, q_start, v_start
        self.nq, self.nv = element.nq, element.nv
        self.q0 = element.neutral()

    def scalar_dofs(self) -> dict[int, int]:
        out, q, v = {}, self.q_start, 0
        for part in self.element.parts():
            if part.nq == part.nv:
                out.update({v + i: q + i for i in range(part.nv)})
            q, v = q + part.nq, v + part.nv
        return out


class FakeWorld:
    """Packing and Kinematics at once. Displacements act on copies: `moved`, `turned` and `pushed` return new worlds' kinematics."""

    def __init__(self, seed: int = 0):
        random = np.random.default_rng(seed)
        self.joints, nq, nv = {}, 0, 0
        for name, element in JOINTS.items():
            self.joints[name] = FakeJoint(name, element, nq, nv)
            nq, nv = nq + element.nq, nv + element.nv
        X, V = np.zeros((len(BODIES), 12)), np.zeros((len(BODIES), 6))
        X[0, [0, 4, 8]] = 1.0
        for b in range(1, len(BODIES)):
            X[b, :9] = rotation_from_quaternion(random.normal(size=4)).ravel()
            X[b, 9:] = random.normal(size=3)
            V[b] = random.normal(size=6)
        q = np.concatenate([j.advance(j.neutral(), random.normal(size=j.nv), 0.7) for j in JOINTS.values()])
        self.signals: list = []
        self.targets: dict[str, int] = {}
        control = np.full(nv + 6 * len(BODIES) + 2 * MOTORS, np.nan)
        self.kinematics = Kinematics(0.3, X, V, q, random.normal(size=nv), np.zeros(0), control, self)

    def body(self, name: str) -> int:
        return BODIES.index(name)

    def joint(self, name: str) -> FakeJoint:
        return self.joints[name]

    def joint_above(self, body: str):
        """Every body hangs in a hinge about its y axis, whose q no pose knows of."""
        j = self.joints["hinge"]
        return SimpleNamespace(name=j.name, element=j.element, q_start=j.q_start, nq=1, nv=1, q0=j.q0, X_BM=Pose())

    def signal(self, value, what: str) -> int:
        self.signals.append(value)
        return len(self.signals) - 1

    def signal_vector(self, value, count: int, what: str) -> int:
        first = len(self.signals)
        self.signals += [(lambda t, i=i: value(t)[i]) if callable(value) else value[i] for i in range(count)]
        return first

    def motor_target(self, name: str) -> int:
        return self.targets.setdefault(name, self.kinematics.control.size - 2 * MOTORS + 2 * len(self.targets))

    def start_position(self, point: Point) -> np.ndarray:
        return self.kinematics.position(point)

    def moved(self, body: str, d: np.ndarray, k: Kinematics | None = None) -> Kinematics:
        """X_WB ← X_WB exp(d), exactly."""
        k = k or self.kinematics
        X = k.X.copy()
        R, p = X[self.body(body), :9].reshape(3, 3), X[self.body(body), 9:]
        phi, angle, P = d[:3], np.linalg.norm(d[:3]), skew(d[:3])
        way = d[3:]
        if angle > 0.0:
            # (1 − cos)/θ² through the half angle, and a series for (θ − sin)/θ³: both exact to round-off for small θ.
            b = 2.0 * (np.sin(angle / 2) / angle) ** 2
            c = (angle - np.sin(angle)) / angle**3 if angle > 0.1 else 1 / 6 - angle**2 / 120 + angle**4 / 5040
            way = d[3:] + b * P @ d[3:] + c * P @ P @ d[3:]
        X[self.body(body), 9:] = p + R @ way
        X[self.body(body), :9] = (R @ rotation_from_vector(phi)).ravel()
        return Kinematics(k.t, X, k.V, k.q, k.v, k.signals, k.control, self)

    def pushed(self, body: str, dV: np.ndarray) -> Kinematics:
        """V_WB ← V_WB + dV."""
        k = self.kinematics
        V = k.V.copy()
        V[self.body(body)] += dV
        return Kinematics(k.t, k.X, V, k.q, k.v, k.signals, k.control, self)

    def turned(self, joint: str, d: np.ndarray) -> Kinematics:
        """The joint's q moved along d."""
        k, j = self.kinematics, self.joints[joint]
        q = k.q.copy()
        q[j.q_start : j.q_start + j.nq] = j.element.advance(k.joint_q(joint), d, 1.0)
        return Kinematics(k.t, k.X, k.V, q, k.v, k.signals, k.control, self)

    def hastened(self, joint: str, dv: np.ndarray) -> Kinematics:
        """The joint's v plus dv."""
        k, j = self.kinematics, self.joints[joint]
        v = k.v.copy()
        v[j.v_start : j.v_start + j.nv] += dv
        return Kinematics(k.t, k.X, k.V, k.q, v, k.signals, k.control, self)

    def coasted(self, h: float) -> Kinematics:
        """All bodies and joints after a time h with constant V and v."""
        k = self.kinematics
        for body in BODIES[1:]:
            k = self.moved(body, h * self.kinematics.twist(body), k)
        q = [j.element.advance(k.joint_q(n), h * k.joint_v(n), 1.0) for n, j in self.joints.items()]
        return Kinematics(k.t + h, k.X, k.V, np.concatenate(q), k.v, k.signals, k.control, self)

    def loads(self, force, kinematics: Kinematics | None = None) -> SimpleNamespace:
        """What NumPy `apply` adds, as arrays: F (bodies×6), effort and actuation (nv), ledger."""
        k = kinematics or self.kinematics
        loads = Loads()
        force.apply(k, loads)
        out = SimpleNamespace(F=np.zeros_like(k.V), effort=np.zeros_like(k.v), actuation=np.zeros_like(k.v), ledger=loads.ledger)
        for body, F in loads.wrenches.items():
            out.F[self.body(body)] += F
        for source, target in ((loads.efforts, out.effort), (loads.actuation, out.actuation)):
            for joint, effort in source.items():
                j = self.joints[joint]
                target[j.v_start : j.v_start + j.nv] += effort
        return out

    def kernel_loads(self, forces: list) -> SimpleNamespace:
        """What the kernel of the class adds for several instances at once."""
        k = self.kinematics
        index, parameters = type(forces[0]).pack([(f"force{i}", f) for i, f in enumerate(forces)], self)
        signals = np.array([s(k.t) if callable(s) else s for s in self.signals], float)
        F, effort, ledger = np.zeros(k.V.size), np.zeros(2 * k.v.size), np.zeros(LEDGER)
        type(forces[0]).add_kernel(index, parameters, signals, k.X.ravel(), k.V.ravel(), k.q, k.v, k.control, F, effort, ledger)
        return SimpleNamespace(F=F.reshape(-1, 6), effort=effort[: k.v.size], actuation=effort[k.v.size :], ledger=ledger)
