"""The cache of compiled kernels: right after every edit, whole or not used, and never somebody else's code."""

import os
import shutil
import subprocess
import sys
import time
import warnings

import pytest

from unibody import kernel, kernel_cache

PROGRAM = """
import sys, warnings
sys.path.insert(0, sys.argv[1])
warnings.simplefilter("always")
import twice
from unibody import kernel
print(twice.run(3.0), sum(cached for _, _, cached in kernel.compiled), len(kernel.compiled))
"""

TWICE = """
from __future__ import annotations
from unibody.kernel import kernel
from helper import scaled

@kernel
def run(x: float) -> float:
    return scaled(x) + 1.0
"""

HELPER = """
from unibody.kernel import device
FACTOR = 2.0

@device
def scaled(x):
    return FACTOR * x
"""


def run(folder, cache, **environment):
    """(value, kernels from the cache, kernels, what was said) of a process that calls a kernel which lives in `folder`."""
    (folder / "twice.py").write_text(TWICE)
    if not (folder / "helper.py").exists():
        (folder / "helper.py").write_text(HELPER)
    told = os.environ | {"UNIBODY_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"} | environment
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(folder)], env=told, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    value, cached, made = done.stdout.split()
    return float(value), int(cached), int(made), done.stderr


def test_a_second_process_reads_what_the_first_compiled(tmp_path):
    assert run(tmp_path, tmp_path / "cache")[:3] == (7.0, 0, 1)
    assert run(tmp_path, tmp_path / "cache")[:3] == (7.0, 1, 1)


@pytest.mark.parametrize("old, new, value", [("2.0", "5.0", 16.0), ("FACTOR * x", "FACTOR * x * x", 19.0)])
def test_an_edited_helper_in_another_file_is_noticed(tmp_path, old, new, value):
    assert run(tmp_path, tmp_path / "cache")[0] == 7.0
    (tmp_path / "helper.py").write_text(HELPER.replace(old, new))
    assert run(tmp_path, tmp_path / "cache")[:2] == (value, 0)


def test_an_edit_that_changes_no_code_compiles_nothing(tmp_path):
    run(tmp_path, tmp_path / "cache")
    (tmp_path / "helper.py").write_text("# a remark\n\n" + HELPER + "\n\nUNUSED = 3\n")
    assert run(tmp_path, tmp_path / "cache")[:2] == (7.0, 1)


@pytest.mark.parametrize("harm", ["empty", "cut", "flipped", "other"])
def test_a_damaged_file_heals_with_a_note(tmp_path, harm):
    cache = tmp_path / "cache"
    run(tmp_path, cache)
    (path,) = (cache / "compiled").glob("*" + kernel_cache.SUFFIX)
    content = path.read_bytes()
    harmed = {
        "empty": b"",
        "cut": content[: len(content) // 2],
        "flipped": content[:5000] + bytes([content[5000] ^ 255]) + content[5001:],
        "other": b"not a kernel at all" * 9,
    }
    path.write_bytes(harmed[harm])
    value, cached, _, said = run(tmp_path, cache)
    assert (value, cached) == (7.0, 0)
    assert "is damaged" in said and path.name in said
    assert run(tmp_path, cache)[:2] == (7.0, 1)


def test_a_whole_file_that_holds_nonsense_is_compiled_again(tmp_path, monkeypatch):
    """Its digest is right and its pickle is not: as if another version of the compiler had written it."""
    cache = tmp_path / "cache"
    run(tmp_path, cache)
    (path,) = (cache / "compiled").glob("*" + kernel_cache.SUFFIX)
    monkeypatch.setenv("UNIBODY_CACHE_DIR", str(cache))
    kernel_cache.write(path.name.removesuffix(kernel_cache.SUFFIX), b"no pickle")
    value, cached, _, said = run(tmp_path, cache)
    assert (value, cached) == (7.0, 0) and "cannot be used" in said


def test_a_folder_that_cannot_be_made_is_replaced_by_a_private_one_with_a_note(tmp_path):
    (tmp_path / "file").write_text("in the way")
    value, _, _, said = run(tmp_path, tmp_path / "file" / "cache")
    assert value == 7.0
    assert "cannot be made" in said and "UNIBODY_CACHE_DIR" in said
    private = tmp_path / "tmp"
    private.mkdir()
    run(tmp_path, tmp_path / "file" / "cache", TMPDIR=str(private))
    assert not list(private.iterdir()), "the private folder ends with its process"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="asks for owners and modes")
