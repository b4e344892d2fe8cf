"""Turn spans into citations: a verbatim quote, its location, and a link that opens at the quote.

A quote may appear in other places, such as a notice at the end of every meeting's minutes. Identical passages are
counted by their hash (see `text.indexed_text`). A quote may also be part of longer passages: search for those with its
rarest words, then compare their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import quote

from answerable.datatypes import Chunk, Citation, Document, DocumentType, Location, RetrievalResult, Span
from answerable.filters import Filter
from answerable.formats.format import WITH_LINES, Places
from answerable.formats.locate import Locator, locate
from answerable.formats.registry import format_of, suffixes
from answerable.protocols import Store
from answerable.text.indexed_text import says_the_same_anywhere
from answerable.text.terms import terms

LONGEST_DIRECTIVE = 80
"""Characters of the text fragment in a link, enough to be unique on a page. A guess, not measured."""

# Suffixes of files that browsers download or show in a viewer that ignores text fragments: the formats that aren't
# pages, and data formats that count as code.
_NOT_PAGES = frozenset(suffix for suffix, form in suffixes().items() if not form.is_page) | {
    *(".xml", ".yaml", ".yml", ".toml"),
}
_WEB = re.compile(r"https?://[^/\\\s]", re.IGNORECASE)
_KEPT = "%/:?=&+,;@!$~*()[]"
_ARCHIVE = re.compile(r"(.*?\.[A-Za-z0-9]{1,5})!/")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
# Markdown syntax that isn't shown on the original page: markers of headings, lists and quotations; cell bars; fences.
_LINE_MARKS = re.compile(r"\s*(?:(?:#{1,6}|>|[-:]|\d{1,9}\.)(?:\s+|$))*")
_BAR = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r"\s*(?:```|~~~)")

RAREST = 6
"""How many words of a quote, the rarest ones, are searched for. A round number, not measured."""
FIRST, GROWTH, MOST = 32, 4, 512
"""Compare FIRST passages, then GROWTH times as many as long as the last batch contains the quote, up to MOST."""
CUT = 2
"""How many terms of a quote may be missing from every passage: not measured, but only two words can be cut off."""
Place = tuple[str, str, int]
"""A library's name, a document's id, and an offset in the document."""

_SINGLE, _DOUBLE = "'’‘", '"“”„«»'
_ALIKE = {mark: marks for marks in (_SINGLE, _DOUBLE) for mark in marks}
_MARKS = re.compile(f"[{_SINGLE}{_DOUBLE}]")
# An answer shows a quote between quotation marks; users may paste the quote together with the marks.
_SPACES_AND_MARKS = " \t\r\n“”"


def cite(result: RetrievalResult, start: int, end: int) -> Citation | None:
    """Cite a span that begins in a result's chunk or ends in it; None if the quote can't be verified."""
    document, chunk = result.document, result.chunk
    text = document.content[start:end]
    if not text.strip() or not (0 <= start < end <= len(document.content) and start < chunk.end and end > chunk.start):
        return None
    first, last = max(start, chunk.start), min(end, chunk.end)
    if chunk.content[first - chunk.start : last - chunk.start] != document.content[first:last]:
        return None
    citation = _citation(document, start, end, location_of(result, start, end))
    is_within = chunk.start <= start and end <= chunk.end
    return replace(citation, other_places=result.other_places) if is_within else citation


def cite_spans(document: Document, spans: Iterable[Span]) -> list[Citation]:
    """Cite spans of a whole document, in this order; the document's parts must be loaded."""
    locator = Locator(document)
    return [_citation(document, start, end, locator.location(start, end)) for start, end in spans]


def _citation(document: Document, start: int, end: int, location: Location) -> Citation:
    text = document.content[start:end]
    return Citation(
        quote=text,
        document_id=document.id,
        source=document.source,
        title=document.title,
        start=start,
        end=end,
        location=location,
        link=link(document, location, text),
        web_address=saved_from(document),
        library=document.library,
        type=document.type,
    )


def saved_from(document: Document) -> str:
    """Return the web address that the file of a saved page gives, quoted as a URL; "" for any other document."""
    address = str(document.metadata.get("url") or "")
    is_saved = document.type is DocumentType.HTML and not _WEB.match(document.source) and _WEB.match(address)
    return quote(address, safe=f"{_KEPT}#") if is_saved else ""


