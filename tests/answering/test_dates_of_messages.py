"""“Yesterday” in a message is shown with its date, counted from when the message was sent."""

from __future__ import annotations

from datetime import datetime

import pytest

from answerable.retrieval.times import fold_in_place, relative_times

SENT = datetime(2024, 3, 14, 9, 16)


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("we sold the boat yesterday", "en", [("yesterday", "2024-03-13", "2024-03-14")]),
        ("two weeks ago we sold it", "en", [("two weeks ago", "2024-02-26", "2024-03-04")]),
        ("lo vendimos la semana pasada", "es", [("la semana pasada", "2024-03-04", "2024-03-11")]),
        ("ontem à noite ele chegou", "pt", [("ontem à noite", "2024-03-13", "2024-03-14")]),
        ("on 3 March 2023 we sold it", "en", []),
        ("hier soir", "fr", []),
    ],
)
def test_times_that_the_time_of_sending_tells(text: str, language: str, found: list[tuple[str, str, str]]) -> None:
    times = relative_times(fold_in_place(text), SENT, language)
    shown = [(text[each.start : each.end], *(f"{day:%Y-%m-%d}" for day in each.periods[0])) for each in times]
    assert shown == found
