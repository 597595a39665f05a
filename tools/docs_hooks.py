"""What the documentation site does to its pages: formulas become MathML, which browsers draw by themselves; pages of the reference and the
gallery are written."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path
from typing import Any

FORMULA = re.compile(r'<(span|div) class="arithmatex">(\\\(|\\\[)(.*?)(\\\)|\\\])</\1>', re.DOTALL)


def on_files(files: Any, config: Any) -> Any:
    """The pages of the reference and of the gallery, beside those of docs/, with what tools/make_gallery.py has made."""
    from mkdocs.structure.files import File

    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from api_pages import pages
    from make_gallery import page

    made = Path(__file__).resolve().parents[1] / "build" / "gallery"
    for path, text in {**pages(), "gallery.md": page(made)}.items():
        files.append(File.generated(config, path, content=text))
    for shown in sorted(made.glob("*.png")) + sorted(made.glob("*.html")):
        files.append(File.generated(config, f"gallery/{shown.name}", abs_src_path=str(shown)))
    return files


def on_page_content(content: str, page: Any, config: Any, files: Any) -> str:
    """Every formula of a finished page as MathML."""
    from latex2mathml.converter import convert

    def as_mathml(found: re.Match[str]) -> str:
        display = "block" if found.group(1) == "div" else "inline"
        return convert(html.unescape(found.group(3)).strip(), display=display)

    return FORMULA.sub(as_mathml, content)
