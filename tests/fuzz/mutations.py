"""Structured mutations: of values in JSON, of elements and attributes in XML, of words in text, of bytes, of arrays in archives.

Every mutation takes its chances from one `random.Random`, so that a seed names a case for ever.
"""

from __future__ import annotations

import copy
import io
import json
import random
import struct
import zipfile
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

NUMBERS = (
    0, -1, 1, -0.0, 1e-300, 5e-324, 1e-12, 1e9, -1e9, 1e18, 1e200, 1e308, -1e308, 2**31, 2**63, 10**30, -(2**70), float("nan"),
    float("inf"), -float("inf"), 0.1, 1e-3, 3, 7,
)  # fmt: skip
WORDS = (
    "", " ", "world", "nan", "inf", "-inf", "1e999", "../../../etc/passwd", "/dev/zero", "http://localhost/a", "a" * 5000, "\ud800", "\x00",
    "é\n\r\t", "{}", "%s%n", "__class__", "os:system", "=1+1", "true", "-", "\u202e", "../x", "C:\\x",
)  # fmt: skip
SCRAPS = ("nan", "inf", "0", "-1", "999999999", "1e308", "1/2/3", "1//", "//", "a", "", "-0", "1e-320", "18446744073709551616", "0.5", "2")


def nasty(rng: random.Random) -> Any:
    """A value that few expect."""
    kind = rng.randrange(8)
    if kind < 3:
        return rng.choice(NUMBERS)
    if kind < 5:
        return rng.choice(WORDS)
    return rng.choice((
        None, True, False, [], {}, [[]], [None], {"": 0}, [1e308] * 3, [0] * 1000, {"class": "Box"}, {"function": "os:getcwd"}, nested(400),
    ))  # fmt: skip


def nested(depth: int) -> Any:
    out: Any = 1
    for _ in range(depth):
        out = [out]
    return out


