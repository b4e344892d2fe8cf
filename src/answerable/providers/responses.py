"""Limit responses of providers: clients read without end and unpack anything."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

# Thousands of vectors of thousands of numbers, or the longest answer with an event for each letter.
LARGEST = 200_000_000
AS_IT_IS = {"Accept-Encoding": "identity"}
_EVENT = b"data:"


def bounded(httpx: ModuleType, seconds: float, largest: int = LARGEST) -> Callable[[Any], None]:
    """Return a response hook for a client of `httpx`, or of a package with the same classes.

    A body of more than `largest` bytes, a compressed one, or one without an event for `seconds` raises that package's
    error.
    """

    class Bounded(httpx.SyncByteStream):  # type: ignore[misc, name-defined]
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            received, deadline = 0, time.monotonic() + seconds
            for piece in self._stream:
                now = time.monotonic()
                received += len(piece)
                if _EVENT in piece:
                    deadline = now + seconds
                if received > largest or now > deadline:
                    raise httpx.ReadError("the response doesn't end")
                yield piece

        def close(self) -> None:
            self._stream.close()

    def bound(response: Any) -> None:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise httpx.DecodingError("the response is compressed", request=response.request)
        response.stream = Bounded(response.stream)

    return bound
