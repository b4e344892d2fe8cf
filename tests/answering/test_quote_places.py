"""Test the other places of a quote: identical passages, and longer passages that contain the quote."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from reading_here import read_file

import answerable
from answerable.datatypes import Answer
from answerable.library import Library

NOTICE = "Members may borrow the club trailer if they write to the equipment officer five days before the ride."
QUESTION = "Who may borrow the club trailer?"
TOPICS = ("roof", "boat", "gate", "stove", "lamp", "path", "wall", "door")

Write = Callable[[Sequence[str]], Library]


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Write]:
    """Makes a library of texts, each in a file of its own, of which every other one is Markdown."""
    opened = answerable.open(tmp_path / "library")
    folder = tmp_path / "texts"
    folder.mkdir()

    def written(texts: Sequence[str]) -> Library:
        for number, text in enumerate(texts):
            (folder / f"{number:03}.{'md' if number % 2 else 'txt'}").write_text(text, "utf-8")
        opened.add_documents(document for path in sorted(folder.iterdir()) for document in read_file(path))
        return opened

    yield written
    opened.close()


def minutes(number: int) -> str:
    """The minutes of a meeting, which end with the notice."""
    return f"The {TOPICS[number % 8]} was mended in week {number} for {number * 7 + 30} pounds.\n\n{NOTICE}"


def cited(answer: Answer) -> list[tuple[str, int]]:
    return [(citation.quote, citation.other_places) for citation in answer.citations]


def test_a_notice_that_ends_many_texts_is_counted(write: Write) -> None:
    library = write([*(minutes(number) for number in range(50)), "The harbour is closed on Mondays."])
    assert cited(library.ask(QUESTION)) == [(NOTICE, 49)]
    assert cited(library.ask(QUESTION, {"type": "markdown"})) == [(NOTICE, 24)]
    places = library.places(NOTICE.lower())
    assert [Path(place.source).name[:3] for place in places] == [f"{number:03}" for number in range(50)]
    assert {place.quote for place in places} == {NOTICE}
    library.remove(library.resolve("004.txt"))
    assert cited(library.ask(QUESTION)) == [(NOTICE, 48)]


def test_passages_of_the_notice_alone_are_counted_too(write: Write) -> None:
    library = write([NOTICE, NOTICE.upper(), "  ".join(NOTICE.split()), minutes(1), minutes(2)])
    assert [places for _, places in cited(library.ask(QUESTION))] == [4]


def test_a_notice_is_counted_as_often_as_it_stands_in_a_document(write: Write) -> None:
    filling = "The path along the river is gravel, and the benches are painted green. " * 40
    library = write([f"{NOTICE}\n\n{filling}\n\n{NOTICE}\n\n{filling}\n\n{NOTICE}"])
    # Passages overlap: one place may be in two of them.
    assert library.count()[1] > 3
    assert cited(library.ask(QUESTION)) == [(NOTICE, 2)]


def test_a_sentence_that_differs_in_a_word_is_another(write: Write) -> None:
    library = write([NOTICE, NOTICE.replace("five", "six"), f"{NOTICE[:-1]} and the tour."])
    answer = library.ask(QUESTION)
    assert cited(answer)[0][1] == 0


def test_a_short_line_under_another_heading_is_another(write: Write) -> None:
    library = write(
        [
            "The harbour is closed on Mondays.",
            "# Prices\n\n## Canoe\n\nDeposit: 30 euros\n\n## Tent\n\nDeposit: 30 euros\n",
        ]
    )
    answer = library.ask("How much is the deposit?")
    assert cited(answer) == [("Deposit: 30 euros", 0)] * 2
    assert {citation.location.headings[-1] for citation in answer.citations} == {"Canoe", "Tent"}


def test_places_are_counted_over_several_libraries(write: Write, tmp_path: Path) -> None:
    write([minutes(number) for number in range(3)])
    with answerable.open(tmp_path / "second") as second:
        second.add_documents([*read_file(tmp_path / "texts" / "000.txt"), *read_file(tmp_path / "texts" / "001.md")])
    with answerable.open([tmp_path / "library", tmp_path / "second"]) as both:
        assert cited(both.ask(QUESTION)) == [(NOTICE, 4)]


@pytest.mark.parametrize(
    "sentence",
    [
        "The guard sleeps in the hut on Sundays and not at the gate of it.",
        "Los libros dañados se entregan siempre en el mostrador de la planta baja.",
        "El socio paga la cuota del mes en la oficina y no en el banco.",
        "O ponto de encontro da trilha é na praça do mercado às oito e não na ponte.",
    ],
)
def test_words_of_grammar_dont_hide_a_place(write: Write, sentence: str) -> None:
    ducks = "The boat is blue. Los patos y las ocas viven en la orilla del lago. Os patos e as aves vivem no lago."
    library = write([f"{sentence}\n\n{ducks}", f"{ducks}\n\n{sentence}", sentence.upper(), *ducks.split(". ")])
    for asked in (sentence, f"“{sentence}”", sentence[2:-3]):
        assert [place.other_places for place in library.places(asked)] == [2, 2, 2]


def test_a_quote_may_be_typed_with_other_quotation_marks(write: Write) -> None:
    library = write(["It’s said that the “old mill” won't open.", "Nothing of it's here."])
    assert [place.start for place in library.places('it\'s said that the "old mill" won’t open')] == [0]


def test_any_text_can_be_asked_for(write: Write) -> None:
    library = write([NOTICE, "Price (net): 5 € [see *]\nTotal:  6 €", "Ein Zug fährt um neun."])
    assert [place.quote for place in library.places("price (NET): 5 € [see *]  total: 6 €")] == [
        "Price (net): 5 € [see *]\nTotal:  6 €"
    ]
    assert [place.start for place in library.places("zug fährt")] == [4]
    assert library.places("nowhere") == []


def test_words_that_are_too_common_to_search_for_are_refused(write: Write) -> None:
    library = write(
        [
            "Ask the keeper of the gate before you leave the boathouse.",
            "El gato de la casa duerme toda la tarde al sol.",
        ]
    )
    for common in ("", " ", "...", "of the", "Before you", "de la"):
        with pytest.raises(ValueError, match="rare enough to search for"):
            library.places(common)