def location_of(result: RetrievalResult, start: int, end: int) -> Location:
    """Return the location of a span that begins or ends in a result's chunk; the chunk's parts must be loaded."""
    parts = tuple(part for part in result.chunk.parts if part.start < end and part.end > start)
    # A chunk stored by an earlier version may have line numbers that differ from those of its file.
    if result.chunk.location.lines is None or format_of(result.document).places not in WITH_LINES:
        return locate(parts, None)
    first = result.chunk.location.lines[0] + result.chunk.content.count("\n", 0, max(start - result.chunk.start, 0))
    first -= result.document.content.count("\n", start, result.chunk.start)
    heard = [part.start for part in result.chunk.parts if part.is_heard]
    first -= sum(result.chunk.start < each <= start for each in heard)
    between = sum(start < each < end for each in heard)
    return locate(parts, (first, first + result.document.content.count("\n", start, end) - between))


def link(document: Document, location: Location, text: str) -> str:
    """Return a URL that opens at the quote: `file://…#page=3`, `#L10-L14` or `#t=42`, `https://…#anchor:~:text=…`.

    Only web and file URLs are returned. The document's source is preferred to a URL in its metadata. For archive
    members, and formats that browsers don't show as a page, the URL has no fragment and only opens the file.
    """
    web = _web_address(document)
    archive = _archive(document)
    if archive and not web:
        return _file_address(archive)
    base = quote(web.split("#", 1)[0], safe=_KEPT) if web else _file_address(document.source)
    places = format_of(document).places
    if not base or places in (Places.ROWS, Places.PARTS) or (places is Places.MESSAGES and not location.anchor):
        return base
    if places is Places.SECONDS:
        return f"{base}#t={location.seconds[0]:g}" if location.seconds else base
    if location.pages:
        return f"{base}#page={location.pages[0]}"
    if web and (document.type is DocumentType.PDF or _suffix(base) in _NOT_PAGES):
        return base
    if location.lines is None or web:
        return f"{base}#{quote(location.anchor or '', safe='')}:~:text={_text_directive(text)}"
    first, last = location.lines
    return f"{base}#L{first}" if first == last else f"{base}#L{first}-L{last}"


def _archive(document: Document) -> str:
    """Return the path of the archive, mailbox or message that a document is in, or ""."""
    archive = _ARCHIVE.match(document.source)
    # Files of mail programs have no suffix that would show where their path ends and the archive member begins.
    is_mail = document.type is DocumentType.MAIL or "message" in document.metadata
    return archive[1] if archive else document.source.partition("!/")[0] * (is_mail and "!/" in document.source)


def _web_address(document: Document) -> str:
    is_file = _file_address(document.source) or _archive(document)
    addresses = (document.source, "" if is_file else str(document.metadata.get("url") or ""))
    return next((address for address in addresses if _WEB.match(address)), "")


def _suffix(address: str) -> str:
    """Return the suffix of the file that a web address names, in lower case; "" if there is none."""
    path = "".join(address.partition("?")[0].split("/", 3)[3:])
    return PurePosixPath(path).suffix.lower()


def _text_directive(text: str) -> str:
    """Return the text fragment for a quote: its beginning or, for several blocks, its beginning and its end.

    Browsers match whole words within one block, and read a hyphen as syntax.
    """
    blocks = [words for piece in _pieces(text) if any(map(str.isalnum, words := " ".join(piece.split())))]
    first, *others = blocks or [" ".join(text.split())]
    end = (_begin(words[::-1])[::-1] for words in others[-1:])
    return ",".join(quote(words, safe="").replace("-", "%2D") for words in (_begin(first), *end))


def _pieces(text: str) -> Iterator[str]:
    """Yield the parts of a quote that are in different blocks of the rendered page, without Markdown."""
    for line in text.split("\n"):
        if line.lstrip().startswith("|"):
            yield from (cell.replace("\\|", "|") for cell in _BAR.split(line))
        elif not _FENCE.match(line):
            yield _LINE_MARKS.sub("", line, count=1)


def _begin(words: str) -> str:
    if len(words) <= LONGEST_DIRECTIVE:
        return words
    return words[: LONGEST_DIRECTIVE + 1].rsplit(" ", 1)[0][:LONGEST_DIRECTIVE]


