"""Choose the pages of a site to read: no lists or duplicates, one version, and the requested locales."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from answerable.sources.html.page_parts import PageFacts, PageKind, header_directives
from answerable.sources.site.pages import page_key

SAME = "the same as another page"
NOT_INDEXED = "asks not to be indexed"
OTHER_LOCALE = "of another locale"
# A page's notes, kept for the next visit, on which the server may not send the unchanged page again.
_SAME_AS = "same_as"
_FOLDER = "folder"
_LOCALE = "locale"


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """Which pages of a site to read.

    `locales` and `versions` apply to a Docusaurus site: by default the locale at the address and the latest release are
    read; versions may also be `latest`, `next` and `all`. `everything` adds lists, standalone pages and pages that ask
    not to be indexed. `public_base` is the public address of the sitemap's folder, if the sitemap doesn't show it.
    """

    locales: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    everything: bool = False
    max_pages: int = 10_000
    public_base: str = ""

    def __str__(self) -> str:
        """Return the options that decide which pages belong to a visit."""
        named = {"locales": self.locales, "versions": self.versions}
        parts = [f"{name}: {', '.join(sorted(values))}" for name, values in named.items() if values]
        return "; ".join(parts + ["everything"] * self.everything)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision on a page: `reason` is why it is skipped, or ""; `notes` are kept for `recall` on the next visit."""

    reason: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)


class Choice:
    """Decides which pages of a site to read. What one page declares can exclude its whole folder or its duplicates.

    `base` is the site's public address; `listing` returns all of its addresses, without final slashes. A page outside
    of `locale_folders` is read only if it declares a requested locale.
    """

    def __init__(
        self,
        options: SiteOptions,
        base: str,
        listing: Callable[[], Collection[str]],
        locale_folders: Collection[str] = (),
    ) -> None:
        self.seen_locales: set[str] = set()
        self._options = options
        self._versions = frozenset(options.versions or ("all" if options.everything else "latest",))
        self._base = base
        self._listing = listing
        self._locale_folders = tuple(locale_folders)
        self._left_out: dict[str, str] = {}
        self._same: set[str] = set()
        self._firsts: dict[str, str] = {}

    def leaves_out(self, url: str) -> str:
        """Return why the folder of this URL is skipped without fetching, or ""."""
        return next((reason for folder, reason in self._left_out.items() if url.startswith(folder)), "")

    def recall(self, url: str, verdict: Verdict) -> Verdict:
        """Apply a page's verdict, from this visit or an earlier one, to the judgement of later pages; return it."""
        if folder := verdict.notes.get(_FOLDER):
            self._left_out[folder] = verdict.reason
        if _SAME_AS in verdict.notes:
            self._same.add(page_key(url))
        if locale := verdict.notes.get(_LOCALE):
            self.seen_locales.add(locale)
        return verdict

    def still_holds(self, notes: Mapping[str, str]) -> bool:
        """Whether a page's notes are still valid: the page that it duplicates, if any, is still listed."""
        return _SAME_AS not in notes or page_key(notes[_SAME_AS]) in self._listing()

    def judge_redirect(self, url: str, final: str) -> Verdict:
        """Judge a redirect between public addresses: skip `url` if `final` is another page of the site."""
        place = page_key(final)
        if place != page_key(url) and place in self._listing():
            return self.recall(url, Verdict(SAME, {_SAME_AS: final}))
        return self.judge_copy(url, place)

    def judge_copy(self, url: str, content: str) -> Verdict:
        """Skip a page if an earlier page had the same `content`: any text that identifies it, such as a hash."""
        first = self._firsts.setdefault(content, url)
        return self.recall(url, Verdict(SAME, {_SAME_AS: first})) if first != url else Verdict()

    def judge(self, page: PageFacts, url: str, header: str = "") -> Verdict:
        """Judge a page by its facts. `header` is its X-Robots-Tag."""
        return self.recall(url, self._judge(page, url, header))

    def _judge(self, page: PageFacts, url: str, header: str) -> Verdict:
        if page.refresh:
            return Verdict("leads to another page")
        if not self._options.everything and "noindex" in {*page.directives, *header_directives(header)}:
            return Verdict(NOT_INDEXED)
        if canonical := self._canonical(page, url):
            return Verdict(SAME, {_SAME_AS: canonical})
        locale = self._locale(page, url)
        if locale is None:
            return Verdict(OTHER_LOCALE)
        if page.kind not in ("", PageKind.DOCUMENT) and not self._options.everything:
            return Verdict(f"{page.kind} pages", {_FOLDER: f"{page_key(url)}/"} if page.lists_tags else {})
        other = self._judge_version(page, url) if page.kind == PageKind.DOCUMENT else None
        return other or Verdict("", {_LOCALE: locale} if locale else {})

    def _canonical(self, page: PageFacts, url: str) -> str:
        """Return the canonical address if it is another page; "" if it is the start page, often stated by mistake."""
        target = page.canonical
        place = page_key(target)
        is_itself = place in (page_key(url), page_key(self._base)) or place in self._same
        return target if place in self._listing() and not is_itself else ""

    def _locale(self, page: PageFacts, url: str) -> str | None:
        """Return the page's locale if it is requested, "" if its folder implies that, None if it isn't requested."""
        if not self._options.locales or any(f"{url}/".startswith(folder) for folder in self._locale_folders):
            return ""
        stated = page.locale.lower()
        return next((name for name in self._options.locales if f"{stated}-".startswith(f"{name.lower()}-")), None)

    def _judge_version(self, page: PageFacts, url: str) -> Verdict | None:
        version = page.version
        label = "next" if version == "current" else version
        folder = self._version_folder(page, url, label)
        # A page of another release has a banner that leads to the latest. If it leads out of the visited folder, the
        # user chose the version by visiting its folder.
        names = {version, label} | (set() if page.latest.startswith(self._base) else {"latest"})
        if "all" in self._versions or names & self._versions:
            return None
        return Verdict("of another version", {_FOLDER: folder} if folder else {})

    def _version_folder(self, page: PageFacts, url: str, label: str) -> str:
        """Return the folder of the page's version; "" if the version isn't in the page's path."""
        # The id of a Docusaurus document, its path within the version, may contain the same word, as in release notes.
        segments = url.removeprefix(self._base).split("/")
        if not label or segments.count(label) <= sum(each.split("/").count(label) for each in page.ids):
            return ""
        return self._base + "/".join(segments[: segments.index(label) + 1]) + "/"
