"""Development sets → libraries and figures. Vectors are kept in the user's cache: only the first run takes long."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import platformdirs
import pytest

from answerable import Library
from answerable.answering.decide import Answering
from answerable.answering.gate import packaged_gates
from answerable.answering.reading import PASSAGES
from answerable.datatypes import FloatArray
from answerable.embedding.cache import CachedEmbedder
from answerable.embedding.local import LocalEmbedder
from answerable.evaluation.sets import QuestionSet
from answerable.library import PASSAGES_PER_ANSWER
from answerable.protocols import AnswerReader
from answerable.settings import Settings
from answerable.wiring.answering import READING
from answerable.wiring.build import build_reader, build_splitter, build_store

CACHE = Path(
    os.environ.get("ANSWERABLE_TEST_CACHE") or platformdirs.user_cache_dir("answerable-tests", appauthor=False)
)
# Read here, since every test runs with an environment of its own.
DATA = Path(os.environ.get("ANSWERABLE_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")
CACHE_LIMIT = 10**11
LOCAL = "local:multilingual-e5-small"


Case = TypeVar("Case")


def in_the_gate(cases: Iterable[Case], *kept: Case) -> list[Any]:
    """Return the parameters of a test, all but the kept ones marked `long`: CI must end in time."""
    return [
        case if case in kept else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)
        for case in cases
    ]


def data_folder() -> Path:
    """Where the development sets are; AssertionError that says what to do when they aren't."""
    assert DATA.is_dir(), f"the development sets aren't at {DATA}: set ANSWERABLE_TEST_DATA to their folder"
    return DATA


class QueryCachingEmbedder(CachedEmbedder):
    """Keeps the vectors of questions too: the sets ask the same ones on every run."""

    def __init__(self) -> None:
        local = LocalEmbedder(cache_folder=CACHE / "models")
        super().__init__(local, CACHE / "embeddings.db", CACHE_LIMIT)
        self._folder = CACHE / f"queries-{sha256(str(self.fingerprint).encode()).hexdigest()[:8]}"
        self._folder.mkdir(parents=True, exist_ok=True)

    def embed_query(self, text: str) -> FloatArray:
        path = self._folder / f"{sha256(text.encode()).hexdigest()}.npy"
        if not path.exists():
            draft = path.with_suffix(f".{os.getpid()}")
            draft.write_bytes(super().embed_query(text).tobytes())
            os.replace(draft, path)
        return np.frombuffer(path.read_bytes(), np.float32)


@dataclass
class Bench:
    """Libraries of the sets, each built once."""

    embedder: QueryCachingEmbedder = field(default_factory=QueryCachingEmbedder)
    _sets: dict[str, QuestionSet] = field(default_factory=dict)
    _stores: dict[str, object] = field(default_factory=dict)

    def set(self, name: str) -> QuestionSet:
        if name not in self._sets:
            self._sets[name] = QuestionSet.load(data_folder() / name, name)
        return self._sets[name]

    def library(self, name: str, gate: bool = True, quotes: int = 3, reader: AnswerReader | None = None) -> Library:
        """The set's library with the default settings but for those of the answerer."""
        is_new = name not in self._stores
        store = self._stores.setdefault(name, build_store(":memory:"))
        settings = Settings()
        chosen = packaged_gates()[LOCAL + (READING if reader else "")] if gate else None
        answerer = Answering(chosen, reader, quotes)
        parts = build_splitter(settings), build_reader(settings), answerer
        passages = PASSAGES if reader else PASSAGES_PER_ANSWER
        library = Library(store, self.embedder, *parts, passages=passages)  # type: ignore[arg-type]
        if is_new:
            report = library.add_documents(self.set(name).documents)
            assert not report.failures
        return library


def ndcg(ranking: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """Normalised discounted cumulative gain at k (Järvelin & Kekäläinen 2002), gains as they are."""
    gains = [relevant.get(document, 0) for document in ranking[:k]]
    ideal = sorted(relevant.values(), reverse=True)[:k]
    best = sum(gain / math.log2(rank + 2) for rank, gain in enumerate(ideal))
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains)) / best if best else 0.0


def holds(quotes: Sequence[str], answers: Sequence[str]) -> bool:
    """Whether one of the answers stands in one of the quotes, white space aside."""
    texts = [" ".join(quote.split()) for quote in quotes]
    return any(" ".join(answer.split()) in text for text in texts for answer in answers)
