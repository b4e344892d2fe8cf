"""What a site answered for a page → what to say and to remember of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from hashlib import sha256

from answerable.datatypes import Document
from answerable.errors import EmptySource, UnsupportedSource
from answerable.protocols import SyncRecord, Visited
from answerable.sources.html.links import header_directives
from answerable.sources.reader import FileReader
from answerable.sources.site.choice import NOT_INDEXED, Choice, Verdict
from answerable.sources.site.content import SiteContent
from answerable.sources.site.fetch import Fetched
from answerable.sources.site.links import LinkedPages
from answerable.sources.site.listing import ListedPages
from answerable.sources.site.pages import SitePage, exchange

_REASON = "passed_over"
_CONTENT_TYPE = "content_type"
_LASTMOD = "lastmod"
_NOT_NOTES = frozenset({"url", "etag", "last_modified", _LASTMOD})


class PageReader:
    """Reads the pages of one visit, and keeps count of those that are passed over.

    Records remember, beside the server's validators, `lastmod` by the sitemap, why a page was passed over, and what
    the choice took note of.
    """

    def __init__(
        self,
        origin: str,
        pages: ListedPages | LinkedPages,
        choice: Choice,
        known: Mapping[str, SyncRecord],
        files: FileReader,
        now: Callable[[], datetime],
    ) -> None:
        self.choice = choice
        self.skipped: Counter[str] = Counter()
        self._origin = origin
        self._pages = pages
        self._links = pages if isinstance(pages, LinkedPages) else None
        self._known = known
        self._files = files
        self._now = now

    def conditions(self, page: SitePage) -> Mapping[str, str]:
        """The validators to ask for a page with; none where its text is needed again, be it for its links."""
        known = self._trusted(page.public)
        needed = known is None or (self._links and _CONTENT_TYPE not in known.validators)
        return {} if known is None or needed else known.validators

    def pass_over(self, page: SitePage, verdict: Verdict, fetched: Fetched | None = None, digest: str = "") -> Visited:
        """Counts a page that isn't wanted; what was a document of it before is none any more."""
        self.skipped[verdict.reason] += 1
        known = self._known.get(page.public)
        if known and fetched and fetched.is_unchanged:
            digest = known.hash
        record = self._record(page, fetched, digest, (), {_REASON: verdict.reason, **verdict.notes})
        is_unchanged = known is not None and known.hash == digest and not known.documents
        return Visited(page.public, record=record, is_unchanged=is_unchanged)

    def read(self, page: SitePage, fetched: Fetched) -> Visited:
        """The documents of a page, if it is wanted and has changed. Raises SourceError when it can't be read."""
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
        """Whether a page is wanted; its links are followed before, whatever comes of it."""
        if self._links:
            # A server that gives the same page at every address has no end.
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
        """What is known of a page, if that holds for as long as the page doesn't change."""
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
        given = fetched.validators if fetched else None
        validators = {
            "url": given.url if given else "",
            "etag": given.etag if given else "",
            "last_modified": given.last_modified if given else "",
            _LASTMOD: page.lastmod.isoformat() if page.lastmod else "",
            **notes,
        }
        return SyncRecord(
            self._origin,
            page.public,
            self._now(),
            digest,
            {name: value for name, value in validators.items() if value},
            tuple(each if isinstance(each, str) else each.id for each in documents),
        )
