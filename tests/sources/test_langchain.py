"""Collections that LangChain's PGVector wrote, on a real server, read without embedding anything."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import numpy as np
import psycopg
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_postgres import PGVector
from postgres_server import PASSWORD, private_server, shared_database
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

from answerable.datatypes import Document, DocumentType
from answerable.errors import EmbedderMismatch, EmbeddingError, SettingsError, SourceError, SourceNotFound
from answerable.indexing.ingest import AddReport, Ingestion
from answerable.protocols import Fingerprint, Passage, Store
from answerable.sources.langchain import LangChainCollection, joined, page_parts
from answerable.stores import EmbeddedStore, MemoryStore

DIMENSION = 24
TEXT = " ".join(f"Sentence number {number} of the page speaks of topic {number * 3}." for number in range(40))
MODEL = DeterministicFakeEmbedding(size=DIMENSION)


@pytest.fixture(scope="module")
def database() -> str:
    """The address of an empty database."""
    name = f"langchain_{uuid.uuid4().hex}"
    with psycopg.connect(shared_database(), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    before, _, query = shared_database().partition("?")
    return f"{before.rpartition('/')[0]}/{name}?{query}"


@pytest.fixture
def collection(database: str) -> Iterator[PGVector]:
    """A collection of the test's own, as LangChain makes it."""
    engine = create_engine(make_url(database).set(drivername="postgresql+psycopg"))
    yield PGVector(MODEL, connection=engine, collection_name=f"dócs {uuid.uuid4().hex}", embedding_length=None)
    engine.dispose()


def address(database: str, collection: PGVector) -> str:
    return f"{database}&langchain_collection={quote(collection.collection_name)}"


def cut(text: str, size: int, overlap: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text) - overlap, size - overlap)]


def fill(collection: PGVector, source: str, pages: list[list[str]]) -> None:
    """Adds the chunks of pages, last ones first: the order of rows says nothing."""
    places = [(text, page) for page, texts in enumerate(pages) for text in texts]
    numbered = list(enumerate(places))[::-1]
    collection.add_texts(
        [text for _, (text, _) in numbered],
        [{"source": source, "page": page, "chunk_index": index} for index, (_, page) in numbered],
    )


def imported(where: str, store: Store) -> AddReport:
    with closing(LangChainCollection(where)) as found:
        return Ingestion(store, found, found, len(found.sources)).run(found.documents())


def test_a_collection_becomes_documents_with_its_vectors(database: str, collection: PGVector, tmp_path: Path) -> None:
    fill(collection, "/files/Report 2023.pdf", [cut(TEXT, 300, 60), ["The second page is short."]])
    fill(collection, "/files/notes.txt", [["Only one note."]])
    with closing(EmbeddedStore(tmp_path / "library")) as store:
        report = imported(address(database, collection), store)
        assert (report.added, report.chunks, report.failures) == (2, store.count()[1], [])
        assert store.fingerprint == Fingerprint("openai", "text-embedding-3-small", DIMENSION)
        pdf, notes = (store.document(stored.id) for stored in store.documents())
        assert pdf is not None
        assert notes is not None
        # What chunks share stands there once.
        assert pdf.content == f"{TEXT}\fThe second page is short."
        assert (pdf.source, pdf.title, pdf.type) == ("/files/Report 2023.pdf", "Report 2023", DocumentType.PDF)
        assert notes.content == "Only one note."
        chunks = store.chunks(pdf.id)
        assert [chunk.content for chunk in chunks] == [*cut(TEXT, 300, 60), "The second page is short."]
        assert all(pdf.content[chunk.start : chunk.end] == chunk.content for chunk in chunks)
        assert [chunk.location.pages for chunk in chunks][-2:] == [(1, 1), (2, 2)]
        for chunk in (*chunks, *store.chunks(notes.id)):
            wanted = np.asarray(MODEL.embed_query(chunk.content), np.float32)
            ((number, cosine),) = store.search_vectors(wanted / np.linalg.norm(wanted), 1, None)
            assert store.fetch([number])[number][0].chunk.id == chunk.id
            assert cosine == pytest.approx(1, abs=1e-3)


def test_again_changes_nothing_and_a_changed_source_is_replaced(database: str, collection: PGVector) -> None:
    fill(collection, "a.txt", [["First."]])
    fill(collection, "b.txt", [["Second."]])
    store = MemoryStore()
    where = address(database, collection)
    assert imported(where, store).added == 2
    assert imported(where, store).unchanged == 2
    collection.add_texts(["Third."], [{"source": "b.txt", "page": 0, "chunk_index": 1}])
    report = imported(where, store)
    assert (report.unchanged, report.changed) == (1, 1)
    assert [document.source for document in store.documents()] == ["a.txt", "b.txt"]


def test_versions_of_a_source_stand_side_by_side(database: str, collection: PGVector) -> None:
    for price in (10, 12):
        collection.add_texts([f"It costs {price}."], [{"source": "a.pdf", "page": 0, "chunk_index": 0}])
    with closing(LangChainCollection(address(database, collection))) as found:
        ((_, document),) = found.documents()
        assert document.content == "It costs 10.\nIt costs 12."
        assert [chunk.content for chunk in found.split(document)] == ["It costs 10.", "It costs 12."]


