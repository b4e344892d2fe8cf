"""Embed with any server that uses OpenAI's protocol: OpenAI, GitHub Models, Ollama, llama.cpp, vLLM and others."""

from __future__ import annotations

import base64
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from answerable.datatypes import FloatArray
from answerable.embedding.vectors import in_parallel, means_of_windows, normalised, without_spans
from answerable.errors import MalformedResponse
from answerable.protocols import Fingerprint, Passage, PassageVectors
from answerable.providers.calling import Caller, CallPolicy
from answerable.providers.openai import OpenAIClient, ParameterRefused
from answerable.providers.usage import cost, count_tokens
from answerable.text.characters import encodable

MOST_TEXTS = 2048  # OpenAI's limit of texts in a call
MOST_TOKENS = 300_000  # OpenAI's limit of tokens in a call
MOST_TOKENS_OF_TEXT = 8191  # OpenAI's limit of tokens in a text

# The value of the dimension until the first vector arrives.
_UNKNOWN = 0

_SPACE = re.compile(r"\s")


class OpenAIEmbedder:
    """Embeds with OpenAI's embeddings API. Questions are embedded like passages; spans get no vectors.

    `base_url` is OpenAI's by default. A call has at most `most_texts` texts and 300,000 tokens; a text of more than
    `most_tokens` tokens becomes the mean of its windows, weighted by tokens. If `dimension` is None, the first vectors
    determine it.

    Raises SettingsError for an invalid address or key, ProviderRefused without a key, MissingPackage without the SDK.
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        dimension: int | None = 1536,
        api_key: str | None = None,
        base_url: str | None = None,
        policy: CallPolicy | None = None,
        provider: str = "openai",
        most_texts: int = MOST_TEXTS,
        most_tokens: int = MOST_TOKENS_OF_TEXT,
    ) -> None:
        policy = policy or CallPolicy()
        self._client = OpenAIClient(provider, model, "OPENAI_EMBEDDING_MODEL", api_key, base_url, policy)
        self._caller = Caller(policy)
        self._fingerprint = Fingerprint(provider, model, dimension or _UNKNOWN)
        self._most_texts = most_texts
        self._most_tokens = most_tokens
        self._format = "base64"

    @property
    def fingerprint(self) -> Fingerprint:
        """Provider, model and dimension.

        Embeds a short text if the dimension is unknown: raises like `embed_passages`.
        """
        if self._fingerprint.dimension == _UNKNOWN:
            self._call(["dimension"])
        return self._fingerprint

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Embed passages in this order; `spans` has no rows.

        Raises ProviderErrors; MalformedResponse also for vectors of another dimension.
        """
        return without_spans(self._embed([passage.text for passage in passages]))

    def embed_query(self, text: str) -> FloatArray:
        """Embed a question, shape (dimension,). Raises like `embed_passages`."""
        vector: FloatArray = self._embed([text])[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count tokens: exact for OpenAI's models, otherwise an estimate."""
        return count_tokens(texts, self._fingerprint.model)

    def cost(self, tokens: int) -> float | None:
        """Return the maximum in US dollars, or None if the price or the server is unknown."""
        return cost(self._fingerprint.model, tokens, 0) if self._fingerprint.provider == "openai" else None

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._client.close()

    def _embed(self, texts: Sequence[str]) -> FloatArray:
        windows = [(owner, *window) for owner, text in enumerate(texts) for window in self._windows(encodable(text))]
        batches = list(self._batches([(text, tokens) for _, text, tokens in windows]))
        # The first batch sets the dimension for the other batches.
        first = [self._call(batches.pop(0))] if batches and self._fingerprint.dimension == _UNKNOWN else []
        rest = in_parallel(self._call, batches, self._caller.policy.concurrency)
        vectors = itertools.chain.from_iterable([*first, *rest])
        weighted = [(owner, tokens) for owner, _, tokens in windows]
        return means_of_windows(weighted, vectors, (len(texts), self.fingerprint.dimension))

    def _windows(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield pieces of the text within the limit, each with its token count, cut at white space if possible."""
        # The protocol does not allow an empty text.
        text = text.strip() or " "
        (tokens,) = self.count_tokens([text])
        if tokens <= self._most_tokens or len(text) == 1:
            yield text, max(tokens, 1)
            return
        middle = len(text) // 2
        space = _SPACE.search(text, middle)
        cut = space.start() if space else middle
        yield from self._windows(text[:cut])
        yield from self._windows(text[cut:])

    def _batches(self, windows: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
        batch: list[str] = []
        total = 0
        for text, tokens in windows:
            if batch and (len(batch) == self._most_texts or total + tokens > MOST_TOKENS):
                yield batch
                batch, total = [], 0
            batch.append(text)
            total += tokens
        if batch:
            yield batch

    def _call(self, texts: Sequence[str]) -> FloatArray:
        """Return L2-normalised vectors of one batch."""
        with self._caller.slots:
            vectors = self._caller.call(lambda: self._asked(texts))
        wanted, given = self._fingerprint.dimension, vectors.shape[1]
        if wanted == _UNKNOWN:
            self._fingerprint = replace(self._fingerprint, dimension=given)
        elif given != wanted:
            error = MalformedResponse(
                f"{self._client.host} gives vectors of {given} dimensions, not {wanted}, for "
                f"{self._fingerprint.model!r}. Set the dimension to {given}, or choose another model."
            )
            error.retryable = False
            raise error
        return normalised(vectors)

    def _asked(self, texts: Sequence[str]) -> FloatArray:
        encoding = self._format
        try:
            return self._answered(texts, encoding)
        except ParameterRefused as refusal:
            if refusal.parameter != "encoding_format" or encoding == "float":
                raise
            self._format = "float"
            return self._answered(texts, "float")

    def _answered(self, texts: Sequence[str], encoding: str) -> FloatArray:
        model = self._fingerprint.model
        request: dict[str, Any] = {"model": model, "input": list(texts), "encoding_format": encoding}
        if "text-embedding-3" in model and self._fingerprint.dimension != _UNKNOWN:
            # Other models reject or ignore this parameter.
            request["dimensions"] = self._fingerprint.dimension
        with self._client.errors():
            response = self._client.sdk.embeddings.create(**request)
        try:
            # The client does not check types.
            items = sorted(response.data, key=lambda item: item.index)
            if [item.index for item in items] != list(range(len(texts))):
                raise self._client.malformed("doesn't hold one vector for each text")
            vectors = np.stack([_decoded(item.embedding) for item in items])
        except (AttributeError, TypeError, ValueError):
            raise self._client.malformed("doesn't hold vectors") from None
        if vectors.ndim != 2 or not vectors.size or not np.isfinite(vectors).all():
            raise self._client.malformed("holds vectors that aren't rows of numbers")
        return vectors


def _decoded(embedding: object) -> FloatArray:
    """Decode a vector from base64, or from the list that some servers send regardless of the request."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4").astype(np.float32)
    return np.asarray(embedding, np.float32)
