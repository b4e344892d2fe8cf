"""Test fusion against values by hand, removal of repeats, and both searches on a real store."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from helpers import HashEmbedder, make_document
from hypothesis import given
from hypothesis import strategies as st

from answerable.answering.decide import Answering
from answerable.datatypes import Chunk, Document, FloatArray, Location, RetrievalResult
from answerable.filters import Filter, parse_filter
from answerable.library import Library
from answerable.protocols import IndexedChunk
from answerable.retrieval.hybrid import (
    CANDIDATES,
    REACH,
    drop_repeats,
    estimate_deviation,
    fuse,
    fuse_scaled,
    hybrid_search,
)
from answerable.retrieval.retriever import ATTEMPTS, analyze_question
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.exact import Scored
from answerable.stores.memory import MemoryStore
from answerable.text.terms import terms

scored = st.dictionaries(st.integers(1, 20), st.floats(-10, 10), max_size=12).map(
    lambda scores: sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
)


def test_fusion_by_hand() -> None:
    dense = [(1, 0.9), (2, 0.8), (3, 0.5)]
    keyword = [(3, 12.0), (2, 9.0), (4, 2.0)]
    assert dict(fuse(dense, keyword)) == pytest.approx(
        {1: 0.5, 2: 0.5 * 0.75 + 0.5 * 9 / 12, 3: 0.5, 4: 0.5 * 2 / 12},
    )
    assert [number for number, _ in fuse(dense, keyword)] == [2, 1, 3, 4]
    assert dict(fuse(dense, keyword, 0.8))[1] == pytest.approx(0.8)


def test_one_list_alone_keeps_its_order() -> None:
    assert fuse([(7, 0.9), (2, 0.4)], []) == [(7, 0.5), (2, 0.0)]
    assert fuse([], [(7, 4.0), (2, 1.0)]) == [(7, 0.5), (2, 0.125)]
    assert fuse([], []) == []


def test_keyword_scores_count_from_zero_unless_there_may_be_more_of_them() -> None:
    full = [(number, 200.0 - number) for number in range(1, CANDIDATES + 1)]
    assert dict(fuse([], full))[CANDIDATES] == 0.0
    assert dict(fuse([], full[:-1]))[CANDIDATES - 1] == pytest.approx(0.5 * 101 / 199)


def test_equal_scores_count_in_full_and_ties_go_by_number() -> None:
    assert fuse([(9, 0.3), (4, 0.3)], []) == [(4, 0.5), (9, 0.5)]
    assert fuse([(9, 0.3)], [(4, 1.0)]) == [(4, 0.5), (9, 0.5)]


@given(scored, scored)
def test_fusion_is_steady_bounded_and_loses_nothing(
    dense: list[tuple[int, float]], keyword: list[tuple[int, float]]
) -> None:
    fused = fuse(dense, keyword)
    assert fused == fuse(dense, keyword)
    assert {number for number, _ in fused} == {number for number, _ in (*dense, *keyword)}
    assert len({number for number, _ in fused}) == len(fused)
    assert all(0 <= score <= 1 for _, score in fused)
    assert fused == sorted(fused, key=lambda pair: (-pair[1], pair[0]))


def test_scaled_fusion_by_hand() -> None:
    dense = [(1, 0.9), (2, 0.86), (3, 0.1)]
    keyword = [(2, 9.0), (4, 2.0)]
    fused = fuse_scaled(dense, keyword, deviation=0.1 / REACH, highest=10.0)
    assert [number for number, _ in fused] == [2, 1, 4, 3]
    assert dict(fused) == pytest.approx({2: 0.5 * 0.6 + 0.5 * 0.9, 1: 0.5, 4: 0.5 * 0.2, 3: 0.0})


def test_words_that_stand_nowhere_leave_the_question_to_meaning() -> None:
    dense, keyword = [(1, 0.9), (2, 0.88)], [(2, 3.0)]
    known = fuse_scaled(dense, keyword, deviation=0.025, highest=4.0)
    mostly_unknown = fuse_scaled(dense, keyword, deviation=0.025, highest=40.0)
    assert known[0][0] == 2
    assert mostly_unknown[0][0] == 1


@given(scored, scored.map(lambda pairs: [(number, abs(score)) for number, score in pairs]), st.floats(0, 1))
def test_scaled_fusion_is_bounded_and_loses_nothing(
    dense: list[tuple[int, float]], keyword: list[tuple[int, float]], deviation: float
) -> None:
    fused = fuse_scaled(dense, keyword, deviation, highest=10.0)
    assert {number for number, _ in fused} == {number for number, _ in (*dense, *keyword)}
    assert all(0 <= score <= 1 for _, score in fused)
    assert fused == sorted(fused, key=lambda pair: (-pair[1], pair[0]))


@pytest.mark.parametrize("chunks", [60, 1000, 50_000])
def test_deviation_is_told_from_the_highest_cosines(chunks: int) -> None:
    draw = np.random.default_rng(chunks)
    estimates = []
    for _ in range(30):
        cosines = np.sort(0.8 + 0.03 * draw.standard_normal(chunks))[::-1]
        estimates.append(estimate_deviation(cosines[:CANDIDATES].tolist(), chunks))
    assert np.mean(estimates) == pytest.approx(0.03, rel=0.1)
    assert estimate_deviation([], 0) == 0.0


def result(document: str, start: int, text: str, score: float = 1.0, context: str = "") -> RetrievalResult:
    """A result of a document that is long enough."""
    chunk = Chunk(f"{document}{start}", document, text, start, start + len(text), 0, Location(None), context)
    return RetrievalResult(chunk, score, Document(document, " " * start + text))


def test_repeats() -> None:
    cases: list[tuple[RetrievalResult, bool]] = [
        (result("a", 5, "x" * 10), True),  # half of it is shared
        (result("a", 4, "y" * 10), False),  # more than half
        (result("a", 2, "z" * 3), False),  # all of the shorter one
        (result("b", 4, "y" * 10), True),  # another document
        (result("b", 0, "ABCDE  fghij"), True),
        (result("b", 90, "ABCDEFGHIJ"), False),  # the same text
        (result("b", 90, "abcdefghij", context="Title"), True),  # under another title
        (result("a", 10, "abcdefghijk"), True),
    ]
    for second, is_kept in cases:
        first = result("a", 0, "abcdefghij")
        assert drop_repeats([first, second]) == ([first, second] if is_kept else [first]), second


def test_the_better_of_two_repeats_stays() -> None:
    better, worse = result("b", 0, "same  text", 0.9), result("a", 0, "Same text", 0.2)
    assert drop_repeats(iter([better, worse])) == [better]
    assert drop_repeats([]) == []


def indexed(document: str, text: str, angle: float, **fields: str) -> tuple[Document, list[IndexedChunk]]:
    """A document of one chunk whose vector stands at an angle."""
    vector = np.array([np.cos(angle), np.sin(angle)], np.float32)
    chunk = Chunk(document, document, text, 0, len(text), 0, Location((1, 1)))
    counts = dict.fromkeys(terms(text, "en"), 1)
    return Document(document, text, language="en"), [IndexedChunk(chunk, vector, counts, fields, (), vector[None][:0])]


@pytest.fixture
def store() -> MemoryStore:
    """Three documents: one near in meaning, one in words, one in neither."""
    filled = MemoryStore()
    filled.put(*indexed("meaning", "felines purr", 0.0, kind="a"))
    filled.put(*indexed("words", "cats eat fish", 1.0, kind="b"))
    filled.put(*indexed("neither", "stones", 1.5, kind="b"))
    return filled


def names(store: MemoryStore, numbers: list[int]) -> list[str]:
    """Which documents the chunks belong to."""
    return [document.id for _, document in store.fetch(numbers).values()]


def test_search_finds_by_meaning_and_by_words(store: MemoryStore) -> None:
    vector = np.array([1.0, 0.0], np.float32)
    found = hybrid_search(store, vector, analyze_question("cats", ["en"]).terms, 10.0, None, store.count()[1])
    assert names(store, [number for number, _ in found.dense]) == ["meaning", "words", "neither"]
    assert names(store, [number for number, _ in found.keyword]) == ["words"]
    assert names(store, [number for number, _ in found.fused]) == ["words", "meaning", "neither"]
    deviation = estimate_deviation([cosine for _, cosine in found.dense], 3)
    assert found.fused == fuse_scaled(found.dense, found.keyword, deviation, 10.0)
    assert found == hybrid_search(store, vector, analyze_question("cats", ["en"]).terms, 10.0, None, store.count()[1])


def test_search_without_words_or_with_a_filter(store: MemoryStore) -> None:
    vector = np.array([1.0, 0.0], np.float32)
    found = hybrid_search(store, vector, [], 0.0, None, store.count()[1])
    assert not found.keyword
    assert names(store, [number for number, _ in found.fused]) == ["meaning", "words", "neither"]
    filtered = hybrid_search(store, vector, ["cat"], 10.0, parse_filter({"kind": "b"}), store.count()[1])
    assert names(store, [number for number, _ in filtered.fused]) == ["words", "neither"]


def test_search_looks_at_so_many_candidates_of_each_kind() -> None:
    store = MemoryStore()
    for number in range(CANDIDATES + 20):
        store.put(*indexed(f"d{number}", "cats", number / 1000))
    found = hybrid_search(store, np.array([1.0, 0.0], np.float32), ["cat"], 10.0, None, store.count()[1])
    assert len(found.dense) == len(found.keyword) == CANDIDATES


def test_a_question_is_read_once_for_all_languages() -> None:
    asked = analyze_question("¿Cuáles son las universidades de la ciudad?", ["es", "en"])
    assert asked.language == "es"
    assert len(asked.words) == 2
    assert asked.terms == sorted(set(asked.terms))
    assert set(terms("universidades ciudad", "es")) <= set(asked.terms)


def test_copies_take_one_place_and_stay_findable_by_their_source() -> None:
    library = Library(MemoryStore(), HashEmbedder(), SplitterByType(), FileReader(), Answering())
    text = "The warranty lasts 24 months from the day of purchase."
    with library:
        library.add_documents(
            make_document(changed, name, source=name, language="en")
            for name, changed in (
                ("guide.md", text),
                ("copy of guide.md", text.replace(" ", "\n")),
                ("old guide.md", text.replace("24", "12")),
                ("other.md", "Call Ana for anything else."),
            )
        )
        results = library.search("How long does the warranty last?", 3)
        assert [result.document.id for result in results] == ["guide.md", "old guide.md", "other.md"]
        (copy,) = library.search("How long does the warranty last?", 3, {"source": "copy of guide.md"})
        assert copy.document.id == "copy of guide.md"
        library.remove("guide.md")
        assert library.search("How long does the warranty last?", 1)[0].document.id == "copy of guide.md"


def test_the_best_do_not_depend_on_how_many_are_asked_for() -> None:
    library = Library(MemoryStore(), HashEmbedder(), SplitterByType(), FileReader(), Answering())
    with library:
        library.add_documents(
            make_document(f"The warranty of part {number} lasts {number} months.", f"d{number}", source=f"d{number}")
            for number in range(60)
        )
        few = library.search("How many months does the warranty of part 7 last?", 5)
        many = library.search("How many months does the warranty of part 7 last?", 60)
    assert [result.chunk.id for result in many[:5]] == [result.chunk.id for result in few]
    assert [result.score for result in many[:5]] == [result.score for result in few]
    assert len(many) == 60
    assert [result.score for result in many] == sorted((result.score for result in many), reverse=True)


@pytest.mark.parametrize(("times", "is_found"), [(1, True), (ATTEMPTS - 1, True), (ATTEMPTS, False)])
def test_a_document_replaced_between_two_steps_is_looked_for_again(times: int, is_found: bool) -> None:
    """However often that happens, the search ends."""

    document = make_document("The blue room has a view of the harbour.", "rooms", language="en")

    class Busy(MemoryStore):
        replaced = 0

        def search_terms(self, terms: Sequence[str], k: int, where: Filter | None) -> Scored:
            found = super().search_terms(terms, k, where)
            if self.replaced < times:
                self.replaced += 1
                self.put(document, self.indexed_chunks("rooms"))
            return found

    store = Busy()
    library = Library(store, HashEmbedder(), SplitterByType(), FileReader(), Answering())
    with library:
        library.add_documents([document])
        found = library.search("Which room has a view?", 5)
    assert store.replaced == times
    assert [result.document.id for result in found] == ["rooms"] * is_found


def test_a_document_replaced_before_what_was_found_is_judged_again_is_not_missing() -> None:
    documents = [make_document(f"Room {place} has a view of the harbour.", f"d{place}") for place in range(40)]

    class Busy(MemoryStore):
        replaced = ""

        def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
            if not self.replaced:
                last = self.fetch([max(numbers)])[max(numbers)][1]
                self.replaced = last.id
                self.put(last, self.indexed_chunks(last.id))
            return super().cosines(vector, numbers)

    store = Busy()
    with Library(store, HashEmbedder(), SplitterByType(), FileReader(), Answering()) as library:
        library.add_documents(documents)
        found = library.search(
            "Why do tall green mountains seldom catch early morning sunlight during cold rainy winters?", 40
        )
    assert store.replaced
    assert {result.document.id for result in found} == {document.id for document in documents}
