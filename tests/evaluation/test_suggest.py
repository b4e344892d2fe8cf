"""Draft questions: what the rules make of sentences in three languages, which are chosen, and that they can be read."""

from __future__ import annotations

import csv
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from helpers import HashEmbedder, make_document
from hypothesis import given
from hypothesis import strategies as st

from answerable.datatypes import Document, Part, PartKind
from answerable.errors import SettingsError
from answerable.evaluation.configurations import Retriever, configure
from answerable.evaluation.draft_rules import questions_of
from answerable.evaluation.question_lists import find_documents, read_questions
from answerable.evaluation.suggest import Draft, drafts_of, suggest, write_drafts
from answerable.settings import Settings
from answerable.text.word_lists import LANGUAGES
from answerable.wiring.build import MEMORY, build_store


def test_what_sentences_answer() -> None:
    cases: list[tuple[str, str, str, str | None]] = [
        (
            "en",
            "The old bridge was built of stone in March 1890.",
            "When was the old bridge built of stone?",
            "March 1890",
        ),
        ("en", "Nikola Tesla died on 7 January 1943.", "When did Nikola Tesla die?", "7 January 1943"),
        ("en", "The halls were designed by Henry Cobb.", "Who were the halls designed by?", "Henry Cobb"),
        ("en", "The city has two universities.", "How many universities does the city have?", "two"),
        ("en", "Most boats hold 1,200 litres each.", "How many litres do most boats hold?", None),
        ("en", "Membership costs 36 euros a year.", "How much does Membership cost?", "36 euros"),
        ("en", "The cycle takes about 25 minutes.", "How long does the cycle take?", "about 25 minutes"),
        ("en", "The river is 3,400 metres wide here.", "How wide is the river?", "3,400 metres"),
        ("en", "A library is a place for books, and more.", "What is a library?", "a place for books"),
        ("es", "El puente fue construido por los romanos en 98.", "", None),
        (
            "es",
            "El puente fue construido por los romanos en 1198.",
            "¿Cuándo fue construido el puente por los romanos?",
            "1198",
        ),
        ("es", "La obra se estrenó el 3 de mayo de 1890.", "¿Cuándo se estrenó la obra?", "3 de mayo de 1890"),
        ("es", "La iglesia fue diseñada por Antoni Gaudí.", "¿Por quién fue diseñada la iglesia?", "Antoni Gaudí"),
        ("es", "La ciudad tiene dos universidades.", "¿Cuántas universidades tiene la ciudad?", "dos"),
        ("es", "El libro cuesta 12,50 € en caja.", "¿Cuánto cuesta el libro?", "12,50 €"),
        ("es", "La garantía dura 24 meses.", "¿Cuánto dura la garantía?", "24 meses"),
        ("es", "La tortilla es un plato de huevos y patatas.", "¿Qué es la tortilla?", "un plato de huevos y patatas"),
        ("pt", "A torre foi construída em maio de 1755.", "Quando a torre foi construída?", "maio de 1755"),
        ("pt", "Cabral chegou ao Brasil em 1500.", "Quando Cabral chegou ao Brasil?", "1500"),
        ("pt", "O livro foi escrito por Machado de Assis.", "Por quem o livro foi escrito?", "Machado de Assis"),
        ("pt", "O prédio tem três escadas.", "Quantas escadas o prédio tem?", "três"),
        ("pt", "O curso dura quatro semanas.", "Quanto tempo dura o curso?", "quatro semanas"),
        ("pt", "A feijoada é um prato de feijão.", "O que é a feijoada?", "um prato de feijão"),
    ]
    for language, sentence, question, answer in cases:
        found = {each.question: sentence[each.start : each.end] for each in questions_of(sentence, language)}
        assert found.get(question) == answer, sentence


def test_what_makes_no_question() -> None:
    cases = [
        ("en", "It was built in 1890."),
        ("en", "Since the Quaternary is a very short period, epochs are short."),
        ("en", "The largest is the U.S. state of Alaska"),
        ("en", "The code was 1890.5 in 1890.5 units."),
        ("es", "Este es un ejemplo de lo dicho."),
        ("es", "El nombre oxígeno lo acuñó en 1777."),
        ("pt", "Ela é uma cidade do Brasil."),
        ("fr", "Le pont a été construit en 1890."),
        ("", "The old bridge was built in 1890."),
    ]
    failed = [(sentence, got) for language, sentence in cases if (got := list(questions_of(sentence, language))) != []]
    assert failed == []


