"""The Typer application, the options that commands share, and how a command is registered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from unibody.cli import completion
from unibody.cli.output import guarded

app = typer.Typer(
    name="unibody", help="Multibody dynamics: one scene, every formulation.", no_args_is_help=True, add_completion=True,
    pretty_exceptions_enable=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Target = Annotated[
    str,
    typer.Argument(
        metavar="SCENE|FILE", help="A scene's name, or a file: .py with a build() function, .json, .urdf, .xml (MJCF).",
        autocompletion=completion.targets,
    ),
]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param", "-p", metavar="KEY=VALUE", help="A parameter of the scene; may be repeated.",
        autocompletion=completion.parameters,
    ),
]
SolverOption = Annotated[
    str | None,
    typer.Option(
        "--solver", "-s", help="NAME, NAME:key=value, or auto (default): the cheapest that honours everything; see `unibody info`.",
        autocompletion=completion.solvers,
    ),
]
Solvers = Annotated[
    str,
    typer.Option(
        "--solvers", "-s", help="A,B,C; options as NAME:key=value. Default: all that can.",
        autocompletion=completion.several_solvers,
    ),
]
Dt = Annotated[float | None, typer.Option("--dt", help="Step [s]; default: the scene's.")]
Duration = Annotated[float | None, typer.Option("--duration", "-t", help="Simulated time [s]; default: the scene's.")]
Every = Annotated[int | None, typer.Option("--every", min=1, help="Record every so many steps; default: about 600 states.")]
Picture = Annotated[Path | None, typer.Option("--picture", metavar="FILE.png", help="Draw the motion (needs unibody[plot]).")]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option", "-o", metavar="KEY=VALUE", help="An option of the solver; may be repeated.",
        autocompletion=completion.options,
    ),
]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE.npz", help="Save the recording.")]
ContactsCsv = Annotated[Path | None, typer.Option("--contacts", metavar="FILE.csv", help="Contacts, their forces and impacts as a table.")]
Csv = Annotated[Path | None, typer.Option("--csv", metavar="FILE.csv", help="Times, energies, joints and poses as a table.")]


def command(function: Callable[..., int]) -> Callable[..., None]:
    """Register a function that returns an exit code."""
    return app.command(name=function.__name__.removesuffix("_").replace("_", "-"))(guarded(function))
