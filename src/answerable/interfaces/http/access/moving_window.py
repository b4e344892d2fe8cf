"""How often something happened lately, whose it counts as, and what is said when that was too often."""

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
    """At most `limit` hits of one name in any `period` of seconds. Names that aren't hit any more are forgotten."""

    def __init__(self, limit: int, period: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._period = period
        self._clock = clock
        self._hits: OrderedDict[str, deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._hits)

    def hit(self, name: str) -> float:
        """0 when this hit is within the limit, and counts; otherwise the seconds until the next one may."""
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
        # The name that was hit longest ago comes first.
        while self._hits:
            name, times = next(iter(self._hits.items()))
            if times and times[-1] > before:
                return
            del self._hits[name]


def network_of(client: Sequence[Any] | None) -> str:
    """The address of a client (host, port) that counts: of IPv6 the network, since every host has all of one."""
    host = str(client[0]) if client else ""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return host


def too_many(wait: float, what: str) -> ASGIApp:
    """Status 429, with the seconds to wait."""
    seconds = math.ceil(wait)
    detail = f"Too many {what} from here. Try again in {seconds} seconds, or ask whoever runs the server for more."
    return problem(429, "too_many_requests", detail, {"Retry-After": str(seconds)})
