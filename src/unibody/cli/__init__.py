"""The command line: `unibody scenes | run | compare | bench | info | doctor`.

Lives here: `app` (the commands and their options), `inputs` (scenes, files and solvers from words), `running` (timed runs and what is said
of them), `recorded` (a motion to show), `output` (tables, JSON, exit codes), `completion` (what shells offer), and one module for what
each of `info`, `doctor` and `bench` finds out.
May import: everything; but numba, SciPy and matplotlib only when a command needs them, because `unibody scenes` answers at once.
May write: standard output, and the files the user names. Errors are one line naming the file, the element, the value and the remedy.
Exit codes: 0 done, 1 the simulation failed (the report says where) or `check` found errors, 2 bad input.
To add one more: a function in `app` with `@command`, that returns plain data and prints it with `output.show`.
"""

from unibody.cli.app import app, main

__all__ = ["app", "main"]
