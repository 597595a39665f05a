"""A robot grips a ball with a finger of rubber and a finger of steel, lifts it, and a weight swings on a rope from its forearm.

Robot, rope, rubber and contact are one scene in solver `barrier`: its arm comes from a MuJoCo file (MJCF), what MuJoCo's file has no words
for is added in Python. The arm alone, on the same servos, runs in MuJoCo and in solver `articulated` as a witness.

    python examples/robot_hand.py        as `make demo`: writes demo.html (a page that plays offline) and demo.png
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import unibody as ub

ARM = """
<mujoco model="arm">
  <option timestep="0.0002" integrator="implicitfast"/>
  <worldbody>
    <geom type="cylinder" pos="-0.36 0 0.17" size="0.03 0.17" contype="0" conaffinity="0"/>
    <body name="upper arm" pos="-0.36 0 0.36">
      <joint name="shoulder" axis="0 1 0" damping="0.5"/>
      <geom type="capsule" fromto="0 0 0 0.18 0 0.12" size="0.02" mass="0.8" contype="0" conaffinity="0"/>
      <body name="forearm" pos="0.18 0 0.12">
        <joint name="elbow" axis="0 1 0" damping="0.5"/>
        <geom type="capsule" fromto="0 0 0 0.18 0 -0.2" size="0.016" mass="0.5" contype="0" conaffinity="0"/>
        <body name="palm" pos="0.18 0 -0.2">
          <joint name="wrist" axis="0 1 0" damping="0.2"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.14" size="0.012" mass="0.1" contype="0" conaffinity="0"/>
          <geom type="box" size="0.075 0.02 0.01" pos="0 0 -0.145" mass="0.2" contype="0" conaffinity="0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position joint="shoulder" kp="400" kv="20"/>
    <position joint="elbow" kp="300" kv="15"/>
    <position joint="wrist" kp="100" kv="5"/>
  </actuator>
</mujoco>
"""
LIFT = 0.1
"""How far the wrist goes up [m], between 0.35 s and 0.85 s."""
BALL, DT, DURATION = 0.03, 0.01, 1.1
WRIST = np.array([0.0, 0.28])
"""Where the wrist begins, in the plane of the arm (x, z) [m]."""


def targets(t: float) -> np.ndarray:
    """Angles of shoulder, elbow and wrist that lift the wrist straight up with the palm level: two links, in closed form."""
    s = np.clip((t - 0.35) / 0.5, 0.0, 1.0)
    x, z = WRIST + [0.36, -0.36] + np.array([0.0, LIFT * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)])
    a, b = np.hypot(0.18, 0.12), np.hypot(0.18, 0.2)
    reach = np.hypot(x, z)
    inner = np.arccos((a * a + reach * reach - b * b) / (2.0 * a * reach))
    upper = np.arctan2(z, x) + inner                                  # of the upper arm above the horizontal
    lower = np.arctan2(z - a * np.sin(upper), x - a * np.cos(upper))
    shoulder = np.arctan2(0.12, 0.18) - upper                         # about +y, which turns x down
    elbow = np.arctan2(-0.2, 0.18) - lower - shoulder
    return np.array([shoulder, elbow, -shoulder - elbow])


def build(path: str) -> ub.Model:
    """The arm of the file, and what it holds."""
    b = ub.Builder.load(path)
    b.body("table", shape=ub.Plane(), kind="static")
    b.body("ball", shape=ub.Sphere(BALL), mass=0.1, X_WB=ub.Pose((0, 0, BALL + 5e-4)))
    palm, forearm = b.bodies["palm"], b.bodies["forearm"]
    # one finger of rubber around a bone, one of steel, both on a hinge under the palm
    for name, side in (("rubber", -1.0), ("steel", 1.0)):
        x, wide, long = side * (BALL + 0.017), 0.024, 0.1
        middle = 0.062
        at = ub.Pose((x, 0, middle))
        shape = ub.Capsule(3e-3, 0.06) if name == "rubber" else ub.Box((wide, wide, long))
        finger = b.body(f"{name} finger", shape=shape, mass=0.04, X_WB=at)
        root = middle + 0.5 * long + 0.008
        places = ub.Pose((x, 0, root - WRIST[1])), ub.Pose((0, 0, root - middle))
        b.joint(f"{name} knuckle", ub.Revolute(axis=(0, side, 0)), palm, finger, *places)
        b.add(ub.Motor(f"{name} knuckle", effort=0.25, kd=0.05), name=f"{name} motor")
        if name == "rubber":
            flesh = b.soft("flesh", ub.TetMesh.box((wide, wide, long), (2, 2, 6)), ub.NeoHookean(1e5, 0.4, damping=2e-3), 1000.0, X_WB=at)
            inside = flesh.vertices.x - at.p
            on_axis = np.abs(inside[:, :2]).max(axis=1) < 1e-9
            b.attach(flesh.vertices[on_axis & (np.abs(inside[:, 2]) < 0.5 * long - 1e-9)], finger)
    # a weight on a rope under the forearm
    weight = b.body("weight", shape=ub.Sphere(0.018), mass=0.08, X_WB=ub.Pose((-0.13, 0, 0.12)), V_WB=(0, 0, 0, 0, 0.5, 0))
    line = [(-0.13, 0, z) for z in np.linspace(0.42, 0.12, 10)]
    rope = b.rod("rope", line, radius=3e-3, material=ub.RodMaterial(young=2e6), density=900.0)
    b.attach(rope.vertices[[0]], forearm)
    b.attach(rope.vertices[[-1]], weight)
    b.add(ub.Contact(friction=0.6, damping=1e-3, reach=5e-4))
    return b.build()


def steered(t: float, state: ub.State, control: ub.Control) -> None:
    """The arm's servos follow `targets`."""
    for k, angle in enumerate(targets(t)):
        control.set_target(f"actuator {k}", float(angle))


