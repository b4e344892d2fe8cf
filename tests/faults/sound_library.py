"""Make a library of small parts, and check what must hold of it after any fault."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from helpers import HashEmbedder
from stores.crash_processes import text_of, whole_documents

from answerable.answering.decide import Answering
from answerable.library import Library
from answerable.protocols import Store
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.audit import audit

DIMENSION = 64
MOST_CHUNKS = 50


def library_on(store: Store) -> Library:
    """A library with small chunks and a quick embedder that suits the store's vectors."""
    dimension = store.fingerprint.dimension if store.fingerprint else DIMENSION
    return Library(store, HashEmbedder(dimension), SplitterByType(200, 20), FileReader(), Answering())


def write_files(folder: Path, *numbers: int) -> list[Path]:
    """Files of one to nine chunks, each of which names its file."""
    folder.mkdir(exist_ok=True)
    files = [folder / f"informe-{number:03}.txt" for number in numbers]
    for file, number in zip(files, numbers, strict=True):
        file.write_text(text_of(f"número{number}", number), "utf-8")
    return files


def assert_sound(store: Store) -> set[str]:
    """Every document is whole, counted, and found by searching. Closes the store, and gives the documents' sources."""
    with closing(library_on(store)) as library:
        documents = whole_documents(library)
        assert library.count() == (len(documents), sum(len(chunks) for _, chunks in documents.values()))
        assert audit(store) == []
        for name, (_, chunks) in documents.items():
            found = library.search(chunks[0].content, k=MOST_CHUNKS, where={"document_id": name})
            assert {one.chunk.id for one in found} == {chunk.id for chunk in chunks}
        return {document.source for document, _ in documents.values()}
