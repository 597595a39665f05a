"""A real Chromium without a screen: one browser per file, one page per test, every error that a page reports, and screenshots that stay.

The browser is the system's (`UNIBODY_CHROMIUM`, else the first of the usual names); WebGL runs in software. Screenshots go to the folder
`UNIBODY_ARTEFACTS` (else build/artefacts), which continuous integration keeps.
"""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--force-color-profile=srgb",
    "--host-resolver-rules=MAP evil.example 127.0.0.1",
)  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SIZE = {"width": 1280, "height": 800}
NOISE = ("favicon.ico", "GPU stall due to ReadPixels", "GL Driver Message", "Unable to preventDefault inside passive event listener")
"""Says nothing about our pages: a missing icon of the tab, remarks of the software WebGL when a canvas is read for a picture, and of
Chromium when viser's own orbit controls try to stop a scroll that does not happen, during a drag."""


def chromium() -> str | None:
    """The path of an installed Chromium."""
    given = os.environ.get("UNIBODY_CHROMIUM")
    return given or next((found for name in NAMES if (found := shutil.which(name))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium for the tests of one file."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; pip install playwright")
    executable = chromium()
    if executable is None:
        pytest.skip("no Chromium on this machine; install one or set UNIBODY_CHROMIUM")
    with driver.sync_playwright() as play:
        running = play.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A fresh page. `page.errors` collects console errors, uncaught exceptions and requests that failed; the test asserts on it."""
    context = browser.new_context(viewport=SIZE, device_scale_factor=1)
    tab = context.new_page()
    tab.errors = []
    tab.set_default_timeout(60_000)

    def note(text: str) -> None:
        if not any(word in text for word in NOISE):
            tab.errors.append(text)

    tab.on("console", lambda m: note(f"console: {m.text} ({m.location.get('url', '')})") if m.type == "error" else None)
    tab.on("pageerror", lambda error: note(f"exception: {error}"))
    tab.on("requestfailed", lambda r: note(f"request: {r.url} ({r.failure})"))
    yield tab
    context.close()


@pytest.fixture(scope="session")
def shots() -> Path:
    """The folder for screenshots."""
    folder = Path(os.environ.get("UNIBODY_ARTEFACTS", "build/artefacts"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def pixels() -> Callable[..., np.ndarray]:
    """A function `pixels(page, path=None, clip=None)`: (height, width, 3), 0 … 255, of what the page shows now, also written to `path`.

    `clip` has x, y, width and height.
    """
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed; pip install unibody[plot]")

    def taken(page: Any, path: Path | None = None, clip: dict[str, float] | None = None) -> np.ndarray:
        png = page.screenshot(path=path, clip=clip) if clip is not None else page.screenshot(path=path)
        return np.asarray(image.open(io.BytesIO(png)).convert("RGB"))

    return taken
