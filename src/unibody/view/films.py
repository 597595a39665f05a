"""Files of rendered pictures: one instant as .png, a motion as .mp4 or .gif.

A film shows the recorded state nearest to each of its times t₀ + k · speed / fps; nothing is made up between recorded states.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

import numpy as np

from unibody.element import number
from unibody.errors import ModelError
from unibody.model import Model
from unibody.simulation import Recording, Simulation
from unibody.simulation.whole_file import remedy, whole_file, whole_path
from unibody.solvers import able_solver
from unibody.view.render import SIZE, Renderer, rows_to_fit
from unibody.view.render_caption import pillow
from unibody.view.snapshot import Snapshot

FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
"""Pillow's names."""
PICTURES, FILMS = tuple(FORMATS), (".mp4", ".gif")
LONGEST = 100_000
"""Pictures of a film."""
COLOURS = 255
"""Of a GIF's palette."""
CRF = "10"
"""Of H.264: 0 is without loss, 51 the worst."""


def render(
    shown: Recording | Model, path: str | Path, *, at: float | None = None, size: tuple[int, int] = SIZE, fps: float = 30.0,
    speed: float = 1.0, camera: Sequence[float] | None = None, reactions: bool = False, frames: bool = False, title: str | None = None,
    solver: Any = None, colour: str = "body",
) -> Path:  # fmt: skip
    """A picture of the last recorded state, or of the one at a time [s], or a film of the whole motion, by the ending of `path`.

    A model is shown at its start, as `solver` sees it. `speed` 0.5 is half as fast as in life; `camera` is azimuth, elevation in degrees
    and, if wanted, the distance [m]; `colour` "strain" is that of deformables.
    """
    target = Path(path)
    film = kind_of(target) in FILMS
    if isinstance(shown, Recording):
        recording = shown
    else:
        recording = Simulation(shown, solver or able_solver(shown), dt=1e-3).run(0.0, progress=False)
    if film and at is not None:
        raise ModelError(f"film '{target}' at one time ({at!r} s): give a picture's name, such as {target.stem}.png, or leave the time out")
    if target.suffix.lower() == ".mp4":
        size = (size[0] + size[0] % 2, size[1] + size[1] % 2)
    rows = film_rows(recording, fps, speed) if film else [row_at(recording, at)]
    needed = sorted({*rows, *rows_to_fit(recording)})
    part = recording.some(needed)
    artist = Renderer(
        part.model, size, recording=part, camera=camera, reactions=reactions, frames=frames, title=title, colour=colour,
        only=None if film else needed.index(rows[0]),
    )  # fmt: skip
    pictures = (artist.image(Snapshot.of(artist.look, part.observations[needed.index(row)])) for row in rows)
    try:
        _write(target, pictures, artist.view.size, fps)
    except OSError as error:
        raise ModelError(f"'{target}' cannot be written ({error}); {remedy(error)}") from None
    return target


def kind_of(path: Path) -> str:
    """The ending in small letters, if something can be written with it."""
    suffix = path.suffix.lower()
    if suffix not in (*PICTURES, *FILMS):
        raise ModelError(f"'{path}' ends in '{path.suffix}'; give a picture (.png, .jpg, .webp) or a film (.mp4, .gif)")
    _ = ffmpeg() if suffix == ".mp4" else pillow()
    return suffix


def film_rows(recording: Recording, fps: float, speed: float) -> list[int]:
    """The recorded states that a film shows, one per picture."""
    apart = number(speed, "speed", positive=True) / number(fps, "fps", positive=True)
    t = recording.t
    if not len(t):
        raise ModelError("the recording is empty, so there is nothing to draw; run the simulation first")
    count = int(np.floor((t[-1] - t[0]) / apart + 1e-9)) + 1
    if count > LONGEST:
        raise ModelError(f"a film of {count} pictures is too long; take a larger speed or fewer pictures per second")
    return [_nearest(t, t[0] + k * apart) for k in range(count)]


def row_at(recording: Recording, at: float | None) -> int:
    """The recorded state nearest to a time, or the last."""
    t = recording.t
    if at is None or not len(t):
        return len(t) - 1
    number(at, "time of the picture")
    if not t[0] - 1e-9 <= at <= t[-1] + 1e-9:
        raise ModelError(f"no state at {at:g} s; the recording goes from {t[0]:g} to {t[-1]:g} s")
    return _nearest(t, at)


def _nearest(t: np.ndarray, at: float) -> int:
    return int(np.argmin(np.abs(t - at)))


def ffmpeg() -> Any:
    """The package imageio_ffmpeg, which brings an encoder along."""
    try:
        import imageio_ffmpeg
    except ImportError:
        raise ModelError("films need imageio-ffmpeg, which is not installed; pip install unibody[render]") from None
    return imageio_ffmpeg


def _write(target: Path, pictures: Iterator[np.ndarray], size: tuple[int, int], fps: float) -> None:
    """Whole or not at all."""
    kind = target.suffix.lower()
    if kind == ".mp4":
        with whole_path(target) as temporary:
            _write_mp4(temporary, pictures, size, fps)
        return
    drawn = io.BytesIO()  # Pillow itself does not notice when only a part of a block fits on the disk
    if kind == ".gif":
        _write_gif(drawn, pictures, fps)
    else:
        pillow().Image.fromarray(next(pictures)).save(drawn, format=FORMATS[kind])
    with whole_file(target) as file:
        file.write(drawn.getbuffer())


def _write_mp4(target: Path, pictures: Iterator[np.ndarray], size: tuple[int, int], fps: float) -> None:
    """H.264 in yuv420p, which every player takes; it wants even sizes. The encoder alone knows whether all is written."""
    given = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", str(Fraction(fps).limit_denominator()), "-i", "-"]
    made = ["-an", "-vcodec", "libx264", "-crf", CRF, "-pix_fmt", "yuv420p", "-f", "mp4"]
    command = [ffmpeg().get_ffmpeg_exe(), "-y", "-v", "error", *given, *made, str(target)]
    with tempfile.TemporaryFile() as said:
        # a session of its own: Ctrl-C stops this process, which then stops the encoder
        encoder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True)
        assert encoder.stdin is not None
        try:
            with contextlib.suppress(BrokenPipeError):  # it has ended; why, it says below
                for picture in pictures:
                    encoder.stdin.write(np.ascontiguousarray(picture).data)
            with contextlib.suppress(BrokenPipeError):
                encoder.stdin.close()
            code = encoder.wait()
        except BaseException:
            encoder.kill()
            encoder.wait()
            raise
        if code != 0:
            said.seek(0)
            lines = [line for line in said.read().decode(errors="replace").splitlines() if line.strip()]
            if any(os.strerror(errno.ENOSPC) in line for line in lines):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            raise OSError(lines[-1].strip() if lines else f"the encoder ended with {code}")


def _write_gif(file: IO[bytes], pictures: Iterator[np.ndarray], fps: float) -> None:
    """One palette for all pictures, from the first, the middle and the last, so that still parts do not flicker."""
    image = pillow().Image
    film = [image.fromarray(p) for p in pictures]
    chosen = [film[0], film[len(film) // 2], film[-1]]
    sheet = image.new("RGB", (film[0].width, 3 * film[0].height))
    for k, picture in enumerate(chosen):
        sheet.paste(picture, (0, k * picture.height))
    palette = sheet.quantize(COLOURS)
    small = [p.quantize(palette=palette, dither=image.Dither.NONE) for p in film]
    hundredths = max(2, round(100.0 / fps))
    small[0].save(file, format="GIF", save_all=True, append_images=small[1:], duration=10 * hundredths, loop=0, optimize=False)
