"""Build the splitter and the embedder from the settings."""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.errors import ProviderError, SettingsError
from answerable.protocols import Embedder, Fingerprint, TextSplitter
from answerable.settings import Settings
from answerable.wiring.plugins import plugin_embedder, plugin_splitters
from answerable.wiring.providers import openai_endpoint, provider_addresses, require_key

if TYPE_CHECKING:
    from answerable.embedding.cache import CachedEmbedder
    from answerable.embedding.local import LocalEmbedder


def build_splitter(settings: Settings) -> TextSplitter:
    """Build the splitter."""
    if settings.splitter == "tokens":
        from answerable.splitting.recursive import TokenSplitter

        try:
            return TokenSplitter(settings.token_vocabulary, settings.chunk_size, settings.chunk_overlap)
        except ValueError as error:
            raise SettingsError(str(error)) from error
    from answerable.splitting.by_type import SplitterByType

    others = plugin_splitters(settings.chunk_size, settings.chunk_overlap)
    return SplitterByType(settings.chunk_size, settings.chunk_overlap, others)


def build_embedder(settings: Settings, bound: Fingerprint | None = None) -> CachedEmbedder:
    """Build the embedder with its cache: `provider:model`, or `provider:model,local` with local as the fallback.

    `bound` identifies the embedder of the library's vectors. Raise SettingsError.
    """
    from answerable.embedding.cache import CachedEmbedder

    first, _, second = (part.strip() for part in settings.embedder.partition(","))
    embedder = _build_embedder(settings, first)
    if second:
        from answerable.embedding.fallback import FallbackEmbedder

        embedder = FallbackEmbedder(embedder, _build_embedder(settings, second), _log_fallback, bound)
    path = settings.cache_path / "embeddings.db"
    return CachedEmbedder(embedder, path, settings.cache_size, provider_addresses(settings))


def _build_embedder(settings: Settings, name: str) -> Embedder:
    from answerable.embedding.local import MODEL

    if name in ("local", f"local:{MODEL}"):
        return build_local_embedder(settings)
    from answerable.providers.calling import CallPolicy

    provider, _, model = name.partition(":")
    policy = CallPolicy(timeout=settings.provider_timeout, concurrency=settings.provider_concurrency)
    if provider == "sentence-transformers":
        from answerable.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(
            model or "intfloat/multilingual-e5-small", allow_downloads=settings.allow_downloads
        )
    if provider == "onnx" and model:
        from answerable.embedding.onnx_embedder import OnnxEmbedder

        own = settings.onnx_pooling, settings.onnx_query_prefix, settings.onnx_passage_prefix
        return OnnxEmbedder(model, *own, settings.threads)
    dimension = settings.embedding_dimension
    if provider == "cohere":
        from answerable.embedding.cohere_embedder import CohereEmbedder

        require_key(settings, provider)
        model, base_url = model or "embed-multilingual-v3.0", settings.cohere_base_url or None
        return CohereEmbedder(settings.cohere_api_key, model, dimension or 1024, base_url, policy)
    endpoint = openai_endpoint(settings, provider)
    if endpoint is None and (made := plugin_embedder(name)):
        return made
    if endpoint is None or not (model or endpoint.embedding_model):
        raise SettingsError(
            f"There is no embedder {name!r}. Use local, onnx:FOLDER, openai:NAME, github:NAME, ollama:NAME, "
            "cohere:NAME or sentence-transformers:NAME, or the name of a plug-in (`answerable plugins`)."
        )
    from answerable.embedding.openai_embedder import OpenAIEmbedder

    require_key(settings, provider)
    model, api_key, base_url = model or endpoint.embedding_model, endpoint.api_key, endpoint.base_url
    return OpenAIEmbedder(model, dimension or 1536, api_key, base_url, policy, provider)


def _log_fallback(error: ProviderError) -> None:
    logging.getLogger("answerable").warning("%s The local model embeds instead.", error)


def build_local_embedder(settings: Settings) -> LocalEmbedder:
    """Return the embedder that runs on this machine, which the libraries of this process share, without a cache."""
    return _local_embedder(settings.threads, settings.cache_path / "models")


@lru_cache(maxsize=2)
def _local_embedder(threads: int, folder: Path) -> LocalEmbedder:
    from answerable.embedding.local import LocalEmbedder

    return LocalEmbedder(threads, folder)
