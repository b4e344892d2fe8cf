"""Reading, splitting and indexing four times as much takes about four times as long, of every format and hostile shape.

Processor time is compared, not time on the clock. A step that takes the square of its input's size would take sixteen
times as long.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from helpers import HashEmbedder
from hostile_shapes import SHAPES
from reading_here import read_file
from sources.conftest import build_pdf

from answerable.errors import SourceError
from answerable.indexing.prepare import prepare
from answerable.protocols import PassageVectors
from answerable.sources.context import ReadContext
from answerable.sources.pdf.extraction import extract
from answerable.splitting.by_type import SplitterByType

MOST_GROWTH = 6.0
# What a first time costs, and what a clock can't tell apart, in seconds.
SLACK = 0.15
TRIES = 5
# One shape of each format; `make test-long` takes them all.
SAMPLE = {what.partition(":")[0]: what for what in SHAPES}.values()


@pytest.mark.parametrize(
    "what", [what if what in SAMPLE else pytest.param(what, marks=pytest.mark.long) for what in SHAPES]
)
def test_four_times_as_much_takes_about_four_times_as_long(what: str) -> None:
    name, size, make = SHAPES[what]
    data = [each.encode() if isinstance(each, str) else each for each in (make(size), make(4 * size))]
    taken = [[_seconds(name, each) for each in data]]
    while len(taken) < TRIES and not _is_bounded(taken):
        taken.append([_seconds(name, each) for each in data])
    assert _is_bounded(taken), taken


def test_lines_of_a_pdf_beyond_utf_16_take_time_in_proportion() -> None:
    pages = [build_pdf(["A 1 2\n" * size], to_unicode="<41> <D83DDE00>") for size in (5_000, 20_000)]
    taken = []
    for page in pages:
        with _measured() as clock:
            assert "\U0001f600" in extract(page, "a.pdf", ReadContext())["pages"][0]
        taken += clock
    assert _is_bounded([taken]), taken


def _is_bounded(taken: list[list[float]]) -> bool:
    # Whatever else the machine does only adds.
    small, large = (min(each) for each in zip(*taken, strict=True))
    return large <= MOST_GROWTH * small + SLACK


def _seconds(name: str, data: bytes) -> float:
    """Processor time from a file's bytes to what a store takes, but for vectors."""
    with _measured() as clock:
        try:
            documents = read_file(data, source=name)
        except SourceError:
            documents = []
        splitter = SplitterByType()
        for document in documents:
            prepared = prepare(document, splitter)
            vector = HashEmbedder().embed_query("x")
            for number, passage in enumerate(prepared.passages()):
                prepared.indexed(number, PassageVectors(vector, vector[None].repeat(len(passage.spans), 0)))
    return clock[0]


@contextmanager
def _measured() -> Iterator[list[float]]:
    """Seconds of this thread. What other tests have left in memory isn't looked through for garbage meanwhile."""
    clock: list[float] = []
    gc.disable()
    started = time.thread_time()
    try:
        yield clock
    finally:
        clock.append(time.thread_time() - started)
        gc.enable()
