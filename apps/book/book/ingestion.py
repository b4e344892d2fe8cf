"""The whole way of a book: sitemap → pages → chunks → vectors → Qdrant, and what that would cost."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from answerable.sources import SitePages, Validators
from book import settings
from book.chunks import chunk_content
from book.embedding import MOST_TEXTS, PRICE, generate_embeddings
from book.errors import CohereAPIError, ContentExtractionError, QdrantConnectionError
from book.models import ContentChunk, IngestionPlan, IngestionResult
from book.pages import READER, Visited, left_out_before, open_site
from book.store import COLLECTION, StoredPage, open_collection
from book.storing import store_vectors

_log = logging.getLogger("book")


def ingest_book(base_url: str, collection_name: str = COLLECTION) -> IngestionResult:
    """Brings the collection up to date with the book at an address.

    Pages are asked for only if they changed, and only chunks that are new are embedded. Chunks beyond a page's end are
    removed, and so are pages that this site had and that its sitemap no longer names or that are gone (404), if
    every sitemap and every other page was read.
    Errors of single pages are in the result, and which pages were left out, which is no failure. Raises SettingsError,
    SitemapNotFoundError, NetworkError, and CohereAPIError or QdrantConnectionError if nothing was stored before;
    afterwards they end the run, and are in the result.
    """
    # Whoever has forgotten a key is told before the site is asked for anything.
    settings.cohere()
    started = time.monotonic()
    with open_collection(collection_name) as collection:
        collection.create()
        stored = collection.pages()
    with open_site() as site:
        book = site.pages(base_url)
        run = _Run(collection_name, book, stored)
        try:
            for visited in site.visit(book.pages, run.known()):
                run.take(visited)
            run.finish()
        except (CohereAPIError, QdrantConnectionError) as error:
            if not run.result.vectors_stored:
                raise
            run.fail(error)
    run.result.success = not run.result.errors
    run.result.errors += notes(run.left_out)
    run.result.duration_seconds = time.monotonic() - started
    return run.result


def plan_book(base_url: str) -> IngestionPlan:
    """What ingesting a book would take if nothing of it were stored; nothing is stored and no provider is asked.

    Raises SitemapNotFoundError and NetworkError.
    """
    with open_site() as site:
        book = site.pages(base_url)
        plan = IngestionPlan(len(book.pages), errors=[str(error) for error in book.errors])
        left_out = defaultdict(list, left_out_before(book))
        for visited in site.visit(book.pages, {}):
            if visited.error:
                plan.errors.append(str(visited.error))
            if visited.left_out:
                left_out[visited.left_out].append(visited.url)
            if visited.page:
                chunks = chunk_content(visited.page)
                plan.pages_scraped += 1
                plan.chunks += len(chunks)
                plan.tokens += sum(chunk.token_count for chunk in chunks)
                _log.info("%s: %d chunks", visited.url, len(chunks))
    plan.success = not plan.errors
    plan.errors += notes(left_out)
    plan.cost = plan.tokens * PRICE / 1_000_000
    return plan


def notes(left_out: Mapping[str, Sequence[str]]) -> list[str]:
    """What is said of the pages that were left out, given by reason."""
    return [
        f"{len(urls)} {'page' if len(urls) == 1 else 'pages'} left out, {reason}: {', '.join(urls)}"
        for reason, urls in left_out.items()
    ]


@dataclass(slots=True)
class _Waiting:
    """A page whose new chunks wait to be embedded together with those of others."""

    url: str
    count: int
    new: list[ContentChunk]
    validators: Validators


class _Run:
    """Takes the pages one after the other; `result` counts what became of them."""

    def __init__(self, collection_name: str, book: SitePages, stored: dict[str, StoredPage]) -> None:
        self.result = IngestionResult(pages_discovered=len(book.pages))
        self._collection_name = collection_name
        self.left_out = defaultdict(list, left_out_before(book))
        self._book = book
        self._stored = stored
        self._met: set[str] = set()
        self._waiting: list[_Waiting] = []
        for error in book.errors:
            self.fail(error)

    def known(self) -> dict[str, Validators]:
        """What to ask the site with, by public address."""
        found = {url: page.validators(READER) for url, page in self._stored.items()}
        return {url: validators for url, validators in found.items() if validators}

    def take(self, visited: Visited) -> None:
        """Counts a page, and sees to its chunks."""
        if visited.error:
            self.fail(visited.error)
        elif visited.is_unchanged:
            self._met.add(visited.url)
            self._skip(visited.url, len(self._stored[visited.url].hashes))
        elif visited.page and visited.validators:
            self._met.add(visited.url)
            self._compare(visited.url, chunk_content(visited.page), visited.validators)
        else:
            self.left_out[visited.left_out].append(visited.url)
            _log.info("%s left out: %s", visited.url, visited.left_out)
        if sum(len(page.new) for page in self._waiting) >= MOST_TEXTS:
            self._flush()

    def finish(self) -> None:
        """Stores what still waits, and removes the pages that are gone."""
        self._flush()
        if self._book.pages and not self._met and not self.result.errors:
            self.fail(ContentExtractionError(f"{self._book.public_base} has no page with text: nothing was changed"))
        if self.result.errors:
            return
        with open_collection(self._collection_name) as collection:
            for url, page in self._stored.items():
                # What others stored there, or another site, isn't ours to remove.
                if url not in self._met and page.note.get("site") == self._book.public_base:
                    collection.remove(url, page.hashes)
                    _log.info("%s is gone: removed", url)

    def fail(self, error: Exception) -> None:
        """Takes note of an error."""
        self.result.errors.append(str(error))
        _log.error("%s", error)

    def _compare(self, url: str, chunks: list[ContentChunk], validators: Validators) -> None:
        """Puts the page's new chunks with those that wait."""
        before = self._stored.get(url, StoredPage()).hashes
        new = [chunk for chunk in chunks if before.get(chunk.chunk_index) != chunk.content_hash]
        self._skip(url, len(chunks) - len(new), len(new))
        self._waiting.append(_Waiting(url, len(chunks), new, validators))

    def _skip(self, url: str, duplicates: int, new: int = 0) -> None:
        self.result.pages_scraped += 1
        self.result.chunks_created += duplicates + new
        self.result.duplicates_skipped += duplicates
        _log.info("%s: %d chunks, %d new", url, duplicates + new, new)

    def _flush(self) -> None:
        """Embeds and stores what waits, a call of Cohere's at a time; then notes that these pages are stored whole."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        self._unsettle([page.url for page in waiting if page.new])
        new = [chunk for page in waiting for chunk in page.new]
        for start in range(0, len(new), MOST_TEXTS):
            self._store(new[start : start + MOST_TEXTS])
        with open_collection(self._collection_name) as collection:
            for page in waiting:
                before = self._stored.get(page.url, StoredPage())
                if beyond := [index for index in before.hashes if index >= page.count]:
                    collection.remove(page.url, beyond)
                note = _note(page, self._book.public_base)
                if page.new or note != before.note:
                    collection.note(page.url, note)

    def _unsettle(self, urls: Sequence[str]) -> None:
        """Until all of them is stored these pages are neither the old ones nor the new: a 304 would mean nothing."""
        with open_collection(self._collection_name) as collection:
            for url in urls:
                if 0 in self._stored.get(url, StoredPage()).hashes:
                    collection.note(url, {"site": self._book.public_base})

    def _store(self, chunks: Sequence[ContentChunk]) -> None:
        embeddings = generate_embeddings(chunks)
        self.result.embeddings_generated += len(embeddings)
        stored = store_vectors(embeddings, chunks, self._collection_name)
        self.result.vectors_stored += stored.stored
        self.result.duplicates_skipped += stored.skipped_duplicates
        _log.info("%d vectors stored", self.result.vectors_stored)
        if stored.errors:
            raise QdrantConnectionError("; ".join(stored.errors))


def _note(page: _Waiting, site: str) -> dict[str, str | int]:
    return {
        "chunks": page.count,
        "site": site,
        "fetched": page.validators.url,
        "etag": page.validators.etag,
        "last_modified": page.validators.last_modified,
        "reader": READER,
    }
