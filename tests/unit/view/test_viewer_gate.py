"""Who may drive the viewer's page: its own pages and local programs, no page of another origin, no foreign name; how much they may say."""

from __future__ import annotations

import contextlib
import http.client
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

import unibody as ub
from unibody.errors import ModelError
from unibody.view.viewer_gate import LARGEST_MESSAGE, MOST_CLIENTS, Gate, split_host

viser = pytest.importorskip("viser", reason="viser is not installed; pip install unibody[view]")
import msgspec  # noqa: E402
import websockets.exceptions  # noqa: E402
import websockets.sync.client  # noqa: E402

from unibody.view.viewer import Viewer, player_for  # noqa: E402


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    b = ub.Builder()
    b.body("ball", shape=ub.Sphere(0.1), X_WB=ub.Pose((0, 0, 1)))
    recording = ub.Simulation(b.build(), "articulated", dt=1e-2).run(0.05, progress=False)
    with Viewer(player_for(recording)[0], port=0) as opened:
        yield opened


def port_of(viewer: Viewer) -> int:
    return int(viewer.url.rpartition(":")[2])


def asked(viewer: Viewer, path: str = "/", **headers: str) -> tuple[int, str, dict[str, str]]:
    """Status, text and headers of a plain request with exactly these headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port_of(viewer), timeout=20)
    with contextlib.closing(connection):
        connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace"), dict(answer.getheaders())


@contextlib.contextmanager
def connected(viewer: Viewer, origin: str | None = None, host: str | None = None) -> Iterator[Any]:
    """A websocket as viser's own page opens it. Another Host is asked for through a socket that goes to the viewer all the same."""
    name = host or f"127.0.0.1:{port_of(viewer)}"
    own = socket.create_connection(("127.0.0.1", port_of(viewer)), timeout=20)
    options: dict[str, Any] = {"subprotocols": [f"viser-v{viser.__version__}"], "origin": origin, "compression": None, "max_size": None}
    with websockets.sync.client.connect(f"ws://{name}/", sock=own, open_timeout=20, **options) as connection:
        yield connection


def clients(viewer: Viewer) -> int:
    return len(viewer._server.get_clients())


def until(condition: Any, what: str) -> None:
    end = time.monotonic() + 30.0
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


FOREIGN = [
    "http://evil.example",
    "https://127.0.0.1.evil.example",
    "null",
    "file://",
    "http://localhost:1",
    "http://127.0.0.1",
    "",
    "ws://x",
]


@pytest.mark.parametrize("origin", FOREIGN)
def test_pages_of_other_origins_cannot_connect(viewer, origin):
    with pytest.raises(websockets.exceptions.InvalidStatus) as refused, connected(viewer, origin=origin):
        pass
    assert refused.value.response.status_code == 403
    assert asked(viewer, Host=f"127.0.0.1:{port_of(viewer)}", Origin=origin)[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{}", "127.0.0.1.evil.example:{}", "localhost:1", "[::2]:{}", "10.0.0.1:{}"])
def test_names_that_are_not_ours_are_refused(viewer, host):
    """A foreign name that points to 127.0.0.1 makes the foreign page's origin and Host agree; the name gives it away."""
    host = host.format(port_of(viewer))
    with pytest.raises(websockets.exceptions.InvalidStatus) as refused, connected(viewer, origin=f"http://{host}", host=host):
        pass
    assert refused.value.response.status_code == 403
    status, text, _ = asked(viewer, Host=host)
    assert status == 403 and "--allow" in text and len(text.splitlines()) == 1


def test_request_without_a_host_is_refused(viewer):
    assert asked(viewer)[0] == 403


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_own_page_connects_and_is_sent_the_scene(viewer, name):
    host = f"{name}:{port_of(viewer)}"
    status, text, headers = asked(viewer, Host=host)
    assert status == 200 and "<html" in text.lower()
    assert headers["Content-Security-Policy"] == "frame-ancestors 'self'"
    before = clients(viewer)
    with connected(viewer, origin=f"http://{host}", host=host) as connection:
        assert len(connection.recv(timeout=20)) > 16
    until(lambda: clients(viewer) <= before, "the client never left")


def test_programs_that_are_no_browsers_connect(viewer):
    with connected(viewer) as connection:
        assert len(connection.recv(timeout=20)) > 16


def wait_closed(connection: Any) -> int:
    """The code with which the server closes."""
    with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
        while True:
            connection.recv(timeout=20)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


def test_large_messages_end_the_connection(viewer):
    with connected(viewer) as connection:
        connection.send(b"\x00" * (LARGEST_MESSAGE + 1))
        assert wait_closed(connection) == 1009  # message too big


@pytest.mark.parametrize(
    "sent", [b"", b"\xc1", b"\x00" * 1000, "text", msgspec.msgpack.encode({"type": "ViewerCameraMessage"}), b"\x93" * 60_000]
)
def test_nonsense_ends_the_connection_without_a_traceback(viewer, sent, capfd):
    with connected(viewer) as connection:
        connection.send(sent)
        assert wait_closed(connection) in (1003, 1007)
    assert "Traceback" not in capfd.readouterr().err


def camera() -> bytes:
    return msgspec.msgpack.encode({
        "type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (1.0, 2.0, 3.0), "fov": 1.0, "near": 0.1, "far": 9.0,
        "look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 0.0, 1.0), "image_height": 10, "image_width": 10,
    })  # fmt: skip


def test_nothing_is_uploaded_and_no_property_but_a_value_is_set(viewer):
    """viser keeps parts of an upload for any control, buttons or not, and lets a client set any attribute of a control."""
    gui = viewer._server.gui
    uuid, handle = next(iter(gui._gui_input_handle_from_uuid.items()))
    until(lambda: clients(viewer) == 0, "clients of other tests never left")
    before, present = dict(vars(handle._impl)), clients(viewer)
    with connected(viewer) as connection:
        begin = {
            "type": "FileTransferStartUpload", "source_component_uuid": uuid, "transfer_uuid": "a", "filename": "a", "mime_type": "x",
            "part_count": 10**6, "size_bytes": 10**12,
        }  # fmt: skip
        connection.send(msgspec.msgpack.encode(begin))
        connection.send(msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"update_cb": []}}))
        connection.send(msgspec.msgpack.encode({"type": "ShareUrlRequest"}))
        connection.send(camera())  # the first makes it a client; messages are handled in order
        until(lambda: clients(viewer) > present, "the client never came")
        assert gui._current_file_upload_states == {} and vars(handle._impl)["update_cb"] is before["update_cb"]


