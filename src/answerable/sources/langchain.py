"""Read a collection of LangChain's PGVector as documents with its own chunks and vectors: nothing is embedded.

A collection has only chunks, which name their source. The chunks of a source are joined into a document that contains
each of them verbatim, and their overlaps once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import numpy as np

from answerable.datatypes import Chunk, Document, DocumentType, FloatArray, Part, PartKind, chunk_id
from answerable.errors import EmbeddingError, MissingPackage, SettingsError, SourceError, SourceNotFound
from answerable.formats.locate import Locator
from answerable.protocols import Fingerprint, Passage, PassageVectors, Span
from answerable.providers.usage import count_tokens
from answerable.sources.text import make_document

# Characters: a shorter overlap of two chunks may be accidental.
SURELY_SHARED = 20


def joined(chunks: Sequence[tuple[str, int | None]]) -> tuple[str, list[Span]]:
    """Join chunks, given as (text, page), into one text; return it and the span of each chunk in it.

    A form feed separates pages. Within a page, overlapping text appears once, and a line end separates chunks that
    don't overlap.
    """
    content: list[str] = []
    spans: list[Span] = []
    length = 0
    for number, (text, page) in enumerate(chunks):
        previous, previous_page = chunks[number - 1] if number else ("", page)
        shared = _shared(previous, text) if previous_page == page else 0
        gap = "" if shared or not number else "\n" if previous_page == page else "\f"
        content += (gap, text[shared:])
        start = length + len(gap) - shared
        spans.append((start, start + len(text)))
        length = start + len(text)
    return "".join(content), spans


def _shared(before: str, text: str) -> int:
    """Return how many characters at the end of `before` are the beginning of `text`, but not all of `text`."""
    if len(text) <= SURELY_SHARED:
        return 0
    start = before.find(text[:SURELY_SHARED])
    while start >= 0:
        if len(before) - start < len(text) and text.startswith(before[start:]):
            return len(before) - start
        start = before.find(text[:SURELY_SHARED], start + 1)
    return 0


def page_parts(pages: Sequence[int | None], spans: Sequence[Span]) -> tuple[Part, ...]:
    """Return a part for each run of chunks on one page; none if the page of a chunk is unknown."""
    parts: list[Part] = []
    for page, (start, end) in zip(pages, spans, strict=True):
        if page is None:
            return ()
        # LangChain counts pages from 0.
        if parts and parts[-1].page == page + 1:
            start, end = parts[-1].start, max(end, parts.pop().end)
        parts.append(Part(start, end, PartKind.PAGE, page=page + 1))
    return tuple(parts)


try:
    import psycopg
    from psycopg import errors, sql
except ImportError as error:
    raise MissingPackage("Collections on PostgreSQL need the package psycopg", "postgres") from error

PARAMETER = "langchain_collection"

_SCHEME = re.compile(r"postgres(ql)?(\+\w+)?")
_COLLECTION = "SELECT uuid FROM langchain_pg_collection WHERE name = %s"
# Older versions of LangChain call the id column uuid, and keep metadata as json.
_ID_COLUMN = """
SELECT attname FROM pg_attribute WHERE attrelid = 'langchain_pg_embedding'::regclass AND attname IN ('id', 'uuid')
AND NOT attisdropped ORDER BY attname LIMIT 1
"""
_USABLE = "collection_id = %s AND embedding IS NOT NULL AND document ~ '\\S'"
_SOURCES = f"""
SELECT coalesce(cmetadata->>'source', ''), min(vector_dims(embedding)), max(vector_dims(embedding))
FROM langchain_pg_embedding WHERE {_USABLE} GROUP BY 1 ORDER BY 1
"""
_CHUNKS = f"""
SELECT {{}}::text, document, cmetadata->'page', cmetadata->'chunk_index', cmetadata->'start_index'
FROM langchain_pg_embedding WHERE {_USABLE} AND coalesce(cmetadata->>'source', '') = %s ORDER BY ctid
"""
_VECTORS = "SELECT {0}::text, embedding::real[] FROM langchain_pg_embedding WHERE {0}::text = ANY(%s)"


@dataclass(frozen=True, slots=True)
class _Row:
    id: str
    text: str
    page: int | None
    order: tuple[int, int]


class LangChainCollection:
    """The collection at an address, `postgresql://…/database?langchain_collection=NAME`.

    Use it as reader, splitter and embedder of one run of `Ingestion`. `provider` and `model` name the embedder that
    made its vectors. All reads see one snapshot. Not thread-safe. Raises SettingsError, SourceNotFound if the
    collection doesn't exist or is empty, SourceError.
    """

    def __init__(self, address: str, provider: str = "openai", model: str = "text-embedding-3-small") -> None:
        conninfo, self._name, self._shown = _parsed(address)
        self._spans: dict[str, list[tuple[int, int]]] = {}
        self._ids: dict[bytes, str] = {}
        with self._translated():
            self._connection = psycopg.connect(conninfo)
        try:
            with self._translated():
                self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                self._connection.read_only = True
                found = self._connection.execute(_COLLECTION, [self._name]).fetchone()
                if found is None:
                    raise SourceNotFound(
                        f"{self._shown} has no collection {self._name!r}: correct {PARAMETER} in the address"
                    )
                self._uuid = found[0]
                self._id = sql.Identifier(*(self._connection.execute(_ID_COLUMN).fetchone() or ("id",)))
                sources = self._connection.execute(_SOURCES, [self._uuid]).fetchall()
            self.sources = tuple(source for source, _, _ in sources)
            self._fingerprint = Fingerprint(provider, model, self._dimension(sources))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection. Idempotent."""
        self._connection.close()

    def documents(self) -> Iterator[tuple[int, Document]]:
        """Yield (index in `sources`, document); all chunks without a source are joined into one document."""
        for number, source in enumerate(self.sources):
            with self._translated():
                found = self._connection.execute(sql.SQL(_CHUNKS).format(self._id), [self._uuid, source]).fetchall()
            rows = sorted((_row(*columns) for columns in found), key=lambda row: row.order)
            yield number, self._document(source or f"langchain:{self._name}", rows)

    def split(self, document: Document) -> list[Chunk]:
        """Return the stored chunks of a document that `documents` yielded."""
        locator = Locator(document)
        return [
            Chunk(
                id=chunk_id(document.id, start, document.content[start:end]),
                document_id=document.id,
                content=document.content[start:end],
                start=start,
                end=end,
                sequence=sequence,
                location=locator.location(start, end),
                parts=locator.parts(start, end),
            )
            for sequence, (start, end) in enumerate(self._spans.pop(document.id))
        ]

    @property
    def fingerprint(self) -> Fingerprint:
        """The given provider and model, and the dimension of the vectors."""
        return self._fingerprint

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Return the stored vectors of chunks, L2-normalised, none for spans. Raises EmbeddingError for other text."""
        none = np.zeros((0, self._fingerprint.dimension), np.float32)
        ids = [self._ids.get(_digest(passage.text), "") for passage in passages]
        with self._translated():
            query = sql.SQL(_VECTORS).format(self._id)
            found: dict[str, list[float]] = dict(self._connection.execute(query, [ids]).fetchall())
        if missing := [row for row in ids if row not in found]:
            raise EmbeddingError(
                f"{len(missing)} of {len(ids)} texts aren't chunks of {self._name!r}: embed them with a model"
            )
        return [PassageVectors(_normalised(found[row]), none) for row in ids]

    def embed_query(self, text: str) -> FloatArray:
        """Return the stored vector of a chunk's text. Raises EmbeddingError for any other text."""
        return self.embed_passages([Passage(text)])[0].whole

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the numbers of tokens: exact for OpenAI's models, otherwise estimated."""
        return count_tokens(texts, self._fingerprint.model)

    def cost(self, tokens: int) -> float:
        """Return 0: nothing is embedded."""
        return 0.0

    def _dimension(self, sources: Sequence[tuple[str, int, int]]) -> int:
        if not sources:
            raise SourceNotFound(f"the collection {self._name!r} at {self._shown} is empty: add something to it first")
        shortest, longest = min(least for _, least, _ in sources), max(most for _, _, most in sources)
        if shortest != longest:
            raise SourceError(
                f"the vectors of {self._name!r} have {shortest} to {longest} dimensions, so they are from several "
                "models and can't be compared: add the documents themselves"
            )
        return shortest

    def _document(self, source: str, rows: Sequence[_Row]) -> Document:
        content, spans = joined([(row.text, row.page) for row in rows])
        kind = DocumentType.PDF if source.lower().endswith(".pdf") else DocumentType.TEXT
        parts = page_parts([row.page for row in rows], spans)
        document = make_document(source, content, kind, parts, metadata={"collection": self._name})
        self._spans[document.id] = spans
        self._ids.update((_digest(row.text), row.id) for row in rows)
        return document

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (errors.UndefinedTable, errors.InvalidCatalogName) as error:
            raise SourceNotFound(
                f"{self._shown} has no LangChain collections: check the database's name in the address"
            ) from error
        except psycopg.Error as error:
            reason = (error.diag.message_primary or str(error)).strip()
            raise SourceError(f"{self._shown} can't be read ({reason}): check the address and the server") from error


