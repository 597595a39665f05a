"""What the mutations begin with: small files of every kind, with as many words of each format as fit."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

import unibody as ub
from unibody.files.scene_json import scene_to_json

CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + "".join(
    f"f {a} {b} {c}\n"
    for a, b, c in (
        (1, 2, 4), (1, 4, 3), (5, 7, 8), (5, 8, 6), (1, 5, 6), (1, 6, 2), (3, 4, 8), (3, 8, 7), (1, 3, 7), (1, 7, 5), (2, 6, 8), (2, 8, 4),
    )
)  # fmt: skip
PLY = """ply
format ascii 1.0
element vertex 4
property float x
property float y
property float z
element face 4
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
0 0 1
3 0 2 1
3 0 1 3
3 0 3 2
3 1 2 3
"""
URDF = """<robot name="r">
<material name="red"><color rgba="1 0 0 1"/></material>
<link name="base"><visual><geometry><mesh filename="cube.obj" scale="0.1 0.1 0.1"/></geometry></visual></link>
<link name="arm">
<inertial><origin xyz="0 0 0.1" rpy="0 0 0.2"/><mass value="1.5"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
<visual name="v"><origin xyz="0 0 1"/><geometry><box size="1 1 1"/></geometry><material name="red"/></visual>
<collision name="c"><geometry><cylinder radius="1" length="2"/></geometry></collision>
</link>
<link name="hand"><inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
<collision><geometry><mesh filename="cube.stl"/></geometry></collision></link>
<link name="tip"/>
<joint name="j" type="revolute"><origin xyz="0 0 1" rpy="0.1 0 0"/><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="10" velocity="3"/><dynamics damping="0.1" friction="0.2"/></joint>
<joint name="k" type="prismatic"><parent link="arm"/><child link="hand"/><axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1"/>
<mimic joint="j" multiplier="0.5" offset="0.1"/></joint>
<joint name="f" type="fixed"><parent link="hand"/><child link="tip"/></joint>
<transmission name="t"/>
</robot>"""
SDF = """<sdf version="1.9"><world name="w"><gravity>0 0 -9.8</gravity><light name="l"/><frame name="f"><pose>0 0 1 0 0 0</pose></frame>
<model name="m"><pose relative_to="f">0 0 1 0 0 .5</pose><self_collide>true</self_collide>
<link name="a"><pose degrees="true">0 0 1 0 0 90</pose><inertial><mass>2</mass><pose>0 0 .1 0 0 0</pose><inertia><ixx>.1</ixx><iyy>.1</iyy>
<izz>.1</izz><ixy>0</ixy></inertia></inertial><collision name="c"><geometry><box><size>.2 .2 .4</size></box></geometry><surface><friction>
<ode><mu>.5</mu></ode></friction></surface></collision><visual name="v"><geometry><mesh><uri>cube.obj</uri><scale>.1 .1 .1</scale></mesh>
</geometry><material><diffuse>1 0 0 1</diffuse></material></visual></link>
<link name="b"><pose relative_to="a">0 .5 0 0 0 0</pose><inertial><mass>1</mass><inertia><ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia>
</inertial><collision name="c"><geometry><sphere><radius>.1</radius></sphere></geometry></collision></link>
<link name="c"><pose>0 0 .5 0 0 0</pose><inertial><mass>1</mass></inertial></link><frame name="t" attached_to="b"/>
<joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><xyz>0 1 0</xyz><dynamics><damping>.1</damping>
<spring_stiffness>2</spring_stiffness></dynamics></axis></joint>
<joint name="k" type="prismatic"><parent>a</parent><child>b</child><axis><xyz expressed_in="t">1 0 0</xyz></axis></joint>
<joint name="s" type="universal"><parent>a</parent><child>c</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
</model></world></sdf>"""
MJCF = """<mujoco model="m">
<compiler angle="radian" autolimits="true"/>
<option timestep="0.002" gravity="0 0 -9.81"/>
<default><geom density="500" rgba="1 0 0 1"/><default class="small"><geom size="0.05"/></default></default>
<asset><mesh name="cube" file="cube.obj" scale="0.1 0.1 0.1"/>
<hfield name="hills" nrow="3" ncol="3" size="1 1 0.2 0.1"/><material name="mat" rgba="0 1 0 1"/></asset>
<worldbody>
<light pos="0 0 3"/><geom type="plane" size="5 5 0.1"/>
<body name="a" pos="0 0 1"><joint name="h" type="hinge" axis="0 1 0" range="-2 2" damping="0.1"
stiffness="1" armature="0.01" frictionloss="0.1"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05"/><site name="s1" pos="0 0 -0.5"/>
<body name="b" pos="0 0 -0.5"><joint name="s" type="slide" axis="0 0 1"/>
<geom class="small" type="sphere" material="mat"/><site name="s2"/></body></body>
<body name="c" pos="1 0 1"><freejoint name="free"/><geom type="mesh" mesh="cube"/></body>
<body name="d" pos="-1 0 1"><joint name="ball" type="ball"/><geom type="box" size="0.1 0.2 0.1"/>
<inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body>
</worldbody>
<tendon><spatial name="t" stiffness="5"><site site="s1"/><site site="s2"/></spatial>
<fixed name="ft"><joint joint="h" coef="1"/><joint joint="s" coef="2"/></fixed></tendon>
<equality><joint joint1="h" joint2="s" polycoef="0 1 0 0 0"/><weld body1="a" body2="d" active="false"/></equality>
<actuator><motor joint="h" gear="2" ctrlrange="-1 1"/><position joint="s" kp="10"/></actuator>
<contact><exclude body1="a" body2="b"/></contact>
<keyframe><key name="k" qpos="0.1 0 1 0 1 1 0 0 0 1 0 0 0"/></keyframe>
</mujoco>"""
RIGID_IPC: dict[str, Any] = {
    "scene_type": "distance_barrier_rb_problem", "solver": "ipc_solver", "timestep": 0.01, "max_time": 1.0, "max_iterations": -1,
    "distance_barrier_constraint": {"initial_barrier_activation_distance": 1e-3, "barrier_type": "ipc", "minimum_separation_distance": 0},
    "friction_constraints": {"iterations": -1}, "ipc_solver": {"velocity_conv_tol": 1e-3},
    "rigid_body_problem": {
        "gravity": [0, -9.8, 0], "coefficient_friction": 0.1, "coefficient_restitution": -1,
        "rigid_bodies": [
            {
                "mesh": "cube.obj", "position": [0, 5, 0], "rotation": [0, 0, 30], "scale": 2, "density": 100, "force": [1, 0, 0],
                "torque": [1, 0, 0], "linear_velocity": [1, 0, 0], "angular_velocity": [0, 1, 0], "group_id": 1, "enabled": True,
                "is_dof_fixed": [False, False, False, False, False, True], "type": "dynamic", "split_components": True,
            },
            {
                "mesh": "cube.stl", "dimensions": [1, 1, 1], "type": "kinematic", "kinematic_max_time": 1.0,
                "kinematic_poses": [{"position": [0, 0, 0], "rotation": [0, 0, 0]}, {"position": [0, 0, 0.1]}],
            },
            {"mesh": "cube.obj", "position": [0, -5, 0], "is_dof_fixed": True},
        ],
    },
}  # fmt: skip
LOOPS: dict[str, Any] = {
    "loops": [
        {
            "name": "pin", "type": "revolute", "parent": "base", "child": "hand", "parent_pose": {"xyz": [0, 0, 1], "rpy": [0.1, 0, 0]},
            "child_pose": {"xyz": [0, 0, 0]}, "axis": [0, 1, 0],
        },
        {"name": "rod", "type": "distance", "parent": "world", "child": "hand", "parent_pose": {"xyz": [0, 0, 3]}, "length": 2.0},
        {"name": "rail", "type": "prismatic", "parent": "arm", "child": "hand", "axis": [1, 0, 0]},
        {"name": "eye", "type": "ball", "parent": "base", "child": "arm", "parent_pose": {"xyz": [0, 0, 1]}},
    ],
    "couplings": [{"follower": "k", "leader": "j", "multiplier": 0.5, "offset": 0.1}],
}  # fmt: skip
LOOPS_TEXT = """# of the robot
loops:
  - name: pin
    type: revolute
    parent: base
    child: hand
    parent_pose: {xyz: [0, 0, 1], rpy: [0.1, 0, 0]}
    axis: [0, 1, 0]
  - {name: rod, type: distance, parent: world, child: hand, length: 2.0}