def test_chunks_without_metadata_make_a_document_in_their_order(database: str, collection: PGVector) -> None:
    collection.add_texts(["One.", "Two."])
    collection.add_texts(["Three.", "   "], [{"page": "iv"}, {}])
    with closing(LangChainCollection(address(database, collection))) as found:
        ((_, document),) = found.documents()
        assert document.content == "One.\nTwo.\nThree."
        assert document.source == f"langchain:{collection.collection_name}"
        assert (document.type, document.parts) == (DocumentType.TEXT, ())


def test_only_its_own_texts_have_vectors(database: str, collection: PGVector) -> None:
    collection.add_texts(["One."])
    with closing(LangChainCollection(address(database, collection), "ollama", "nomic")) as found:
        list(found.documents())
        assert found.fingerprint == Fingerprint("ollama", "nomic", DIMENSION)
        assert np.linalg.norm(found.embed_query("One.")) == pytest.approx(1)
        assert found.count_tokens(["One."])[0] > 0
        with pytest.raises(EmbeddingError, match=r"1 of \d+ texts"):
            found.embed_passages([Passage("One."), Passage("Two.")])


def test_a_library_of_another_embedder_is_left_alone(database: str, collection: PGVector) -> None:
    collection.add_texts(["One."])
    store = MemoryStore()
    store.bind_embedder(Fingerprint("local", "e5", 384))
    with pytest.raises(EmbedderMismatch):
        imported(address(database, collection), store)
    assert store.count() == (0, 0)


def test_the_layout_of_older_versions() -> None:
    name = f"langchain_{uuid.uuid4().hex}"
    with psycopg.connect(shared_database(), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    before, _, query = shared_database().partition("?")
    database = f"{before.rpartition('/')[0]}/{name}?{query}"
    with psycopg.connect(database) as connection:
        connection.execute(
            """
            CREATE EXTENSION vector;
            CREATE TABLE langchain_pg_collection (uuid uuid PRIMARY KEY, name varchar, cmetadata json);
            CREATE TABLE langchain_pg_embedding (uuid uuid PRIMARY KEY, collection_id uuid, embedding vector,
                document varchar, cmetadata json, custom_id varchar);
            INSERT INTO langchain_pg_collection VALUES (gen_random_uuid(), 'docs', NULL);
            INSERT INTO langchain_pg_embedding SELECT gen_random_uuid(), uuid, '[3,4]', 'Some text.',
                '{"source": "a.pdf", "page": 2}', NULL FROM langchain_pg_collection
            """
        )
    with closing(LangChainCollection(f"{database}&langchain_collection=docs")) as found:
        ((_, document),) = found.documents()
        assert (document.source, document.content, document.parts[0].page) == ("a.pdf", "Some text.", 3)
        assert found.embed_query("Some text.").tolist() == pytest.approx([0.6, 0.8])


def test_vectors_of_two_models_are_refused(database: str, collection: PGVector) -> None:
    collection.add_embeddings(["One.", "Two."], [[1.0] * 3, [1.0] * 4])
    with pytest.raises(SourceError, match="3 to 4 dimensions"):
        LangChainCollection(address(database, collection))


def test_what_is_not_there_is_named(database: str, collection: PGVector) -> None:
    with pytest.raises(SourceNotFound, match="no collection 'nothing'"):
        LangChainCollection(f"{database}&langchain_collection=nothing")
    with pytest.raises(SourceNotFound, match="is empty"):
        LangChainCollection(address(database, collection))
    with pytest.raises(SourceNotFound, match="no LangChain collections"):
        LangChainCollection(f"{shared_database()}&langchain_collection=x")


def test_a_wrong_password_is_said_without_it() -> None:
    with private_server(PASSWORD) as server:
        with pytest.raises(SourceError) as raised:
            LangChainCollection(server.address.replace("postgres:", "postgres:x", 1) + "&langchain_collection=docs")
        with pytest.raises(SourceNotFound):
            LangChainCollection(server.address + "&langchain_collection=docs")
    assert "password authentication failed" in str(raised.value)
    assert "s3cret" not in str(raised.value)


def test_an_address_without_a_name_is_refused() -> None:
    with pytest.raises(SettingsError):
        LangChainCollection("postgresql://u:p@h/d?langchain_collection=")


@pytest.mark.parametrize(
    ("texts", "content"),
    [
        (["abc", "abc"], "abc\nabc"),
        # So few characters may be the same by accident.
        (["in the", "the house"], "in the\nthe house"),
        (["x" * 30 + "y", "x" * 30 + "y"], "x" * 30 + "y\n" + "x" * 30 + "y"),
        (["The quick brown fox jumps over", "brown fox jumps over the dog"], "The quick brown fox jumps over the dog"),
        (["a" * 40, "a" * 45], "a" * 45),
        ([], ""),
    ],
)
def test_neighbours_are_joined_where_they_surely_overlap(texts: list[str], content: str) -> None:
    whole, spans = joined([(text, 0) for text in texts])
    assert whole == content
    assert [whole[start:end] for start, end in spans] == texts
    document = Document("d", whole, parts=page_parts([0] * len(texts), spans))
    assert [(part.start, part.end, part.page) for part in document.parts] == ([(0, len(whole), 1)] if texts else [])


def test_pages_share_nothing() -> None:
    text = "This line stands at the foot of each page."
    whole, spans = joined([(text, 0), (text, 1), (text, 3)])
    assert whole == "\f".join([text] * 3)
    assert [(part.page, whole[part.start : part.end]) for part in page_parts([0, 1, 3], spans)] == [
        (1, text),
        (2, text),
        (4, text),
    ]
