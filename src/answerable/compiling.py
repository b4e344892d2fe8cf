"""Networks compiled with OpenVINO for this machine's processors: in bfloat16 if they support it, else in float32."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from answerable.disk.private import close_to_others, make_folder
from answerable.sharing import Lanes

T = TypeVar("T")

STREAMS = 4
"""The most batches that are computed at once; each takes some 25 MB."""
BATCH_TOKENS = 768
KEPT_DAYS = 31
"""How long a compiled network is kept. Making it again takes a second or two."""
PADDING_TOKENS = 32
"""The padding that costs about as much as another batch."""


class Network:
    """A compiled network that computes several batches at once. Safe to share between threads.

    `build` makes the network from the package `openvino` and a precision, "bf16" or "f32". `threads` limits the
    processors (0: all); `cache_folder` keeps the compiled network for other processes. `options` are OpenVINO's. Raises
    ImportError and RuntimeError.
    """

    def __init__(
        self, build: Callable[[Any, str], Any], threads: int, cache_folder: Path | None, **options: Any
    ) -> None:
        # With this package OpenVINO reports each import to Google Analytics. None in `sys.modules` marks it as missing.
        sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
        import openvino

        core = openvino.Core()
        self.precision = "bf16" if "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "f32"
        # Threads that share a batch wait for each other, spinning; the more so where other processes run.
        self.streams = min(threads or os.cpu_count() or 1, STREAMS)
        chosen: dict[str, Any] = {
            "INFERENCE_PRECISION_HINT": self.precision,
            "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": self.streams,
            # All processes would be pinned to the same processors.
            "ENABLE_CPU_PINNING": False,
        }
        if threads:
            chosen["INFERENCE_NUM_THREADS"] = threads
        if cache_folder is not None:
            make_folder(cache_folder)
            core.set_property({"CACHE_DIR": str(cache_folder)})
        network = build(openvino, self.precision)
        if cache_folder is not None:
            _rename(network)
        self.compiled = core.compile_model(network, "CPU", {**chosen, **options})
        if cache_folder is not None:
            _tidy(cache_folder)
        self._lanes = Lanes(self.streams)
        self._requests = threading.local()

    def each(self, compute: Callable[[list[Sequence[int]]], Iterable[T]], windows: Sequence[Sequence[int]]) -> list[T]:
        """Return what `compute` makes of each window of token ids. It gets batches of similar length, several at once,
        and calls `infer`. The calls of several threads take turns (see `Lanes`).
        """
        groups = batches(windows, self.streams)
        pieces = [([windows[row] for row in rows], len(rows) * len(windows[rows[0]])) for rows in groups]
        computed = self._lanes.run_all(lambda batch: list(compute(batch)), pieces)
        found = {
            row: one for rows, ones in zip(groups, computed, strict=True) for row, one in zip(rows, ones, strict=True)
        }
        return [found[row] for row in range(len(windows))]

    def infer(self, inputs: Any) -> Any:
        """Return the results of a batch; called by `each`'s threads."""
        if not hasattr(self._requests, "own"):
            self._requests.own = self.compiled.create_infer_request()
        return self._requests.own.infer(inputs)


def _rename(network: Any) -> None:
    """Name the parts of a network by their order.

    OpenVINO numbers the operations of all networks of a process in one row, and the cache finds a network by these
    names too: one that is made after another would be compiled and written anew each time.
    """
    for number, operation in enumerate(network.get_ordered_ops()):
        operation.set_friendly_name(str(number))
    for kind, ports in (("input", network.inputs), ("output", network.outputs)):
        for number, port in enumerate(ports):
            port.tensor.set_names({f"{kind}{number}"})


def _tidy(cache_folder: Path) -> None:
    """Close the cache to others, and remove what was compiled over a month ago: an update may have replaced it."""
    for path in cache_folder.iterdir():
        close_to_others(path)
        # Another process may remove it first, or use it (on Windows, files that are used stay).
        with suppress(OSError):
            if path.suffix == ".blob" and time.time() - path.stat().st_mtime > KEPT_DAYS * 24 * 3600:
                path.unlink()


def batches(windows: Sequence[Sequence[int]], streams: int) -> list[list[int]]:
    """Return batches of rows of similar length, the longest first: enough for all streams, with little padding."""
    most = min(BATCH_TOKENS, -(-sum(map(len, windows)) // streams))
    found: list[list[int]] = []
    longest = padding = 0
    for row in sorted(range(len(windows)), key=lambda row: -len(windows[row])):
        padding += longest - len(windows[row])
        if not found or longest * (len(found[-1]) + 1) > most or padding > PADDING_TOKENS:
            found.append([])
            longest, padding = len(windows[row]), 0
        found[-1].append(row)
    return found
