"""Numbers for a page: arrays one after another in a block of bytes, deflated, in base64; motions as 16-bit tracks.

A track holds rows over frames as x = centre + step · n with |n| ≤ 32767, so an error of at most step / 2 = range / 131068. Kept are the
second differences of n over the frames modulo 2¹⁶, all low bytes before all high bytes: a smooth motion then has high bytes that are mostly
equal, and deflates well (first differences take 1.4 times as much, none 1.9 times).
"""

from __future__ import annotations

import base64
import zlib

import numpy as np

LARGEST = 32767
UNKNOWN = -32768
TYPES = {"f4": "<f4", "f8": "<f8", "u1": "u1", "i1": "i1", "u2": "<u2", "u4": "<u4"}


class Block:
    """Arrays by name; `sections` says where each is: [offset, type, count]."""

    def __init__(self) -> None:
        self.sections: dict[str, tuple[int, str, int]] = {}
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, name: str, array: np.ndarray, kind: str) -> None:
        """Append an array; each begins at a multiple of eight bytes."""
        data = np.ascontiguousarray(array, dtype=TYPES[kind]).tobytes()
        self.sections[name] = (self._size, kind, array.size)
        padded = data + b"\0" * (-len(data) % 8)
        self._parts.append(padded)
        self._size += len(padded)

    @property
    def size(self) -> int:
        """Bytes before compression."""
        return self._size

    def text(self, compress: bool) -> str:
        """The block in base64."""
        data = b"".join(self._parts)
        return base64.b64encode(zlib.compress(data, 6) if compress else data).decode("ascii")


def track(numbers: np.ndarray) -> np.ndarray:
    """(2 n,) bytes of a table (rows, frames) of 16-bit numbers."""
    table = numbers.astype(np.int16).reshape(-1, numbers.shape[-1])
    steps = np.diff(np.diff(table, axis=1, prepend=np.int16(0)), axis=1, prepend=np.int16(0))
    return np.ascontiguousarray(steps, "<i2").view(np.uint8).reshape(-1, 2).T.ravel()


def quantised(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers, centres and steps of rows (…, frames): values ≈ centre + step · number."""
    low, high = values.min(axis=-1), values.max(axis=-1)
    centre, step = 0.5 * (low + high), 0.5 * (high - low) / LARGEST
    centre, step = centre.astype(np.float32).astype(float), step.astype(np.float32).astype(float)
    safe = np.where(step > 0.0, step, 1.0)
    return np.clip(np.rint((values - centre[..., None]) / safe[..., None]), -LARGEST, LARGEST), centre, step


def scaled(values: np.ndarray, largest: float) -> np.ndarray:
    """Numbers of values between −largest and largest; what is beyond is cut, NaN is UNKNOWN."""
    part = np.clip(values / (largest or 1.0), -1.0, 1.0)
    return np.where(np.isfinite(part), np.rint(np.nan_to_num(part) * LARGEST), UNKNOWN)
