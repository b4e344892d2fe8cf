"""Chunks of a few whole sentences."""

from __future__ import annotations

from answerable.datatypes import Chunk, Document
from answerable.splitting.make_chunks import check_sizes, make_chunks
from answerable.text.sentences import sentence_spans


class SentenceSplitter:
    """Chunks of `sentences_per_chunk` sentences that overlap by `overlap`. Raises ValueError for invalid numbers."""

    def __init__(self, sentences_per_chunk: int = 5, overlap: int = 1) -> None:
        check_sizes(sentences_per_chunk=sentences_per_chunk, overlap=overlap)
        self.sentences_per_chunk = sentences_per_chunk
        self.overlap = overlap

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space."""
        sentences = sentence_spans(document.content, document.language)
        size, step = self.sentences_per_chunk, self.sentences_per_chunk - self.overlap
        groups = (sentences[first : first + size] for first in range(0, max(len(sentences) - self.overlap, 1), step))
        return make_chunks(document, [(group[0][0], group[-1][1]) for group in groups if group])
