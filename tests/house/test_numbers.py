"""No number of README or docs stands alone: `unibody verify` makes it again by a test, or a benchmark does whose command is said.

A *claim* is a number that tells how well something is done: an error (1e-8), a share (3 %), a factor (12 ×, 12 times), a time (4 µs, 4 ms a
step). Three things carry a claim:

- the page of verification, which `unibody verify` writes;
- the command of a benchmark in the same paragraph (on the page of measurements: in the same section);
- an entry of docs/numbers.toml with the words around it and what makes it again: `test`, a test that `unibody verify` runs; `command`, a
  benchmark; `setting`, a number that is chosen and not found (a default, a step); or `recorded`, how it was found where no single command
  does it again.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from unibody.cli.verifying import claims

ROOT = Path(__file__).resolve().parents[2]
APART = {"verification.md", "map.md"}
PAGES = [p for p in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if p.name not in APART]
NUMBER = re.compile(
    r"\d+(?:\.\d+)?e-\d+|\d*(?:\\cdot )?10\^\{?-\d+\}?|\d+(?:\.\d+)? ?%|\d+(?:\.\d+)? (?:×|times)(?= [a-z]|[,.;:)|]|$)"
    r"|\d+(?:\.\d+)? [µn]s\b|\d+(?:\.\d+)? ms a step"
)
COMMAND = re.compile(r"unibody bench (\w+)|benchmarks/(\w+)\.py")
KINDS = ("test", "command", "setting", "recorded")
ENTRIES = claims(ROOT)


def paragraphs(text: str, whole_sections: bool) -> list[str]:
    """Blocks between empty lines (or headings), without code, pictures and comments; a table belongs to the block before it."""
    text = re.sub(r"^```.*?^```$|^    [^\n]*$|<!--.*?-->|</?[a-z][^>]*>", "", text, flags=re.MULTILINE | re.DOTALL)
    if whole_sections:
        return re.split(r"^##+ ", text, flags=re.MULTILINE)
    out: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        if block.lstrip().startswith("|") and out:
            out[-1] += "\n" + block
        else:
            out.append(block)
    return out


def is_default(line: str, at: int) -> bool:
    """Whether the number at `at` is a whole cell of a table row that begins with a name in code: the default of an option."""
    start, end = line.rfind("|", 0, at), line.find("|", at)
    return line.lstrip().startswith("| `") and start > 0 and re.fullmatch(r"\s*[\d.e-]+( × \w+)?\s*", line[start + 1 : end]) is not None


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def unknown(page: str, text: str, entries: list[dict]) -> list[str]:
    """Claims of a page that nothing carries, with the words around them."""
    known = [flat(e["text"]) for e in entries if e["page"] == page]
    out = []
    for block in paragraphs(text, page == "docs/measured.md"):
        if COMMAND.search(block):
            continue
        plain, carried = flat(block), set()
        for words in known:
            for found in re.finditer(re.escape(words), plain):
                carried |= set(range(*found.span()))
        for found in re.finditer(r"`[^`]*`", plain):
            carried |= set(range(*found.span()))
        defaults = {m[0] for line in block.splitlines() for m in NUMBER.finditer(line) if is_default(line, m.start())}
        for found in NUMBER.finditer(plain):
            if found.start() not in carried and found[0] not in defaults:
                out.append(f"{page}: '{plain[max(0, found.start() - 50) : found.end() + 30]}'")
    return out


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_every_claim_of_a_page_is_known(page: Path) -> None:
    name = page.relative_to(ROOT).as_posix()
    left = unknown(name, page.read_text(encoding="utf-8"), ENTRIES)
    assert not left, "numbers that nothing makes again; add a test or a command to docs/numbers.toml:\n" + "\n".join(left)


def test_entries_stand_on_their_pages_and_name_what_exists() -> None:
    tests = {n for p in (ROOT / "tests").rglob("*.py") for n in re.findall(r"^ *def (test_\w+)", p.read_text(encoding="utf-8"), re.M)}
    benchmarks = {p.stem for p in (ROOT / "benchmarks").glob("*.py")}
    for entry in ENTRIES:
        told = f"{entry['page']}: {entry['text']}"
        (kind,) = [k for k in KINDS if k in entry]
        page = ROOT / entry["page"]
        assert page.is_file() and flat(entry["text"]) in flat(page.read_text(encoding="utf-8")), f"not on its page any more: {told}"
        assert NUMBER.search(flat(entry["text"])), f"holds no number: {told}"
        if kind == "test":
            assert entry["test"] in tests, f"no test {entry['test']}: {told}"
        elif kind == "command":
            found = COMMAND.search(entry["command"])
            assert found is not None and (found[1] or found[2]) in benchmarks, f"no benchmark {entry['command']}: {told}"
        else:
            assert len(entry[kind].split()) > 2, f"say why: {told}"


def test_a_number_that_nothing_makes_again_is_found() -> None:
    table = "| option | default |\n|---|---|\n| `tolerance` | 1e-5 | of it |\n"
    page = f"Steps are right.\n\nIt is right to 1e-9, and\n12 times as fast.\n\n{table}"
    left = unknown("docs/x.md", page, [])
    assert len(left) == 2 and "1e-9" in left[0] and "12 times" in left[1]
    assert len(unknown("docs/x.md", page, [{"page": "docs/x.md", "text": "It is right to 1e-9,", "test": "test_x"}])) == 1
    assert not unknown("docs/x.md", page.replace("as fast", "as fast (`unibody bench robots`)"), [])
