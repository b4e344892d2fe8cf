"""A library of many chunks in little time: real text, vectors of chance under the local embedder's fingerprint.

Embedding 10,000 passages takes the better part of an hour. What a search, an answer or the storing costs does not
depend on what the vectors say, so that these stand in for them wherever embedding is not the subject.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from measuring import ROOT, corpus, peak_megabytes, run_python

from answerable.datatypes import Document, FloatArray
from answerable.embedding.local import LocalEmbedder
from answerable.library import Library
from answerable.protocols import Fingerprint, Passage, PassageVectors

PARAGRAPHS = 5


class ChanceEmbedder:
    """Gives unit vectors of chance to passages and leaves questions to the local embedder."""

    def __init__(self, local: LocalEmbedder | None = None) -> None:
        self._local = local or LocalEmbedder()
        self._chance = np.random.default_rng(1)

    @property
    def fingerprint(self) -> Fingerprint:
        """That of the local embedder, so that libraries made with this one open with that one."""
        return self._local.fingerprint

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Vectors of chance, as many as asked for."""
        return [PassageVectors(self._rows(1)[0], self._rows(len(passage.spans))) for passage in passages]

    def embed_query(self, text: str) -> FloatArray:
        """The question's real vector."""
        return self._local.embed_query(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The real count."""
        return self._local.count_tokens(texts)

    def cost(self, tokens: int) -> float:
        """Nothing."""
        return 0.0

    def _rows(self, count: int) -> FloatArray:
        rows = self._chance.standard_normal((count, self.fingerprint.dimension), np.float32)
        unit: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def build(folder: Path, chunks: int) -> dict[str, Any]:
    """Adds documents of a few paragraphs until there are so many chunks; says what there is and the peak of memory."""
    from answerable.settings import Settings
    from answerable.wiring.build import build_answerer, build_reader, build_splitter, build_store

    settings = Settings()
    texts = corpus()
    parts: dict[str, Any] = {"splitter": build_splitter(settings), "reader": build_reader(settings)}
    embedder = ChanceEmbedder()
    parts |= {"store": build_store(str(folder)), "answerer": build_answerer(settings, embedder.fingerprint)}
    with Library(embedder=embedder, **parts) as library:
        # Each text has some 1,500 characters or less: the count is closed in on.
        used = 0
        while (missing := chunks - library.stats().chunks) > 0:
            count = max(missing * 9 // 10, 1)
            documents = [_document(texts, used + start) for start in range(0, count, PARAGRAPHS)]
            used += len(documents) * PARAGRAPHS
            library.add_documents(documents)
        stats = library.stats()
    return {"documents": stats.documents, "chunks": stats.chunks, "peak": peak_megabytes()}


def _document(texts: Sequence[str], first: int) -> Document:
    chosen = [texts[number % len(texts)] for number in range(first, first + PARAGRAPHS)]
    again = first // len(texts)
    return Document.from_text("\n\n".join(chosen), f"d{first}", source=f"/synthetic/{first}", round=again)


def library_of(chunks: int) -> tuple[Path, dict[str, Any]]:
    """The library, built in a process of its own and kept in the user's cache while the code that makes it stays."""
    code = sha256()
    source = ROOT / "src" / "answerable"
    parts = ("text", "splitting", "indexing", "stores")
    made_by = [path for part in parts for path in sorted((source / part).rglob("*.py"))]
    for path in [*made_by, Path(__file__)]:
        code.update(path.read_bytes())
    kept = Path(platformdirs.user_cache_dir("answerable-benchmarks", appauthor=False))
    folder = kept / f"{chunks}-{code.hexdigest()[:12]}"
    if not (folder / "report.json").exists():
        for old in kept.glob(f"{chunks}-*"):
            shutil.rmtree(old)
        report = run_python(__file__, folder, chunks).report
        draft = folder / f"report.{os.getpid()}"
        draft.write_text(json.dumps(report), "utf-8")
        draft.replace(folder / "report.json")
    report = json.loads((folder / "report.json").read_text("utf-8"))
    return folder, report


if __name__ == "__main__":
    print(json.dumps(build(Path(sys.argv[1]), int(sys.argv[2]))))
