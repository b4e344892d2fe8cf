"""How long each step of an answer took."""

from __future__ import annotations

import time


class StepClock:
    """Seconds of wall time by step, from its creation on."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """End a step."""
        now = time.perf_counter()
        self._laps[name] = now - self._last
        self._last = now

    def timings(self) -> dict[str, float]:
        """Return the seconds of each step, and `total`."""
        return {**self._laps, "total": time.perf_counter() - self._started}
