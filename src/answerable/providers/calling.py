"""Call a remote provider: with retries, limits on time, on concurrent calls and on the size of responses.

Tenacity makes the retries, after random exponential waits (full jitter) or the wait that a server asks for. Its wrapper
stamina isn't used: callers can't pass it a wait or a sleep function, and its counters are process-wide. Providers'
clients limit neither the length nor the compression of responses, so this module does.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from answerable.errors import ProviderError, SettingsError
from answerable.text.characters import printable_line

if TYPE_CHECKING:
    from tenacity import RetryCallState, Retrying

Result = TypeVar("Result")

LONGEST_QUOTE = 300  # characters: about four lines of a terminal
# Characters that identify a key: servers repeat keys shortened or masked in their messages.
_TELLING = 8
_SCHEME = re.compile(r"\b[a-z][a-z0-9+.-]{0,20}:(?://|\\\\)|\b(?:mailto|data|javascript|tel):", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """Limits of calls, in seconds: `timeout` for connecting, the first byte and every pause, `total` for all tries."""

    timeout: float = 60.0
    total: float = 180.0
    retries: int = 4
    first_wait: float = 0.5
    longest_wait: float = 30.0
    concurrency: int = 64


@dataclass(slots=True)
class Caller:
    """Makes calls under a policy, at most `concurrency` at once. Safe to share between threads."""

    policy: CallPolicy = field(default_factory=CallPolicy)
    sleep: Callable[[float], None] = time.sleep
    slots: threading.BoundedSemaphore = field(init=False)

    def __post_init__(self) -> None:
        self.slots = threading.BoundedSemaphore(self.policy.concurrency)

    def call(self, attempt: Callable[[], Result]) -> Result:
        """Return the result of `attempt`; retry retryable ProviderErrors and raise the last one."""
        policy = self.policy
        return retrying(
            lambda error: isinstance(error, ProviderError) and error.retryable,
            tries=policy.retries + 1,
            seconds=policy.total,
            first_wait=policy.first_wait,
            longest_wait=policy.longest_wait,
            sleep=self.sleep,
        )(attempt)

    def stream(
        self, begin: Callable[[], tuple[Result, Generator[Result, None, None]]]
    ) -> Generator[Result, None, None]:
        """Yield the first piece that `begin` returns, then the following pieces; retry the call only before the first.

        Closing the generator closes the connection, which stops the server.
        """
        # A stream keeps its slot until it ends.
        with self.slots:
            first, others = self.call(begin)
            with closing(others):
                yield first
                yield from others


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait by `retry-after-ms`, or by `Retry-After` in seconds or as a date, or None.

    The names of the headers must be in lower case, unless the mapping ignores case.
    """
    asked = headers.get("retry-after", "")
    for text, unit in ((headers.get("retry-after-ms", ""), 0.001), (asked, 1.0)):
        try:
            seconds = float(text) * unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        date = parsedate_to_datetime(asked)
    except (TypeError, ValueError):
        return None
    now = datetime.now(timezone.utc)
    return max(0.0, (date.replace(tzinfo=date.tzinfo or timezone.utc) - now).total_seconds())


def host_of(address: str, setting: str, example: str) -> str:
    """Return the host of an address, with its port if it has one.

    Raises SettingsError with the name of the setting and an example if it is not an HTTP address.
    """
    try:
        parts = urlsplit(address)
        if parts.scheme in ("http", "https") and parts.hostname and address.isprintable():
            return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
    except ValueError:
        pass
    # The address may contain a password, so it is not shown.
    raise SettingsError(f"{setting} is not a valid address. Use one like {example}.")


def quoted(text: str, secret: str = "") -> str:
    """Return a server's text in a form for error messages: one short, printable line without the key.

    Addresses lose their scheme, so that terminals don't turn them into links: the text may come from an attacker.
    """
    # Cut only far above the final limit: a key that is cut in two would not be masked.
    line = _SCHEME.sub("", printable_line(text[: 100 * LONGEST_QUOTE]))
    if len(secret) >= _TELLING:
        line = re.sub(re.escape(secret[:_TELLING]) + r"\S*", "[key]", line)
    elif secret:
        line = line.replace(secret, "[key]")
    line = re.sub(r"\bsk-[\w*.…-]+", "[key]", line)
    return line if len(line) <= LONGEST_QUOTE else line[:LONGEST_QUOTE] + "…"


def retrying(
    is_retryable: Callable[[BaseException], bool],
    *,
    tries: int,
    seconds: float,
    first_wait: float,
    longest_wait: float,
    sleep: Callable[[float], None] = time.sleep,
    requested_wait: Callable[[BaseException], float | None] = lambda error: getattr(error, "retry_after", None),
) -> Retrying:
    """Return a retrier: `retrying(...)(work)` calls `work` until it succeeds, or raises its last error unchanged.

    Stop after `tries` calls, or before a wait that would end later than `seconds` after the first call. The n-th wait
    is random, at most `first_wait * 2**(n - 1)` and `longest_wait` seconds, unless `requested_wait` gives one.
    """
    from tenacity import Retrying, retry_if_exception, stop_after_attempt, stop_before_delay, wait_random_exponential

    backoff = wait_random_exponential(multiplier=first_wait, max=longest_wait)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        requested = requested_wait(error) if error else None
        return backoff(state) if requested is None else requested

    return Retrying(
        sleep=sleep,
        stop=stop_after_attempt(tries) | stop_before_delay(seconds),
        wait=wait,
        retry=retry_if_exception(is_retryable),
        reraise=True,
    )


# Bytes: enough for thousands of vectors of thousands of numbers, or for the longest answer with an event per letter.
LARGEST = 200_000_000
AS_IT_IS = {"Accept-Encoding": "identity"}
_EVENT = b"data:"


def bounded(httpx: ModuleType, seconds: float) -> Callable[[Any], None]:
    """Return a response hook for a client of `httpx`, or of a package with the same classes.

    A body of more than `LARGEST` bytes, a compressed one, or one without an event for `seconds` raises that package's
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
                if received > LARGEST or now > deadline:
                    raise httpx.ReadError("the response doesn't end")
                yield piece

        def close(self) -> None:
            self._stream.close()

    def bound(response: Any) -> None:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise httpx.DecodingError("the response is compressed", request=response.request)
        response.stream = Bounded(response.stream)

    return bound
