"""Why a file in a folder or an archive is left out, judging by its first bytes and its name."""

from __future__ import annotations

from answerable.errors import UnsupportedSource
from answerable.installation import install_command
from answerable.sources.context import Ocr
from answerable.sources.formats import Format, recognise
from answerable.sources.ocr.sizes import heif_name
from answerable.sources.pictures import undecoded
from answerable.sources.recordings import formats as recordings

UNSUPPORTED = "unsupported"
WITHOUT_TEXT = "picture without text"


def without_ocr() -> str:
    """Return the reason for leaving out a picture where nothing is installed that reads it."""
    return f"picture ({install_command('ocr')})"


def why_unread(head: bytes, name: str, ocr: Ocr | None) -> str:
    """Return why no reader takes a file, or ""."""
    try:
        form = recognise(head, name)
    except UnsupportedSource:
        return UNSUPPORTED
    if form is Format.RECORDING:
        return "" if recordings.is_heard() else recordings.not_heard()
    if form is not Format.PICTURE:
        return ""
    if ocr is None:
        return without_ocr()
    return f"{heif_name(head)} picture (save it as JPEG)" if undecoded(head, ocr) else ""


class LeftOut:
    """Decides whether a file is read; remembers the reason why it isn't."""

    def __init__(self, ocr: Ocr | None) -> None:
        self._ocr = ocr
        self.reason = ""

    def takes(self, head: bytes, name: str) -> bool:
        """Whether a reader takes a file with these first bytes and this name."""
        self.reason = why_unread(head, name, self._ocr)
        return not self.reason


def is_picture(head: bytes, name: str) -> bool:
    """Whether a file is a picture that OCR reads."""
    try:
        return recognise(head, name) is Format.PICTURE
    except UnsupportedSource:
        return False