def _file_address(path: str) -> str:
    if _DRIVE.match(path):
        return PureWindowsPath(path).as_uri()
    return PurePosixPath(path).as_uri() if path.startswith("/") else ""


def with_places(
    store: Store, citations: Sequence[Citation], results: Sequence[RetrievalResult], where: Filter | None
) -> tuple[Citation, ...]:
    """Return the citations with the number of other places, among those that pass the filter, that have the quote.

    That number remains the number of identical passages if the quote is short (under other headings it may say
    something else), if no other passage found has the quote, and from MOST passages on.
    """
    return tuple(_with_places(store, each, results, where) for each in citations)


def _with_places(
    store: Store, citation: Citation, results: Sequence[RetrievalResult], where: Filter | None
) -> Citation:
    if not says_the_same_anywhere(citation.quote) or citation.other_places >= MOST:
        return citation
    own = citation.library, citation.document_id, citation.start
    seen = {_place(result.document, start) for result in results for start, _ in _spans(citation.quote, result.chunk)}
    if not seen - {own}:
        return citation
    places, is_whole = _find(store, citation.quote, where)
    others = len(places.keys() - {own}) if is_whole else 0
    return replace(citation, other_places=max(citation.other_places, others))


def quote_places(store: Store, quote: str, where: Filter | None) -> list[Citation]:
    """Return where a quote occurs in passages that pass the filter, sorted by source; at most MOST passages a language.

    White space, case and the form of quotation marks make no difference. Raise ValueError if in a language of the
    library all words of the quote are too common to search for.
    """
    if not all(terms(quote, language) for language in {*store.languages(), ""}):
        raise ValueError("the text has no word that is rare enough to search for: give a longer part of it")
    places, _ = _find(store, quote, where)
    cited = (cite(result, start, end) for result, start, end in places.values())
    found = [replace(citation, other_places=len(places) - 1) for citation in cited if citation is not None]
    return sorted(found, key=lambda each: (each.library, each.source, each.document_id, each.start))


def _find(store: Store, quote: str, where: Filter | None) -> tuple[dict[Place, tuple[RetrievalResult, int, int]], bool]:
    """Return the places of a quote in at most MOST passages a language, and whether these are all places."""
    places: dict[Place, tuple[RetrievalResult, int, int]] = {}
    is_whole = True
    for words in _rarest(store, quote):
        reach, seen = FIRST, 0
        while reach <= MOST:
            numbers = [number for number, _ in store.search_terms(words, reach, where)]
            found = {
                _place(document, start): (RetrievalResult(indexed.chunk, 0.0, document), start, end)
                for indexed, document in store.fetch(numbers[seen:]).values()
                for start, end in _spans(quote, indexed.chunk)
            }
            places |= found
            if len(numbers) < reach or not found:
                break
            reach, seen = reach * GROWTH, reach
        is_whole = is_whole and reach <= MOST
    return places, is_whole


def _rarest(store: Store, quote: str) -> Iterator[list[str]]:
    """Yield the quote's rarest terms in each language of the library in which a passage may have the quote.

    A passage that has the quote has all its terms in that language (CUT gives the only exception).
    """
    by_language = {language: list(dict.fromkeys(terms(quote, language))) for language in {*store.languages(), ""}}
    frequencies = store.document_frequency({term for found in by_language.values() for term in found})
    searched = set()
    for language in sorted(by_language):
        known = [term for term in by_language[language] if frequencies.get(term)]
        rarest = sorted(known, key=lambda term: (frequencies[term], term))[:RAREST]
        if rarest and len(by_language[language]) - len(known) <= CUT and tuple(rarest) not in searched:
            searched.add(tuple(rarest))
            yield rarest


def _spans(quote: str, chunk: Chunk) -> Iterator[tuple[int, int]]:
    """Yield the spans, in the document, of each occurrence of a quote in a passage."""
    if words := quote.strip(_SPACES_AND_MARKS).split():
        pattern = r"\s+".join(_MARKS.sub(lambda mark: f"[{_ALIKE[mark[0]]}]", re.escape(word)) for word in words)
        for match in re.finditer(pattern, chunk.content, re.IGNORECASE):
            yield chunk.start + match.start(), chunk.start + match.end()


def _place(document: Document, start: int) -> Place:
    return document.library, document.id, start
