"""How much a few bytes of MJCF ask for: copies, grids and fields, counted before MuJoCo makes them.

A `replicate` makes `count` copies of what stands in it, and may stand in another one; `composite` and `flexcomp` make a grid; a height
field has nrow × ncol heights, a texture width × height pixels. What no machine can hold is refused by the element that asks for it.
"""

from __future__ import annotations

from xml.etree import ElementTree

from unibody.errors import ModelError

ELEMENTS = 100_000
"""The most elements of a model; the largest robots have some thousands."""
FILES = 1000
"""The most files that a model is made of, each counted as often as it is included."""
NUMBERS = {"hfield": ("nrow", "ncol"), "texture": ("width", "height"), "numeric": ("size",)}
"""What asks for numbers, and by which attributes."""
MOST_NUMBERS = 64_000_000
WIDEST = 10_000
"""Of what users may keep at each element (`nuser_…` of `<size>`)."""


def copies(element: ElementTree.Element) -> float:
    """How often what stands in the element is made."""
    return max(1.0, _number(element.attrib.get("count"))) if element.tag == "replicate" else 1.0


def parts(element: ElementTree.Element) -> float:
    """How many elements one element becomes."""
    if element.tag not in ("composite", "flexcomp"):
        return 1.0
    out = 1.0
    for word in element.attrib.get("count", "").split():
        out *= max(1.0, _number(word))
    return out


def check_numbers(element: ElementTree.Element, what: str) -> None:
    """Refuse fields and textures that are too large; `what` begins the message."""
    asked = 1.0
    for key in NUMBERS.get(element.tag, ()):
        asked *= max(1.0, _number(element.attrib.get(key)))
    if not asked <= MOST_NUMBERS:
        sizes = ", ".join(f"{key} {element.attrib.get(key, '1')[:20]}" for key in NUMBERS[element.tag])
        raise ModelError(f"{what}: {sizes} ask for {asked:.3g} numbers, and at most {MOST_NUMBERS} are made; make it smaller")
    if element.tag == "size":
        for key, value in element.attrib.items():
            if key.startswith("nuser_") and not _number(value) <= WIDEST:
                raise ModelError(f"{what}: {key} {value[:20]}, and at most {WIDEST} numbers are kept at an element; make it smaller")


def _number(word: str | None) -> float:
    """What a word counts; 1 of what is no number, of which MuJoCo complains."""
    try:
        return float(word) if word is not None else 1.0
    except ValueError:
        return 1.0
