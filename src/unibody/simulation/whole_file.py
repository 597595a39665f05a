"""Files written whole or not at all: beside the target, flushed to disk, then renamed over it; a killed process leaves the old one.

A write to `a.csv` goes to `.a.csv.0123456789ab.part` in the same folder, which its writer holds locked (`flock`). A lock ends with its
process, so the next write to the same target knows which of these files belong to processes that were killed, and removes them.
The target keeps its permissions and its owner. A symbolic link stays one: what it points at is replaced.

What is no regular file (a FIFO, a device, standard output) cannot be replaced; it is written straight.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from unibody.errors import ModelError

try:
    import fcntl
except ImportError:  # Windows; there only its age tells that nobody writes a file any more
    fcntl = None  # type: ignore[assignment]

OLD = 86400.0
"""Seconds after its last change at which a part of a file counts as forgotten, where locks do not tell (a fork holds its parent's)."""
LONGEST_NAME = 255
"""Bytes, on all usual file systems."""
STREAM = re.compile(r"(?:/dev/(?:std(out|err)|fd/(\d+))|/proc/self/fd/(\d+))\Z")
"""Names of what is open already, which may be a regular file and still must not be replaced: `--csv /dev/stdout > a.csv`."""


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write bytes into; it appears at `path` when the block ends well."""
    path_given(path)
    target = _final(path)
    if not isinstance(target, Path):
        sys.stdout.flush()  # it may be what is written to
        with _naming(path, path), open(path if target is None else os.dup(target), "wb") as straight:
            yield straight
        return
    with _naming(path, target):
        file, temporary = _part(target)
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                if fcntl is None:
                    file.close()  # Windows renames no open file
                os.replace(temporary, target)  # while it is locked: nobody takes it for forgotten
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _sync_folder(target.parent)


@contextlib.contextmanager
def whole_text(path: str | Path) -> Iterator[IO[str]]:
    """A file to write text into, in UTF-8 and with line ends as they are; it appears at `path` when the block ends well."""
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.detach()  # which writes what it still holds


@contextlib.contextmanager
def whole_path(path: str | Path) -> Iterator[Path]:
    """The same for programs that open files by name: the path of an empty file for them to fill. Its name does not end as the target's."""
    with whole_file(path) as file:
        yield Path(file.name)


def path_given(path: Any) -> Path:
    """What names a file, as a path; ModelError for anything else."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise ModelError(f"{path!r} is not a path; give one such as 'robot.json'")
    return Path(path)


def is_file(path: Path) -> bool:
    """Whether it is there, which names that no file system takes are not."""
    try:
        return path.is_file()
    except OSError:
        return False


def remedy(error: BaseException) -> str:
    """What to do about a file that could not be written.

    >>> remedy(OSError(errno.ENOSPC, "No space left on device")), remedy(OSError("whatever"))
    ('free some space or give another place', 'give a file in a folder that exists')
    """
    code = getattr(error, "errno", None)
    if code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "free some space or give another place"
    if code in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "give a place that may be written"
    return "give a file in a folder that exists"


def _final(path: str | Path) -> Path | int | None:
    """The regular file that is replaced or made, links followed; the number of an open stream; None for what is written straight."""
    name = os.path.abspath(path)
    for _ in range(40):  # as many links as Linux follows
        if stream := STREAM.match(name):
            return {"out": 1, "err": 2}.get(stream[1]) or int(stream[2] or stream[3])
        if name.startswith("/proc/"):
            return None
        if not os.path.islink(name):
            break
        name = os.path.normpath(os.path.join(os.path.realpath(os.path.dirname(name)), os.readlink(name)))
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return Path(name)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        return None
    if not os.access(path, os.W_OK):  # a rename would not ask
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return Path(os.path.realpath(path))


def _part(target: Path) -> tuple[IO[bytes], Path]:
    """A new file beside the target, locked, with the target's permissions if it is there; forgotten ones are removed first."""
    begin = f".{target.name}."
    if len(os.fsencode(begin)) + 17 > LONGEST_NAME:
        begin = f".{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:32]}."
    remove_forgotten(target.parent, begin)
    while True:
        temporary = target.with_name(f"{begin}{secrets.token_hex(6)}.part")
        file = temporary.open("xb")  # readable by whom the user lets read other files; `tempfile` makes them private
        ours = _lock(file)
        if ours is None or (ours and os.fstat(file.fileno()).st_nlink):
            break
        file.close()  # somebody who cleans up was faster than the lock, and removes it
    with contextlib.suppress(OSError, AttributeError):  # a new file, or Windows, which knows neither
        old = os.stat(target)
        if (old.st_uid, old.st_gid) != (os.fstat(file.fileno()).st_uid, os.fstat(file.fileno()).st_gid):
            with contextlib.suppress(OSError):
                os.fchown(file.fileno(), old.st_uid, old.st_gid)
        os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
    return file, temporary


def remove_forgotten(folder: Path, begin: str | None = None) -> None:
    """Parts that killed writers left in a folder, of one target or of all: nobody holds their lock, or has written them for a day."""
    pattern = re.compile((r"\..*\." if begin is None else re.escape(begin)) + r"[0-9a-f]{12}\.part\Z", re.DOTALL)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for each in [e.path for e in entries if pattern.match(e.name)]:
            with contextlib.suppress(OSError), open(each, "rb") as file:
                if _lock(file) or time.time() - os.fstat(file.fileno()).st_mtime > OLD:
                    os.unlink(each)


def _lock(file: IO[bytes]) -> bool | None:
    """Whether the file is ours alone now, until it is closed or the process ends; None where a file system or a platform has no locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # held by another
        return False
    except (OSError, AttributeError):
        return None
    return True


@contextlib.contextmanager
def _naming(path: str | Path, target: str | Path) -> Iterator[None]:
    """Errors name the file that the user named; a full disk names none."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        if str(error.filename).endswith(".part") and Path(str(error.filename)).parent == Path(target).parent:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def _sync_folder(folder: Path) -> None:
    """The new name survives a power cut."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
