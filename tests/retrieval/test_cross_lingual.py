"""Test a library in two languages: questions in one language about passages in the other."""

from __future__ import annotations

import pytest

from answerable.answering.decide import Answering
from answerable.datatypes import Document
from answerable.embedding.cache import CachedEmbedder
from answerable.filters import matches, parse_filter
from answerable.library import Library
from answerable.retrieval.hybrid import MORE, CrossLingual, calibrate, fuse_scaled, other_languages
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.memory import MemoryStore

ENGLISH = {
    "swim": "The swimming pool of the club opens at seven in the morning and closes at nine in the evening.",
    "dues": "Members pay forty euros a month, which are charged to their bank account on the first day.",
}
SPANISH = {
    "bar": "El bar del club abre a las diez de la mañana y cierra a medianoche los fines de semana.",
    "tenis": "Las pistas de tenis del club abren a las ocho y cierran a las diez de la noche.",
    "gimnasio": "El gimnasio abre a las seis de la mañana; por la noche cierra a las once en punto.",
    "tienda": "La tienda abre por la mañana, cierra a mediodía y abre otra vez a las cinco de la tarde.",
    "oficina": "¿A qué hora abre la oficina del club? Abre a las nueve de la mañana de lunes a viernes.",
    "cancha": "La cancha de fútbol abre todo el día; las luces se apagan a las once de la noche.",
}


@pytest.fixture
def library(embedder: CachedEmbedder) -> Library:
    made = Library(MemoryStore(), embedder, SplitterByType(400, 40), FileReader(), Answering())
    texts = [(name, "en", text) for name, text in ENGLISH.items()] + [(n, "es", text) for n, text in SPANISH.items()]
    made.add_documents([Document(name, text, language=language) for name, language, text in texts])
    return made


def test_the_passage_in_the_other_language_is_found_beside_many_that_share_words(library: Library) -> None:
    found = library.search("¿A qué hora abre la piscina por la mañana?", 3)
    assert "swim" in {result.document.id for result in found}


def test_a_passage_in_the_questions_own_language_stays_first(library: Library) -> None:
    assert library.search("¿A qué hora abren las pistas de tenis?", 1)[0].document.id == "tenis"


def test_only_a_library_with_the_questions_language_and_another_has_passages_in_another() -> None:
    for language, languages in (("es", ("es",)), ("es", ("en", "pt")), ("", ("en", "es")), ("es", ())):
        assert other_languages(language, languages, None) is None
    where = other_languages("es", ("en", "es"), parse_filter({"type": "pdf"}))
    wanted = [("en", "pdf"), ("es", "pdf"), ("", "pdf"), ("en", "chat")]
    fields = [
        {name: [value] for name, value in zip(("language", "type"), each, strict=True) if value} for each in wanted
    ]
    assert [matches(where, each) for each in fields] == [True, False, False, False]


def test_cosines_across_languages_are_calibrated() -> None:
    foreign = CrossLingual(frozenset({2}), 0.05)
    assert foreign.calibrated([(1, 0.86), (3, 0.84), (2, 0.82)]) == [(2, pytest.approx(0.87)), (1, 0.86), (3, 0.84)]
    assert (foreign.of(2), foreign.of(1)) == (0.05, 0.0)


def test_cosines_are_calibrated_by_what_unrelated_passages_lack() -> None:
    natives = [(number, 0.86 - number / 1000) for number in range(30)]
    near = [(100, 0.9), *((100 + number, cosine - 0.02) for number, cosine in natives[1:])]
    assert calibrate(sorted([*natives, *near], key=lambda pair: -pair[1]), near, 0.05).gap == pytest.approx(0.02 + MORE)
    far = [(number, cosine - 0.1) for number, cosine in near]
    assert calibrate([*natives, *far], far, 0.05).gap == 0.05
    closer = [(number, cosine + 0.1) for number, cosine in near]
    assert calibrate([*closer, *natives], closer, 0.05).gap == 0
    assert calibrate([*near], near, 0.05) == CrossLingual(frozenset(dict(near)), 0.05)


def test_what_answers_in_other_words_stays_before_the_other_languages(embedder: CachedEmbedder) -> None:
    made = Library(MemoryStore(), embedder, SplitterByType(400, 40), FileReader(), Answering())
    english = [
        *ENGLISH.values(),
        "Bicycles without a label are given to a charity in June.",
        "The lift is out of order.",
    ]
    texts = [("en", text) for text in english] + [("es", text) for text in SPANISH.values()]
    made.add_documents([Document(text[:20], text, language=language) for language, text in texts])
    found = made.search("What becomes of abandoned cycles?", 2)
    assert "Bicycles" in {result.document.id[:8] for result in found}


def test_a_foreign_chunk_counts_as_having_the_words_that_the_closest_others_have() -> None:
    dense = [(2, 0.87), (1, 0.86), (3, 0.85)]
    scores = dict(fuse_scaled(dense, [(1, 2.0)], 0.025, 10.0, CrossLingual(frozenset({2}), 0.05)))
    assert scores[2] == pytest.approx(0.5 + 0.5 * 0.1)
    assert scores[1] == pytest.approx(0.5 * (1 - 0.01 / 0.2) + 0.5 * 0.2)
    assert scores[3] == pytest.approx(0.5 * (1 - 0.02 / 0.2))
