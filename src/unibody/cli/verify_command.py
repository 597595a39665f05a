"""`unibody verify`: make every number again that the pages claim, and say how far off it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unibody.cli.options import Json, command
from unibody.cli.output import DONE, FAILED, seconds, show_json
from unibody.errors import ModelError

Quick = Annotated[bool, typer.Option("--quick", help="The cheapest first, and none begun after 100 s; no page.")]
Only = Annotated[str | None, typer.Option("--only", "-k", metavar="WORDS", help="Tests whose names hold these words; see `pytest -k`.")]
Page = Annotated[
    Path | None,
    typer.Option("--page", metavar="FILE.md", help="Write the page of what was run; default: docs/verification.md, of a whole run."),
]
QUICK = 100.0
"""Seconds after which --quick begins no test."""


@command
def verify(quick: Quick = False, only: Only = None, page: Page = None, as_json: Json = False) -> int:
    """Make every number again that README and docs claim (published, exact, or another engine's). Needs a source checkout and pytest."""
    from importlib.util import find_spec

    from unibody.cli import benchmarks, inputs, verifying

    root = benchmarks.checkout("tests")
    if root is None:
        raise ModelError("verify: no folder tests/ here; they come with the source checkout (or the source distribution), run from there")
    if find_spec("pytest") is None:
        raise ModelError("verify needs pytest, which is not installed; pip install unibody[test]")
    if page is not None:
        inputs.writable(page, "--page")
    found = verifying.verify(root, only, QUICK if quick else None, None if as_json else typer.echo)

    # the page, of a whole run or where one asks for it
    whole = not quick and only is None and not found.skipped
    place = page if page is not None else root / "docs" / "verification.md" if whole and not found.wrong else None
    if place is not None:
        verifying.write_page(root, found, place)
    if as_json:
        show_json(found.plain() | {"page": str(place) if place is not None else None})
        return FAILED if found.wrong else DONE
    typer.echo("")
    for name, why in found.wrong.items():
        typer.secho(f"WRONG  {name}: {why}", fg="red")
    for why, names in found.reasons().items():
        typer.echo(f"not run: {len(names)} tests: {why}")
    typer.echo(
        f"{len(found.entries)} numbers of {found.passed + len(found.wrong)} tests in {seconds(found.seconds)}: "
        f"{found.beyond} beyond their tolerance, {len(found.wrong)} tests failed, {len(found.skipped)} not run"
    )
    left = "not written; `unibody verify` writes it when everything has run and agrees"
    typer.echo(f"page: {place if place is not None else left}")
    return FAILED if found.wrong or not found.passed else DONE