def perturbed(value: Any, rng: random.Random) -> Any:
    """A number near or far from the one that was there."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return nasty(rng)
    if isinstance(value, int) and abs(value) > 10**15:
        return 0
    if rng.random() < 0.6:  # near enough to pass the readers
        return rng.choice((-value, value + 1, value - 1, value * (1 + 1e-12), value * rng.uniform(0.1, 3.0), 0, rng.uniform(-10, 10)))
    return rng.choice((value * 1e9, value * 1e-9, value * 1e30, rng.choice(NUMBERS)))


# ---- JSON


def places(data: Any) -> list[tuple[Any, Any]]:
    """(container, key) of every value in nested objects and lists."""
    out, todo = [], [data]
    while todo:
        node = todo.pop()
        for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
            out.append((node, key))
            todo.append(node[key])
    return out


def mutate_json(data: Any, rng: random.Random) -> Any:
    """A copy with one to three changes."""
    data = copy.deepcopy(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        found = places(data)
        if not found:
            return nasty(rng)
        node, key = rng.choice(found)
        change = rng.randrange(10)
        numbers = [(n, k) for n, k in found if isinstance(n[k], int | float) and not isinstance(n[k], bool)]
        if numbers and rng.random() < 0.4:
            (node, key), change = rng.choice(numbers), 5
        if change == 0 and isinstance(node, dict):
            del node[key]
        elif change == 0:
            node.pop(key)
        elif change == 1 and isinstance(node, dict):
            node[rng.choice((f"{key}x", "", "name", "type", rng.choice(WORDS)))] = node.pop(key)
        elif change == 2:
            other, there = rng.choice(found)
            try:
                node[key], other[there] = copy.deepcopy(other[there]), copy.deepcopy(node[key])
            except (KeyError, IndexError):
                continue
        elif change == 3 and isinstance(node, list):
            node.insert(key, copy.deepcopy(node[key]))
        elif change == 4:
            node[key] = [node[key]]
        elif change in (5, 6):
            node[key] = perturbed(node[key], rng)
        elif change == 7 and isinstance(node[key], list):
            node[key] = node[key] * rng.choice((0, 2, 3, 100))
        else:
            node[key] = nasty(rng)
    return data


def json_text(data: Any) -> bytes:
    try:
        return json.dumps(data).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):  # what mutations tied into a knot
        return b"{}"


# ---- XML


def mutate_xml(text: str, rng: random.Random, words: tuple[str, ...]) -> bytes:
    """One to three changes of elements and attributes; `words` are names of the format."""
    root = ET.fromstring(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        parents = [(parent, child) for parent in root.iter() for child in parent]
        owner = rng.choice([root, *(child for _, child in parents)])
        change = rng.randrange(11) if rng.random() < 0.7 else 4
        if change < 6 and owner.attrib:
            name = rng.choice(list(owner.attrib))
            value = owner.attrib[name]
            if change == 0:
                del owner.attrib[name]
            elif change == 1:
                owner.attrib[rng.choice((f"{name}x", *words))] = owner.attrib.pop(name)
            elif change in (2, 3):
                owner.attrib[name] = _clean(rng.choice((*WORDS, *map(repr, NUMBERS))))
            else:
                parts = value.split() or [""]
                k = rng.randrange(len(parts))
                try:
                    parts[k] = _clean(repr(perturbed(float(parts[k]), rng)))
                except ValueError:
                    parts[k] = _clean(rng.choice((*map(repr, NUMBERS), f"-{parts[k]}", "x", f"{parts[k]} {parts[k]}", "")))
                owner.attrib[name] = " ".join(parts)
        elif parents and change == 6:
            parent, child = rng.choice(parents)
            parent.remove(child)
        elif parents and change == 7:
            parent, child = rng.choice(parents)
            parent.append(copy.deepcopy(child))
        elif parents and change == 8:
            parent, child = rng.choice(parents)
            other = rng.choice([root, *(c for _, c in parents)])
            if other not in child.iter():
                parent.remove(child)
                other.append(child)
        elif change == 9:
            owner.tag = rng.choice(words)
        else:
            owner.attrib[rng.choice(words)] = _clean(rng.choice((*WORDS, *map(repr, NUMBERS))))
    out = ET.tostring(root, encoding="unicode").encode("utf-8", "replace")
    return mutate_bytes(out, rng) if rng.random() < 0.1 else out


def _clean(text: str) -> str:
    """Without what XML cannot hold."""
    return "".join(c for c in text if c >= " " and not "\ud800" <= c <= "\udfff")


# ---- words and bytes


def mutate_words(text: str, rng: random.Random) -> bytes:
    """Changes of words and lines, for meshes in text."""
    lines = text.splitlines()
    for _ in range(rng.choice((1, 1, 2, 5))):
        k = rng.randrange(len(lines))
        words = lines[k].split() or [""]
        change = rng.randrange(6)
        if change == 0:
            del lines[k]
            lines = lines or [""]
        elif change == 1:
            lines.insert(rng.randrange(len(lines) + 1), lines[k])
        elif change == 2:
            lines[k] = " ".join(words[: rng.randrange(len(words) + 1)])
        else:
            words[rng.randrange(len(words))] = rng.choice(SCRAPS)
            lines[k] = " ".join(words)
    out = "\n".join(lines).encode()
    return mutate_bytes(out, rng) if rng.random() < 0.1 else out


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bytes changed, cut, doubled, put in."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if not out:
            return bytes(out)
        at, change = rng.randrange(len(out)), rng.randrange(6)
        if change == 0:
            out[at] = rng.randrange(256)
        elif change == 1:
            out[at] ^= 1 << rng.randrange(8)
        elif change == 2:
            del out[at:]
        elif change == 3:
            del out[at : at + rng.randrange(1, 40)]
        elif change == 4:
            out[at:at] = out[at : at + rng.randrange(1, 200)]
        else:
            word = struct.pack("<I", rng.choice((0, 1, 2**31 - 1, 2**32 - 1, 0x7FC00000, 0x7F800000)))
            out[at : at + 4] = word
    return bytes(out)


# ---- archives of arrays


def mutate_npz(data: bytes, rng: random.Random) -> bytes:
    """Changes of a recording's or a checkpoint's arrays, of its head, of the archive around them."""
    if rng.random() < 0.15:
        return mutate_bytes(data, rng)
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    raw: dict[str, bytes] = {}
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice(list(arrays))
        if name == "head" and str(arrays[name]).startswith("{") and rng.random() < 0.9:
            head = mutate_json(json.loads(str(arrays[name])), rng)
            arrays[name] = np.array(json_text(head).decode("utf-8", "replace").replace("\x00", ""))
            continue
        array, change = arrays[name], rng.choice((*range(12), 5, 5, 5, 5, 5))
        if change == 0:
            del arrays[name]
            if not arrays:
                return b""
        elif change == 1:
            arrays[rng.choice(("memory", "q", "x", "head", ""))] = arrays.pop(name)
        elif change == 2:
            arrays[name] = np.asarray(array).reshape(-1)[: rng.randrange(3)]
        elif change == 3:
            arrays[name] = np.concatenate([np.ravel(array), np.ravel(array)])
        elif change == 4:
            arrays[name] = np.expand_dims(array, rng.randrange(1 + min(1, array.ndim)))
        elif change in (5, 6) and array.dtype.kind == "f" and array.size:
            changed = array.copy()
            at = rng.randrange(changed.size)
            changed.flat[at] = float(perturbed(float(changed.flat[at]), rng))
            arrays[name] = changed
        elif change == 7:
            arrays[name] = np.zeros(array.shape, rng.choice(("i8", "c16", "U3", "f4", "M8[s]", "?")))
        elif change == 8:
            arrays[name] = np.array(rng.choice(("text", 0.0, -1.0, np.nan, 10**12)))
        elif change == 9:
            raw[name] = _declaring(rng.choice(((10**12,), (10**6, 10**6), (-1,), (2**62, 8))))
        elif change == 10:
            raw[name] = _pickled()
        else:
            arrays[name] = np.zeros((0, 3)) if rng.random() < 0.5 else np.zeros(10**5)
    return _archive(arrays, raw, rng)


def _declaring(shape: tuple[int, ...]) -> bytes:
    """The head of a .npy that promises more than follows."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape!r}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + b"\x00" * 64


def _pickled() -> bytes:
    out = io.BytesIO()
    np.save(out, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return out.getvalue()


def _archive(arrays: dict[str, np.ndarray], raw: dict[str, bytes], rng: random.Random) -> bytes:
    out = io.BytesIO()
    method = rng.choice((*9 * (zipfile.ZIP_STORED,), *9 * (zipfile.ZIP_DEFLATED,), zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, array in arrays.items():
            if name in raw:
                content = raw[name]
            else:
                buffer = io.BytesIO()
                np.save(buffer, array, allow_pickle=False)
                content = buffer.getvalue()
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content, method)
    data = bytearray(out.getvalue())
    if rng.random() < 0.06:  # the flag of encryption, in every head of the archive
        for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            at = data.find(mark)
            while at >= 0:
                data[at + offset] |= 1
                at = data.find(mark, at + 4)
    return bytes(data)
