"""A fetched page → Visited: its documents, and what the next visit needs to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from pathlib import PurePosixPath
from urllib.parse import unquote

from answerable.datatypes import Document, document_id
from answerable.errors import EmptySource, UnsupportedSource
from answerable.formats.built_in import FORMATS
from answerable.protocols import SyncRecord, Visited
from answerable.sources.file_reader import FileReader
from answerable.sources.formats import SAMPLE, SUFFIXES, recognise
from answerable.sources.html.page_parts import header_directives
from answerable.sources.site.choice import NOT_INDEXED, Choice, Verdict
from answerable.sources.site.crawl import LinkedPages, ListedPages
from answerable.sources.site.fetch import Fetched
from answerable.sources.site.pages import SitePage, exchange
from answerable.sources.text import magic_name

_TYPES = {name: suffix for form in FORMATS for name, suffix in form.media_types.items()}
"""The suffixes of files by the media types that servers send."""


class SiteContent:
    """Fetched bytes; `source` is the public address of the documents. Raises UnsupportedSource."""

    def __init__(self, fetched: Fetched, source: str) -> None:
        self._body = fetched.body
        self._source = source
        self.content_type = fetched.content_type.partition(";")[0].strip().lower()
        self._name = _name(fetched.url, self.content_type)
        stated = _TYPES.get(self.content_type) == ".html" and not magic_name(self._body)
        self.is_html = stated or recognise(self._body[:SAMPLE], self._name).name == "html"

    def documents(self, files: FileReader) -> list[Document]:
        """Parse the fetched bytes; return their documents."""
        if self.is_html:
            return files.read_page(self._body, self._source)
        documents = files.read_bytes(self._body, self._name)
        return [replace(each, id=document_id(self._source, each.content), source=self._source) for each in documents]


def _name(url: str, content_type: str) -> str:
    """Return a file name for an address, with the suffix of the server's content type."""
    path = unquote(url.partition("?")[0].partition("://")[2])
    suffix = _TYPES.get(content_type, "")
    known = SUFFIXES.get(PurePosixPath(path).suffix.lower())
    return path + suffix if suffix and known is not SUFFIXES[suffix] else path


_REASON = "passed_over"
_CONTENT_TYPE = "content_type"
_NOT_NOTES = frozenset({"url", "etag", "last_modified"})


@dataclass(slots=True)
class PageReader:
    """Reads the pages of one visit, and counts the skipped pages."""

    _origin: str
    _pages: ListedPages | LinkedPages
    choice: Choice
    _known: Mapping[str, SyncRecord]
    _files: FileReader
    _now: Callable[[], datetime]
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def _links(self) -> LinkedPages | None:
        return self._pages if isinstance(self._pages, LinkedPages) else None

    def conditions(self, page: SitePage) -> Mapping[str, str]:
        """Return the validators to send when requesting a page; {} if the page's text or links are needed again."""
        known = self._trusted(page.public)
        needed = known is None or (self._links and _CONTENT_TYPE not in known.validators)
        return {} if known is None or needed else known.validators

    def pass_over(self, page: SitePage, verdict: Verdict, fetched: Fetched | None = None, digest: str = "") -> Visited:
        """Return the result for a skipped page, which removes its earlier documents; count the reason."""
        self.skipped[verdict.reason] += 1
        known = self._known.get(page.public)
        if known and fetched and fetched.is_unchanged:
            digest = known.hash
        record = self._record(page, fetched, digest, (), {_REASON: verdict.reason, **verdict.notes})
        is_unchanged = known is not None and known.hash == digest and not known.documents
        return Visited(page.public, record=record, is_unchanged=is_unchanged)

    def read(self, page: SitePage, fetched: Fetched) -> Visited:
        """Return the documents of a page, if it is wanted and has changed. Raise SourceError."""
        final = exchange(fetched.url, self._pages.base, self._pages.public_base)
        verdict = self.choice.judge_redirect(page.public, final)
        if verdict.reason:
            return self.pass_over(page, verdict, fetched, sha256(fetched.body).hexdigest())
        known = self._trusted(page.public)
        if known and fetched.is_unchanged:
            return self._unchanged(page, fetched, known)
        digest = sha256(fetched.body).hexdigest()
        if known and known.hash == digest and not self._links:
            return self._unchanged(page, fetched, known)
        try:
            content = SiteContent(fetched, page.public)
            verdict = self._judge(content, page, fetched, digest)
            if known and known.hash == digest and known.validators.get(_REASON, "") == verdict.reason:
                return self._unchanged(page, fetched, known)
            documents = () if verdict.reason else tuple(content.documents(self._files))
        except EmptySource:
            verdict = Verdict("shows no text")
        except UnsupportedSource:
            verdict = Verdict("in a format that isn't read")
        if verdict.reason:
            return self.pass_over(page, verdict, fetched, digest)
        notes = dict(verdict.notes) if content.is_html else {_CONTENT_TYPE: content.content_type}
        return Visited(page.public, documents, self._record(page, fetched, digest, documents, notes))

    def _judge(self, content: SiteContent, page: SitePage, fetched: Fetched, digest: str) -> Verdict:
        """Judge a page, after queueing the pages that it links to."""
        if self._links:
            # A server that sends the same page at every address has no end, so a repeated page's links aren't followed.
            copy = self.choice.judge_copy(page.public, digest)
            if copy.reason:
                return copy
        directives = header_directives(fetched.robots)
        if not content.is_html:
            return Verdict(NOT_INDEXED if "noindex" in directives else "")
        facts = self._files.page_facts(fetched.body, page.public, fetched.url if self._links else "")
        if self._links and "nofollow" not in directives:
            self._links.follow(facts.links, page.url)
        return self.choice.judge(facts, page.public, fetched.robots)

    def _trusted(self, source: str) -> SyncRecord | None:
        """Return the record of a page if it can be kept while the page is unchanged, otherwise None."""
        known = self._known.get(source)
        return known if known and known.hash and self.choice.still_holds(known.validators) else None

    def _unchanged(self, page: SitePage, fetched: Fetched, known: SyncRecord) -> Visited:
        notes = {name: value for name, value in known.validators.items() if name not in _NOT_NOTES}
        reason = notes.get(_REASON, "")
        if reason:
            self.skipped[reason] += 1
        self.choice.recall(page.public, Verdict(reason, notes))
        return Visited(
            page.public, record=self._record(page, fetched, known.hash, known.documents, notes), is_unchanged=True
        )

    def _record(
        self,
        page: SitePage,
        fetched: Fetched | None,
        digest: str,
        documents: tuple[Document, ...] | tuple[str, ...],
        notes: Mapping[str, str],
    ) -> SyncRecord:
        validators = {**(asdict(fetched.validators) if fetched else {}), **notes}
        return SyncRecord(
            self._origin,
            page.public,
            self._now(),
            digest,
            {name: value for name, value in validators.items() if value},
            tuple(each if isinstance(each, str) else each.id for each in documents),
        )
