"""Whatever the program writes is whole or not there: after a kill, on a full disk, through links, beside other writers."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from unibody.simulation import whole_file as room
from unibody.simulation.whole_file import whole_file, whole_path, whole_text

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills, locks and limits are those of POSIX")


def written(path: Path, data: bytes = b"new") -> None:
    with whole_file(path) as file:
        file.write(data)


@pytest.mark.parametrize("what", ["full", "20260117"])
def test_every_kind_of_file_is_old_or_new_after_kills_and_on_a_full_disk(tmp_path, what):
    """Thirty processes are killed while they write, at moments drawn from a seed; a full disk is a limit on the size of files."""
    for package in ("matplotlib", "PIL", "imageio_ffmpeg"):
        pytest.importorskip(package)
    command = [sys.executable, str(HERE / "written_files.py"), str(tmp_path), what]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [], done.stdout


def test_part_of_a_dead_writer_goes_and_that_of_a_living_one_stays(tmp_path):
    target = tmp_path / "a.csv"
    (tmp_path / ".a.csv.0123456789ab.part").write_bytes(b"half")
    (tmp_path / ".b.csv.0123456789ab.part").write_bytes(b"of another file")
    (tmp_path / ".a.csv.notes.part").write_bytes(b"not ours")
    with whole_file(target) as first:
        first.write(b"first")
        written(target, b"second")
        assert Path(first.name).exists(), "the part of a writer that is at work was removed"
        assert target.read_bytes() == b"second"
    assert target.read_bytes() == b"first"
    assert sorted(p.name for p in tmp_path.iterdir()) == [".a.csv.notes.part", ".b.csv.0123456789ab.part", "a.csv"]


def test_part_of_a_writer_that_forked_goes_after_a_day(tmp_path):
    """A fork holds its parent's lock for as long as it lives; age tells."""
    stray = tmp_path / ".a.csv.0123456789ab.part"
    with stray.open("xb") as held:
        assert room._lock(held)
        written(tmp_path / "a.csv")
        assert stray.exists()
        old = time.time() - 2.0 * room.OLD
        os.utime(stray, (old, old))
        written(tmp_path / "a.csv")
        assert not stray.exists()


def test_many_writers_of_one_file_do_not_disturb_each_other(tmp_path):
    target, troubles = tmp_path / "a.bin", []

    def write(mark: int) -> None:
        try:
            for _ in range(30):
                written(target, bytes([mark]) * 10_000)
                found = target.read_bytes()
                if len(found) != 10_000 or len(set(found)) != 1:
                    troubles.append(found[:10])
        except OSError as error:
            troubles.append(error)

    threads = [threading.Thread(target=write, args=(mark,)) for mark in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert troubles == [] and [p.name for p in tmp_path.iterdir()] == ["a.bin"]


def test_a_part_that_another_cleans_away_before_it_is_locked_is_made_anew(tmp_path, monkeypatch):
    """Between a part's making and its lock somebody else may take it for forgotten: he holds its lock, and removes it."""
    lock, taken = room._lock, []

    def late(file):
        if taken:
            return lock(file)
        taken.append(file.name)
        with open(file.name, "rb") as other:
            assert lock(other)
            found = lock(file)
            os.unlink(file.name)
        return found

    monkeypatch.setattr(room, "_lock", late)
    target = tmp_path / "a.bin"
    written(target)
    assert taken and target.read_bytes() == b"new" and [p.name for p in tmp_path.iterdir()] == ["a.bin"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666])
def test_permissions_of_the_old_file_are_kept(tmp_path, mode):
    target = tmp_path / "a.csv"
    target.write_bytes(b"old")
    target.chmod(mode)
    written(target)
    assert target.read_bytes() == b"new" and stat.S_IMODE(target.stat().st_mode) == mode


