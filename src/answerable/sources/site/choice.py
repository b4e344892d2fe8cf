"""Which pages of a site are wanted: not lists, not what is said elsewhere again, one version, the locales asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from answerable.sources.html.docusaurus import PageKind
from answerable.sources.html.links import header_directives
from answerable.sources.html.page_facts import PageFacts
from answerable.sources.site.pages import page_key

SAME = "the same as another page"
NOT_INDEXED = "asks not to be indexed"
OTHER_LOCALE = "of another locale"
# What may be told of a page once more on the next visit, when the page itself isn't sent again.
_SAME_AS = "same_as"
_FOLDER = "folder"
_LOCALE = "locale"

_NUMBERED = re.compile(r"v?(\d+(?:\.(?:\d+|x))*)(?:[-+].*)?", re.IGNORECASE)
_Rank = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """What is wanted of a site.

    `locales` and `versions` name those of a Docusaurus site: no locale means what stands at the address, no version the
    latest release; versions may also be `latest`, `next` and `all`. `everything` takes lists, standalone pages and what
    asks not to be indexed too. `public_base` is the public address of the folder that the sitemap stands in, where the
    sitemap itself doesn't tell.
    """

    locales: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    everything: bool = False
    max_pages: int = 10_000
    public_base: str = ""

    def __str__(self) -> str:
        """The options that change which pages belong to a visit."""
        named = {"locales": self.locales, "versions": self.versions}
        parts = [f"{name}: {', '.join(sorted(values))}" for name, values in named.items() if values]
        return "; ".join(parts + ["everything"] * self.everything)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a page isn't wanted, empty when it is; `notes` are what to remember of it, and `recall` later."""

    reason: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)


class Choice:
    """Says of the pages under a public address which are wanted, learning as it goes.

    `listed` says whether a page is of the site, and `listing` gives all such addresses, each without a slash at its
    end. `locale_folders` are the folders of the locales asked for; pages elsewhere must name their locale.
    """

    def __init__(
        self,
        options: SiteOptions,
        base: str,
        listing: Callable[[], Collection[str]],
        locale_folders: Collection[str] = (),
    ) -> None:
        self.locales_met: set[str] = set()
        self._options = options
        self._versions = frozenset(options.versions or ("all" if options.everything else "latest",))
        self._base = base
        self._listing = listing
        self._locale_folders = tuple(locale_folders)
        self._left_out: dict[str, str] = {}
        self._same: set[str] = set()
        self._firsts: dict[str, str] = {}
        self._better: dict[str, bool] = {}

    def leaves_out(self, url: str) -> str:
        """The reason not even to ask for a page, as others of its folder have shown, or nothing."""
        return next((reason for folder, reason in self._left_out.items() if url.startswith(folder)), "")

    def recall(self, url: str, verdict: Verdict) -> Verdict:
        """Learns from what was found out about a page, on this visit or an earlier one; gives it back."""
        if folder := verdict.notes.get(_FOLDER):
            self._left_out[folder] = verdict.reason
        if _SAME_AS in verdict.notes:
            self._same.add(page_key(url))
        if locale := verdict.notes.get(_LOCALE):
            self.locales_met.add(locale)
        return verdict

    def still_holds(self, notes: Mapping[str, str]) -> bool:
        """Whether what was found out about a page needs no second look even though others may have changed."""
        return _SAME_AS not in notes or page_key(notes[_SAME_AS]) in self._listing()

    def judge_redirect(self, url: str, final: str) -> Verdict:
        """Whether another page is what this address leads to; both are public."""
        place = page_key(final)
        if place != page_key(url) and place in self._listing():
            return self.recall(url, Verdict(SAME, {_SAME_AS: final}))
        return self.judge_copy(url, place)

    def judge_copy(self, url: str, content: str) -> Verdict:
        """Whether another page was met whose content is known by the same name, such as a hash."""
        first = self._firsts.setdefault(content, url)
        return self.recall(url, Verdict(SAME, {_SAME_AS: first})) if first != url else Verdict()

    def judge(self, page: PageFacts, url: str, header: str = "") -> Verdict:
        """Whether a page is wanted. `header` is its X-Robots-Tag."""
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
        """Another page of the site that says the same better. Many sites name their start on every page by mistake."""
        target = page.canonical
        place = page_key(target)
        is_itself = place in (page_key(url), page_key(self._base)) or place in self._same
        return target if place in self._listing() and not is_itself else ""

    def _locale(self, page: PageFacts, url: str) -> str | None:
        """Which of the locales asked for the page names; empty where its folder tells, None when it is of none."""
        if not self._options.locales or any(f"{url}/".startswith(folder) for folder in self._locale_folders):
            return ""
        stated = page.locale.lower()
        return next((name for name in self._options.locales if f"{stated}-".startswith(f"{name.lower()}-")), None)

    def _judge_version(self, page: PageFacts, url: str) -> Verdict | None:
        version = page.version
        label = "next" if version == "current" else version
        folder = self._version_folder(page, url, label)
        names = {version, label} | (set() if self._is_superseded(page, url, folder, label) else {"latest"})
        if "all" in self._versions or names & self._versions:
            return None
        return Verdict("of another version", {_FOLDER: folder} if folder else {})

    def _version_folder(self, page: PageFacts, url: str, label: str) -> str:
        """The folder of the page's version, empty where the version doesn't stand in the path.

        A document's own path within its version, which is its id, may hold the same word: release notes do.
        """
        segments = url.removeprefix(self._base).split("/")
        if not label or segments.count(label) <= sum(each.split("/").count(label) for each in page.ids):
            return ""
        return self._base + "/".join(segments[: segments.index(label) + 1]) + "/"

    def _is_superseded(self, page: PageFacts, url: str, folder: str, label: str) -> bool:
        """Whether the page is of another version than the latest release.

        The theme says so in a banner that leads to the latest release; a banner that leads out of what is visited means
        that this version was asked for by its address. Where banners are turned off, the addresses tell.
        """
        if page.latest.startswith(self._base):
            return True
        if folder and folder not in self._better:
            self._better[folder] = _has_better(folder, label, self._listing())
        return bool(folder) and self._better[folder]


def _has_better(folder: str, label: str, listing: Collection[str]) -> bool:
    """Whether pages stand at the same paths without the version's folder, or a later version in a folder beside it."""
    parent = folder.removesuffix(f"{label}/")
    beside = {url.removeprefix(parent).partition("/")[0] for url in listing if url.startswith(parent)}
    if any(_rank(other) > _rank(label) for other in beside if _rank(other)):
        return True
    return any(url.startswith(folder) and parent + url.removeprefix(folder) in listing for url in listing)


def _rank(label: str) -> _Rank:
    """A version's place among releases, empty where a folder's name doesn't look like a version."""
    if label in ("latest", "stable"):
        return (float("inf"),)
    if label == "next":
        return (-1.0,)
    match = _NUMBERED.fullmatch(label)
    return tuple(float("inf") if each in "xX" else float(each) for each in match[1].split(".")) if match else ()