couplings:
  - {follower: k, leader: j, multiplier: 0.5, offset: 0.1}
"""
UNMIMICKED = re.sub(r"<mimic[^>]*>", "", URDF)
"""The robot, whose joints a file of loops may couple."""
TET = """$MeshFormat
4.1 0 8
$EndMeshFormat
$Nodes
1 4 1 4
3 0 0 4
1
2
3
4
0 0 0
1 0 0
0 1 0
0 0 1
$EndNodes
$Elements
1 1 1 1
3 0 4 1
1 1 2 3 4
$EndElements
"""
POLYFEM: dict[str, Any] = {
    "geometry": [
        {
            "mesh": "tet.msh", "transformation": {"translation": [0, 2, 0], "rotation": [0, 0, 30], "scale": 0.5}, "volume_selection": 1,
            "surface_selection": [{"id": 3, "axis": "-x", "position": 0.01}, {"id": 7, "box": [[-1, -1, -1], [0.1, 9, 9]]}],
        },
        {"mesh": "cube.obj", "is_obstacle": True, "transformation": {"dimensions": [2, 1, 4], "translation": [0, -3, 0]}},
    ],
    "materials": [{"type": "NeoHookean", "E": 1e5, "nu": 0.4, "rho": 1000, "id": 1}],
    "boundary_conditions": {
        "rhs": [0, 9.81, 0], "dirichlet_boundary": [{"id": 3, "value": ["0.1*t", "-min(t, 0.5)", 0]}],
        "obstacle_displacements": [{"id": 1000, "value": [0, "0.1*t", 0]}],
    },
    "initial_conditions": {"velocity": [{"id": 1, "value": [0, -1, 0]}]},
    "contact": {"enabled": True, "dhat": 1e-3, "friction_coefficient": 0.3, "epsv": 1e-3},
    "time": {"tend": 1.0, "dt": 0.01, "integrator": {"type": "BDF", "steps": 2}}, "space": {"discr_order": 1},
    "solver": {"contact": {"friction_iterations": 1}, "advanced": {"lump_mass_matrix": True}, "nonlinear": {"grad_norm": 1e-4}},
    "patch": [{"op": "replace", "path": "/time/tend", "value": 2.0}], "output": {"json": "sim.json"},
}  # fmt: skip


MSH_4 = """$MeshFormat
4.1 0 8
$EndMeshFormat
$Nodes
1 5 1 5
3 1 0 5
1
2
3
4
5
0 0 0
1 0 0
0 1 0
0 0 1
1 1 1
$EndNodes
$Elements
2 4 1 4
2 1 2 2
1 1 2 3
2 2 3 5
3 1 4 2
3 1 2 3 4
4 2 3 4 5
$EndElements
"""
MSH_2 = """$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
4
1 0 0 0
2 1 0 0
3 0 1 0
7 0 0 1
$EndNodes
$Elements
2
1 2 2 1 1 1 2 3
2 4 2 1 1 1 2 3 7
$EndElements
"""
POLYFEM_HELD: dict[str, Any] = {
    "geometry": [
        {
            "mesh": "tets.msh", "enabled": True, "volume_selection": {"id": 1},
            "transformation": {"translation": [0, 2, 0], "rotation": [0, 30, 0], "rotation_mode": "xyz", "scale": 0.5},
            "surface_selection": [
                {"id": 2, "axis": "y", "position": 0.9, "relative": True}, {"id": 3, "box": [[0, 0, 0], [1, 1, 1]]},
                {"id": 4, "center": [0, 0, 0], "radius": 0.1}, {"id": 5, "normal": [0, 1, 0], "point": [0, 0, 0]},
            ],
        },
        {
            "mesh": "cube.obj", "is_obstacle": True, "surface_selection": 7,
            "transformation": {"dimensions": [3, 0.1, 3], "translation": [0, -2, 0]},
        },
        {"type": "plane", "is_obstacle": True, "point": [0, -3, 0], "normal": [0, 1, 0]},
    ],
    "materials": [
        {"id": 1, "type": "NeoHookean", "E": 1e5, "nu": 0.3, "rho": 1000},
        {"id": [2, 3], "type": "SaintVenant", "lambda": 1e4, "mu": 1e4, "rho": 1},
    ],
    "time": {"tend": 0.03, "dt": 0.01, "t0": 0, "integrator": {"type": "BDF", "steps": 2}},
    "space": {"discr_order": 1},
    "boundary_conditions": {
        "rhs": [0, 9.81, 0], "dirichlet_boundary": [{"id": 2, "value": ["0.1*sin(t)", "0", "if(t > 1, x, -y)"]}],
        "obstacle_displacements": [{"id": 7, "value": ["0", "0.1*t^2", "exp(-t) - 1"]}],
    },
    "initial_conditions": {"velocity": [{"id": 1, "value": [0, -1, 0]}]},
    "contact": {"enabled": True, "dhat": 1e-3, "friction_coefficient": 0.3, "epsv": 1e-3},
    "solver": {"contact": {"friction_iterations": 1}, "advanced": {"lump_mass_matrix": True}},
    "output": {"json": "out.json"},
}  # fmt: skip


def words_of(*texts: str) -> tuple[str, ...]:
    """Names of elements and attributes."""
    found = {word for text in texts for word in re.findall(r"[<\s]([a-zA-Z_]\w*)", text)}
    return tuple(sorted(found | {"include", "replicate", "frame", "file", "name"}))


def cube_stl() -> bytes:
    """The cube as a binary STL."""
    vertices = np.array([[float(w) for w in line.split()[1:]] for line in CUBE.splitlines() if line.startswith("v")])
    faces = np.array([[int(w) - 1 for w in line.split()[1:]] for line in CUBE.splitlines() if line.startswith("f")])
    table = np.zeros(len(faces), np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")]))
    table["corners"] = vertices[faces]
    return b"\x00" * 80 + np.uint32(len(faces)).tobytes() + table.tobytes()


def walker() -> ub.Model:
    """A small tree with a loop, shapes of several kinds, forces and constraints."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    upper = b.body("upper", shape=ub.Capsule(0.05, 0.4), density=500.0, X_WB=ub.Pose((0, 0, 1.2)))
    lower = b.body("lower", shape=ub.Box((0.1, 0.1, 0.4)), density=500.0, X_WB=ub.Pose((0, 0, 0.8)))
    ball = b.body("ball", shape=ub.Sphere(0.1), density=500.0, X_WB=ub.Pose((1, 0, 1)))
    more = {"limits": (-2, 2), "damping": 0.1}
    b.joint("hip", ub.Revolute((0, 1, 0)), b.world, upper, X_PF=ub.Pose((0, 0, 1.4)), X_BM=ub.Pose((0, 0, 0.2)), **more)
    b.joint("knee", ub.Revolute((0, 1, 0)), upper, lower, X_PF=ub.Pose((0, 0, -0.2)), X_BM=ub.Pose((0, 0, 0.2)))
    b.add(ub.SpringDamper(upper.at(0, 0, 0.1), ball.at(), stiffness=20.0, damping=0.1))
    b.add(ub.Contact(friction=0.5))
    return b.build()


