"""Test late interaction by hand and on the real model: order of texts, what is embedded, requirements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from helpers import HashEmbedder, make_document

from answerable.answering.decide import Answering
from answerable.datatypes import FloatArray
from answerable.embedding.local import LocalEmbedder
from answerable.errors import SettingsError
from answerable.library import Library
from answerable.protocols import Span
from answerable.retrieval.late_interaction import KEPT, LateInteraction
from answerable.retrieval.retriever import RERANKED, Steps, analyze_question
from answerable.settings import Settings
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.memory import MemoryStore
from answerable.wiring.build import build_reranker


class LetterEmbedder(HashEmbedder):
    """A token is a letter, and its vector stands on an axis of its own. Counts the texts that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed_passage_tokens(self, texts: Sequence[str]) -> list[FloatArray]:
        self.texts += texts
        return [self._letters(text) for text in texts]

    def embed_query_tokens(self, text: str, spans: Sequence[Span]) -> list[FloatArray]:
        return [self._letters(text[start:end]) for start, end in spans]

    def _letters(self, text: str) -> FloatArray:
        return np.eye(26, dtype=np.float32)[[ord(letter) - ord("a") for letter in text.lower() if letter.isalpha()]]


def test_tokens_count_by_the_rarity_of_their_words() -> None:
    reranker = LateInteraction(LetterEmbedder())
    texts = ["a", "b", "ab", "", "zz"]
    assert reranker.compare("a b", {(0, 1): 3.0, (2, 3): 1.0}, texts)[:3] == [0.75, 0.25, 1.0]
    assert reranker.judge("a b", {(0, 1): 3.0, (2, 3): 1.0}, texts) == [0.0, 0.0, 1.0, 0.0, 0.0]
    assert reranker.judge("a b", {(0, 1): 0.1, (2, 3): 0.9}, ["ab", "b"]) == pytest.approx([1.0, 0.5])


def test_where_there_is_nothing_to_compare_all_are_alike() -> None:
    reranker = LateInteraction(LetterEmbedder())
    assert reranker.judge("the", {(0, 3): 0.0}, ["a", "b"]) == [1.0, 1.0]
    assert reranker.judge("", {}, ["a"]) == [1.0]
    assert reranker.judge("a", {(0, 1): 1.0}, []) == []


def test_a_text_is_embedded_once_as_long_as_it_is_among_the_last() -> None:
    embedder = LetterEmbedder()
    reranker = LateInteraction(embedder)
    words = {(0, 1): 1.0}
    reranker.judge("a", words, ["a", "b", "a"])
    reranker.judge("a", words, ["b"])
    assert embedder.texts == ["a", "b"]
    for number in range(KEPT):
        reranker.judge("a", words, ["b" * (number + 2)])
    reranker.judge("a", words, ["a"])
    assert embedder.texts.count("a") == 2


def test_words_of_a_question_stay_whole_and_weigh_by_their_rarest_part() -> None:
    asked = analyze_question("Is GLP-1R in the pancreas?", ["en"])
    weights = {word: float(len(max(word, key=len))) for word in asked.words}
    found = {asked.text[start:end]: weight for (start, end), weight in asked.spans(weights).items()}
    assert list(found) == ["Is", "GLP-1R", "in", "the", "pancreas"]
    assert found["Is"] == found["in"] == found["the"] == 0.0
    assert found["GLP-1R"] == 3.0
    assert found["pancreas"] > 3.0


def library(steps: Steps) -> Library:
    return Library(MemoryStore(), HashEmbedder(), SplitterByType(), FileReader(), Answering(), steps=steps)


def test_what_a_reranker_says_counts_for_the_first_candidates_only() -> None:
    embedder = LetterEmbedder()
    with library(Steps(LateInteraction(embedder))) as reranking:
        reranking.add_documents(
            make_document(f"{'b' * (number + 1)} question", f"d{number}", source=f"d{number}", language="en")
            for number in range(RERANKED + 10)
        )
        results = reranking.search("question bbb", 30)
    assert len(set(embedder.texts)) == RERANKED
    assert len(results) == RERANKED + 10
    scores = [result.score for result in results]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_the_local_model_gives_tokens_and_prefers_the_text_that_answers() -> None:
    embedder = LocalEmbedder(threads=1)
    (tokens,) = embedder.embed_passage_tokens(["The mitochondrion makes energy."])
    first, second = embedder.embed_query_tokens("What makes energy?", [(5, 10), (11, 17)])
    assert tokens.shape[1] == first.shape[1] == second.shape[1] == 384
    assert np.allclose(np.linalg.norm(np.concatenate([tokens, first, second]), axis=1), 1.0, atol=1e-5)
    reranker = build_reranker(Settings(rerank="local"), embedder)
    assert reranker is not None
    judged = reranker.judge(
        "What makes energy in a cell?",
        {(5, 10): 2.0, (11, 17): 3.0, (23, 27): 3.0},
        ["Bread is made of flour.", "The mitochondrion makes energy in every cell."],
    )
    assert judged[1] == 1.0 > judged[0]


def test_what_it_needs() -> None:
    assert build_reranker(Settings(), HashEmbedder()) is None
    with pytest.raises(SettingsError, match=r"hash:words .* has no token vectors. Set embedder to local"):
        build_reranker(Settings(rerank="local"), HashEmbedder())
