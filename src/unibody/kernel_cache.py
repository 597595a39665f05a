"""Where compiled kernels are kept between processes: one checked file per kernel, in a folder that only its owner can write.

A file holds machine code, so two things are asked of it before it is loaded:

* **It is whole.** It opens with the SHA-256 digest of what follows. A damaged file is removed, with a warning, and its kernel is
  compiled again.
* **Nobody else wrote it.** The folder, and every folder above it, belongs to this user or to the system and cannot be written by
  others; so does the file, which may have been put there when the folder was still open to all. A folder that fails this, or that
  cannot be made, is left alone: a private temporary one takes its place, with a warning, and ends with the process.

A file's name says the kernel's module and name and a digest of everything that its machine code depends on (see `unibody.kernel`), so an
outdated file is never read. Files that were not used for `KEPT_DAYS`, and the oldest beyond `KEPT_BYTES`, are removed; only files
that this module named are touched.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import secrets
import shutil
import stat
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path

SUFFIX = ".unibody-kernel"
PART = ".unibody-part"
KEPT_DAYS = 60
KEPT_BYTES = 2 << 30
DAY = 86400.0


def cache_root() -> Path:
    """The folder that should hold compiled kernels: `UNIBODY_CACHE_DIR`, or the user's cache folder."""
    given = os.environ.get("UNIBODY_CACHE_DIR")
    base = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unibody"
    return (base / "compiled").absolute()


def folder() -> Path:
    """The folder in use: `cache_root()` where it can be made and trusted, else a private temporary one."""
    return _usable(cache_root(), os.getpid())


@cache
def _usable(wanted: Path, process: int) -> Path:
    try:
        wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
        wanted = wanted.resolve()  # what was judged is what is used, wherever a link on the way may point tomorrow
        reason = untrusted(wanted)
        if reason is None and not os.access(wanted, os.W_OK | os.X_OK):
            reason = f"{wanted} cannot be written"
    except OSError as error:
        reason = f"{wanted} cannot be made ({error.strerror or error})"
    if reason is None:
        return wanted
    remedy = "mend that, or name a folder of your own by UNIBODY_CACHE_DIR"
    warnings.warn(f"compiled kernels are not kept: {reason}; {remedy}", RuntimeWarning, stacklevel=2)
    private = Path(tempfile.mkdtemp(prefix="unibody-kernels-"))
    atexit.register(_remove_private, private, process)
    return private


def _remove_private(private: Path, process: int) -> None:
    """At the end of the process that made it; a forked child leaves its parent's folder alone."""
    if os.getpid() == process:
        shutil.rmtree(private, ignore_errors=True)


def untrusted(place: Path) -> str | None:
    """Why others could put code into a folder, or None: it and all above it must be ours or the system's, and closed to others.

    Above it, a folder open to all is no danger if it is sticky (as /tmp is): there nobody moves what is not his.
    """
    if not hasattr(os, "geteuid"):
        return None  # Windows: the user's folders are private by default
    me = os.geteuid()
    real = place.resolve()
    for at in (real, *real.parents):
        found = at.stat()
        if found.st_uid not in (me, 0):
            return f"{at} belongs to another user"
        sticky = at != real and found.st_mode & stat.S_ISVTX
        if found.st_mode & stat.S_IWOTH and not sticky:
            return f"{at} can be written by every user (chmod o-w)"
        if found.st_mode & stat.S_IWGRP and not sticky and not _private_group(found.st_gid, me):
            return f"{at} can be written by its group (chmod g-w)"
    return None


def _foreign(found: os.stat_result) -> bool:
    """Whether a file is somebody else's, or others may write to it."""
    return hasattr(os, "geteuid") and (found.st_uid not in (os.geteuid(), 0) or bool(found.st_mode & stat.S_IWOTH))


def _private_group(group: int, user: int) -> bool:
    """Whether a group has no member but the user, as on systems that give every user a group of the same name; root's is root's."""
    import grp
    import pwd

    try:
        name, members = pwd.getpwuid(user).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return members.gr_name in (name, "root") and set(members.gr_mem) <= {name, "root"}


def read(name: str) -> bytes | None:
    """What was kept under a name, if it is whole; a damaged file is removed."""
    path = folder() / (name + SUFFIX)
    try:
        with path.open("rb") as file:
            whole = b"" if (strange := _foreign(os.fstat(file.fileno()))) else file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        discard(name, f"cannot be read ({error.strerror or error})")
        return None
    if strange:
        discard(name, "belongs to another user or can be written by others")
        return None
    digest, content = whole[:32], whole[32:]
    if hashlib.sha256(content).digest() != digest:
        discard(name, "is damaged")
        return None
    with contextlib.suppress(OSError):  # its time says when it was last used, to the day
        if time.time() - path.stat().st_mtime > DAY:
            os.utime(path)
    return content


def holds(name: str) -> bool:
    """Whether something is kept under a name; whether it is whole, reading will tell."""
    return (folder() / (name + SUFFIX)).exists()


def write(name: str, content: bytes) -> None:
    """Keep something under a name, whole or not at all; a full disk costs the next process a compilation and nothing else."""
    path = folder() / (name + SUFFIX)
    temporary = path.with_name(f"{secrets.token_hex(12)}{PART}")
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)  # somebody may have cleared the cache meanwhile
        _discard_old(path.parent, os.getpid())
        with temporary.open("xb") as file:
            file.write(hashlib.sha256(content).digest())
            file.write(content)
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        _say_once(f"compiled kernels cannot be kept in {path.parent} ({error.strerror or error}); every start compiles them again")


def clear(place: Path) -> None:
    """Remove all that this module has put into a folder."""
    for path in list(place.iterdir()) if place.is_dir() else ():
        if path.suffix in (SUFFIX, PART):
            with contextlib.suppress(OSError):
                path.unlink()


def discard(name: str, reason: str) -> None:
    """Remove a file that cannot be used, and say so."""
    path = folder() / (name + SUFFIX)
    with contextlib.suppress(OSError):
        path.unlink()
    warnings.warn(f"compiled kernel {path} {reason}; it is compiled again", RuntimeWarning, stacklevel=2)


@cache
def _say_once(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=3)


@cache
def _discard_old(place: Path, process: int) -> None:
    """Once a process, before it adds something. Another process may be doing the same: any file may be gone at any time."""
    now, kept = time.time(), []
    for path in list(place.iterdir()):
        with contextlib.suppress(OSError):
            age = now - path.stat().st_mtime
            if (path.suffix == PART and age > 3600.0) or (path.suffix == SUFFIX and age > KEPT_DAYS * DAY):
                path.unlink()
            elif path.suffix == SUFFIX:
                kept.append((age, path.stat().st_size, path))
    total = 0
    for _, size, path in sorted(kept, key=lambda each: each[0]):
        total += size
        if total > KEPT_BYTES:
            with contextlib.suppress(OSError):
                path.unlink()
