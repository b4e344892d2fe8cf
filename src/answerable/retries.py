"""Retry calls that may succeed later: random exponential waits (full jitter), or the wait that a server asks for.

Built on tenacity: stamina, which wraps it, cannot take the wait and the sleep from its caller, and counts into
process-wide state.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenacity import RetryCallState, Retrying


def retry_after_of(error: BaseException) -> float | None:
    """Return `error.retry_after` in seconds, or None if the error has none."""
    return getattr(error, "retry_after", None)


def retrying(
    is_retryable: Callable[[BaseException], bool],
    *,
    tries: int,
    seconds: float,
    first_wait: float,
    longest_wait: float,
    sleep: Callable[[float], None] = time.sleep,
    requested_wait: Callable[[BaseException], float | None] = retry_after_of,
) -> Retrying:
    """Return a retrier: `retrying(...)(work)` calls `work` until it returns or the last error is raised unchanged.

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
