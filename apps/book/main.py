"""A book on the web → vectors in Qdrant: `python main.py --url https://username.github.io/repo-name`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from textwrap import shorten

from book import settings
from book.chunks import chunk_content
from book.console import leave, printable, run
from book.embedding import generate_embeddings
from book.errors import (
    CohereAPIError,
    ContentExtractionError,
    NetworkError,
    PageNotFoundError,
    QdrantConnectionError,
    SitemapNotFoundError,
)
from book.ingestion import ingest_book, plan_book
from book.models import ContentChunk, ContentPage, IngestionPlan, IngestionResult, StorageResult, VectorEmbedding
from book.pages import scrape_page, scrape_sitemap
from book.store import COLLECTION
from book.storing import store_vectors

__all__ = [
    "CohereAPIError",
    "ContentChunk",
    "ContentExtractionError",
    "ContentPage",
    "IngestionResult",
    "NetworkError",
    "PageNotFoundError",
    "QdrantConnectionError",
    "SitemapNotFoundError",
    "StorageResult",
    "VectorEmbedding",
    "chunk_content",
    "generate_embeddings",
    "ingest_book",
    "main",
    "scrape_page",
    "scrape_sitemap",
    "store_vectors",
]

# One error may name many pages.
_WIDEST = 500


def main(arguments: Sequence[str] | None = None) -> int:
    """What the command line asks for; the exit status, which is 1 when anything failed."""
    parser = argparse.ArgumentParser(prog="main.py", description="Stores a book on the web as vectors in Qdrant.")
    parser.add_argument("--url", help="the book's address (default: BOOK_BASE_URL)")
    parser.add_argument("--collection", default=COLLECTION, help="the collection in Qdrant (default: %(default)s)")
    parser.add_argument("--dry-run", action="store_true", help="say what it would take; store nothing, embed nothing")
    given = parser.parse_args(arguments)
    return run(lambda: _work(given.url, given.collection, given.dry_run))


def _work(url: str | None, collection: str, is_dry_run: bool) -> int:
    address = settings.book_url(url)
    if is_dry_run:
        return _print_plan(plan_book(address))
    return _print_result(ingest_book(address, collection))


def _print_plan(plan: IngestionPlan) -> int:
    print("Dry run: nothing was stored.")
    print(f"Pages: {plan.pages_scraped} of {plan.pages_discovered} in the sitemap")
    print(f"Chunks: {plan.chunks}")
    print(f"Tokens: {plan.tokens}")
    print(f"Embedding cost: about ${plan.cost:.4f}")
    return _print_errors(plan.errors, plan.success)


def _print_result(result: IngestionResult) -> int:
    print(f"Pages: {result.pages_scraped} of {result.pages_discovered} in the sitemap")
    print(f"Chunks: {result.chunks_created}")
    print(f"Embeddings: {result.embeddings_generated}")
    print(f"Vectors stored: {result.vectors_stored}")
    print(f"Duplicates skipped: {result.duplicates_skipped}")
    print(f"Duration: {result.duration_seconds:.1f} s")
    return _print_errors(result.errors, result.success)


def _print_errors(errors: Sequence[str], success: bool) -> int:
    # Without a failure they only say what was left out.
    print(f"Errors: {0 if success else len(errors)}")
    for error in errors:
        print(f"  {shorten(printable(error), _WIDEST, placeholder=' …')}")
    return 0 if success else 1


if __name__ == "__main__":
    leave(main())
