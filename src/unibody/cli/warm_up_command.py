"""`unibody warm-up`: compile all kernels now, by all processors."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from unibody.cli.options import Json, command
from unibody.cli.output import DONE, seconds, show_json

Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Processes; default: one for each processor.")]
EVERY = 1.0
"""Seconds between lines of progress."""


@command
def warm_up(jobs: Jobs = None, as_json: Json = False) -> int:
    """Compile every kernel once, so that no later run waits for the compiler; those in the cache are only read. Takes minutes at first."""
    from unibody.cli import warming

    began = told = time.perf_counter()

    def tell(done: int, of: int, made: warming.Made) -> None:
        nonlocal told
        if not as_json and (time.perf_counter() - told > EVERY or done == of):
            told = time.perf_counter()
            typer.echo(f"{done} of {of} kernels, {seconds(told - began)}", err=True)

    made = warming.warm_up(jobs, tell)
    spent = time.perf_counter() - began
    compiled = [one for one in made if not one.from_cache]
    if as_json:
        facts = {"kernels": len(made), "compiled": len(compiled), "seconds": spent}
        show_json(facts | {"slowest": [[o.name, o.seconds] for o in sorted(compiled, key=lambda o: -o.seconds)[:10]]})
    else:
        there = len(made) - len(compiled)
        typer.echo(f"{len(made)} kernels are ready: {len(compiled)} compiled in {seconds(spent)}, {there} from the cache")
    return DONE
