"""The public names of the package."""

from answerable.stores.embedded.store import EmbeddedStore as EmbeddedStore
from answerable.stores.exact import ExactIndex as ExactIndex
from answerable.stores.exact import KeywordIndex as KeywordIndex
from answerable.stores.memory import MemoryStore as MemoryStore
from answerable.stores.postgres.store import PostgresStore as PostgresStore
from answerable.stores.qdrant.store import QdrantStore as QdrantStore
