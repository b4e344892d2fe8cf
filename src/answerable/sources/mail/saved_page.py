"""Pages saved with their parts as one file, which has the form of a mail (RFC 2557) → Document."""

from __future__ import annotations

from answerable.datatypes import Document
from answerable.errors import EmptySource
from answerable.sources.context import ReadContext
from answerable.sources.html.read import read_html
from answerable.sources.html.web_address import is_site
from answerable.sources.mail.contents import payload
from answerable.sources.mail.read import parse_message


def read_mhtml(data: bytes, source: str, context: ReadContext) -> Document:
    """Return the document in a page saved with its parts as one file (RFC 2557). Raise as `read_html` does."""
    message = parse_message(data, source)
    pages = (part for part in message.walk() if part.get_content_type() in ("text/html", "application/xhtml+xml"))
    page = next(pages, None)
    if page is None:
        raise EmptySource(f"{source} holds no page: save the page again from the browser, then add that file")
    address = page.get("content-location") or message.get("snapshot-content-location") or ""
    return read_html(payload(page), source, str(address) if is_site(str(address)) else "")
