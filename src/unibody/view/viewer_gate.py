"""Who may talk to the viewer's page, and what they may say.

A browser lets any web page open a connection to this machine and names in `Origin` where the page comes from; by a name that its owner
lets point to 127.0.0.1 (DNS rebinding) even that is the page's own, but `Host` then holds the foreign name. So:

    Host     must be a name of this server: loopback names, the host that was given, names that were allowed, each with its port.
             A server for all addresses also answers to any address in numbers and to the machine's own name: nobody can rebind those.
    Origin   if there is one, must be http:// or https:// and exactly this Host. Programs that are no browsers send none.

Pages may not frame ours either, which would lend them the visitor's clicks. Messages are small, and only of the kinds that this page
sends: nothing is uploaded, and of controls only values are set.
"""

from __future__ import annotations

import contextlib
import importlib
import ipaddress
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from unibody.errors import ModelError

LARGEST_MESSAGE = 1 << 16
"""Bytes of one message from a page; what pages send, cameras, clicks and values of controls, is below a kilobyte."""
MOST_CLIENTS = 64
"""Pages at once."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
KINDS = {
    "ViewerCameraMessage", "ScenePointerMessage", "SceneNodeClickMessage", "SceneNodeDragMessage", "TransformControlsUpdateMessage",
    "TransformControlsDragStartMessage", "TransformControlsDragEndMessage", "GuiUpdateMessage", "GuiButtonHoldMessage",
    "GuiFormSubmitMessage", "GuiFormDirtyMessage", "CommandTriggerMessage",
}  # fmt: skip
HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'self'", "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}  # fmt: skip
UNSUPPORTED, INVALID, BUSY = 1003, 1007, 1013
"""Codes with which a connection is closed."""


@dataclass(frozen=True)
class Gate:
    """The names of a server: `host` as it was given, and what else was allowed, `name` at any port or `name:port`."""

    host: str
    allowed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for each in self.allowed:
            if not split_host(each)[0]:
                raise ModelError(f"--allow '{each}' is no name of a machine; give for example --allow localhost:9000 or --allow mybox")

    def refuses(self, hosts: Sequence[str], origins: Sequence[str], port: int) -> str | None:
        """Why a request with these headers is not answered, or None."""
        if len(hosts) != 1:
            return "a request needs one Host"
        if len(origins) > 1:
            return "a request has one Origin at most"
        name, asked = split_host(hosts[0])
        if not self._knows(name, 80 if asked is None else asked, port):
            return f"this page is not '{hosts[0]}'; start the viewer with --allow {hosts[0] or 'NAME'} if it should be"
        if origins:
            scheme, _, rest = origins[0].partition("://")
            if scheme not in ("http", "https") or rest.lower() != hosts[0].strip().lower():
                return f"a page from '{origins[0]}' may not drive this one"
        return None

    def _knows(self, name: str, asked: int, port: int) -> bool:
        for each in self.allowed:
            allowed, at = split_host(each)
            if name == allowed and (at is None or at == asked):
                return True
        return asked == port and (name in (*LOOPBACK, self.host.lower()) or (not is_loopback(self.host) and self._reached(name)))

    def _reached(self, name: str) -> bool:
        """For servers that others reach: names of this machine, and for all addresses any address in numbers."""
        if name in {socket.gethostname().lower(), socket.getfqdn().lower()}:
            return True
        return self.host in ("", "0.0.0.0", "::") and _is_address(name)


def split_host(text: str) -> tuple[str, int | None]:
    """Name and port of a Host; the name is empty if it is none.

    >>> split_host("LocalHost:8080"), split_host("[::1]:80"), split_host("box"), split_host("a@b:1")
    (('localhost', 8080), ('::1', 80), ('box', None), ('', None))
    """
    found = re.fullmatch(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?", text.strip().lower(), re.ASCII)
    if found is None:
        return "", None
    return found[1] or found[2], None if found[3] is None else int(found[3])


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server there.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


_opening = threading.Lock()


@contextlib.contextmanager
def gated(gate: Gate) -> Iterator[None]:
    """A server of viser that is made in this block asks the gate. viser has no option for it, so the function by which it serves is
    replaced meanwhile, for it alone; should it call another one day, there is no page rather than an open one."""
    server: Any = importlib.import_module("websockets.asyncio.server")
    with _opening:
        real, used = server.serve, False

        def serve(handler: Callable[[Any], Any], host: Any = None, port: Any = None, **options: Any) -> Any:
            nonlocal used
            if not str(getattr(handler, "__module__", "")).startswith("viser."):
                return real(handler, host, port, **options)
            used = True
            options |= {"process_request": _asking(gate, options.get("process_request")), "max_size": LARGEST_MESSAGE}
            return real(_listening(handler), host, port, **options)

        server.serve = serve
        try:
            yield
        finally:
            server.serve = real
        if not used:
            raise ModelError("the installed viser cannot be kept from pages of other origins; pip install 'viser==1.1.*'")


def _asking(gate: Gate, answer: Callable[[Any, Any], Any] | None) -> Callable[[Any, Any], Any]:
    """Every request, for files and for connections, passes the gate first."""

    def process_request(connection: Any, request: Any) -> Any:
        port = connection.local_address[1]
        reason = gate.refuses(request.headers.get_all("Host"), request.headers.get_all("Origin"), port)
        if reason is not None:
            return connection.respond(HTTPStatus.FORBIDDEN, f"{reason}\n")
        response = None if answer is None else answer(connection, request)
        if response is not None:
            for name, value in HEADERS.items():
                response.headers[name] = value
        return response

    return process_request


def _listening(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A connection of which viser hears only messages that it can read and that this page has use for."""
    present = 0

    async def listening(connection: Any) -> None:
        nonlocal present
        if present >= MOST_CLIENTS:
            await connection.close(BUSY, "too many pages")
            return
        receive = connection.recv

        async def recv(*arguments: Any, **options: Any) -> Any:
            while True:
                raw = await receive(*arguments, **options)
                if not isinstance(raw, bytes):
                    await connection.close(UNSUPPORTED, "no text")  # the next call says that it is closed
                    continue
                verdict = _heard(raw)
                if verdict is None:
                    await connection.close(INVALID, "not a message")
                elif verdict:
                    return raw

        connection.recv = recv
        present += 1
        try:
            await handler(connection)
        finally:
            present -= 1

    return listening


def _heard(raw: bytes) -> bool | None:
    """Whether a message is one that this page sends; None if it is no message at all."""
    import msgspec
    from viser._messages import Message

    try:
        content = msgspec.msgpack.decode(raw)
        kind = content["type"]
        if kind not in KINDS:
            return False
        Message.deserialize(raw)
    except Exception:  # whatever a stranger sends; viser itself would end in a traceback
        return None
    return kind != "GuiUpdateMessage" or set(content.get("updates", ())) <= {"value"}


def can_bind(host: str) -> None:
    """An address that is not this machine's is an OSError now; viser would try a thousand ports and then wait for ever."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.bind(address)
