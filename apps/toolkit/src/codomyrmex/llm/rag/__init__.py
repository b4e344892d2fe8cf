"""Index documents, retrieve from them, and build the context that a language model is given."""

from codomyrmex.llm.rag.core import (
    RAG_PROMPT_TEMPLATE,
    Chunk,
    ContextFormatter,
    Document,
    DocumentType,
    GenerationContext,
    InMemoryVectorStore,
    RAGPipeline,
    RecursiveTextSplitter,
    RetrievalResult,
    SentenceSplitter,
    TextSplitter,
    VectorStore,
    create_rag_prompt,
)

__all__ = [
    "RAG_PROMPT_TEMPLATE",
    "Chunk",
    "ContextFormatter",
    "Document",
    "DocumentType",
    "GenerationContext",
    "InMemoryVectorStore",
    "RAGPipeline",
    "RecursiveTextSplitter",
    "RetrievalResult",
    "SentenceSplitter",
    "TextSplitter",
    "VectorStore",
    "create_rag_prompt",
]
