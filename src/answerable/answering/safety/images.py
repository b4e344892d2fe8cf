"""Addresses of images in what a model wrote: whoever opens one tells its server, with all that is in the address."""

from __future__ import annotations

import re
from collections.abc import Sequence

from answerable.datatypes import RetrievalResult

IMAGE_NOTE = "it shows an address of an image in a document, which was not loaded: opening it tells its server"

# An image of Markdown, the definition that a referring image needs, and a tag.
_IMAGE = re.compile(
    r"!\[[^\[\]\n]{0,300}\]\([^)\n]{0,2000}|(?m:^)[ ]{0,3}\[[^\[\]\n]{1,300}\]:[^\n]{0,2000}|<img\b[^>]{0,2000}",
    re.IGNORECASE,
)
_HOST = re.compile(r"(?://|\bwww\.)(?:[^\s/@]{0,200}@)?(?:www\.)?([\w-]{1,63}(?:\.[\w-]{1,63}){1,9})", re.IGNORECASE)


def image_note(text: str, passages: Sequence[RetrievalResult]) -> str:
    """Return IMAGE_NOTE if a text shows an address of an image, its own or one of the passages', otherwise "".

    Any address of the same server counts: a model may have put what it read into the address.
    """
    shown = _hosts(text)
    texts = (text, *(passage.chunk.content for passage in passages)) if shown else ()
    images = {host for each in texts for found in _IMAGE.findall(each) for host in _hosts(found)}
    return IMAGE_NOTE if shown & images else ""


def _hosts(text: str) -> set[str]:
    return {host.lower() for host in _HOST.findall(text)}
