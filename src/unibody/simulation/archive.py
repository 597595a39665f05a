"""Archives of arrays (.npz), read with distrust: a file asks for no more memory than it may, runs no code, and is whole or refused.

An archive is a zip file with one `name.npy` per array. Before an array is read, its entry in the zip directory and its own header are
looked at: the name must be expected and stand there once; it must be stored or deflated, not encrypted; what the header declares (float64
or text, rows after rows) must be exactly as long as the entry; and entries together must fit into the file, or swell by no more than
SWELLS.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Collection
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np

from unibody.errors import ModelError
from unibody.model.values import complaint
from unibody.simulation.whole_file import is_file, path_given

SWELLS = 200
"""How many times larger than in the file a deflated array may become; smooth motions and zeros stay below it, bombs reach 1000."""
SMALL = 1 << 24
"""[bytes] What is smaller may swell as it likes."""
HEADER = 1 << 14
"""[bytes] The most that the header of an array takes."""
PIECE = 1 << 24
"""[bytes] Deflated arrays are read in pieces, so that a wrong size is seen before memory is taken."""

FAULTS = (
    OSError, ValueError, TypeError, AttributeError, KeyError, EOFError, RecursionError, MemoryError, OverflowError, NotImplementedError,
    RuntimeError, SyntaxError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What reading damaged bytes may raise."""


class Wrong(ValueError):
    """What an array or its place in the archive must not be."""


class Archive:
    """The head and the arrays of one file; `what` says what the file should be. Arrays are read when they are asked for by their shape."""

    def __init__(self, path: str | Path, what: str, names: Collection[str]):
        self.path, self.what = path_given(path), what
        if not is_file(self.path):
            raise ModelError(f"file '{self.path}' does not exist; give the path of a saved {what}")
        try:
            with self.path.open("rb") as file:
                self._entries = self._directory(file, {"head", *names})
                self.shapes = {name: self._header(file, name)[0] for name in self._entries if name != "head"}
                self.head: Any = json.loads(self._text(file))
        except Wrong as error:
            raise self.fault(str(error)) from None
        except FAULTS as error:
            raise self.refusal(complaint(error)) from None
        if not isinstance(self.head, dict):
            raise self.refusal("its head says nothing")

    def array(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """A float64 array that must have this shape."""
        found = self.shapes.get(name)
        if found != shape:
            there = "is missing" if found is None else f"has shape {found}, this model and solver need {shape}"
            raise self.fault(f"'{name}' {there}")
        try:
            with self.path.open("rb") as file:
                return np.frombuffer(self._read(file, name), np.dtype("<f8")).reshape(shape).astype(float)
        except Wrong as error:
            raise self.fault(str(error)) from None
        except FAULTS as error:
            raise self.refusal(complaint(error)) from None

    def refusal(self, why: str) -> ModelError:
        """The error for a file that is something else."""
        return ModelError(f"file '{self.path}' is not a saved {self.what} ({why}); give one written by save()")

    def fault(self, why: str) -> ModelError:
        """The error for a file whose content cannot be."""
        return ModelError(f"file '{self.path}' is not a whole {self.what}: {why}; save it again")

    def _directory(self, file: IO[bytes], names: Collection[str]) -> dict[str, zipfile.ZipInfo]:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
        size = self.path.stat().st_size
        out: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            name = entry.filename.removesuffix(".npy")
            if not entry.filename.endswith(".npy") or name not in names:
                raise Wrong(f"it holds {entry.filename[:40]!r}, which is none of its arrays")
            if name in out:
                raise Wrong(f"it holds '{name}' twice")
            if entry.flag_bits & 0x1:
                raise Wrong(f"'{name}' is encrypted")
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Wrong(f"'{name}' is compressed in a way that is not read here")
            if entry.file_size > SMALL and entry.file_size > SWELLS * entry.compress_size:
                raise Wrong(f"'{name}' declares {entry.file_size:.3g} bytes in {entry.compress_size:.3g} of the file")
            out[name] = entry
        if sum(entry.compress_size for entry in entries) > size:
            raise Wrong("its parts are longer than the file")
        if missing := [name for name in sorted(names) if name not in out]:
            raise Wrong(f"'{missing[0]}' is missing")
        return out

    def _header(self, file: IO[bytes], name: str) -> tuple[tuple[int, ...], np.dtype, int]:
        """Shape, kind and length of the header of an array."""
        entry = self._entries[name]
        with zipfile.ZipFile(file) as archive, archive.open(entry) as stream:
            start = io.BytesIO(stream.read(HEADER))
        version = np.lib.format.read_magic(start)
        if version not in ((1, 0), (2, 0)):
            raise Wrong(f"'{name}' is of version {version}")
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, columns_first, dtype = read(start)
        wanted = "a text" if name == "head" else "an array of float64"
        if (dtype.kind != "U" or shape != ()) if name == "head" else dtype != np.dtype("<f8"):
            raise Wrong(f"'{name}' is of dtype {str(dtype)[:40]}, not {wanted}")
        if columns_first or any(type(n) is not int or n < 0 for n in shape):
            raise Wrong(f"'{name}' is not written row by row")
        if start.tell() + prod(shape) * dtype.itemsize != entry.file_size:
            raise Wrong(f"'{name}' declares {shape} numbers and has {entry.file_size} bytes")
        return shape, dtype, start.tell()

    def _read(self, file: IO[bytes], name: str) -> bytes:
        """The bytes behind the header."""
        _, _, begin = self._header(file, name)
        pieces, left = [], self._entries[name].file_size
        with zipfile.ZipFile(file) as archive, archive.open(self._entries[name]) as stream:
            while left > 0 and (piece := stream.read(min(left, PIECE))):
                pieces.append(piece)
                left -= len(piece)
            if left or stream.read(1):  # the last read also compares the checksum
                raise Wrong(f"'{name}' is not as long as it declares")
        return b"".join(pieces)[begin:]

    def _text(self, file: IO[bytes]) -> str:
        dtype = self._header(file, "head")[1]
        return str(np.frombuffer(self._read(file, "head"), dtype)[0]) if dtype.itemsize else ""
