"""Test finding a text in another text, whatever white space is between the words."""

from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from answerable.text.characters import find_words

TEXTS = st.text(alphabet="ab \n\t\N{NO-BREAK SPACE}", max_size=30)


@given(TEXTS, TEXTS, st.integers(0, 30))
def test_it_finds_what_a_pattern_of_the_words_finds(content: str, text: str, start: int) -> None:
    wanted = text.split()
    match = re.compile(r"\s+".join(map(re.escape, wanted))).search(content, start) if wanted else None
    assert find_words(content, text, start) == (match.span() if match else None)


def test_a_span_over_the_border_of_two_pieces_is_found() -> None:
    content = "long " * 99_999 + "\n  the  hidden\tsentence " + "tail " * 150_000
    found = find_words(content, "the hidden sentence")
    assert found is not None
    assert content[slice(*found)] == "the  hidden\tsentence"


def test_words_that_repeat_take_no_more_time_than_others() -> None:
    content, wanted = "it " * 100_000, "it " * 6_600 + "ends"
    before = time.process_time()
    assert find_words(content, wanted) is None
    # A pattern of the words takes over half a minute.
    assert time.process_time() - before < 3
