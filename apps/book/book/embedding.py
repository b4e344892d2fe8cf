"""Chunks and questions → vectors, by Cohere."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from answerable.embedding import CohereEmbedder
from answerable.errors import ProviderError
from answerable.protocols import Passage
from answerable.providers.calling import CallPolicy
from book import settings
from book.errors import CohereAPIError
from book.models import ContentChunk, VectorEmbedding

MODEL = "embed-multilingual-v3.0"
DIMENSION = 1024
MOST_TEXTS = 96
PRICE = 0.10
"""US dollars for a million tokens of the model, by Cohere's list of prices."""

# Cohere's limits are per minute: waits of up to 1, 2, 4, 8, 16 and 30 seconds come through one.
_RETRIES = 6
_FIRST_WAIT = 1.0
_TOTAL = 300.0

_log = logging.getLogger("book")


def generate_embeddings(chunks: Sequence[ContentChunk], batch_size: int = MOST_TEXTS) -> list[VectorEmbedding]:
    """A vector of DIMENSION numbers and length 1 for each chunk, in their order, embedded `batch_size` at a time.

    Too many requests, overload and lost connections are tried again after waits that grow exponentially. Raises
    ValueError for a batch size out of bounds, SettingsError without a key, CohereAPIError when all tries failed.
    """
    if not 1 <= batch_size <= MOST_TEXTS:
        raise ValueError(f"batch_size is {batch_size}: it must be from 1 to {MOST_TEXTS}, which is the most of a call")
    if not chunks:
        return []
    started = time.monotonic()
    with _embedder(batch_size) as embedder:
        vectors = embedder.embed_passages([Passage(chunk.text) for chunk in chunks])
    _log.debug("%d chunks embedded in %.1f s", len(chunks), time.monotonic() - started)
    return [
        VectorEmbedding(chunk.chunk_id, vector.whole.tolist()) for chunk, vector in zip(chunks, vectors, strict=True)
    ]


def embed_queries(queries: Sequence[str]) -> list[list[float]]:
    """The vectors of questions, in their order. Raises SettingsError without a key, and CohereAPIError."""
    with _embedder() as embedder:
        return [embedder.embed_query(query).tolist() for query in queries]


@contextmanager
def _embedder(batch: int = MOST_TEXTS) -> Iterator[CohereEmbedder]:
    given = settings.cohere()
    policy = CallPolicy(
        timeout=given.provider_timeout,
        total=max(_TOTAL, given.provider_timeout),
        retries=_RETRIES,
        first_wait=_FIRST_WAIT,
    )
    try:
        embedder = CohereEmbedder(given.cohere_api_key, MODEL, DIMENSION, given.cohere_base_url or None, policy, batch)
        try:
            yield embedder
        finally:
            embedder.close()
    except ProviderError as error:
        raise CohereAPIError(str(error)) from error