def soft() -> ub.Model:
    """All that is said of deformables: each kind, each law, attachments to bodies and to each other, vertices that are held and moved by a
    table, pressure, springs and forces on their points, contact with themselves."""
    b = ub.Builder()
    b.body("ground", shape=ub.Plane(), kind="static")
    arm = b.body("arm", shape=ub.Box((0.2, 0.05, 0.05)), density=500.0, X_WB=ub.Pose((0.12, 0, 1.0)))
    b.joint("hinge", ub.Revolute((0, 1, 0)), b.world, arm, X_PF=ub.Pose((0, 0, 1.0)), X_BM=ub.Pose((-0.12, 0, 0)))
    rubber = ub.NeoHookean(young=1e5, poisson=0.4, damping=1e-3)
    meat = ub.TetMesh.box((0.2, 0.1, 0.1), (1, 1, 1))
    block = b.soft("block", meat, rubber, 1000, X_WB=ub.Pose((0.12, 0, 1.2)), order=2, mass="consistent")
    b.attach(block.vertices[block.vertices.x[:, 2] < 1.151], arm)
    fabric = ub.Fabric(young=1e5, poisson=0.3, thickness=2e-3, strain_limit=0.2, warp=2e5)
    sheet = b.cloth("sheet", ub.TriMesh.grid((0.2, 0.2), 0.1), fabric, 300, X_WB=ub.Pose((0.45, 1.1, 1)), V_WB=(0, 0, 0, 0, 0, 1))
    rope = b.rod("rope", np.linspace((0, 1, 1), (0.4, 1, 1), 4), 5e-3, ub.RodMaterial(young=1e6, twist=True), 900)
    b.attach(rope.end(0), b.world, clamped=True)
    b.attach(sheet.vertices[[0]], rope.at(edge=2, weights=(0.125, 0.875)))
    b.prescribe(sheet.vertices[[9]], ub.Table((0.0, 1.0), [[0.55, 1.2, 1.0], [0.55, 1.2, 1.1]]), name="lifted")
    b.prescribe(block.vertices[[-1]], None, name="held")
    bag = b.cloth("bag", cushion(), ub.Fabric(1e5, 0.3, 2e-3), 300, pressure=50.0, X_WB=ub.Pose((0, -1, 0.5)))
    b.add(ub.SpringDamper(bag.vertex(0), arm.at(0, 0, 0.02), stiffness=3.0, damping=0.1), name="spring")
    b.add(ub.Cable([bag.at(face=1, weights=(0.2, 0.3, 0.5)), b.world.at(0, -1, 1)], stiffness=3.0), name="cable")
    b.add(ub.Contact(friction=0.4, self_contact=True), name="touch")
    return b.build()


