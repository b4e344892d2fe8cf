"""Embed with any model that sentence-transformers (Reimers and Gurevych 2019, arXiv:1908.10084) can load, on this
machine.

Importing the package takes seconds and needs PyTorch. So it is imported when the model is first needed, at the latest
for the fingerprint when a library is opened.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from answerable.datatypes import FloatArray
from answerable.embedding.vectors import means_of_windows, normalised, prefixes, spans_as_texts
from answerable.errors import EmbeddingError, MissingPackage
from answerable.protocols import Fingerprint, Passage, PassageVectors
from answerable.providers.calling import quoted
from answerable.text.characters import sendable

MODEL = "intfloat/multilingual-e5-small"
# Tokens reserved for the prefix, special tokens, and words that have more tokens when they are cut.
_MARGIN = 24


class SentenceTransformersEmbedder:
    """Embeds with a model from the Hugging Face Hub or a folder, one batch at a time.

    Nothing is downloaded unless `allow_downloads` is set; `cache_folder` holds downloads; `device` is PyTorch's ("cpu",
    "cuda:0"; None: the best device). Texts get the model's prefixes: `query: ` and `passage: ` for the E5 family,
    otherwise the model's own prompts. A text over the model's limit becomes the mean of its windows, weighted by
    tokens; spans are embedded as separate passages. Raises MissingPackage, and EmbeddingError if the model cannot be
    loaded.
    """

    def __init__(
        self,
        model: str = MODEL,
        cache_folder: Path | None = None,
        allow_downloads: bool = False,
        device: str | None = None,
        batch_size: int = 32,
    ) -> None:
        self._name = model
        self._cache_folder = cache_folder
        self._allow_downloads = allow_downloads
        self._device = device
        self._batch_size = batch_size
        self._lock = threading.RLock()

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The model's name (the last part of a folder's path) and a hash of its weights and prefixes."""
        with self._lock:
            name = Path(self._name).name if Path(self._name).is_dir() else self._name
            dimension = len(self._encode([""], "")[0])
            return Fingerprint("sentence-transformers", name, dimension, _hash(self._model, self._prefixes))

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Embed texts to be searched, in this order."""
        return spans_as_texts(passages, lambda texts: self._embed(texts, self._prefixes[1]))

    def embed_query(self, text: str) -> FloatArray:
        """Embed a question, shape (dimension,)."""
        vector: FloatArray = self._embed([text], self._prefixes[0])[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the model's tokens of each text, without prefix and special tokens."""
        with self._lock:
            return [len(self._token_spans(sendable(text))) for text in texts]

    def cost(self, tokens: int) -> float:
        """Return 0."""
        return 0.0

    def _embed(self, texts: Sequence[str], prefix: str) -> FloatArray:
        """Return L2-normalised vectors, shape (number of texts, dimension)."""
        with self._lock:
            pieces: list[str] = []
            windows: list[tuple[int, int]] = []
            for owner, text in enumerate(texts):
                for piece, tokens in self._windows(sendable(text)):
                    pieces.append(piece)
                    windows.append((owner, tokens))
            vectors = self._encode(pieces, prefix) if pieces else ()
            return means_of_windows(windows, vectors, (len(texts), self.fingerprint.dimension))

    def _windows(self, text: str) -> list[tuple[str, int]]:
        """Cut the text into pieces that fit the model, each with its number of tokens."""
        spans = self._token_spans(text)
        size = max((self._model.max_seq_length or len(spans)) - _MARGIN, 1)
        if len(spans) <= size:
            return [(text, max(len(spans), 1))]
        windows = [spans[start : start + size] for start in range(0, len(spans), size)]
        return [(text[window[0][0] : window[-1][1]], len(window)) for window in windows]

    def _token_spans(self, text: str) -> list[tuple[int, int]]:
        """Return the span of each token."""
        tokenizer = self._model.tokenizer
        if not callable(tokenizer):
            # Models of static word vectors have a tokenizer of another class.
            return list(tokenizer.encode(text, add_special_tokens=False).offsets)
        tokens = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False)
        return [(start, end) for start, end in tokens["offset_mapping"]]

    def _encode(self, texts: Sequence[str], prefix: str) -> FloatArray:
        vectors = self._model.encode(
            list(texts), prompt=prefix, batch_size=self._batch_size, show_progress_bar=False, convert_to_numpy=True
        )
        return normalised(np.asarray(vectors, np.float32))

    @cached_property
    def _prefixes(self) -> tuple[str, str]:
        """The prefixes of questions and of passages."""
        return prefixes(self._name, self._model.prompts or {})

    @cached_property
    def _model(self) -> Any:
        # Without this setting, the Hub's client reports with each download which software runs here.
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingPackage(
                "This embedder needs the package sentence-transformers", "sentence-transformers"
            ) from error
        folder = self._name if self._allow_downloads else self._folder()
        try:
            return SentenceTransformer(
                folder,
                device=self._device,
                cache_folder=str(self._cache_folder) if self._cache_folder else None,
                local_files_only=not self._allow_downloads,
            )
        except Exception as error:
            # Four packages are involved in loading, and each has its own exceptions.
            raise EmbeddingError(
                f"The model {self._name} can't be loaded ({type(error).__name__}: {quoted(str(error))}). "
                "Name a folder that holds a model of sentence-transformers, or another model."
            ) from error

    def _folder(self) -> str:
        """Return the model's folder, because with a name the package would use the network even in offline mode."""
        if Path(self._name).is_dir():
            return self._name
        from huggingface_hub import snapshot_download

        name = self._name if "/" in self._name else f"sentence-transformers/{self._name}"
        downloads = self._cache_folder or os.environ.get("SENTENCE_TRANSFORMERS_HOME")
        try:
            return str(snapshot_download(name, cache_dir=downloads, local_files_only=True))
        except (OSError, ValueError) as error:
            raise EmbeddingError(
                f"The model {self._name} is not on this machine. Name its folder, or allow one download "
                "(ANSWERABLE_ALLOW_DOWNLOADS=true)."
            ) from error


def _hash(model: Any, prefixes: tuple[str, str]) -> str:
    import torch

    # Hash only the content, since names and order of the parameters differ between versions. Hash bytes, since NumPy
    # lacks some number types that weights have.
    parts = (part.detach().cpu().contiguous().flatten().view(torch.uint8).numpy() for part in model.parameters())
    weights = sorted(sha256(memoryview(part)).digest() for part in parts)
    return sha256(repr(prefixes).encode() + b"".join(weights)).hexdigest()[:16]
