"""The text of a URDF as people have it: blank lines before its declaration, `--` in comments, bytes of another encoding, a zero at its end.

What is well-formed is taken as it is. What is not is tidied once and judged again by the same rules (`xml_safety`); what still is not
well-formed is refused for its first fault. Line numbers stay.

Of xacro, the language that many URDFs are made from, three words are understood where they are left in a finished file: `$(find name)` in a
path, which is a package; `$(optenv NAME default)`, which is its default; and definitions that nothing uses. All others are for xacro.
"""

from __future__ import annotations

import re
from pathlib import Path

from unibody.errors import ModelError
from unibody.files.xml_safety import check_xml, checked_xml

BLANK = b"\x00\x1a \t\r\n"
"""What may stand around a document without meaning anything."""
HARMLESS = ("macro", "property", "arg")
"""Definitions of xacro: nothing, unless used."""
LEFT = re.compile(r"\$\(|\$\{")
OPTENV = re.compile(r"\$\(\s*optenv\s+\S+\s+([^()]*?)\s*\)")


def readable_xml(path: Path, said: list[str]) -> bytes:
    """The bytes of a file that is well-formed, or is so when tidied; `said` gets what was done."""
    try:
        data = checked_xml(path)
    except ModelError as error:
        if "not well-formed" not in str(error) and "cannot be decoded" not in str(error):
            raise
        data = tidied(path.read_bytes())
        try:
            check_xml(data, f"file '{path}'")
        except ModelError:
            raise error from None
        said.append("the text of the file: it is not well-formed XML; it was read without what is around it and in its comments")
    # Bullet's files call themselves XML 0.0, which lxml refuses.
    return re.sub(rb"""(<\?xml\s+version\s*=\s*)(["'])0\.0\2""", rb"\1\g<2>1.0\2", data[:200]) + data[200:]


def tidied(data: bytes) -> bytes:
    """Without comments, declaration and blanks; in UTF-8.

    >>> tidied(b"\\n<?xml version='1.0'?><robot><!-- a -- b -->\\xe9</robot>\\0").decode()
    '\\n<robot>é</robot>'
    """
    text = data.removeprefix(b"\xef\xbb\xbf").rstrip(BLANK)
    encoding = re.search(rb"""<\?xml[^>]*encoding\s*=\s*["']([\w-]+)["']""", text[:500])
    for name in [encoding.group(1).decode() if encoding else "utf-8", "utf-8", "cp1252", "latin-1"]:
        try:
            words = text.decode(name)
            break
        except (UnicodeDecodeError, LookupError):
            continue
    words = re.sub(r"<!--.*?-->", lambda found: "\n" * found.group().count("\n"), words, flags=re.DOTALL)
    return re.sub(r"<\?xml[^>]*\?>", "", words, count=1).encode("utf-8")


def filled_in(text: str, what: str, said: list[str]) -> str:
    """A number's text with the defaults of `$(optenv …)`; ModelError for what only xacro can fill in. `what` begins messages."""
    if not LEFT.search(text):
        return text
    given = OPTENV.sub(r"\1", text)
    if LEFT.search(given):
        raise ModelError(f'{what}: "{text}" is for xacro to fill in; run `xacro file.xacro > robot.urdf` and load the result')
    said.append(f'{what}: "{text}": its default was taken')
    return given


def xacro_word(tag: str) -> str | None:
    """The word after `xacro:`, if the element is one of xacro's."""
    if tag.startswith("{"):
        space, _, word = tag[1:].partition("}")
        return word if "xacro" in space.lower() else None
    return tag.partition(":")[2] if tag.startswith("xacro:") else None
