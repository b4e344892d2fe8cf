"""Turn spans into citations: a verbatim quote, its location, and a link that opens at the quote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import quote

from answerable.datatypes import Citation, Document, DocumentType, Location, RetrievalResult, Span
from answerable.text.locate import RENDERED, Locator, is_heard, is_rendered_chat, locate

LONGEST_DIRECTIVE = 80

# Browsers can't open these at a place.
_WITHOUT_PLACES = (RENDERED | {DocumentType.RECORDS}) - {DocumentType.HTML, DocumentType.RECORDING}

# Files that browsers download or show in a viewer of their own, where a text fragment means nothing.
_NOT_PAGES = frozenset(
    ".pdf .md .markdown .mdx .rst .adoc .org .tex .csv .tsv .json .jsonl .xml .yaml .yml .toml .ipynb .zip .gz .eml "
    ".docx .xlsx .pptx .odt .ods .odp .rtf .epub".split()
)
_WEB = re.compile(r"https?://[^/\\\s]", re.IGNORECASE)
_KEPT = "%/:?=&+,;@!$~*()[]"
_ARCHIVE = re.compile(r"(.*?\.[A-Za-z0-9]{1,5})!/")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
# Markdown that isn't on the original page: markers of headings, lists and quotations; cell bars; fences.
_LINE_MARKS = re.compile(r"\s*(?:(?:#{1,6}|>|[-:]|\d{1,9}\.)(?:\s+|$))*")
_BAR = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r"\s*(?:```|~~~)")


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
    """Cite spans of a whole document, which has its parts, in this order."""
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
    """Return the web address of a saved page, as its file says, without what a URL can't contain; "" for others."""
    address = str(document.metadata.get("url") or "")
    is_saved = document.type is DocumentType.HTML and not _WEB.match(document.source) and _WEB.match(address)
    return quote(address, safe=f"{_KEPT}#") if is_saved else ""


def location_of(result: RetrievalResult, start: int, end: int) -> Location:
    """Return the place of a span that begins or ends in a result's chunk, whose parts are known."""
    parts = tuple(part for part in result.chunk.parts if part.start < end and part.end > start)
    if result.chunk.location.lines is None:
        return locate(parts, None)
    first = result.chunk.location.lines[0] + result.chunk.content.count("\n", 0, max(start - result.chunk.start, 0))
    first -= result.document.content.count("\n", start, result.chunk.start)
    heard = [part.start for part in result.chunk.parts if is_heard(part)]
    first -= sum(result.chunk.start < each <= start for each in heard)
    between = sum(start < each < end for each in heard)
    return locate(parts, (first, first + result.document.content.count("\n", start, end) - between))


def link(document: Document, location: Location, text: str) -> str:
    """Return a URL that opens at the quote: `file://…#page=3`, `#L10-L14` or `#t=42`, `https://…#anchor:~:text=…`.

    Only web and file URLs are returned. The document's source is preferred to a URL in its metadata. For members of
    archives, and formats that browsers don't show as a page, the URL opens the file without a fragment.
    """
    web = _web_address(document)
    archive = _archive(document)
    if archive and not web:
        return _file_address(archive)
    base = quote(web.split("#", 1)[0], safe=_KEPT) if web else _file_address(document.source)
    if not base or document.type in _WITHOUT_PLACES or (is_rendered_chat(document) and not location.anchor):
        return base
    if document.type is DocumentType.RECORDING:
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
    # The files of mail programs have no suffix by which a path would be told from a member.
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
    return ",".join(quote(words, safe="").replace("-", "%2D") for words in (_begin(first), *map(_end, others[-1:])))


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


def _end(words: str) -> str:
    return _begin(words[::-1])[::-1]


def _file_address(path: str) -> str:
    if _DRIVE.match(path):
        return PureWindowsPath(path).as_uri()
    return PurePosixPath(path).as_uri() if path.startswith("/") else ""
