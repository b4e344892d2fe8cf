"""Run a function in a separate process with limits of time and memory."""

from __future__ import annotations

import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable

SECONDS = 20
MEMORY = 1_500_000_000


def bounded(attempt: Callable[[], None], seconds: int = SECONDS, memory: int = MEMORY) -> None:
    """Raises AssertionError when it fails or needs more than these seconds of CPU or bytes of address space."""
    child = os.fork()
    if not child:
        try:
            _limit(seconds, memory)
            attempt()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    assert ended_by != signal.SIGXCPU, f"it takes over {seconds} seconds"
    assert status == 0, f"it failed (status {os.waitstatus_to_exitcode(status)}): see its traceback"


def _limit(seconds: int, memory: int) -> None:
    with open("/proc/self/statm", encoding="ascii") as sizes:
        now = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + memory, now + memory))
    # The child has used none yet.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
