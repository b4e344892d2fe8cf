"""Addresses of images in what a model wrote: whoever opens one tells its server, with all that is in the address."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from answerable.answering.safety.addresses import addresses_in
from answerable.datatypes import RetrievalResult

IMAGE_NOTE = "it shows an address of an image in a document, which was not loaded: opening it tells its server"

_IMAGE = re.compile(r"!\[[^\[\]\n]{0,300}\]\([^)\n]{0,2000}|<img\b[^>]{0,2000}", re.IGNORECASE)
_REFERRING = re.compile(r"!\[[^\[\]\n]{0,300}\](?!\()")
_DEFINED = re.compile(r"(?m)^[ \t]{0,3}\[[^\[\]\n]{1,300}\]:[^\n]{0,2000}")
_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?(?://)?([^/?#:]+)", re.IGNORECASE)


def image_note(text: str, passages: Sequence[RetrievalResult]) -> str:
    """Return IMAGE_NOTE if a text shows an address of an image, its own or one of the passages', otherwise "".

    Any address of the same server counts: a model may have put what it read into the address.
    """
    shown = set(_hosts(text))
    images = {host for each in (text, *(passage.chunk.content for passage in passages)) for host in _image_hosts(each)}
    return IMAGE_NOTE if shown & images else ""


def _image_hosts(text: str) -> Iterator[str]:
    for image in _IMAGE.finditer(text):
        yield from _hosts(image[0])
    if _REFERRING.search(text):
        for defined in _DEFINED.finditer(text):
            yield from _hosts(defined[0])


def _hosts(text: str) -> Iterator[str]:
    for address in addresses_in(text):
        if match := _HOST.match(address):
            yield match[1].rpartition("@")[2].lower().removeprefix("www.")
