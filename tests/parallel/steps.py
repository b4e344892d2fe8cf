"""The functions that tests run in workers, in a module so that another process can import them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from helpers import HashEmbedder

from answerable.errors import DamagedSource, SettingsError
from answerable.indexing.prepare import Pipeline
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


def make_pipeline() -> Pipeline:
    """A real pipeline with an embedder that costs little."""
    return Pipeline(build_reader(Settings()), SplitterByType(200, 20), FatalEmbedder())


def refuse_to_start() -> Pipeline:
    """A pipeline that can't be made."""
    raise SettingsError("no pipeline today")


def square(pipeline: Pipeline, number: int) -> int:
    """The larger, the sooner it is done."""
    time.sleep(max(0, 5 - number) / 50)
    return number * number


def process_id(pipeline: Pipeline, _: int) -> int:
    """Which process does it."""
    time.sleep(0.05)
    return os.getpid()


def refuse(pipeline: Pipeline, name: str) -> None:
    """A step that raises."""
    raise DamagedSource(f"{name} is broken")


def die_once(pipeline: Pipeline, marker: Path) -> int:
    """Kills its process, unless it has done so before."""
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def die(pipeline: Pipeline, _: int) -> None:
    """Kills its process, every time."""
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(pipeline: Pipeline, seconds: float) -> None:
    """Takes its time."""
    time.sleep(seconds)
