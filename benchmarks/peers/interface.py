"""What the systems have in common here: texts in, passages out, and one embedder for all of them.

Nothing of Answerable is imported: every system runs in an environment of its own, and so does this.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

DIMENSION = 384
FloatArray = NDArray[np.float32]
Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Text:
    """A document of a set."""

    id: str
    title: str
    body: str

    @property
    def whole(self) -> str:
        """The title over the text, for systems that have no field for it."""
        return f"{self.title}\n\n{self.body}".strip()


@dataclass(frozen=True)
class Found:
    """A passage that a system returns, with where it stands in what it was given, if it says so."""

    document: str
    passage: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Corpus:
    """A set's language (en, es or pt), documents and questions."""

    language: str
    documents: list[Text]
    questions: list[str]

    @classmethod
    def read(cls, path: Path) -> Corpus:
        """A corpus from the file that `write` made."""
        row = json.loads(path.read_text("utf-8"))
        return cls(row["language"], [Text(*document) for document in row["documents"]], row["questions"])

    def write(self, path: Path) -> None:
        """The corpus as a file for the systems' processes."""
        documents = [(document.id, document.title, document.body) for document in self.documents]
        row = {"language": self.language, "documents": documents, "questions": self.questions}
        path.write_text(json.dumps(row), "utf-8")


class Peer(Protocol):
    """One system, ready for documents and questions."""

    def content(self, document: Text) -> str:
        """The text that the system is given of a document, which its offsets refer to."""
        ...

    def add(self, documents: Sequence[Text]) -> None:
        """Adds documents, or adds them again, the way the system's documentation shows."""
        ...

    def search(self, question: str, k: int) -> list[Found]:
        """The best passages, k at most, best first."""
        ...

    def delete(self, document: str) -> None:
        """Deletes a document."""
        ...


Build = Callable[[Path, str, "Embedder"], Peer]
"""What an adapter's `build` is: an empty folder, the language of the texts and the embedder → the system."""


class Embedder:
    """Vectors from the server of `embedding_server.py`; what asking for them costs this process is kept apart.

    `cpu` are the seconds of processor time that its callers spent in here, `texts` the passages embedded. For one
    thread at a time.
    """

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port)
        self.cpu = 0.0
        self.texts = 0

    def passages(self, texts: Sequence[str], spans: Sequence[Spans] = ()) -> FloatArray:
        """One row for each text, and after it one for each of its spans; shape (rows, 384), normalised."""
        self.texts += len(texts)
        return self._ask({"texts": list(texts), "spans": [list(some) for some in spans] or [[] for _ in texts]})

    def question(self, text: str) -> FloatArray:
        """The vector of a question, shape (384,)."""
        vector: FloatArray = self._ask({"question": text})[0]
        return vector

    def _ask(self, body: dict[str, Any]) -> FloatArray:
        started = time.thread_time()
        try:
            self._connection.request("POST", "/", json.dumps(body).encode())
            response = self._connection.getresponse()
            answer = response.read()
            if response.status != 200:
                raise RuntimeError(f"the embedding server answered {response.status}: {answer.decode()}")
            return np.frombuffer(answer, np.float32).reshape(-1, DIMENSION)
        finally:
            self.cpu += time.thread_time() - started
