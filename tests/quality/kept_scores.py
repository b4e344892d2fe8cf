"""Late interaction whose scores are kept in the user's cache: passages are embedded token by token only once."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from answerable.embedding.local import LocalEmbedder
from answerable.protocols import Span
from answerable.retrieval.late_interaction import LateInteraction


class KeptLateInteraction(LateInteraction):
    """As its parent; each score is computed once for a question, its words' weights, a text and a model."""

    def __init__(self, embedder: LocalEmbedder, folder: Path) -> None:
        super().__init__(embedder)
        name = f"late-interaction-{sha256(str(embedder.fingerprint).encode()).hexdigest()[:8]}.db"
        self._database = sqlite3.connect(folder / name, timeout=60, check_same_thread=False)
        self._database.execute("CREATE TABLE IF NOT EXISTS li (k BLOB PRIMARY KEY, v REAL)")
        self._writing = threading.Lock()

    def compare(self, question: str, words: Mapping[Span, float], texts: Sequence[str]) -> list[float]:
        """The scores of the texts, from the cache where they are there."""
        weights = sorted((span, round(weight, 4)) for span, weight in words.items())
        asked = sha256(repr((question, weights)).encode()).digest()
        keys = [sha256(asked + text.encode()).digest()[:16] for text in texts]
        marks = ",".join("?" * len(keys))
        with self._writing, self._database:
            known = dict(self._database.execute(f"SELECT k, v FROM li WHERE k IN ({marks})", keys))
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            if missing:
                scores = super().compare(question, words, list(missing.values()))
                fresh = dict(zip(missing, scores, strict=True))
                self._database.executemany("INSERT OR REPLACE INTO li VALUES (?, ?)", fresh.items())
                known |= fresh
        return [known[key] for key in keys]
