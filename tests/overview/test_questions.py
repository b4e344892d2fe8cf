"""Suggested questions: made from headings, facts, tables and chats, in the language of each document, and answered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import HashEmbedder, make_document

import answerable
from answerable import Library
from answerable.datatypes import Answer, Part, PartKind
from answerable.interfaces import examples
from answerable.overview.drafts import Basis, Draft, drafts
from answerable.overview.library_overview import library_overview, state_of
from answerable.overview.questions import is_answered, suggested_questions, varied
from answerable.protocols import Embedder

EXAMPLES = Path(examples.__file__).parent
LANGUAGES = ("en", "es", "pt")


@pytest.fixture(scope="module", params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def library(language: str, embedder: Embedder) -> Iterator[Library]:
    with answerable.open(":memory:", embedder=embedder, reader="off") as library:
        report = library.add(EXAMPLES / language)
        assert (report.added, report.failures) == (4, [])
        yield library


def test_the_examples_make_six_questions_that_are_answered(library: Library, language: str) -> None:
    found = suggested_questions(library, varied(library.documents()))
    assert len({each.question for each in found}) == 6
    assert {each.language for each in found} == {language}
    # Every document has one.
    assert {each.document_id for each in found} == {each.id for each in library.documents()}
    for each in found:
        answer = library.ask(each.question)
        assert answer.answered, each
        assert answer.citations[0].document_id == each.document_id


def test_an_overview_has_a_sentence_of_each_of_a_few_documents(library: Library) -> None:
    documents = library.documents()
    overview = library_overview(library, documents, stops=lambda: False)
    # A table has no sentences.
    assert len({each.document_id for each in overview.extracts}) == 3
    for extract in overview.extracts:
        assert library.document(extract.document_id).content[extract.start : extract.end] == extract.quote


def test_an_overview_that_is_stopped_asks_nothing(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object) -> Answer:
        raise AssertionError("a question was asked")

    monkeypatch.setattr(library, "quote", asked)
    assert library_overview(library, library.documents(), stops=lambda: True).questions == ()


def test_a_question_that_another_place_answers_is_not_suggested(library: Library) -> None:
    stored = library.documents()[0]
    draft = next(each for each in drafts(library.document(stored.id)) if is_answered(library, each))
    assert not is_answered(library, Draft(draft.question, draft.basis, "another", draft.spans))
    assert not is_answered(library, Draft(draft.question, draft.basis, draft.document_id, ((0, 1),)))


def test_the_state_changes_with_the_documents() -> None:
    with answerable.open(":memory:", embedder=HashEmbedder()) as library:
        empty = state_of(library.documents())
        library.add_documents([make_document("The ferry leaves at nine.", source="ferry.txt")])
        one = state_of(library.documents())
        library.add_documents([make_document("The ferry leaves at ten.", source="ferry.txt")])
        assert len({empty, one, state_of(library.documents())}) == 3


@pytest.mark.parametrize(
    ("language", "heading", "question"),
    [
        ("en", "3. Late returns", "What should I know about late returns?"),
        ("en", "FastAPI", "What should I know about FastAPI?"),
        ("en", "How to descale the machine", "How do I descale the machine?"),
        ("en", "When is the library open", "When is the library open?"),
        ("en", "The coffee tastes bitter", None),
        ("en", "Introduction", None),
        ("en", "2024", None),
        ("en", "def open(path)", None),
        ("es", "Préstamo de libros", "¿Qué hay que saber sobre préstamo de libros?"),
        ("es", "¿Cuándo abre?", "¿Cuándo abre?"),
        ("es", "Índice", None),
        ("pt", "Quanto sol é necessário", "Quanto sol é necessário?"),
        ("pt", "Garantia", "O que preciso saber sobre garantia?"),
        ("fr", "Garantie", None),
    ],
)
def test_questions_of_headings(language: str, heading: str, question: str | None) -> None:
    text = f"Guide\n{heading}\n" + "This is what the section says about it. " * 4
    part = Part(6, len(text), PartKind.SECTION, headings=("Guide", heading))
    document = make_document(text, title="Guide", language=language)
    document = type(document)(
        document.id, text, title="Guide", language=language, metadata=document.metadata, parts=(part,)
    )
    found = [each.question for each in drafts(document) if each.basis is Basis.SECTION]
    assert found == ([question] if question else [])
