"""Pages of other origins in a real browser: they can neither connect to the viewer, nor read or frame its page, not even by a name of
their own that points to this machine."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import unibody as ub

viser = pytest.importorskip("viser", reason="viser is not installed; pip install unibody[view]")
from unibody.view.viewer import Viewer, view  # noqa: E402

pytestmark = pytest.mark.slow

CONNECT = """([url, protocol]) => new Promise(done => {
    const socket = new WebSocket(url, [protocol]);
    socket.onmessage = () => { socket.close(); done("driven"); };
    socket.onclose = event => done("closed " + event.code);
})"""
FRAMED = """url => new Promise(done => {
    const frame = document.createElement("iframe");
    frame.onload = () => setTimeout(() => done(frame.contentWindow.length), 500);
    frame.src = url;
    document.body.append(frame);
})"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>a foreign page</title><body></body>")

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def foreign() -> Iterator[int]:
    """The port of a web server that is not ours."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


@pytest.fixture(scope="module")
def opened() -> Iterator[Viewer]:
    with view(ub.Simulation(ub.scenes.make("pendulum").model, dt=5e-3), browser=False, block=False, port=0) as viewer:
        yield viewer


def connect(page: Any, url: str) -> str:
    return page.evaluate(CONNECT, [url.replace("http", "ws", 1), f"viser-v{viser.__version__}"])


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_own_page_connects_and_a_foreign_one_does_not(page, foreign, opened, name):
    port = opened.url.rpartition(":")[2]
    page.goto(f"http://{name}:{port}/")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    assert connect(page, f"http://{name}:{port}/") == "driven"
    page.goto(f"http://{name}:{foreign}/")
    for target in ("127.0.0.1", "localhost"):
        assert connect(page, f"http://{target}:{port}/") == "closed 1006"  # the handshake failed
        read = "url => fetch(url).then(r => r.text(), () => 'refused')"
        assert page.evaluate(read, f"http://{target}:{port}/") == "refused"


def test_foreign_page_cannot_frame_the_viewer(page, foreign, opened):
    port = opened.url.rpartition(":")[2]
    page.goto(f"http://127.0.0.1:{foreign}/")
    page.evaluate(FRAMED, f"http://127.0.0.1:{port}/")
    framed = [frame for frame in page.frames if frame != page.main_frame]
    assert len(framed) == 1 and framed[0].url.startswith("chrome-error:")


def test_foreign_name_that_points_here_is_refused(page, foreign, opened):
    """DNS rebinding: the page's origin and the viewer's address are one name, which its owner lets point to this machine."""
    port = opened.url.rpartition(":")[2]
    page.goto(f"http://evil.example:{foreign}/")
    assert page.title() == "a foreign page"  # the name does point here
    assert connect(page, f"http://evil.example:{port}/") == "closed 1006"
    answer = page.goto(f"http://evil.example:{port}/")
    assert answer is not None and answer.status == 403
