"""Gymnasium environments over any model (extra `gym`).

Lives here: `environment` (the environment itself, `make_env`), `tasks` (ready tasks with rewards, `register`).
May import: view, scenes, simulation, model and all above; gymnasium everywhere here, so nothing else of the house imports this room.
May write: nothing.
To add one more: a function in `tasks` that returns `make_env(...)` with a reward of its own, and its line in TASKS.
"""