def test_there_are_not_more_pages_at_once_than_the_server_bears(viewer, monkeypatch):
    monkeypatch.setattr("unibody.view.viewer_gate.MOST_CLIENTS", 2)
    assert MOST_CLIENTS > 2
    with contextlib.ExitStack() as opened:
        for _ in range(2):
            connection = opened.enter_context(connected(viewer))
            connection.recv(timeout=20)
        assert wait_closed(opened.enter_context(connected(viewer))) == 1013


def test_names_of_a_gate():
    def open_to(gate: Gate, host: str, port: int = 8080) -> bool:
        return gate.refuses([host], [f"http://{host}"], port) is None

    own, everyone, one = Gate("127.0.0.1"), Gate("0.0.0.0"), Gate("192.168.1.5")
    machine = socket.gethostname().lower()
    assert open_to(own, "localhost:8080") and not open_to(own, "192.168.1.5:8080") and not open_to(own, "localhost:9000")
    assert open_to(own, "localhost", port=80) and not open_to(own, "localhost")
    assert open_to(everyone, "192.168.1.5:8080") and open_to(everyone, "[fe80::1]:8080") and open_to(everyone, f"{machine}:8080")
    assert not open_to(everyone, "evil.example:8080") and not open_to(own, "evil.example:8080")
    assert open_to(one, "192.168.1.5:8080") and not open_to(one, "192.168.1.6:8080") and open_to(one, "127.0.0.1:8080")
    assert open_to(Gate("robot"), "robot:8080") and open_to(Gate("robot"), "ROBOT:8080")
    allowed = Gate("127.0.0.1", ("localhost:9000", "proxy.example"))
    assert open_to(allowed, "localhost:9000") and open_to(allowed, "proxy.example:443") and not open_to(allowed, "localhost:9001")
    assert own.refuses(["localhost:8080"], ["http://localhost:8080", "http://localhost:8080"], 8080)
    assert own.refuses(["localhost:8080", "localhost:8080"], [], 8080)
    with pytest.raises(ModelError, match="--allow 'a b'"):
        Gate("127.0.0.1", ("a b",))
    assert split_host("user@localhost:8080")[0] == "" and split_host("localhost:99999999")[0] == ""


def test_address_of_another_machine_is_refused_at_once():
    """192.0.2.0/24 is nobody's (RFC 5737)."""
    with pytest.raises(ModelError, match=r"no page at 192\.0\.2\.1"):
        Viewer(player_for("pendulum")[0], host="192.0.2.1")


def test_viser_that_serves_in_another_way_gives_no_page(monkeypatch):
    class Other:
        def __init__(self, **_: Any) -> None: ...

    monkeypatch.setattr(viser, "ViserServer", Other)
    with pytest.raises(ModelError, match="other origins"):
        Viewer(player_for("pendulum")[0], port=0)
