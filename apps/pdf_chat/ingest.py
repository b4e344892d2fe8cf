"""A PDF → chunks → vectors → the collection in PostgreSQL. `python ingest.py` does it for the file PDF_PATH."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from langchain_postgres import PGVector

import answerable
from answerable import DocumentType
from answerable.errors import DamagedSource, EmptySource, EncryptedSource, SourceError, SourceNotFound, SourceTooLarge
from answerable.splitting import RecursiveSplitter
from pdf_chat.console import use_utf8
from pdf_chat.errors import (
    APIError,
    ConfigurationError,
    DatabaseError,
    ExternalServiceError,
    RAGError,
    explanation,
    translated,
    user_message,
)
from pdf_chat.settings import Settings, load, pdf_path
from pdf_chat.store import EMBEDDING_SETTING, open_store

__all__ = ["APIError", "ConfigurationError", "DatabaseError", "ExternalServiceError", "RAGError", "ingest_pdf"]

CHUNK_SIZE = 1000
CHUNK_OVERLAP = 150
# What is stored at once: a run that breaks off has stored what came before, and the next one goes on behind it.
BATCH = 500


@dataclass(frozen=True, slots=True)
class PdfChunk:
    """A piece of a page. `page` counts from 0 and `index` in the document."""

    source: str
    page: int
    index: int
    text: str

    def id(self, collection: str) -> str:
        """The same for the same piece of the same file in the same collection: ids are of all collections together."""
        return sha256(f"{collection}\0{self.source}\0{self.page}\0{self.index}\0{self.text}".encode()).hexdigest()[:32]

    @property
    def metadata(self) -> dict[str, str | int]:
        """What is stored beside the text."""
        return {"source": self.source, "page": self.page, "chunk_index": self.index}


def ingest_pdf() -> int:
    """Adds the PDF at PDF_PATH to the collection; the number of its chunks.

    Nothing that is there is changed or removed, and chunks that are there already aren't embedded again. Raises
    FileNotFoundError, ValueError for a PDF without text, ConfigurationError for one that can't be read and for a
    variable that is missing, DatabaseError (a ConnectionError) and ExternalServiceError (APIError).
    """
    path = pdf_path()
    settings = load()
    chunks = list(_chunks(_read(path, settings)))
    store = open_store(settings)
    with translated(EMBEDDING_SETTING):
        for start in range(0, len(chunks), BATCH):
            _add(store, settings.collection, chunks[start : start + BATCH])
    return len(chunks)


def _read(path: Path, settings: Settings) -> answerable.Document:
    if not path.is_file():
        raise FileNotFoundError(f"Arquivo PDF não encontrado: {path}")
    engine = settings.engine
    try:
        (document, *others) = answerable.read(
            path,
            pdf_password=engine.pdf_password,
            max_file_size=engine.max_file_size,
            max_pdf_seconds=engine.max_pdf_seconds,
            max_pdf_memory=engine.max_pdf_memory,
        )
    except SourceError as error:
        raise _refusal(error, path) from error
    if others or document.type is not DocumentType.PDF:
        raise ConfigurationError(f"PDF_PATH não é um PDF: {path}")
    return document


def _refusal(error: SourceError, path: Path) -> Exception:
    match error:
        case EmptySource():
            return ValueError(f"O PDF não contém texto que possa ser extraído: {path}")
        case SourceNotFound():
            return FileNotFoundError(f"Arquivo PDF não encontrado: {path}")
        case EncryptedSource():
            return ConfigurationError(
                f"o PDF está protegido por senha: {path}. Defina ANSWERABLE_PDF_PASSWORD ou salve uma cópia sem senha"
            )
        case DamagedSource():
            return ConfigurationError(f"o PDF está danificado: {path}. Baixe-o de novo ou imprima-o em um novo PDF")
        case SourceTooLarge():
            return ConfigurationError(f"o PDF é grande demais: {path}. Divida-o em vários")
    return ConfigurationError(f"o PDF não pode ser lido: {path} ({error})")


def _chunks(document: answerable.Document) -> Iterator[PdfChunk]:
    splitter = RecursiveSplitter(CHUNK_SIZE, CHUNK_OVERLAP)
    index = 0
    # A form feed stands between pages.
    for page, content in enumerate(document.content.split("\f")):
        for start, end in splitter.spans(content, 0, len(content)):
            if text := content[start:end].strip():
                yield PdfChunk(document.source, page, index, text)
                index += 1


def _add(store: PGVector, collection: str, chunks: Sequence[PdfChunk]) -> None:
    """Embeds and stores those that aren't there yet."""
    ids = {chunk.id(collection): chunk for chunk in chunks}
    for document in store.get_by_ids(list(ids)):
        ids.pop(str(document.id), None)
    if ids:
        texts = [chunk.text for chunk in ids.values()]
        metadatas = [chunk.metadata for chunk in ids.values()]
        store.add_embeddings(texts, store.embeddings.embed_documents(texts), metadatas, list(ids))


def main() -> int:
    """What `python ingest.py` does; the exit status."""
    use_utf8()
    try:
        count = ingest_pdf()
    except (RAGError, FileNotFoundError, ValueError) as error:
        print("\n".join(filter(None, (user_message(error), explanation(error)))), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrompido.", file=sys.stderr)
        return 130
    print(f"Ingestão concluída: {count} chunks processados")
    return 0


if __name__ == "__main__":
    sys.exit(main())
