"""Decide which decimal mark the numbers of a workbook are shown with."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from answerable.sources.spreadsheets.number_formats import marks_of
from answerable.tables.values import prevailing_mark, split_number
from answerable.tables.words import word_set
from answerable.text.languages import keyword_language, question_language

_SAMPLE = 2_000
_LONGEST_NUMBER = 40
_MOST_WORDS = 20_000


def decimal_mark(texts: Iterable[str], codes: Iterable[str] = ()) -> str:
    """Return the mark that numbers written as text show, that the formats' countries use, or that of the language."""
    sample = list(islice(filter(None, texts), _SAMPLE))
    numbers = (split_number(text, "USD") for text in sample if len(text) < _LONGEST_NUMBER and text[-1:].isprintable())
    if mark := prevailing_mark([number.mark for number in numbers if number]):
        return mark
    if mark := prevailing_mark([mark for code in codes for mark in marks_of(code)]):
        return mark
    words = ". ".join(sample)[:_MOST_WORDS]
    # Names and headers are keywords rather than sentences.
    language = keyword_language(words) or question_language(words)
    return "," if language in word_set("values", "codes", "comma_languages") else "."
