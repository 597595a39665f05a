"""`MemorySchema`: what the flat array holds that goes into every step and comes out of it, field by field.

A solver keeps between steps only what it writes down: numbers in one array, its memory. A schema names them, in their order,

    field        name, shape, unit, meaning, and which numbers may stand there
    size         of all fields, one behind the other, without gaps
    at(names)    where fields begin: the named constants by which compiled code finds them
    view(m)      the fields of m by name, to read and to write
    fault(m)     which field holds a number that cannot be: arrays from a file are looked at before a kernel reads them

and prints itself as a table. A field may be a record, or an array of records, with a schema of its own (contacts, friction in joints).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from unibody.arrays import HUGE

MANY = 2.0**53
"""Counts are exact below it."""

FEW = 6
"""How many numbers of a field are printed."""


@dataclass(frozen=True)
class Field:
    """Some numbers of memory: their least and largest value, whether they are whole, and whether they may be infinite or, where nothing is
    meant, NaN. `record`: the schema of each entry, where it is no plain number."""

    name: str
    shape: tuple[int, ...]
    unit: str
    meaning: str
    low: float = -HUGE
    high: float = HUGE
    whole: bool = False
    infinite: bool = False
    missing: bool = False
    record: MemorySchema | None = None

    @property
    def size(self) -> int:
        return prod(self.shape) * (1 if self.record is None else self.record.size)

    def fault(self, values: np.ndarray) -> str | None:
        """The first number that cannot stand here, with the name of the field."""
        if self.record is not None:
            why = self.record.fault(values.reshape(-1, self.record.size))
            return None if why is None else f"{why} of {self.name}"
        good = (values >= self.low) & (values <= self.high)
        if self.whole:
            good &= values == np.floor(values)
        if self.infinite:
            good |= values == np.inf
        if self.missing:
            good |= np.isnan(values)
        return None if good.all() else f"{values[~good].flat[0]:.6g} as {self.name}"


def count(name: str, meaning: str, most: float = MANY) -> Field:
    """The field of a number of things, or of a choice among them."""
    return Field(name, (), "1", meaning, 0.0, most, whole=True)


class MemorySchema:
    """Fields one behind the other.

    >>> schema = MemorySchema(Field("step_length", (), "s", "of the last step"), Field("begun_q", (2,), "m", "q that it began with"))
    >>> memory = np.zeros(schema.size)
    >>> schema.view(memory).begun_q = 1.0, 2.0
    >>> memory.tolist(), schema.view(memory).step_length, schema.at("begun_q")
    ([0.0, 1.0, 2.0], 0.0, (1,))
    >>> schema
    field        shape  unit  where  meaning
    step_length         s     0      of the last step
    begun_q      2      m     1:3    q that it began with
    """

    __slots__ = ("_view", "fields", "size", "slices")  # declared once, shared by all memories

    def __init__(self, *fields: Field):
        self.fields = {field.name: field for field in fields}
        self.slices: dict[str, slice] = {}
        self.size = 0
        for field in fields:
            if field.name in self.slices:
                raise ValueError(f"memory has two fields named '{field.name}'; give each a name of its own")
            self.slices[field.name] = slice(self.size, self.size + field.size)
            self.size += field.size
        one = {f.name: f.shape == () and f.record is None for f in fields}
        named = {name: (Number if one[name] else Numbers)(field, self.slices[name]) for name, field in self.fields.items()}
        self._view: type[MemoryView] = type("MemoryView", (MemoryView,), {"__slots__": (), "_schema": self, **named})

    def followed_by(self, *fields: Field) -> MemorySchema:
        """The same fields, and others behind them."""
        return MemorySchema(*self.fields.values(), *fields)

    def at(self, *names: str) -> tuple[int, ...]:
        """Where fields begin."""
        return tuple(self.slices[name].start for name in names)

    def view(self, memory: np.ndarray) -> MemoryView:
        """Memory (…, size) by the names of its fields; also an array of the first fields only."""
        return self._view(memory)

    def fault(self, memory: np.ndarray) -> str | None:
        """A number in memories (rows, size) that cannot be, with the name of its field; or None."""
        return next((why for name, f in self.fields.items() if (why := f.fault(memory[:, self.slices[name]])) is not None), None)

    def leaves(self, first: int = 0, within: str = "") -> Iterator[tuple[str, int, Field]]:
        """Fields of plain numbers with their names and places; those of many records, as "contacts[48].gap", in the first of these."""
        for name, field in self.fields.items():
            begin = first + self.slices[name].start
            if field.record is not None and field.size:
                yield from field.record.leaves(begin, f"{within}{name}{list(field.shape) or ''}.")
            elif field.size:
                yield within + name, begin, field

    def __reduce__(self) -> tuple[Any, ...]:
        return MemorySchema, tuple(self.fields.values())

    def __repr__(self) -> str:
        return self.table()

    def table(self, memory: np.ndarray | None = None) -> str:
        """The fields in lines, with the numbers of a memory if one is given."""
        rows = [["field", "shape", "unit", "where", "meaning"]]
        for name, begin, field in self.leaves():
            where = f"{begin}" if field.size == 1 else f"{begin}:{begin + field.size}"
            rows.append([name, "×".join(map(str, field.shape)), field.unit, where, field.meaning])
            if memory is not None:
                numbers = memory[begin : begin + min(field.size, FEW)]
                rows[-1].insert(1, " ".join(f"{x:.6g}" for x in numbers) + (" …" if field.size > FEW else ""))
        if memory is not None:
            rows[0].insert(1, "value")
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows)


class MemoryView:
    """The fields of a memory by name, attributes of a class that its schema makes: one number as a float, more as an array of their shape
    that shares its numbers with the memory, a record as a view of its own. Assigning to a name writes into the memory."""

    __slots__ = ("_memory",)
    _schema: MemorySchema

    def __init__(self, memory: np.ndarray):
        self._memory = memory

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"this memory has no field '{name}'; it has {', '.join(self._schema.fields)}")

    def __getitem__(self, rows: Any) -> MemoryView:
        """Some of many records."""
        return self._schema.view(self._memory[rows])

    def __reduce__(self) -> tuple[Any, ...]:
        return self._schema.view, (self._memory,)

    def __repr__(self) -> str:
        return self._schema.table(self._memory if self._memory.ndim == 1 else None)


class Numbers:
    """A field as an attribute of views."""

    def __init__(self, field: Field, where: slice):
        self.where, self.record = where, field.record
        self.shape = field.shape + (() if field.record is None else (field.record.size,))

    def _of(self, memory: np.ndarray) -> np.ndarray:
        part = memory[..., self.where]
        return part if len(self.shape) == 1 else part.reshape(part.shape[:-1] + self.shape)

    def __get__(self, view: MemoryView, owner: type | None = None) -> Any:
        return self._of(view._memory) if self.record is None else self.record.view(self._of(view._memory))

    def __set__(self, view: MemoryView, value: Any) -> None:
        self._of(view._memory)[...] = value


class Number:
    """A field of one number, of which steps read and write many."""

    def __init__(self, field: Field, where: slice):
        self.place = where.start

    def __get__(self, view: MemoryView, owner: type | None = None) -> Any:
        return view._memory.item(self.place) if view._memory.ndim == 1 else view._memory[..., self.place]

    def __set__(self, view: MemoryView, value: Any) -> None:
        view._memory[..., self.place] = value
