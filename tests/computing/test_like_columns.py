"""Columns with words in common, as of a header of two rows: the model's choice among them has to say the question's."""

from __future__ import annotations

from answerable.computing.plan import Plan
from answerable.computing.source import Source
from answerable.sources.records import read_records
from answerable.tables.find import find_tables


def test_a_column_is_taken_only_if_none_like_it_says_more_of_the_question() -> None:
    text = "Clinic,Morning Adults,Morning Children,Evening Adults,Notes\nNorth,27,8,36,11\nSouth,31,12,44,3\n"
    document = read_records(text, "clinic.csv")
    source = Source(document, find_tables(document)[0])
    clinic, mornings, children, evenings, notes = (Plan(source, "lookup", column=column) for column in range(5))
    asked = "How many children came in the morning?"
    assert mornings.misses_words_of(asked)
    assert not children.misses_words_of(asked)
    assert not evenings.misses_words_of("How many came?")
    assert not notes.misses_words_of(asked), "it has no word in common with the others"
    assert evenings.misses_words_of("How many adults came at noon?"), "Morning Adults says as much"
    assert not clinic.misses_words_of(asked)
    assert not Plan(source, "count").misses_words_of(asked), "it has no column"
