"""Text → vectors: on this machine, or by a provider, with a cache."""

from typing import TYPE_CHECKING

from answerable.exports import exported_from

__all__ = [
    "CachedEmbedder",
    "CohereEmbedder",
    "FallbackEmbedder",
    "LocalEmbedder",
    "OpenAIEmbedder",
    "SentenceTransformersEmbedder",
]

if TYPE_CHECKING:
    from answerable.embedding.cache import CachedEmbedder
    from answerable.embedding.cohere_embedder import CohereEmbedder
    from answerable.embedding.fallback import FallbackEmbedder
    from answerable.embedding.local import LocalEmbedder
    from answerable.embedding.openai_embedder import OpenAIEmbedder
    from answerable.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder
else:
    __getattr__, __dir__ = exported_from(
        __name__,
        {
            "CachedEmbedder": "cache",
            "CohereEmbedder": "cohere_embedder",
            "FallbackEmbedder": "fallback",
            "LocalEmbedder": "local",
            "OpenAIEmbedder": "openai_embedder",
            "SentenceTransformersEmbedder": "sentence_transformers_embedder",
        },
    )
