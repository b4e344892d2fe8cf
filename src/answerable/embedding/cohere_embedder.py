"""Embed with Cohere's models (API v2)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from answerable.datatypes import FloatArray
from answerable.embedding.vectors import in_parallel, means_of_windows, normalised, without_spans
from answerable.errors import MalformedResponse
from answerable.protocols import Fingerprint, Passage, PassageVectors
from answerable.providers.calling import Caller, CallPolicy
from answerable.providers.cohere import CohereClient, count_tokens, windows
from answerable.providers.usage import cost
from answerable.text.characters import sendable

MODEL = "embed-multilingual-v3.0"
DIMENSION = 1024  # of MODEL
BATCH = 96  # Cohere's limit
# Tokens of a window: models of generation 3 take 512, of generation 4 128,000; token estimates may be a fifth too low.
WINDOW = 400
LONG_WINDOW = 100_000  # tokens of a window for models of generation 4


class CohereEmbedder:
    """Embeds with a Cohere model, several batches in parallel. Safe to share between threads.

    A text over the model's limit becomes the mean of its windows, weighted by tokens; a call has at most `batch` texts
    or windows. Spans have no vectors. Raises MissingPackage without the SDK, and ProviderErrors; vectors of another
    dimension raise MalformedResponse.
    """

    def __init__(
        self,
        api_key: str,
        model: str = MODEL,
        dimension: int = DIMENSION,
        base_url: str | None = None,
        policy: CallPolicy | None = None,
        batch: int = BATCH,
    ) -> None:
        self._batch = batch
        self._model = model
        self._dimension = dimension
        # Only models of generation 4 allow a choice of dimensions; the names in generation 3 begin with the language.
        self._has_choice = model.startswith("embed-v")
        self._caller = Caller(policy or CallPolicy())
        self._client = CohereClient(api_key, base_url, self._caller.policy.timeout)

    @property
    def fingerprint(self) -> Fingerprint:
        """Provider, model and dimension."""
        return Fingerprint("cohere", self._model, self._dimension)

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Embed passages, in this order; `spans` has no rows."""
        return without_spans(self._embed([passage.text for passage in passages], "search_document"))

    def embed_query(self, text: str) -> FloatArray:
        """Embed a question, shape (dimension,)."""
        vector: FloatArray = self._embed([text], "search_query")[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Estimate the number of tokens of each text."""
        return [count_tokens(text) for text in texts]

    def cost(self, tokens: int) -> float | None:
        """Return the maximum in US dollars, or None for a model of unknown price."""
        return cost(self._model, tokens, 0)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._client.close()

    def _embed(self, texts: Sequence[str], input_type: str) -> FloatArray:
        """Return L2-normalised vectors, shape (number of texts, dimension)."""
        pieces: list[str] = []
        weighted: list[tuple[int, int]] = []
        for owner, text in enumerate(texts):
            for piece, tokens in windows(sendable(text), LONG_WINDOW if self._has_choice else WINDOW):
                # Cohere rejects a whole request if one text is empty.
                pieces.append(piece if piece.strip() else ".")
                weighted.append((owner, max(tokens, 1)))
        batches = [pieces[start : start + self._batch] for start in range(0, len(pieces), self._batch)]
        embedded = in_parallel(
            lambda batch: self._caller.call(lambda: self._attempt(batch, input_type)),
            batches,
            self._caller.policy.concurrency,
        )
        return means_of_windows(weighted, itertools.chain.from_iterable(embedded), (len(texts), self._dimension))

    def _attempt(self, texts: Sequence[str], input_type: str) -> FloatArray:
        with self._caller.slots:
            given = self._client.embed(self._model, texts, input_type, self._dimension if self._has_choice else None)
        try:
            with np.errstate(over="ignore"):
                vectors = np.asarray(given, np.float32)
        except (TypeError, ValueError):
            vectors = np.zeros(0, np.float32)
        expected = (len(texts), self._dimension)
        if vectors.shape != expected:
            failure = MalformedResponse(
                f"Cohere's vectors have the shape {vectors.shape} instead of {expected}. "
                "Check that the embedder's dimension is that of its model."
            )
            # Don't retry: the shape would be the same.
            failure.retryable = False
            raise failure
        if not np.isfinite(vectors).all() or not vectors.any(axis=1).all():
            raise MalformedResponse("Cohere returned vectors of zeros or invalid numbers. Try again.")
        return normalised(vectors)
