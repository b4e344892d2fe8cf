"""How fast a site is asked: the pauses that its host is left, and the time and the tries that one fetch may use."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# No robots.txt may stretch a crawl to weeks.
LONGEST_DELAY = 30.0


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """Bounds on requests. All times are in seconds.

    `timeout` is for a connection, the first byte and every pause; `total` bounds all tries and redirects of one fetch
    together; `delay` lies between the starts of two requests to one host. `max_bytes` is for one page, unpacked.
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
    """Spaces out the requests to each origin. Safe to share between threads."""

    def __init__(self, delay: float, sleep: Callable[[float], object]) -> None:
        self._delay = delay
        self._sleep = sleep
        self._delays: dict[str, float] = {}
        self._next: dict[str, float] = {}
        self._lock = threading.Lock()

    def wait(self, origin: str) -> None:
        """Sleeps until it is this request's turn."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next.get(origin, now))
            self._next[origin] = start + self._delays.get(origin, self._delay)
        if start > now:
            self._sleep(start - now)

    def slow_down(self, origin: str, delay: float) -> None:
        """Leaves at least that many seconds between requests from now on, up to LONGEST_DELAY."""
        with self._lock:
            self._delays[origin] = min(LONGEST_DELAY, max(delay, self._delays.get(origin, self._delay)))

    def postpone(self, origin: str, seconds: float) -> None:
        """Lets no request start for that many seconds, whoever makes it."""
        with self._lock:
            self._next[origin] = max(self._next.get(origin, 0.0), time.monotonic() + seconds)


class Budget:
    """The seconds left for one fetch: time spent waiting for its turn doesn't count, all else does."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    @contextmanager
    def spending(self) -> Iterator[float]:
        """Counts the time in the block; gives the moment (monotonic seconds) at which it is used up."""
        start = time.monotonic()
        try:
            yield start + self.left
        finally:
            self.left -= time.monotonic() - start
