"""Make Word documents and e-books for tests, valid and manipulated."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping

CONTAINER = (
    '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
ACTS = {"one.xhtml": "<h1>Chapter One</h1><p>The pump costs 300 euros.</p>"}


def zipped(members: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive of these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members.items():
            # Programs recognise OpenDocument files and e-books by this member, if it isn't compressed.
            archive.writestr(name, data, zipfile.ZIP_STORED if name == "mimetype" else None)
    return buffer.getvalue()


def edited(data: bytes, **changes: Callable[[str], str]) -> bytes:
    """A Word document with some of its parts changed, named by `word/…xml` without folder and suffix."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for part, change in changes.items():
        name = f"word/{part}.xml"
        members[name] = change(members[name].decode()).encode()
    return zipped(members)


def with_body(data: bytes, xml: str) -> bytes:
    """A Word document with this at the start of its body."""
    return edited(data, document=lambda text: text.replace("<w:body>", f"<w:body>{xml}", 1))


def epub(
    chapters: Mapping[str, str] = ACTS,
    metadata: str = "<dc:title>The Book</dc:title><dc:language>en-GB</dc:language>",
    manifest: str = "",
    spine: str = "",
    guide: str = "",
    extra: Mapping[str, str | bytes] | None = None,
    page: str = '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">'
    "<head><title/></head><body>{}</body></html>",
) -> bytes:
    """A book of these chapters, each the inside of its body, in this order."""
    items = "".join(
        f'<item id="c{number}" href="{name}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(chapters)
    )
    order = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata>'
        f"<manifest>{items}{manifest}</manifest><spine>{spine}{order}</spine><guide>{guide}</guide></package>"
    )
    members: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package,
        **{f"OEBPS/{name}": page.format(body) for name, body in chapters.items()},
        **(extra or {}),
    }
    return zipped(members)
