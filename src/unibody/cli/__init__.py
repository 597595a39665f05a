"""The command line: `unibody scenes | run | view | compare | bench | check | info | export | render | plot | doctor | warm-up | verify`.

Lives here: `app` and `<name>_command` (commands), `options` (what they share), `inputs` (scenes, files, solvers from words), `running`
(timed runs), `recorded` (a motion to show), `output` (tables, JSON, exit codes), `completion` (what shells offer), and one module for what
each of `info` (`describe`), `doctor` (`health`), `bench` (`benchmarks`), `warm-up` (`warming`) and `verify` (`verifying`) finds out.
May import: everything; but numba, SciPy and matplotlib only when a command needs them, because `unibody scenes` answers at once.
May write: standard output, and the files the user names. Errors are one line naming the file, the element, the value and the remedy.
Exit codes: 0 done, 1 the simulation failed (the report says where) or `check` found errors, 2 bad input.
To add one more: `<name>_command.py` with a function under `@command` that returns an exit code; it is found by its name.
"""

from unibody.cli.app import app, main

__all__ = ["app", "main"]