def test_new_files_have_the_permissions_of_any_new_file(tmp_path):
    written(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_bytes(b"")
    assert (tmp_path / "a.csv").stat().st_mode == (tmp_path / "b.csv").stat().st_mode


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_owner_of_the_old_file_is_kept(tmp_path):
    target = tmp_path / "a.csv"
    target.write_bytes(b"old")
    os.chown(target, 12345, 12345)
    written(target)
    assert (target.stat().st_uid, target.stat().st_gid) == (12345, 12345)


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everything")
def test_file_that_may_not_be_written_is_not_replaced(tmp_path):
    target = tmp_path / "a.csv"
    target.write_bytes(b"old")
    target.chmod(0o444)
    with pytest.raises(PermissionError, match=r"a\.csv"):
        written(target)
    assert target.read_bytes() == b"old"


@pytest.mark.parametrize("there", [True, False])
def test_symbolic_links_stay_links(tmp_path, there):
    real, link, chain = tmp_path / "there" / "real.csv", tmp_path / "link.csv", tmp_path / "chain.csv"
    real.parent.mkdir()
    if there:
        real.write_bytes(b"old")
    link.symlink_to("there/real.csv")
    chain.symlink_to(link)
    written(chain)
    assert link.is_symlink() and chain.is_symlink() and not real.is_symlink() and real.read_bytes() == b"new"
    assert len(list(tmp_path.rglob("*"))) == 4


def test_links_in_a_circle_and_folders_are_refused_by_name(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match=r"/a'"):
        written(tmp_path / "a")
    with pytest.raises(IsADirectoryError):
        written(tmp_path)
    assert (tmp_path / "a").is_symlink()


def test_fifos_are_written_straight(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    written(pipe, b"through")
    reader.join()
    assert found == [b"through"] and stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize(("stream", "piped"), [("/dev/stdout", True), ("/dev/stdout", False), ("/dev/fd/1", False)])
def test_standard_output_is_written_where_it_goes(tmp_path, stream, piped):
    """Redirected into a file it is a regular file, which must not be replaced: what was printed before and comes later stays in it."""
    if not os.path.exists(stream):
        pytest.skip(f"no {stream} on this machine")
    code = (
        "import os, sys\nfrom unibody.simulation.whole_file import whole_text\n"
        "print('before')\n"
        f"with whole_text({stream!r}) as file:\n    file.write('table\\n')\n"
        "os.write(1, b'after\\n')\n"
    )
    out = tmp_path / "out.txt"
    with out.open("wb") as file:
        result = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE if piped else file, check=True)
    said = result.stdout if piped else out.read_bytes()
    assert said.decode().split() == ["before", "table", "after"] and [p.name for p in tmp_path.iterdir()] == ["out.txt"]


def test_devices_take_what_is_written(tmp_path):
    written(Path(os.devnull))
    assert not os.path.isfile(os.devnull)


def test_longest_names_will_do(tmp_path):
    target = tmp_path / ("a" * 251 + ".csv")
    written(target)
    assert target.read_bytes() == b"new" and len(list(tmp_path.iterdir())) == 1


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        written(tmp_path / "none" / "a.csv")
    assert error.value.filename == str(tmp_path / "none" / "a.csv") and ".part" not in str(error.value)


def test_text_is_utf8_with_its_own_line_ends(tmp_path):
    with whole_text(tmp_path / "a.txt") as file:
        file.write("ä\r\nb\n")
    assert (tmp_path / "a.txt").read_bytes() == "ä\r\nb\n".encode()
    with pytest.raises(RuntimeError), whole_text(tmp_path / "a.txt") as file:
        file.write("half")
        raise RuntimeError
    assert (tmp_path / "a.txt").read_bytes() == "ä\r\nb\n".encode() and len(list(tmp_path.iterdir())) == 1


def test_programs_that_open_files_by_name_write_whole_ones_too(tmp_path):
    with whole_path(tmp_path / "a.bin") as path:
        subprocess.run(["sh", "-c", f"printf whole > '{path}'"], check=True)
        assert not (tmp_path / "a.bin").exists()
    assert (tmp_path / "a.bin").read_bytes() == b"whole" and len(list(tmp_path.iterdir())) == 1
