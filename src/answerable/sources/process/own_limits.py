"""In the worker: limits on its own processor time and memory, set anew for each file."""

from __future__ import annotations

import os
import time

from answerable.sources.limits import Bounds

# A limit serves for so many small files, as long as only a little of it is used up.
_FILES_PER_LIMIT = 100
_USED_PER_LIMIT = 0.1


class Limits:
    """What this process may use; to set it takes as long as to read a small file (POSIX only)."""

    def __init__(self) -> None:
        self._set: tuple[float, int] | None = None
        self._since = 0.0
        self._files = 0

    def allow(self, bounds: Bounds) -> None:
        """Let the process use this much more processor time and address space."""
        seconds, memory = bounds.seconds, bounds.memory
        used = time.process_time()
        self._files += 1
        is_fresh = self._files < _FILES_PER_LIMIT and used - self._since < seconds * _USED_PER_LIMIT
        if self._set == (seconds, memory) and is_fresh:
            return
        self._set, self._since, self._files = (seconds, memory), used, 0
        limit(seconds, memory)


def limit(seconds: float, memory: int) -> None:
    """Let this process use that much more processor time and address space than it has used so far (POSIX only)."""
    try:
        import resource
    except ImportError:
        return
    wanted = {
        resource.RLIMIT_CPU: int(time.process_time() + seconds) + 1,
        resource.RLIMIT_AS: _address_space() + memory,
    }
    for kind, most in wanted.items():
        _, hard = resource.getrlimit(kind)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(kind, (soft, hard))
        except (ValueError, OSError):
            # Some systems (macOS) don't let an address space be limited; the other limits still hold.
            continue


def _address_space() -> int:
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 1_000_000_000
