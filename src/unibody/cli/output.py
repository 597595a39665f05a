"""What people and programs read: aligned tables, one JSON object, one-line errors, exit codes."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import typer

from unibody.errors import StepFailed, UnibodyError, UnibodyWarning

DONE, FAILED, BAD_INPUT = 0, 1, 2


def guarded(command: Callable[..., int]) -> Callable[..., None]:
    """A command that returns its exit code; errors made on purpose become one line and a code, and with --json one object."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # a name may hold what a terminal cannot show
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnibodyWarning)  # commands tell the notes of a simulation themselves
                code = command(*args, **options)
        except (UnibodyError, OSError) as error:
            code = FAILED if isinstance(error, StepFailed) else BAD_INPUT
            fail(" ".join(str(error).split()), code, options.get("as_json", False))
        except KeyboardInterrupt:
            code = 130
            fail("stopped by the user", code, options.get("as_json", False))
        raise typer.Exit(code)

    return run


def fail(message: str, code: int, as_json: bool) -> None:
    """One line on standard error; with --json also an object on standard output."""
    if as_json:
        show_json({"status": "failed" if code == FAILED else "bad input", "error": message})
    typer.echo(f"unibody: {message}", err=True)


def tell_left_out(lines: Sequence[str]) -> None:
    """What a file asks for and does not get, on standard error."""
    for line in lines:
        typer.echo(f"unibody: left out: {line}", err=True)


def show_json(data: Any) -> None:
    """Strict JSON: numbers that are not finite become null."""
    typer.echo(json.dumps(_plain(data), indent=2, allow_nan=False, ensure_ascii=False))


def show_table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """Aligned columns; the first `left` columns are text, the others numbers, flush right."""
    widths = [max(len(line[k]) for line in [head, *rows]) for k in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(c.ljust(w) if k < left else c.rjust(w) for k, (c, w) in enumerate(zip(cells, widths, strict=True))).rstrip()

    typer.secho(line(head), bold=True)
    for row in rows:
        typer.echo(line(row))


def show_facts(facts: Sequence[tuple[str, str]]) -> None:
    """`name   value` lines."""
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        typer.echo(f"{name.ljust(width)}   {value}")


def seconds(value: float) -> str:
    """A time with its unit.

    >>> seconds(3.2e-6), seconds(0.0125), seconds(float("nan"))
    ('3.20 µs', '12.5 ms', '–')
    """
    if not math.isfinite(value):
        return "–"
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9)):
        if abs(value) * factor >= 1.0 or unit == "ns":
            return f"{value * factor:.3g} {unit}" if value * factor >= 10 else f"{value * factor:.2f} {unit}"
    return "–"


def short(value: float) -> str:
    """Two digits of a small number."""
    return f"{value:.1e}" if math.isfinite(value) else "–"


def size(count: int) -> str:
    """Bytes with their unit.

    >>> size(2_500_000)
    '2.5 MB'
    """
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    if hasattr(value, "item"):
        return _plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)
