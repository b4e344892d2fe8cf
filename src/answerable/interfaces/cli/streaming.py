"""An answer while it is being written: on a terminal the draft grows in place, and gives way to the checked answer.

Under the draft stand the places of the passages that it has pointed to so far.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping
from contextlib import closing

from answerable.datatypes import Answer, AnswerEvent
from answerable.interfaces.cli import render
from answerable.interfaces.cli.printing import clean


def follow(events: Generator[AnswerEvent, None, None], asked: str) -> Answer:
    """The answer that the events end in. Whatever ends this early stops the model too."""
    with closing(events):
        for event in events:
            if event.searched and event.searched != asked:
                render.searching(event.searched)
            if event.answer is not None:
                return event.answer
            if event.text:
                return _watch(event.text, events)
    raise AssertionError("events end with an answer")


def _watch(text: str, events: Generator[AnswerEvent, None, None]) -> Answer:
    """Shows the draft while it grows, where somebody can see it grow, and what its marks point to."""
    from rich.console import Console
    from rich.text import Text

    from answerable.interfaces.cli.live import Live

    console = Console(highlight=False)
    if not sys.stdout.isatty() or console.is_dumb_terminal:
        return next(event.answer for event in events if event.answer is not None)
    places: dict[int, str] = {}
    with Live(console, lambda: Text(_shown(text, places), style="dim")):
        for event in events:
            if event.answer is not None:
                return event.answer
            text += event.text
            if event.mark:
                number, found = event.mark
                place = render.place_of(found.document.source, found.document.title, found.chunk.location)
                places = {**places, number: place}
    raise AssertionError("events end with an answer")


def _shown(draft: str, places: Mapping[int, str]) -> str:
    """The draft with a line for each place under it."""
    resolved = "".join(f"\n[{number}] {place}" for number, place in sorted(places.items()))
    return f"{clean(draft)}\n{resolved}" if resolved else clean(draft)
