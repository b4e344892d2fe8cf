"""What the tests let workers do, and with what: functions of a module, so that another process finds them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from helpers import HashEmbedder

from answerable.errors import DamagedSource, SettingsError
from answerable.indexing.workers.steps import Tools
from answerable.protocols import Passage, PassageVectors
from answerable.settings import Settings
from answerable.splitting.by_type import SplitterByType
from answerable.wiring.build import build_reader

FATAL = "the word that kills"


class FatalEmbedder(HashEmbedder):
    """Takes a moment for each passage, and ends its own process when one holds the fatal word."""

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        time.sleep(0.002 * len(passages))
        if any(FATAL in passage.text for passage in passages):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed_passages(passages)


def make_tools() -> Tools:
    """Real tools, with an embedder that costs little."""
    return Tools(build_reader(Settings()), SplitterByType(200, 20), FatalEmbedder())


def refuse_to_start() -> Tools:
    """Tools that can't be made."""
    raise SettingsError("no tools today")


def square(tools: Tools, number: int) -> int:
    """The larger, the sooner it is done."""
    time.sleep(max(0, 5 - number) / 50)
    return number * number


def process_id(tools: Tools, _: int) -> int:
    """Which process does it."""
    time.sleep(0.05)
    return os.getpid()


def refuse(tools: Tools, name: str) -> None:
    """A step that raises."""
    raise DamagedSource(f"{name} is broken")


def die_once(tools: Tools, marker: Path) -> int:
    """Kills its process, unless it has done so before."""
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def die(tools: Tools, _: int) -> None:
    """Kills its process, every time."""
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(tools: Tools, seconds: float) -> None:
    """Takes its time."""
    time.sleep(seconds)