def _row(row: str, text: str, page: object, index: object, start: object) -> _Row:
    """Return a stored chunk with its sort key: the page, then the chunk's number or start, 0 if unknown."""
    number = _number(page)
    place = next((known for known in map(_number, (index, start)) if known is not None), 0)
    return _Row(row, text, number, (number or 0, place))


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _normalised(values: Iterable[float]) -> FloatArray:
    vector = np.asarray(list(values), np.float32)
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length > 0 else vector


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8")).digest()


def _parsed(address: str) -> tuple[str, str, str]:
    """Return the address for libpq, the collection's name, and the address without its credentials."""
    parts = urlsplit(address)
    given: dict[str, Any] = dict(parse_qsl(parts.query, keep_blank_values=True))
    name = given.pop(PARAMETER, "")
    if not _SCHEME.fullmatch(parts.scheme) or not name:
        raise SettingsError(
            f"A collection's address has the form postgresql://USER:PASSWORD@HOST:PORT/DATABASE?{PARAMETER}=NAME; "
            "write @ : / ? # in the password as %40 %3A %2F %3F %23."
        )
    given.setdefault("connect_timeout", "10")
    conninfo = urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(given), ""))
    return conninfo, name, f"postgresql://{parts.netloc.rpartition('@')[2]}{parts.path}"
