"""The public names of the package."""

from answerable.embedding.cache import CachedEmbedder as CachedEmbedder
from answerable.embedding.cohere_embedder import CohereEmbedder as CohereEmbedder
from answerable.embedding.fallback import FallbackEmbedder as FallbackEmbedder
from answerable.embedding.local import LocalEmbedder as LocalEmbedder
from answerable.embedding.onnx_embedder import OnnxEmbedder as OnnxEmbedder
from answerable.embedding.openai_embedder import OpenAIEmbedder as OpenAIEmbedder
from answerable.embedding.sentence_transformers_embedder import (
    SentenceTransformersEmbedder as SentenceTransformersEmbedder,
)
