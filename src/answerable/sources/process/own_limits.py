"""In the reading process: limits on its own processor time and memory."""

from __future__ import annotations

import os
import time

from answerable.sources.limits import Bounds

# One limit serves this many small files, or until a tenth of it is used up.
_FILES_PER_LIMIT = 100
_USED_PER_LIMIT = 0.1


class Limits:
    """Sets the limits (POSIX only), for many small files at once: setting them takes as long as reading such a file."""

    def __init__(self) -> None:
        self._set: Bounds | None = None
        self._since = 0.0
        self._files = 0

    def allow(self, bounds: Bounds) -> None:
        """Allow the process this much more processor time and address space."""
        used = time.process_time()
        self._files += 1
        is_fresh = self._files < _FILES_PER_LIMIT and used - self._since < bounds.seconds * _USED_PER_LIMIT
        if self._set != bounds or not is_fresh:
            self._set, self._since, self._files = bounds, used, 0
            _limit(bounds)


def _limit(bounds: Bounds) -> None:
    try:
        import resource
    except ImportError:
        return
    wanted = {
        resource.RLIMIT_CPU: int(time.process_time() + bounds.seconds) + 1,
        resource.RLIMIT_AS: _address_space() + bounds.memory,
    }
    for kind, most in wanted.items():
        _, hard = resource.getrlimit(kind)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(kind, (soft, hard))
        except (ValueError, OSError):
            # Some systems (macOS) can't limit an address space; the other limits still apply.
            continue


def _address_space() -> int:
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 1_000_000_000
