"""Development sets → libraries and figures. Vectors are kept in the user's cache: only the first run takes long."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
import platformdirs

from answerable import Document, Library
from answerable.answering.extractive import ExtractiveAnswerer
from answerable.answering.gate import E5_SMALL
from answerable.build import build_reader, build_splitter, build_store
from answerable.datatypes import FloatArray
from answerable.embedding.cache import CachedEmbedder
from answerable.embedding.local import LocalEmbedder
from answerable.protocols import Answerer
from answerable.settings import Settings

CACHE = Path(
    os.environ.get("ANSWERABLE_TEST_CACHE") or platformdirs.user_cache_dir("answerable-tests", appauthor=False)
)
# Read here, since every test runs with an environment of its own.
DATA = Path(os.environ.get("ANSWERABLE_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")
CACHE_LIMIT = 10**11


def data_folder() -> Path:
    """Where the development sets are; AssertionError that says what to do when they aren't."""
    assert DATA.is_dir(), f"the development sets aren't at {DATA}: set ANSWERABLE_TEST_DATA to their folder"
    return DATA


@dataclass(frozen=True)
class Query:
    id: str
    text: str
    answers: tuple[str, ...]
    relevant: Mapping[str, int]


@dataclass(frozen=True)
class DevSet:
    name: str
    documents: list[Document]
    queries: list[Query]

    @classmethod
    def load(cls, name: str) -> DevSet:
        """A set in BEIR's layout; only questions that have a relevant document."""
        folder = data_folder() / name
        documents = [
            Document.from_text(row["text"], doc_id=row["_id"], title=row.get("title") or "")
            for row in _rows(folder / "corpus.jsonl")
        ]
        relevant: dict[str, dict[str, int]] = {}
        for line in (folder / "qrels" / "test.tsv").read_text("utf-8").splitlines()[1:]:
            query, document, score = line.split("\t")
            relevant.setdefault(query, {})[document] = int(float(score))
        queries = [
            Query(row["_id"], row["text"], tuple(row.get("answers") or ()), relevant[row["_id"]])
            for row in _rows(folder / "queries.jsonl")
            if row["_id"] in relevant
        ]
        return cls(name, documents, queries)


class QueryCachingEmbedder(CachedEmbedder):
    """Keeps the vectors of questions too: the sets ask the same ones on every run."""

    def __init__(self) -> None:
        local = LocalEmbedder(cache_folder=CACHE / "models", runtime="openvino")
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
    _sets: dict[str, DevSet] = field(default_factory=dict)
    _stores: dict[str, object] = field(default_factory=dict)

    def set(self, name: str) -> DevSet:
        if name not in self._sets:
            self._sets[name] = DevSet.load(name)
        return self._sets[name]

    def library(self, name: str, gate: bool = True, quotes: int = 3) -> Library:
        """The set's library with the default settings but for those of the answerer."""
        is_new = name not in self._stores
        store = self._stores.setdefault(name, build_store(":memory:"))
        settings = Settings()
        answerer: Answerer = ExtractiveAnswerer(E5_SMALL if gate else None, quotes)
        library = Library(store, self.embedder, build_splitter(settings), build_reader(settings), answerer)  # type: ignore[arg-type]
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


def _rows(path: Path) -> list[dict[str, object]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
