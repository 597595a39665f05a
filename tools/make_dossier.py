"""docs/verification.md: every published or exact number that the tests reproduce, the value measured and the command that measures it.

    unibody verify                              runs these tests, says each number and writes the page; the same in pieces:
    pytest --dossier build/dossier.json         tests enter what they compare (the fixture `published` of tests/conftest.py)
    python tools/make_dossier.py build/dossier.json
    python tools/make_dossier.py build/dossier.json --check       the page speaks of the same numbers (measured digits may differ)
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "verification.md"
SPEED = ROOT / "tools" / "dossier_speed.md"
HEAD = """# Verification

Numbers that others have published, or that mathematics gives, beside what this engine gives. Each row is a comparison made by a
test, in every solver that is verified; *measured* and *difference* are the worst of them, *allowed* is what the test demands, *s* the
seconds of its slowest run. From a source checkout,

```sh
unibody verify                         # makes them all again, says each, and writes this page
unibody verify --quick                 # the cheapest, within two minutes
unibody verify -k test_catenary        # those of one test: the name in the last column
```

Numbers that stand on other pages are listed in `docs/numbers.toml`, each with the test or the benchmark that makes it again.

Besides these there are laws without a number to publish: conservation of energy and momentum, Newton's and Euler's equations for
every body of random mechanisms, derivatives by finite differences, solvers that agree as the step shrinks, and Pinocchio, MuJoCo and
PyBullet as witnesses. See `tests/`.

"""


def rows(entries: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """By subject, one row per quantity: the worst of all runs of the same test."""
    out: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    for entry in entries:
        key = (entry["quantity"], function_of(entry["test"]))
        known = out.setdefault(entry["subject"], {})
        slowest = max(entry["seconds"], known[key]["seconds"] if key in known else 0.0)
        known[key] = (entry if key not in known or entry["error"] > known[key]["error"] else known[key]) | {"seconds": slowest}
    return {subject: list(quantities.values()) for subject, quantities in out.items()}


def function_of(test: str) -> str:
    """`tests/…/test_file.py::test_name` without parameters."""
    return re.sub(r"\[.*\]$", "", test)


def shown(values: list[float], count: int) -> str:
    if count > 4:
        return f"{count} values"
    return ", ".join(f"{x:.10g}" for x in values)


def page(entries: list[dict[str, Any]]) -> str:
    text = HEAD
    for subject, quantities in rows(entries).items():
        text += f"## {subject}\n\n| quantity | published or exact | measured | difference | allowed | s | test |\n{'|---' * 7}|\n"
        for e in quantities:
            unit = f" [{e['unit']}]" if e["unit"] else ""
            quantity = e["quantity"].replace("|", "\\|")
            text += f"| {quantity}{unit} | {shown(e['value'], e['count'])} | {shown(e['measured'], e['count'])} "
            text += f"| {e['error']:.1e} | {e['tolerance']:.1e} | {e['seconds']:.1f} | `{function_of(e['test']).split('::')[-1]}` |\n"
        text += "\n"
    return text + SPEED.read_text(encoding="utf-8")


def without_measurements(text: str) -> list[tuple[str, ...]]:
    """Headings, and of every row the quantity, the published value, the allowance and the test."""
    out: list[tuple[str, ...]] = []
    for line in text.splitlines():
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if line.startswith("## "):
            out.append((line,))
        elif len(cells) == 7:
            out.append((cells[0], cells[1], cells[4], cells[6]))
    return sorted(out)


def main(arguments: list[str]) -> int:
    files = [a for a in arguments if not a.startswith("--")]
    if len(files) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    made = page(json.loads(Path(files[0]).read_text(encoding="utf-8")))
    if "--check" not in arguments:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    old, new = (set(without_measurements(text)) for text in (PAGE.read_text(encoding="utf-8"), made))
    for row in sorted(new ^ old):
        print(f"{'only in the tests' if row in new else 'only on the page'}: {' | '.join(row)}", file=sys.stderr)
    same = PAGE.read_text(encoding="utf-8").endswith(SPEED.read_text(encoding="utf-8"))
    if not same:
        print("the section on speed of docs/verification.md is not tools/dossier_speed.md", file=sys.stderr)
    if new != old:
        print("docs/verification.md is not what the tests compare; make it anew by tools/make_dossier.py", file=sys.stderr)
    return int(new != old or not same)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
