"""Workers for the steps of adding: processes of this machine, and actors of a Ray cluster."""

from __future__ import annotations

from answerable.parallel.processes import processes

__all__ = ["processes"]
