"""What the toolkit's tests are made of: embeddings of words, a store by somebody else, small PDFs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from helpers import HashEmbedder

from codomyrmex.llm.rag import Chunk, Document, RetrievalResult, VectorStore

DIMENSION = 64
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
_WORDS = HashEmbedder(DIMENSION)


def embed_words(texts: list[str]) -> list[list[float]]:
    """Bags of words by feature hashing: texts with the same words are near."""
    return [_WORDS.embed_query(text).tolist() for text in texts]


@cache
def example(name: str) -> Document:
    """One of the project's examples."""
    return Document.from_file(EXAMPLES / name)


class Counting:
    """Embeds words and keeps the texts of every call; raises once it has been told to."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.broken = False

    def __call__(self, texts: list[str]) -> list[list[float]]:
        if self.broken:
            raise ConnectionError("the provider is down")
        self.calls.append(texts)
        return embed_words(texts)


class ListStore(VectorStore):
    """A store as somebody else would write it: a list, three methods, no filters, no replacing."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self.asked: list[int] = []

    def add(self, chunks: list[Chunk]) -> None:
        """Appends."""
        self.chunks.extend(chunks)

    def search(self, query_embedding: list[float], k: int = 5) -> list[RetrievalResult]:
        """Goes through them all."""
        self.asked.append(k)
        hits = [RetrievalResult(chunk, cosine(query_embedding, chunk.embedding or [])) for chunk in self.chunks]
        return sorted(hits, key=lambda hit: -hit.score)[:k]

    def delete(self, chunk_ids: list[str]) -> int:
        """Keeps the others."""
        before = len(self.chunks)
        self.chunks = [chunk for chunk in self.chunks if chunk.id not in chunk_ids]
        return before - len(self.chunks)


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """By the definition; 0 where a vector has no direction."""
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(left * right for left, right in zip(one, other, strict=True)) / lengths if lengths else 0.0


def made_chunk(chunk_id: str, embedding: list[float] | None, document_id: str = "d", **metadata: object) -> Chunk:
    """A chunk whose content is its id."""
    return Chunk(chunk_id, chunk_id, document_id, 0, 0, len(chunk_id), embedding, metadata)


def assert_offsets(document: Document, chunks: Sequence[Chunk]) -> None:
    """Offsets exact, sequence and order kept, ids different, nothing but white space left out."""
    covered = 0
    for number, chunk in enumerate(chunks):
        assert document.content[chunk.start_char : chunk.end_char] == chunk.content
        assert (chunk.document_id, chunk.sequence) == (document.id, number)
        assert not document.content[covered : chunk.start_char].strip()
        assert chunk.end_char > covered
        covered = chunk.end_char
    assert not document.content[covered:].strip()
    assert len({chunk.id for chunk in chunks}) == len(chunks)


def small_pdf(pages: Sequence[str], trailer: str = "") -> bytes:
    """A PDF with a line of text on each page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, text in enumerate(pages):
        drawing = f"BT /F1 12 Tf 50 700 Td ({text}) Tj ET"
        objects += [
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {5 + 2 * number} 0 R"
            "/Resources<</Font<</F1 3 0 R>>>>>>",
            f"<</Length {len(drawing)}>>stream\n{drawing}\nendstream",
        ]
    body, offsets = "%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n"
    rows = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    table = f"xref\n0 {len(offsets) + 1}\n0000000000 65535 f \n{rows}"
    end = f"trailer<</Size {len(offsets) + 1}/Root 1 0 R{trailer}>>\nstartxref\n{len(body)}\n%%EOF\n"
    return (body + table + end).encode("latin-1")


def locked_pdf() -> bytes:
    """A PDF that asks for a password: what its encryption dictionary holds fits none."""
    digits = "00" * 32
    encryption = f"<</Filter/Standard/V 1/R 2/O<{digits}>/U<{digits}>/P -4>>"
    return small_pdf(["secret"], f"/Encrypt {encryption}/ID[<{'00' * 16}><{'00' * 16}>]")
