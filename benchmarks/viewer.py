"""The viewer with a thousand bodies: updates per second that a page on the loopback receives, and bytes per update.

    python benchmarks/viewer.py [--quick]

A client speaks to the page's server as a browser does and counts what arrives. An update is a message that carries new positions of the
bodies. "shown" has the simulation already done (a recording is replayed as fast as the viewer goes), so it measures the viewer; "live"
simulates at the same time, at real time where the machine allows. The goal is 30 updates per second with 1000 bodies.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import numpy as np
from common import machine, table

import unibody as ub
from unibody.view.viewer import Viewer, player_for

GOAL = 30.0
SECONDS = 6.0


def free_bodies(count: int) -> ub.Model:
    """Boxes and balls in a lattice, each spinning on its own."""
    b, rng = ub.Builder(gravity=(0, 0, 0)), np.random.default_rng(1)
    side = round(count ** (1 / 3) + 0.5)
    for k in range(count):
        at = np.array([k % side, k // side % side, k // side**2], float)
        b.body(f"body{k}", shape=ub.Box((0.4, 0.3, 0.2)) if k % 2 else ub.Sphere(0.2), X_WB=ub.Pose(at), V_WB=rng.uniform(-1, 1, 6))
    return b.build()


def chain(count: int) -> ub.Model:
    """A hanging chain of hinges."""
    return ub.scenes.make("serial-arm", n=count, planar=False).model


class Listener:
    """A client of the page: counts updates and bytes."""

    def __init__(self, url: str):
        self.updates, self.bytes, self.messages = 0, 0, 0
        self._url, self._ready = url.replace("http", "ws"), threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        if not self._ready.wait(30.0):
            raise SystemExit("the page's server does not answer")

    def _listen(self) -> None:
        import viser
        from websockets.sync.client import connect

        protocol: Any = f"viser-v{viser.__version__}"
        with connect(self._url, subprotocols=[protocol], max_size=None, compression=None) as socket:
            self._ready.set()
            while not self._stop.is_set():
                try:
                    data = socket.recv(timeout=0.2)
                except TimeoutError:
                    continue
                self.messages += 1
                self.bytes += len(data)
                self.updates += b"batched_positions" in self._unpacked(data)

    @staticmethod
    def _unpacked(data: Any) -> bytes:
        """The packed names and numbers of a window of messages, without its arrays: two lengths, then zstd."""
        import zstandard

        size = int.from_bytes(data[8:16], "little")
        return zstandard.ZstdDecompressor().decompress(data[16 : 16 + size], max_output_size=int.from_bytes(data[:8], "little"))

    def close(self) -> None:
        self._stop.set()
        self._thread.join(5.0)


def measure(what: Any, seconds: float, **options: Any) -> list[str]:
    """Updates per second at the client, kilobytes per update, and simulated seconds per second."""
    player, _ = player_for(what, **options)
    with Viewer(player, "benchmark", port=0) as viewer:
        listener = Listener(viewer.url)
        viewer.post(player.play)
        time.sleep(2.0)
        before, began = (listener.updates, listener.bytes, player.time), time.perf_counter()
        time.sleep(seconds)
        spent = time.perf_counter() - began
        updates, size = listener.updates - before[0], listener.bytes - before[1]
        rate = player.rate
        listener.close()
    per_second = updates / spent
    return [f"{per_second:.1f}", "✓" if per_second >= GOAL else f"< {GOAL:g}", f"{size / max(1, updates) / 1e3:.1f}", f"{rate:.2f}"]


def main(arguments: list[str] | None = None) -> int:
    quick = "--quick" in (sys.argv[1:] if arguments is None else arguments)
    counts = (100,) if quick else (100, 1000)
    seconds = 2.0 if quick else SECONDS
    rows = []
    for count in counts:
        for name, model in (("free bodies", free_bodies(count)), ("chain", chain(count))):
            recording = ub.Simulation(model, dt=2e-3).run(1.0 if count <= 100 else 0.3, every=5)
            rows.append([f"{count} {name}, shown", *measure(recording, seconds)])
            rows.append([f"{count} {name}, live", *measure(model, seconds, dt=2e-3)])
    print(table(["bodies", "updates/s", "goal", "kB/update", "× real time"], rows))
    print(machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())
