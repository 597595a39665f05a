"""Other engines as witnesses: our models in Pinocchio, MuJoCo and PyBullet, with the way there and back for states.

    to_pinocchio   every joint of the house; no forces
    to_mujoco      hinges, slides, balls, free bodies on the world, composites of them; joint springs and dampers
    to_bullet      trees of hinges and slides through a URDF file
    with_contact   piles of spheres, boxes and trees of hinges with ranges, in MuJoCo and PyBullet

Engines are imported when a model is converted, never before; what cannot be said in their words raises `CannotSay`.
"""


class CannotSay(ValueError):
    """The other engine has no word for a part of the model."""
