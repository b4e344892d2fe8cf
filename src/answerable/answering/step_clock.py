"""Measure how long each step of an answer takes."""

from __future__ import annotations

import time


class StepClock:
    """The wall time of each step in seconds, measured from the clock's creation on."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """End the current step under this name, which adds up, and begin the next step."""
        now = time.perf_counter()
        self._laps[name] = self._laps.get(name, 0.0) + now - self._last
        self._last = now

    def timings(self) -> dict[str, float]:
        """Return the seconds of each step, and of all steps as `total`."""
        return {**self._laps, "total": time.perf_counter() - self._started}
