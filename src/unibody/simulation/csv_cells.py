"""Words in the cells of a table that spreadsheets open: a cell that begins like a formula would be run as one."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def cell(name: str) -> str:
    """The name, with an apostrophe before what a spreadsheet would take for a formula."""
    return f"'{name}" if name.startswith(FORMULA) else name
