"""Text → vectors: by GitHub Models or another server of OpenAI's protocol, and on this machine where that fails."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitedTooLong
from dataclasses import replace
from functools import cached_property, partial
from threading import Thread
from typing import TypeVar

import numpy as np

from answerable.datatypes import FloatArray
from answerable.embedding import OpenAIEmbedder
from answerable.errors import AnswerableError, ProviderUnreachable
from answerable.protocols import Embedder, Fingerprint, Passage
from answerable.providers.calling import CallPolicy
from answerable.settings import load_settings
from answerable.wiring.build import build_embedder

__all__ = ["EmbeddingProvider"]

Result = TypeVar("Result")

_REMOTE_MODEL = "openai/text-embedding-3-small"
_REMOTE_ADDRESS = "https://models.github.ai/inference"
_LOCAL_MODEL = "intfloat/multilingual-e5-small"
_BUNDLED = {_LOCAL_MODEL, "multilingual-e5-small"}

# One answer of the server, all tries together: after so many seconds the local model takes over.
_PATIENCE = 10.0
_POLICY = CallPolicy(timeout=9.0, total=_PATIENCE, retries=2)
_BATCH = 32

_log = logging.getLogger(__name__)


class EmbeddingProvider:
    """Embeds remotely when GITHUB_TOKEN is set, and locally from the first failure on, for the rest of its life.

    The environment is read here, once: USE_LOCAL_EMBEDDINGS ("1": local only), EMBEDDING_MODEL, GH_MODELS_BASE_URL,
    GITHUB_TOKEN, LOCAL_EMBEDDING_MODEL. multilingual-e5-small comes with the engine; sentence-transformers loads any
    other local model. Raises RuntimeError when the local model is needed and nothing that is installed can load it,
    SettingsError for a setting of the engine's (ANSWERABLE_…) that makes no sense.
    """

    def __init__(self) -> None:
        self._settings = load_settings()
        self._local_model = os.environ.get("LOCAL_EMBEDDING_MODEL") or _LOCAL_MODEL
        self._remote: OpenAIEmbedder | None = None
        token = os.environ.get("GITHUB_TOKEN", "").strip()
        if token and os.environ.get("USE_LOCAL_EMBEDDINGS") != "1":
            try:
                self._remote = OpenAIEmbedder(
                    model=os.environ.get("EMBEDDING_MODEL") or _REMOTE_MODEL,
                    dimension=self._settings.embedding_dimension or None,
                    api_key=token,
                    base_url=os.environ.get("GH_MODELS_BASE_URL") or _REMOTE_ADDRESS,
                    policy=_POLICY,
                    provider="github",
                )
            except AnswerableError as error:
                self._leave_remote(error)
        if self._remote is None:
            _ = self._local

    @property
    def fingerprint(self) -> Fingerprint:
        """Which model embeds now: vectors of two fingerprints must not be compared."""
        return self._ask(lambda embedder: self._bounded(embedder, lambda: embedder.fingerprint))

    def embed_texts(self, texts: list[str]) -> np.ndarray:
        """Vectors of texts in their order, shape (len(texts), dimension), float32, L2-normalised.

        All of one call come from one model, and each text goes in as a passage, so that they can be compared with
        each other; questions have `embed_query`. Raises TypeError for anything but a list of texts.
        """
        is_list = isinstance(texts, Sequence) and not isinstance(texts, str)
        if not is_list or not all(isinstance(text, str) for text in texts):
            raise TypeError("embed_texts takes a list of texts (list[str])")
        return self._ask(lambda embedder: self._embedded(embedder, texts))

    def embed_query(self, text: str) -> FloatArray:
        """The vector of a question, shape (dimension,), the way the model wants questions."""
        return self._ask(lambda embedder: self._bounded(embedder, partial(embedder.embed_query, text)))

    def _ask(self, call: Callable[[Embedder], Result]) -> Result:
        if self._remote is not None:
            try:
                return call(self._remote)
            except AnswerableError as error:
                self._remote.close()
                self._leave_remote(error)
        return call(self._local)

    def _embedded(self, embedder: Embedder, texts: list[str]) -> FloatArray:
        rows: list[FloatArray] = []
        for start in range(0, len(texts), _BATCH):
            batch = [Passage(text) for text in texts[start : start + _BATCH]]
            found = self._bounded(embedder, partial(embedder.embed_passages, batch))
            rows += (vector.whole for vector in found)
        return np.stack(rows) if rows else np.zeros((0, self.fingerprint.dimension), np.float32)

    def _bounded(self, embedder: Embedder, call: Callable[[], Result]) -> Result:
        """What a call returns. The remote one gets no more than `_PATIENCE` seconds, even from a server that drips."""
        return _within(_PATIENCE, call) if embedder is self._remote else call()

    def _leave_remote(self, error: AnswerableError) -> None:
        self._remote = None
        _log.warning(
            "Remote embeddings failed: %s From now on the local model %s embeds; USE_LOCAL_EMBEDDINGS=1 has it do so "
            "from the start.",
            error,
            self._local_model,
        )

    @cached_property
    def _local(self) -> Embedder:
        name = "local" if self._local_model in _BUNDLED else f"sentence-transformers:{self._local_model}"
        try:
            embedder = build_embedder(replace(self._settings, embedder=name))
            # The model tells its fingerprint, so that one that can't be loaded is noticed here.
            _ = embedder.fingerprint
        except AnswerableError as error:
            raise RuntimeError(
                f"The local model {self._local_model!r} can't be loaded: {error} Set LOCAL_EMBEDDING_MODEL to "
                f"{_LOCAL_MODEL}, which is built in, or pip install sentence-transformers and set "
                "ANSWERABLE_ALLOW_DOWNLOADS=true to download the model."
            ) from error
        return embedder


def _within(seconds: float, call: Callable[[], Result]) -> Result:
    """What a call returns, or raises, in this time. Raises ProviderUnreachable when it takes longer."""
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    # A daemon: a server that never ends its answer mustn't keep the program from ending.
    Thread(target=run, daemon=True).start()
    try:
        return outcome.result(seconds)
    except WaitedTooLong:
        raise ProviderUnreachable(
            f"The server took longer than {seconds:g} seconds. Try again later, or set GH_MODELS_BASE_URL to another."
        ) from None
