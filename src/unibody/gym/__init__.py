"""Gymnasium environments over any model (extra `gym`): `make_env`, and ready tasks with rewards, `register`.

Lives here: `environment` (the environment and `make_env`), `actuators` (what an action drives), `tasks` (ready tasks).
May import: view, scenes, simulation, model and all above; gymnasium in every module, so these are imported when they are asked for, and
only the command line imports this package. May write: nothing.
To add one more: a function in `tasks` that returns `make_env(...)` with a reward of its own, and its line in TASKS.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from unibody.errors import ModelError

_WHERE = {"make_env": "environment", "ModelEnv": "environment", "register": "tasks", "TASKS": "tasks"}

__all__ = ["TASKS", "ModelEnv", "make_env", "register"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'unibody.gym' has no attribute '{name}'")
    if find_spec("gymnasium") is None:
        raise ModelError(f"unibody.gym.{name} needs gymnasium, which is not installed; pip install unibody[gym]")
    return getattr(import_module(f"unibody.gym.{_WHERE[name]}"), name)
