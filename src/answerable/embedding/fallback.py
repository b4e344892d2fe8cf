"""Remote embeddings where they can be had, local ones where not, and never both in one library."""

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
    """Puts a remote embedder in charge, or the local one if that fails, once and for its whole life.

    Vectors of two models must never meet in a library, and a library asks for the fingerprint before it asks for
    vectors. So the choice is made at the first call of anything, and is never taken back:

    - `bound` is what the library was made with. The embedder of that fingerprint is in charge, the remote one if it
      is neither's (the library will say so); nothing is tried out.
    - Without it, a question is embedded remotely. If that fails, the local embedder is in charge, and `on_switch` is
      called once with the error, to say so to the user.

    From then on `fingerprint` and every vector are those of the embedder in charge. If that is the remote one, its
    later failures are raised, with a hint: whoever holds the texts (an index in memory) can embed all of them again
    locally, but no single call may slip in a local vector. Safe to share between threads.
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
        """That of the embedder in charge."""
        return self._in_charge.fingerprint

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """As the embedder in charge. Raises ProviderError when the remote one is, and fails."""
        return self._ask(lambda embedder: embedder.embed_passages(passages))

    def embed_query(self, text: str) -> FloatArray:
        """As the embedder in charge. Raises ProviderError when the remote one is, and fails."""
        return self._ask(lambda embedder: embedder.embed_query(text))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """As the embedder in charge."""
        return self._in_charge.count_tokens(texts)

    def cost(self, tokens: int) -> float | None:
        """As the embedder in charge."""
        return self._in_charge.cost(tokens)

    def _ask(self, call: Callable[[Embedder], Result]) -> Result:
        embedder = self._in_charge
        try:
            return call(embedder)
        except ProviderError as error:
            # The same error, so that who catches it still knows whether trying again may help.
            error.args = (
                f"{error} Its vectors ({embedder.fingerprint}) can't be mixed with the local model's: try again "
                "later, or add your documents to a new library with a local embedder.",
            )
            raise

    @property
    def _in_charge(self) -> Embedder:
        # The lock lets nobody see a vector or a fingerprint before the choice is made.
        with self._lock:
            if self._chosen is None:
                self._chosen, failure = self._choice()
                if failure is not None:
                    self._on_switch(failure)
            return self._chosen

    def _choice(self) -> tuple[Embedder, ProviderError | None]:
        if self._bound is not None:
            return (self._local if self._bound == self._local.fingerprint else self._remote), None
        try:
            self._remote.embed_query(_PROBE)
        except ProviderError as error:
            return self._local, error
        return self._remote, None
