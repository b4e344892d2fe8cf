"""Use a remote embedder if it works, otherwise the local embedder, and never both in one library."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from answerable.datatypes import FloatArray
from answerable.errors import ProviderError
from answerable.protocols import Embedder, Fingerprint, Passage, PassageVectors

Result = TypeVar("Result")

_PROBE = "?"


class FallbackEmbedder:
    """Uses a remote embedder, or the local embedder if the remote one fails; the choice is made once.

    A library must not mix vectors of two models, and it reads the fingerprint before it requests a vector. So the first
    call of any method makes the choice:

    - If `bound`, the library's fingerprint, is the local embedder's, choose the local embedder, else the remote one;
      the library reports a mismatch.
    - Without `bound`, embed a question remotely. If that fails, choose the local embedder and call `on_switch` once
      with the error, to report it to the user.

    Later failures of the remote embedder are raised, with a hint: a caller that has all texts can embed all of them
    again locally, but no call mixes local with remote vectors. Safe to share between threads.
    """

    def __init__(
        self,
        remote: Embedder,
        local: Embedder,
        on_switch: Callable[[ProviderError], None],
        bound: Fingerprint | None = None,
    ) -> None:
        self._remote = remote
        self._local = local
        self._on_switch = on_switch
        self._bound = bound
        self._lock = threading.RLock()
        self._chosen: Embedder | None = None

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the chosen embedder."""
        return self._embedder.fingerprint

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Embed with the chosen embedder. Raises ProviderError if that is remote and fails."""
        return self._ask(lambda embedder: embedder.embed_passages(passages))

    def embed_query(self, text: str) -> FloatArray:
        """Embed with the chosen embedder. Raises ProviderError if that is remote and fails."""
        return self._ask(lambda embedder: embedder.embed_query(text))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count tokens as the chosen embedder does."""
        return self._embedder.count_tokens(texts)

    def cost(self, tokens: int) -> float | None:
        """Return the chosen embedder's cost in US dollars, None if unknown."""
        return self._embedder.cost(tokens)

    def _ask(self, call: Callable[[Embedder], Result]) -> Result:
        embedder = self._embedder
        try:
            return call(embedder)
        except ProviderError as error:
            # Raise the same error object, so that it keeps `retryable`.
            error.args = (
                f"{error} Its vectors ({embedder.fingerprint}) can't be mixed with the local model's: try again "
                "later, or add your documents to a new library with a local embedder.",
            )
            raise

    @property
    def _embedder(self) -> Embedder:
        # No vector is returned before the choice is made.
        with self._lock:
            if self._chosen is None and self._bound is not None:
                self._chosen = self._local if self._bound == self._local.fingerprint else self._remote
            elif self._chosen is None:
                try:
                    self._remote.embed_query(_PROBE)
                    self._chosen = self._remote
                except ProviderError as error:
                    self._chosen = self._local
                    self._on_switch(error)
            return self._chosen
