"""Show a draft on a terminal while a model writes it, with the places that it cites.

The checked answer then replaces the draft.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import closing

from answerable.datatypes import Answer, AnswerEvent
from answerable.interfaces.cli.printing import clean, one_line, print_text
from answerable.interfaces.cli.render import place_of


def follow(events: Generator[AnswerEvent, None, None], asked: str) -> Answer:
    """Show the events of an answer and return the answer, which is the last one. Leaving early stops the model."""
    with closing(events):
        for event in events:
            if event.searched and event.searched != asked:
                print_text((f"searching: {one_line(event.searched)}", "dim"))
            if event.answer is not None:
                return event.answer
            if event.text:
                return _watch(event.text, events)
    raise AssertionError("events end with an answer")


def _watch(text: str, events: Generator[AnswerEvent, None, None]) -> Answer:
    """Draw the growing draft and the places that it cites, if the output is a terminal; return the answer."""
    from rich.console import Console
    from rich.text import Text

    from answerable.interfaces.cli.live import Live

    console = Console(highlight=False)
    if not sys.stdout.isatty() or console.is_dumb_terminal:
        return next(event.answer for event in events if event.answer is not None)
    places: dict[int, str] = {}

    def draft() -> Text:
        resolved = "".join(f"\n[{number}] {place}" for number, place in sorted(places.items()))
        return Text(f"{clean(text)}\n{resolved}" if resolved else clean(text), style="dim")

    with Live(console, draft):
        for event in events:
            if event.answer is not None:
                return event.answer
            text += event.text
            if event.mark:
                number, found = event.mark
                places = {**places, number: place_of(found.document, found.chunk.location)}
    raise AssertionError("events end with an answer")
