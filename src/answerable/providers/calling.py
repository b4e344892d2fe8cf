"""Call a remote provider: with retries, a limit on concurrent calls and a limit on time."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import TypeVar
from urllib.parse import urlsplit

from answerable.errors import ProviderError, SettingsError
from answerable.retries import retrying
from answerable.text.characters import printable_line

Result = TypeVar("Result")

LONGEST_QUOTE = 300
# This many characters identify a key: servers echo keys shortened or masked.
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
    _slots: threading.BoundedSemaphore = field(init=False)

    def __post_init__(self) -> None:
        self._slots = threading.BoundedSemaphore(self.policy.concurrency)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait for a free slot. A stream keeps it until it ends."""
        with self._slots:
            yield

    def call(self, attempt: Callable[[], Result]) -> Result:
        """Return the result of `attempt`; retry retryable ProviderErrors and raise the last one."""
        policy = self.policy
        return retrying(
            _is_retryable,
            tries=policy.retries + 1,
            seconds=policy.total,
            first_wait=policy.first_wait,
            longest_wait=policy.longest_wait,
            sleep=self.sleep,
        )(attempt)


def _is_retryable(error: BaseException) -> bool:
    return isinstance(error, ProviderError) and error.retryable


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
    """Prepare a server's text for our own messages: one short, printable line without the key.

    Addresses lose their scheme, so that terminals do not make links of them: the text may be an attack.
    """
    # Longer than the final limit, so that no key is cut in two before it is masked.
    line = _SCHEME.sub("", printable_line(text[: 100 * LONGEST_QUOTE]))
    if len(secret) >= _TELLING:
        line = re.sub(re.escape(secret[:_TELLING]) + r"\S*", "[key]", line)
    elif secret:
        line = line.replace(secret, "[key]")
    line = re.sub(r"\bsk-[\w*.…-]+", "[key]", line)
    return line if len(line) <= LONGEST_QUOTE else line[:LONGEST_QUOTE] + "…"
