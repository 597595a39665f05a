"""What the documentation site does to its pages: formulas become MathML, which browsers draw by themselves; the reference is written."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path
from typing import Any

FORMULA = re.compile(r'<(span|div) class="arithmatex">(\\\(|\\\[)(.*?)(\\\)|\\\])</\1>', re.DOTALL)


def on_files(files: Any, config: Any) -> Any:
    """The pages of the reference, beside those of docs/."""
    from mkdocs.structure.files import File

    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from api_pages import pages

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_content(content: str, page: Any, config: Any, files: Any) -> str:
    """Every formula of a finished page as MathML."""
    from latex2mathml.converter import convert

    def as_mathml(found: re.Match[str]) -> str:
        display = "block" if found.group(1) == "div" else "inline"
        return convert(html.unescape(found.group(3)).strip(), display=display)

    return FORMULA.sub(as_mathml, content)
