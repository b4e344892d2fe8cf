"""A rate limiter that counts hits in a moving window of time.

The library `limits` (5.8) was tried: its memory store never forgets a name, and its wall clock may jump.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Any

from starlette.types import ASGIApp

from answerable.interfaces.http.problems import problem


class MovingWindow:
    """At most `limit` hits of a name in any `period` of seconds. Idle names are forgotten."""

    def __init__(self, limit: int, period: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._period = period
        self._clock = clock
        self._hits: OrderedDict[str, deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._hits)

    def hit(self, name: str) -> float:
        """Count a hit within the limit and return 0; otherwise return the seconds to wait."""
        now = self._clock()
        self._forget(now - self._period)
        times = self._hits.setdefault(name, deque())
        while times and times[0] <= now - self._period:
            times.popleft()
        if len(times) >= self._limit:
            return times[0] + self._period - now if times else self._period
        times.append(now)
        self._hits.move_to_end(name)
        return 0.0

    def _forget(self, before: float) -> None:
        # Least recently hit names come first.
        while self._hits:
            name, times = next(iter(self._hits.items()))
            if times and times[-1] > before:
                return
            del self._hits[name]


def network_of(client: Sequence[Any] | None) -> str:
    """Return the name under which to count a client: its address or, for IPv6, its /64 network.

    One host usually owns a whole IPv6 network.
    """
    host = str(client[0]) if client else ""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return host


def too_many(wait: float, what: str) -> ASGIApp:
    """Return a response 429 with the seconds to wait."""
    seconds = math.ceil(wait)
    detail = f"Too many {what} from here. Try again in {seconds} seconds, or ask the server's administrator for more."
    return problem(429, "too_many_requests", detail, {"Retry-After": str(seconds)})