def arm_file(folder: str) -> str:
    path = Path(folder) / "arm.xml"
    path.write_text(ARM, encoding="utf-8")
    return str(path)


def simulate(tell: Callable[[str], Any] = lambda line: None) -> ub.Recording:
    """The whole scene; what goes on is told."""
    with tempfile.TemporaryDirectory() as folder:
        model = build(arm_file(folder))

    def told(t: float, state: ub.State, control: ub.Control) -> None:
        tell(f"simulated {t:.2f} of {DURATION} s")
        steered(t, state, control)

    return ub.Simulation(model, "barrier", dt=DT).run(DURATION, control=told, progress=False)


def check(rec: ub.Recording) -> None:
    """The ball is in the hand, which is up; nothing crosses, because contact is a barrier; the weight hangs on its rope."""
    ball, palm = rec.pose("ball")[:, 2], rec.pose("palm")[:, 2]
    assert abs((palm[-1] - palm[0]) - LIFT) < 0.01, palm[-1]
    assert ball[-1] - ball[0] > 0.8 * LIFT, ball[-1]
    assert np.abs(rec.strain("rope")).max() < 0.05  # m g/(E A) is 0.014 at rest; the jerk of the lift and the swing come to it


def witness() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(times, angles here, angles in MuJoCo) of the arm alone on the same servos."""
    import mujoco

    with tempfile.TemporaryDirectory() as folder:
        path = arm_file(folder)
        scene = ub.load(path)
        rec = ub.Simulation(scene.model, "articulated", dt=2e-4).run(DURATION, control=steered, progress=False)
        theirs = mujoco.MjModel.from_xml_path(path)
    data, angles = mujoco.MjData(theirs), []
    for t in rec.t:
        angles.append(data.qpos.copy())
        data.ctrl[:] = targets(t)
        mujoco.mj_step(theirs, data)
    return rec.t, rec.q, np.array(angles)


def picture(rec: ub.Recording, seen: tuple[np.ndarray, np.ndarray, np.ndarray], path: Path) -> Path:
    """Three instants of the scene, and below the arm's angles beside MuJoCo's."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 7.2), layout="constrained")
    grid = figure.add_gridspec(2, 3, height_ratios=(2.4, 1.0))
    with tempfile.TemporaryDirectory() as folder:
        for k, t in enumerate((0.0, 0.35, DURATION)):
            shot = rec.render(Path(folder) / f"{k}.png", at=t, size=(640, 560), camera=(-62, 14))
            axes = figure.add_subplot(grid[0, k])
            axes.imshow(plt.imread(shot))
            axes.set_title(f"t = {t:.2f} s")
            axes.axis("off")
    axes = figure.add_subplot(grid[1, :])
    t, ours, theirs = seen
    for k, name in enumerate(("shoulder", "elbow", "wrist")):
        line = axes.plot(t, np.degrees(ours[:, k]), label=name)[0]
        axes.plot(t[::200], np.degrees(theirs[::200, k]), "o", color=line.get_color(), markersize=4)
    off = np.degrees(np.abs(ours - theirs).max())
    axes.set_title(f"the arm alone: here (lines) and in MuJoCo (dots), at most {off:.2g}° apart", fontsize=10)
    axes.set_xlabel("t [s]")
    axes.set_ylabel("angle [°]")
    axes.legend(loc="lower left", ncols=3)
    figure.savefig(path, dpi=100)
    return path


def main(arguments: list[str]) -> None:
    from unibody import kernel

    folder, began, stop = Path(arguments[0] if arguments else "."), time.perf_counter(), threading.Event()
    doing = ["reading the scene"]

    def watch() -> None:
        """A line every few seconds, whatever happens: the compiler is what a first run waits for."""
        while not stop.wait(5.0):
            made = sum(not cached for _, _, cached in list(kernel.compiled))
            told = f", {made} kernels compiled" if made else ""
            print(f"  {time.perf_counter() - began:4.0f} s  {doing[0]}{told}", flush=True)

    def tell(line: str) -> None:
        doing[0] = line

    threading.Thread(target=watch, daemon=True).start()
    print("A robot grips a ball with a soft finger, a weight swings on a rope. A first run compiles its kernels.", flush=True)
    rec = simulate(tell)
    check(rec)
    tell("the arm in MuJoCo")
    seen = witness()
    tell("picture and page")
    page, shot = rec.to_html(folder / "demo.html", title="A robot's soft finger"), picture(rec, seen, folder / "demo.png")
    stop.set()
    held = rec.pose("ball")[-1, 2] - rec.pose("ball")[0, 2]
    apart = np.degrees(np.abs(seen[1] - seen[2]).max())
    print(f"The hand lifted the ball by {100 * held:.1f} cm; the arm alone is within {apart:.2g}° of MuJoCo's.")
    print(f"{time.perf_counter() - began:.0f} s. A page that plays: {page.absolute()}\nA picture: {shot.absolute()}")


if __name__ == "__main__":
    main(sys.argv[1:])
