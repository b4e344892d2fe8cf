"""Texts → vectors: by OpenAI where it is configured, otherwise on this machine."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from answerable.embedding import CachedEmbedder
from answerable.settings import Settings as EngineSettings
from answerable.wiring.build import EXTRACTIVE, build_embedder
from src.errors import openai_errors


def open_embedder(settings: EngineSettings) -> CachedEmbedder:
    """The embedder with its cache, one for each configuration. Raises OpenAIAPIError where the key can't be one."""
    with openai_errors():
        return _embedder(local(settings) if settings.embedder == "local" else settings)


def local(settings: EngineSettings) -> EngineSettings:
    """The settings for work on this machine: the same, and so one model in memory, whatever the provider's are."""
    return replace(
        settings,
        embedder="local",
        model=EXTRACTIVE,
        openai_api_key="",
        openai_base_url="",
        openai_chat_model="",
        openai_embedding_model="",
    )


# One searches, the other may judge what was found.
@lru_cache(maxsize=2)
def _embedder(settings: EngineSettings) -> CachedEmbedder:
    return build_embedder(settings)