@pytest.mark.parametrize("where", ["compiled", "."])
def test_a_cache_that_others_may_write_to_is_not_trusted(tmp_path, where):
    cache = tmp_path / "cache"
    run(tmp_path, cache)
    (cache / where).chmod(0o777)
    before = sorted(p.name for p in (cache / "compiled").iterdir())
    value, cached, _, said = run(tmp_path, cache)
    assert (value, cached) == (7.0, 0)
    assert "can be written by every user" in said
    assert sorted(p.name for p in (cache / "compiled").iterdir()) == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_cache_of_another_user_is_not_trusted(tmp_path):
    cache = tmp_path / "cache"
    run(tmp_path, cache)
    os.chown(cache / "compiled", 4321, 4321)
    value, cached, _, said = run(tmp_path, cache)
    assert (value, cached) == (7.0, 0) and "belongs to another user" in said


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="asks for owners and modes")
def test_a_file_left_from_when_the_folder_was_open_to_all_is_not_trusted(tmp_path):
    """Whoever could write it then may have put anything there; its own digest says nothing."""
    cache = tmp_path / "cache"
    run(tmp_path, cache)
    (path,) = (cache / "compiled").glob("*" + kernel_cache.SUFFIX)
    path.chmod(0o666)
    if os.geteuid() == 0:
        os.chown(path, 4321, 4321)
    value, cached, _, said = run(tmp_path, cache)
    assert (value, cached) == (7.0, 0) and "belongs to another user or can be written by others" in said
    assert run(tmp_path, cache)[:2] == (7.0, 1)


def test_a_link_that_is_turned_elsewhere_later_is_not_followed(tmp_path, monkeypatch):
    ours, theirs, link = tmp_path / "ours", tmp_path / "theirs", tmp_path / "link"
    ours.mkdir(), theirs.mkdir()
    link.symlink_to(ours)
    monkeypatch.setenv("UNIBODY_CACHE_DIR", str(link))
    assert kernel_cache.folder() == (ours / "compiled").resolve()
    link.unlink()
    link.symlink_to(theirs)
    kernel_cache.write("some", b"thing")
    assert not (theirs / "compiled").exists() and kernel_cache.read("some") == b"thing"


def test_a_cache_that_is_cleared_while_a_process_runs_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("UNIBODY_CACHE_DIR", str(tmp_path))
    shutil.rmtree(kernel_cache.folder())
    assert kernel_cache.read("some") is None
    kernel_cache.write("some", b"thing")
    assert kernel_cache.read("some") == b"thing"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_process_that_forks_while_a_thread_compiles_has_a_child_that_can(tmp_path):
    """The child waits for nobody: fork waits until no kernel is being made."""
    program = """
import os, sys, threading, time
from unibody import kernel
inside, leave = threading.Event(), threading.Event()
def compile_for_long():
    with kernel._making:
        inside.set()
        leave.wait(0.2)
threading.Thread(target=compile_for_long).start()
inside.wait()
child = os.fork()
if not child:
    got = []
    t = threading.Thread(target=lambda: got.append(kernel._making.acquire(timeout=20)))
    t.start(); t.join()
    os._exit(0 if got == [True] else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_only_files_of_ours_are_discarded_oldest_first(tmp_path, monkeypatch):
    now = time.time()
    ages = {"new": 1.0, "older": 2.0, "oldest": 3.0, "forgotten": kernel_cache.KEPT_DAYS + 1.0}
    for name, days in ages.items():
        path = tmp_path / (name + kernel_cache.SUFFIX)
        path.write_bytes(bytes(1000))
        os.utime(path, (now - days * kernel_cache.DAY,) * 2)
    strange = tmp_path / "precious.txt"
    strange.write_text("not ours")
    os.utime(strange, (0, 0))
    half = tmp_path / ("half" + kernel_cache.PART)
    half.write_bytes(b"")
    os.utime(half, (now - 7200.0,) * 2)
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr(kernel_cache, "KEPT_BYTES", 2500)
    kernel_cache._discard_old.__wrapped__(tmp_path, 0)
    left = {p.name for p in tmp_path.iterdir()}
    assert left == {"new" + kernel_cache.SUFFIX, "older" + kernel_cache.SUFFIX, "precious.txt", "folder"}


def test_a_full_disk_costs_a_compilation_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("UNIBODY_CACHE_DIR", str(tmp_path))

    def full(self, *_):
        raise OSError(28, "No space left on device")

    place = kernel_cache.folder()
    monkeypatch.setattr(kernel_cache.os, "replace", full)
    kernel_cache._say_once.cache_clear()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        kernel_cache.write("some", b"thing")
    assert "No space left" in str(said[0].message)
    assert not list(place.iterdir())


def test_every_global_that_kernels_name_has_a_word_in_their_key():
    """A value without a word of its own would be keyed by its memory address and never be found again."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("unibody"):
            for each in list(vars(module).values()):
                if isinstance(each, kernel.Kernel):
                    for name in set(kernel._names(each.function.__code__)) & set(each.function.__globals__):
                        assert " at 0x" not in kernel._value_word(each.function.__globals__[name]), (each.__name__, name)
