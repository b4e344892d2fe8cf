"""Limit requests to a site: the pauses between them, and the time and tries of one fetch."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# So that no robots.txt can stretch a crawl to weeks.
LONGEST_DELAY = 30.0


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """Limits on requests, with times in seconds.

    `timeout` applies to connecting, the first byte and every pause; `total` to all tries and redirects of one fetch;
    `delay` separates requests to one host. `max_bytes` applies to one unpacked page.
    """

    timeout: float = 20.0
    total: float = 120.0
    retries: int = 3
    first_wait: float = 0.5
    longest_wait: float = 30.0
    concurrency: int = 4
    delay: float = 0.1
    redirects: int = 5
    max_bytes: int = 20_000_000


class Pace:
    """Spaces out the requests to each origin. Thread-safe."""

    def __init__(self, delay: float, sleep: Callable[[float], object]) -> None:
        self._delay = delay
        self._sleep = sleep
        self._delays: dict[str, float] = {}
        self._next: dict[str, float] = {}
        self._lock = threading.Lock()

    def wait(self, origin: str) -> None:
        """Sleep until the next request may start."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next.get(origin, now))
            self._next[origin] = start + self._delays.get(origin, self._delay)
        if start > now:
            self._sleep(start - now)

    def slow_down(self, origin: str, delay: float) -> None:
        """Leave at least this many seconds between requests from now on, up to LONGEST_DELAY."""
        with self._lock:
            self._delays[origin] = min(LONGEST_DELAY, max(delay, self._delays.get(origin, self._delay)))

    def postpone(self, origin: str, seconds: float) -> None:
        """Start no request for this many seconds."""
        with self._lock:
            self._next[origin] = max(self._next.get(origin, 0.0), time.monotonic() + seconds)


class Budget:
    """Seconds left for one fetch, not counting the wait for its turn."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    @contextmanager
    def spending(self) -> Iterator[float]:
        """Deduct the block's run time from the seconds left; yield the deadline (monotonic seconds)."""
        start = time.monotonic()
        try:
            yield start + self.left
        finally:
            self.left -= time.monotonic() - start
