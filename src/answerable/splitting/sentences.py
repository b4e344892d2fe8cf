"""Chunks of a few whole sentences."""

from __future__ import annotations

from answerable.datatypes import Chunk, Document
from answerable.splitting.chunks import make_chunks
from answerable.text.sentences import sentence_spans


class SentenceSplitter:
    """Chunks of `sentences_per_chunk` sentences, neighbours sharing `overlap` of them.

    Raises ValueError when the numbers make no sense.
    """

    def __init__(self, sentences_per_chunk: int = 5, overlap: int = 1) -> None:
        if sentences_per_chunk < 1 or not 0 <= overlap < sentences_per_chunk:
            raise ValueError(
                f"sentences_per_chunk is {sentences_per_chunk} and overlap {overlap}: "
                "overlap must be at least 0 and below the other"
            )
        self.sentences_per_chunk = sentences_per_chunk
        self.overlap = overlap

    def split(self, document: Document) -> list[Chunk]:
        """Chunks in order that cover everything but white space."""
        sentences = sentence_spans(document.content, document.language)
        step = self.sentences_per_chunk - self.overlap
        spans = []
        for first in range(0, len(sentences), step):
            group = sentences[first : first + self.sentences_per_chunk]
            spans.append((group[0][0], group[-1][1]))
            if first + self.sentences_per_chunk >= len(sentences):
                break
        return make_chunks(document, spans)
