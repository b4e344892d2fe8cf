"""The collection in PostgreSQL: LangChain's PGVector over one pool of connections, with the engine's embedder."""

from __future__ import annotations

from functools import cache

from langchain_core.embeddings import Embeddings
from langchain_postgres import PGVector
from sqlalchemy import URL, Engine, create_engine, text

from answerable.embedding import OpenAIEmbedder
from answerable.protocols import Passage
from answerable.providers.calling import CallPolicy
from answerable.settings import Settings as EngineSettings
from pdf_chat.errors import translated
from pdf_chat.settings import Settings

EMBEDDING_SETTING = "OPENAI_EMBEDDING_MODEL"

_CONNECT_TIMEOUT = "10"
# Any number will do, as long as nobody else locks it.
_LOCK = 7_203_414_118


class OpenAIVectors(Embeddings):
    """The engine's embedder as LangChain knows embedders. Raises ProviderErrors."""

    def __init__(self, embedder: OpenAIEmbedder) -> None:
        self._embedder = embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """A vector for each text."""
        return [found.whole.tolist() for found in self._embedder.embed_passages([Passage(text) for text in texts])]

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        vector: list[float] = self._embedder.embed_query(text).tolist()
        return vector


def open_store(settings: Settings) -> PGVector:
    """The collection, made where there is none. Raises DatabaseError, ConfigurationError and ExternalServiceError."""
    with translated(EMBEDDING_SETTING):
        vectors = _vectors(settings.engine, settings.dimension)
        engine = _pool(settings.database)
        # Whoever comes first makes extension, tables and collection; others wait, for they would collide.
        with engine.begin() as guard:
            guard.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            # Even where it is there already, only those who may write may ask for it.
            if guard.scalar(text("SELECT count(*) FROM pg_extension WHERE extname = 'vector'")) == 0:
                with engine.begin() as connection:
                    connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
            return PGVector(
                embeddings=vectors,
                collection_name=settings.collection,
                connection=engine,
                use_jsonb=True,
                create_extension=False,
            )


@cache
def _pool(database: URL) -> Engine:
    """One pool of connections for each database, which notices that a server was started again."""
    limits = {} if "connect_timeout" in database.query else {"connect_timeout": _CONNECT_TIMEOUT}
    return create_engine(database, pool_pre_ping=True, connect_args=limits)


@cache
def _vectors(settings: EngineSettings, dimension: int) -> OpenAIVectors:
    return OpenAIVectors(
        OpenAIEmbedder(
            settings.openai_embedding_model,
            dimension,
            settings.openai_api_key,
            settings.openai_base_url or None,
            CallPolicy(timeout=settings.provider_timeout, concurrency=settings.provider_concurrency),
        )
    )
