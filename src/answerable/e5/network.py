"""A network compiled by OpenVINO: kept on disk for other processes, and computed several batches at once."""

from __future__ import annotations

import hashlib
import mmap
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from answerable.disk.files import close_to_others, make_folder, replacing
from answerable.sharing import Lanes

T = TypeVar("T")

STREAMS = 4
"""Maximum number of batches that are computed at once; each takes about 25 MB and .1 s of CPU to prepare."""
FEW_TOKENS = 4096
"""Most tokens that one caller alone computes on one stream. Of 12 questions to a folder, no call had more than 879."""
BATCH_TOKENS = 768  # tokens in a batch; other sizes differ in speed only within noise (benchmarks/RESULTS.md)
KEPT_DAYS = 31
"""Days after which a compiled network is deleted. Compiling it again takes one or two seconds."""
PADDING_TOKENS = 32
"""Tokens of padding in a batch that cost about as much as one more batch."""


def release(mapped: mmap.mmap) -> None:
    """Give back the memory of a mapped file that nobody has changed; the system caches it, and maps it when read."""
    if sys.platform != "win32":
        mapped.madvise(mmap.MADV_DONTNEED)


class Network:
    """A compiled network that computes several batches at once, if it has many. Safe to share between threads.

    `build` makes the network, given the package `openvino` and a precision, "bf16" or "f32". `threads` limits the
    processors (0: all); `cache_folder` stores the compiled network for other processes, which then don't build it:
    `made_of` are all files that it is made of, weights and code. `options` are passed to OpenVINO. Raises ImportError
    and RuntimeError.
    """

    def __init__(
        self,
        build: Callable[[Any, str], Any],
        threads: int,
        cache_folder: Path | None,
        made_of: Sequence[str] = (),
        **options: Any,
    ) -> None:
        # Through this package, OpenVINO reports each import to Google Analytics; None marks the package as missing.
        sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
        import openvino

        core = openvino.Core()
        able = core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        self.precision = "bf16" if "BF16" in able else "f32"
        # One thread per batch: threads that share a batch busy-wait for each other, above all on a loaded machine.
        self.streams = min(threads or os.cpu_count() or 1, STREAMS)
        chosen: dict[str, Any] = {
            "INFERENCE_PRECISION_HINT": self.precision,
            "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": self.streams,
            # With pinning, all processes would be pinned to the same processors.
            "ENABLE_CPU_PINNING": False,
        }
        chosen |= {"INFERENCE_NUM_THREADS": threads} if threads else {}
        chosen |= options
        self._load: Callable[[], Any] | None = None
        self._stored: mmap.mmap | None = None

        def load(path: Path) -> Any:
            # Mapped, not read: so the weights of all processes are in memory once. The network needs the map.
            with path.open("rb") as file:
                self._stored = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            stored = openvino.Tensor(np.frombuffer(self._stored, np.uint8), shared_memory=True)
            whole = partial(core.import_model, stored, "CPU")
            alone = whole(chosen | {"NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": self.streams})
            self._load = partial(whole, chosen)
            return alone

        stored = compiled = None
        # The folder may be unusable, and a file damaged.
        with suppress(OSError, RuntimeError):
            if cache_folder is not None:
                make_folder(cache_folder)
                made_by = openvino.get_version(), core.get_property("CPU", "FULL_DEVICE_NAME"), sorted(able), chosen
                stored = cache_folder / f"{_key(made_by, (__file__, *made_of))}.blob"
                compiled = load(stored) if stored.exists() else None
        if compiled is None:
            compiled = core.compile_model(build(openvino, self.precision), "CPU", chosen)
            with suppress(OSError, RuntimeError):
                if stored is not None:
                    with replacing(stored, ".blob") as file:
                        file.write(compiled.export_model().getbuffer())
                    _tidy(stored.parent)
                    # Compiling leaves behind twice the memory that the network takes.
                    compiled = load(stored)
        self.compiled = compiled
        self._lanes = Lanes(self.streams)
        self._requests = threading.local()
        self._lock = threading.Lock()

    def each(self, compute: Callable[[list[Sequence[int]]], Iterable[T]], windows: Sequence[Sequence[int]]) -> list[T]:
        """Return the result of `compute` for each window of token ids. `compute` gets batches of windows of similar
        length, several at once, and calls `infer`. The calls of several threads take turns (see `Lanes`).
        """
        groups = batches(windows, self.streams)
        pieces = [([windows[row] for row in rows], len(rows) * len(windows[rows[0]])) for rows in groups]
        is_alone = self._lock.acquire(blocking=False)
        try:
            if not is_alone or sum(map(len, windows)) > FEW_TOKENS:
                self._use_all_streams()
            computed = self._lanes.run_all(lambda batch: list(compute(batch)), pieces)
        finally:
            if is_alone:
                self._lock.release()
            if self._stored:
                # OpenVINO computes with copies of the weights, in layouts that it makes when a batch first needs them.
                release(self._stored)
        found = {
            row: one for rows, ones in zip(groups, computed, strict=True) for row, one in zip(rows, ones, strict=True)
        }
        return [found[row] for row in range(len(windows))]

    def infer(self, inputs: Any) -> Any:
        """Return the network's results for a batch; the threads of `each` call this."""
        requests = self._requests
        if not hasattr(requests, "own"):
            requests.own = self.compiled.create_infer_request()
        return requests.own.infer(inputs)

    def _use_all_streams(self) -> None:
        """Load a stored network for all streams, unless it was."""
        load, self._load = self._load, None
        if load and self.streams > 1:
            self.compiled = load()
            # In this order: a new request is always one of the network for all streams.
            self._requests = threading.local()


def _key(made_by: tuple[Any, ...], made_of: Sequence[str]) -> str:
    """Return a name for what is made by this program, with these options, of these files."""
    statuses = [(path, os.stat(path)) for path in made_of]
    files = [(path, status.st_size, status.st_mtime_ns) for path, status in statuses]
    return hashlib.sha256(repr((made_by, files)).encode()).hexdigest()[:32]


def _tidy(cache_folder: Path) -> None:
    """Make the cache private to this user, and remove networks compiled over a month ago: they may be outdated."""
    for path in cache_folder.iterdir():
        close_to_others(path)
        # Another process may remove the file first, or use it (on Windows, open files can't be removed).
        with suppress(OSError):
            if path.suffix == ".blob" and time.time() - path.stat().st_mtime > KEPT_DAYS * 24 * 3600:
                path.unlink()


def batches(windows: Sequence[Sequence[int]], streams: int) -> list[list[int]]:
    """Return batches of window indices, longest windows first: enough batches for all streams, with little padding."""
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