@given(
    st.sampled_from(sorted(LANGUAGES)), st.text("Ahe is was built in 1890 by a, the.de foi é $%|{}=[]", max_size=120)
)
def test_an_answer_is_a_part_of_its_sentence(language: str, text: str) -> None:
    for found in questions_of(text, language):
        assert 0 <= found.start < found.end <= len(text)
        assert found.question.endswith("?")


def test_a_long_sentence_takes_no_time() -> None:
    for language in LANGUAGES:
        assert list(questions_of("A" + "a a" * 30_000, language)) == []


GUIDE = "# Guide\n\n## Warranty\n\nThe warranty lasts 24 months. Keep the\nreceipt.\n\n## Empty\n"


def guide() -> Document:
    """A document with sections."""
    sections = [("Warranty", 9, GUIDE.index("## Empty")), ("Empty", GUIDE.index("## Empty"), len(GUIDE))]
    parts = tuple(Part(start, end, PartKind.SECTION, headings=("Guide", name)) for name, start, end in sections)
    return Document("guide", GUIDE, "/data/guide.md", "Guide", language="en", parts=parts)


def test_a_document_gives_sentences_and_headings() -> None:
    assert list(drafts_of(guide())) == [
        Draft("How long does the warranty last?", "24 months", "/data/guide.md", "number", "en"),
        Draft(
            "What does “Guide” say about “Warranty”?",
            "The warranty lasts 24 months.",
            "/data/guide.md",
            "heading",
            "en",
        ),
    ]


def test_every_answer_stands_in_its_document() -> None:
    text = "The town hall was\nbuilt in 1890. The mayor was\nelected by Ana\nPaula. A mill is a\nhouse with a wheel."
    drafts = list(drafts_of(make_document(text, "d", language="en")))
    assert [draft.type for draft in drafts] == ["date", "person", "definition"]
    flat = " ".join(text.split())
    assert all(draft.answer in flat and draft.document == "d" and "\n" not in draft.question for draft in drafts)


def test_what_no_cell_should_hold_is_left_out() -> None:
    text = "The mill was built in 1890."
    assert list(drafts_of(make_document(text, "d", language="en", source="=cmd"))) == []
    (named,) = drafts_of(make_document(text, "d", language="en", source="a|b"))
    assert named.document == "d"
    assert list(drafts_of(make_document(text, "d", language="de"))) == []


def test_drafts_are_varied_and_read_back(tmp_path: Path) -> None:
    texts = {
        f"/data/{number}.txt": f"The mill {number} was built in {1800 + number}. "
        f"A mill {number} is a house with wheels. The mill {number} has {number + 2} doors."
        for number in range(6)
    }
    settings = Settings()
    with closing(build_store(MEMORY)) as store:
        library = configure(settings, store, HashEmbedder(), Retriever.HYBRID).library
        library.add_documents([make_document(text, source=source, language="en") for source, text in texts.items()])
        drafts = suggest(library, 9)
        assert suggest(library, 9) == drafts
        assert suggest(library, 9, seed=1) != drafts
        assert len(suggest(library, 100)) == 18
        assert len(suggest(library, 2)) == 2
        assert len({draft.document for draft in drafts}) == 6
        types = Counter(draft.type for draft in drafts)
        assert types.keys() == {"date", "definition", "number"}
        assert max(types.values()) - min(types.values()) <= 2
        for name in ("list.csv", "list.jsonl"):
            write_drafts(drafts, tmp_path / name)
            asked = find_documents(read_questions(tmp_path / name), library.documents(), tmp_path / name)
            assert [each.text for each in asked] == [draft.question for draft in drafts]
            assert [each.answers for each in asked] == [(draft.answer,) for draft in drafts]
            assert [each.type for each in asked] == [draft.type for draft in drafts]
            for each, draft in zip(asked, drafts, strict=True):
                (document,) = each.relevant or {}
                assert library.document(document).source == draft.document
    with (tmp_path / "list.csv").open(encoding="utf-8-sig", newline="") as file:
        assert next(csv.reader(file)) == ["question", "answer", "document", "type", "language"]
    with pytest.raises(SettingsError, match="already exists"):
        write_drafts([], tmp_path / "list.csv")


def test_an_empty_library_has_no_drafts() -> None:
    with closing(build_store(MEMORY)) as store:
        assert suggest(configure(Settings(), store, HashEmbedder(), Retriever.HYBRID).library, 5) == []