def cushion() -> ub.TriMesh:
    """A closed surface."""
    x, faces = ub.Box((0.2, 0.2, 0.2)).triangles()
    return ub.TriMesh(x, faces)


def flesh() -> ub.Model:
    """A bone in flesh, which solver `redmax` carries."""
    b = ub.Builder()
    bone = b.body("bone", ub.Capsule(0.02, 0.2), mass=0.3)
    b.joint("shoulder", ub.Ball(), b.world, bone, X_BM=ub.Pose((0, 0, -0.1)))
    meat = b.soft("meat", ub.TetMesh.box((0.1, 0.1, 0.2), (1, 1, 1)), ub.CoRotated(young=1e5, poisson=0.3), 1000, X_WB=ub.Pose((0, 0, 0.3)))
    b.attach(meat.vertices[[0, 1, 2]], bone)
    return b.build()


class Corpus:
    """The files in a folder, and their contents by kind."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.stl = cube_stl()
        (folder / "cube.obj").write_text(CUBE)
        (folder / "cube.stl").write_bytes(self.stl)
        (folder / "tet.msh").write_text(TET)
        scenes = [ub.scenes.make(name) for name in ("pendulum", "four-bar", "bouncing-ball")]
        self.json = [json.loads(scene_to_json(scene)) for scene in (*scenes, ub.scenes.Scene(walker(), 1.0, 1e-3))]
        self.soft = [json.loads(scene_to_json(ub.scenes.Scene(soft(), 0.01, 1e-3)))]
        (folder / "tets.msh").write_text(MSH_4)
        self.urdf = [URDF]
        self.urdf_words = words_of(URDF)
        self.sdf_words = words_of(SDF)
        self.mjcf_words = words_of(MJCF)
        self.npz: dict[str, list[bytes]] = {"recording": [], "checkpoint": []}
        models = [(ub.scenes.build("double-pendulum"), "articulated"), (ub.scenes.build("pendulum"), "lagrange")]
        for model, solver in (*models, (soft(), "barrier"), (flesh(), "redmax")):
            sim = ub.Simulation(model, solver, dt=1e-3)
            recording = sim.run(0.01, every=2, progress=False)
            self.npz["recording"].append(recording.save(folder / "whole.npz").read_bytes())
            self.npz["checkpoint"].append(sim.save(folder / "whole.npz").read_bytes())
        (folder / "whole.npz").unlink()
