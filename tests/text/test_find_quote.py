"""Quotes are found where they stand, in the text's own offsets, and nowhere else."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from answerable.answering.safety.characters import is_hidden
from answerable.text.find_quote import LONGEST_GAP, Searchable, legible

SOURCE = (
    "The “ﬁrst”  café exam-\nple of well-\nknown re-sign **bold** work cost 1,234 people — and\nmore; "
    "it did not rain at -5 degrees."
)


def found(quote: str, text: str = SOURCE) -> list[str]:
    return [text[start:end] for start, end in Searchable(text).find(quote)]


def test_differences_that_are_allowed() -> None:
    cases = [
        ('the "first" cafe\u0301 example', "The “ﬁrst”  café exam-\nple"),
        ("example of well-known re-sign", "exam-\nple of well-\nknown re-sign"),
        ("bold work cost 1,234 people - and more.", "bold** work cost 1,234 people — and\nmore"),
        ("[T]he ‘first’ café", "The “ﬁrst”  café"),
        ("rain at -5 degrees.", "rain at -5 degrees."),
        ("  IT did not rain at".replace("IT", "It"), "it did not rain at"),
    ]
    failed = [(quote, got) for quote, original in cases if (got := found(quote)) != [original]]
    assert failed == []


def test_differences_that_are_not_allowed() -> None:
    cases = [
        "The “first” cafe example",  # an accent
        "the FIRST café",  # case within
        "resign bold",  # a hyphen that is the word's
        "234 people",  # a part of a number
        "cost 1",
        "5 degrees",  # without its sign
        "ork cost",  # a part of a word
        "it did rain",
        "",
        "“”",
        "...",
    ]
    failed = [(quote, got) for quote in cases if (got := found(quote)) != []]
    assert failed == []


def test_omissions_are_marked_and_short() -> None:
    assert found("well-known re-sign … it did not rain") == ["well-\nknown re-sign", "it did not rain"]
    assert found("well-known re-sign [...] it did not rain") == ["well-\nknown re-sign", "it did not rain"]
    assert found("it did not rain … well-known re-sign") == []
    far = f"the beginning {'x ' * LONGEST_GAP} the very end"
    assert found("the beginning … the very end", far) == []


def test_soft_hyphens_and_invisible_marks_do_not_count() -> None:
    assert found("an example here", "an exam\u00adple\u200b here") == ["an exam\u00adple\u200b here"]
    assert found("an example here", "an exam\ufffeple here") == ["an exam\ufffeple here"]


# A bell, an emoji's selector, a variant's selector, a tag, fillers, an empty Braille cell, an unassigned character.
HIDDEN = "\x07\ufe0f\U000e0101\U000e0041\u3164\u115f\u2800\u0378\u2065\ud800"


def test_characters_hidden_from_models_are_ignored() -> None:
    for hidden in HIDDEN:
        assert is_hidden(hidden), hidden
        text = f"It cost 1,{hidden}040 pe{hidden}sos."
        assert found("cost 1,040 pesos", text) == [f"cost 1,{hidden}040 pe{hidden}sos"], hidden
        assert found(f"co{hidden}st 1,040", "It cost 1,040 pesos.") == ["cost 1,040"], hidden
        assert found(f"cost{hidden}1,040", "It cost 1,040 pesos.") == [], hidden
        assert legible(text) == "It cost 1,040 pesos.", hidden


def test_control_characters_that_are_white_space_stay_white_space() -> None:
    for blank in "\r\x1c\x85\f\v\u2028":
        assert found("It cost", f"It{blank}cost") == [f"It{blank}cost"], blank
        assert found("It cost", f"It{blank}cost".replace(blank, "")) == [], blank
        assert legible(f"It{blank}cost") == f"It{blank}cost", blank


@given(st.text(max_size=80), st.integers(0, 80), st.integers(0, 80))
def test_any_piece_of_whole_words_is_found(text: str, start: int, end: int) -> None:
    words = ("Begin " + text + " end.").split()
    first, last = sorted((start % len(words), end % len(words)))
    source = "\n ".join(words)
    for one, other in Searchable(source).find(" ".join(words[first : last + 1])):
        assert 0 <= one < other <= len(source)


@given(st.lists(st.text("abcdé ñ", min_size=1, max_size=8), min_size=1, max_size=12), st.sampled_from(["NFC", "NFD"]))
def test_blanks_and_composition_never_hide_a_quote(words: list[str], form: str) -> None:
    kept = [word for word in " ".join(words).split() if word]
    if not kept:
        return
    source = "Before it. " + " \n".join(kept) + " After it."
    quote = unicodedata.normalize(form, " ".join(kept))
    spans = Searchable(source).find(quote)
    assert len(spans) == 1
    assert source[spans[0][0] : spans[0][1]].split() == kept or source.casefold().find(" ".join(kept)) >= 0


@given(st.text(max_size=300), st.text(max_size=50))
def test_any_text_gives_spans_within_it(text: str, quote: str) -> None:
    searchable = Searchable(text)
    reached = 0
    for start, end in searchable.find(quote):
        assert reached <= start < end <= len(text)
        reached = end
