"""Texts whose messages begin with a header of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator


def messages_below(headers: re.Pattern[str], content: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each header with the text below it, up to the next."""
    header: re.Match[str] | None = None
    for following in headers.finditer(content):
        if header is not None:
            yield header, content[header.end() : following.start()]
        header = following
    if header is not None:
        yield header, content[header.end() :]
