"""`unibody view`: a page on this machine that shows a scene or a recording move."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unibody.cli.options import Dt, Json, Params, SolverOption, Target, command
from unibody.cli.output import DONE, show_json
from unibody.errors import ModelError

Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port of the page; the next free one if it is taken, 0 for any.")]
Host = Annotated[str, typer.Option("--host", help="Address of the page. Any but this machine's own lets others drive it.")]
Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="NAME[:PORT]", help="A further name under which browsers may ask for the page; repeatable."),
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")]
Play = Annotated[bool, typer.Option("--play", help="Begin at once, not at the Play button.")]


@command
def view(
    target: Target,
    solver: SolverOption = None,
    param: Params = None,
    dt: Dt = None,
    port: Port = 8080,
    host: Host = "127.0.0.1",
    allow: Allow = None,
    no_browser: NoBrowser = False,
    play: Play = False,
    as_json: Json = False,
) -> int:
    """Watch a scene, a file or a recording (.npz) in the browser: play, wind back, change the solver, pull at bodies. Ctrl-C ends it."""
    from unibody.view.viewer import Viewer, open_browser
    from unibody.view.viewer_gate import is_loopback

    player, name, choice = _player(target, solver, param or [], dt)
    if not is_loopback(host):
        typer.echo(f"unibody: warning: anybody who can reach {host}:{port} can see this page and drive it", err=True)
    try:
        with Viewer(player, name, host, port, allow or ()) as viewer:
            if play:
                viewer.post(player.play)
            if as_json:
                show_json({"scene": name, "url": viewer.url, "live": player.live, "choice": choice})
            else:
                typer.echo(f"{name} at {viewer.url}; Ctrl-C ends it")
                if choice is not None:
                    typer.echo(choice)
            if not no_browser:
                open_browser(viewer.url)
            viewer.wait()
    except KeyboardInterrupt:
        pass
    return DONE


def _player(target: str, solver: str | None, param: list[str], dt: float | None) -> tuple[Any, str, str | None]:
    """A recording is only shown, so nothing of a simulation may be asked for."""
    from unibody.cli import inputs, output
    from unibody.cli.recorded import trusted
    from unibody.simulation import Recording
    from unibody.view.viewer import player_for

    path = Path(target)
    if path.suffix.lower() == ".npz":
        asked = [o for o, given in (("--solver", solver), ("--dt", dt)) if given]
        if asked:
            raise ModelError(f"{asked[0]} does not apply to the recording '{target}', which is shown as it is; leave it out")
        return player_for(Recording.load(path, trust=trusted(target, param)))[0], path.stem, None
    name, scene = inputs.scene_from(target, param)
    output.tell_left_out(scene.left_out)
    _, chosen, choice = inputs.solver_for(scene, solver, (), dt)
    return player_for(scene, chosen, dt)[0], name, None if choice is None else choice.line
