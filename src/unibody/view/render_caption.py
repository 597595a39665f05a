"""Words on pictures, and the import of Pillow."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from unibody.errors import ModelError


def pillow() -> Any:
    """The package PIL with the parts that pictures need."""
    try:
        import PIL.Image
        import PIL.ImageDraw
        import PIL.ImageFont
    except ImportError:
        raise ModelError("rendered pictures need Pillow, which is not installed; pip install unibody[render]") from None
    return PIL


@cache
def _font(size: int) -> Any:
    return pillow().ImageFont.load_default(size)


def caption(picture: np.ndarray, text: str) -> np.ndarray:
    """The picture (rows, columns, 3) uint8 with words at its lower left."""
    pil, size = pillow(), max(9, picture.shape[0] // 40)
    image = pil.Image.fromarray(picture)
    pil.ImageDraw.Draw(image).text((size, picture.shape[0] - size), text, fill=(34, 48, 60), font=_font(size), anchor="ls")
    return np.asarray(image)
