"""`answerable list` and `answerable sources`: show the library's documents, and the sources it follows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from answerable.interfaces.cli.options import (
    JsonOption,
    LibrariesOption,
    LibraryOption,
    open_libraries,
    open_library,
)
from answerable.interfaces.cli.printing import (
    address_of,
    console,
    counted,
    linked,
    one_line,
    print_address,
    print_json,
    print_text,
)
from answerable.interfaces.plain import origin_json, stored_json, unavailable_json
from answerable.retrieval.document_names import day_sent
from answerable.text.shown_names import shown_source

if TYPE_CHECKING:
    from answerable.protocols import StoredDocument


def list_documents(library: LibrariesOption = None, as_json: JsonOption = False) -> None:
    """List the documents of the library."""
    with open_libraries(library) as opened:
        found, unavailable = opened.documents(), opened.unavailable
    if as_json:
        print_json({"documents": [stored_json(document) for document in found], **unavailable_json(unavailable)})
        return
    if unavailable:
        from answerable.interfaces.cli.render import print_unavailable

        print_unavailable(unavailable)
    if found:
        _print_documents(found)
    else:
        print_text(("The library is empty. Fill it with: answerable add PATH", "yellow"))


def _print_documents(found: Sequence[StoredDocument]) -> None:
    """Print a table, or three lines per document if it is wider than the screen.

    To a pipe, titles aren't padded: one may be very long.
    """
    from rich.cells import cell_len

    heading = ("id", "type", "lang", "passages", "title", "source")
    cells = [
        (each.id[:8], each.type, each.language, str(each.chunks), _titled(each), shown_source(each)) for each in found
    ]
    rows = [heading, *(tuple(map(one_line, row)) for row in cells)]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    if not sys.stdout.isatty():
        widths[4] = 0
    elif sum(widths) + 2 * (len(widths) - 1) > console().width:
        _print_blocks(found)
        return
    for row, address in zip(rows, ("", *(address_of(each.source) for each in found)), strict=True):
        padded = [f"{cell}{' ' * (width - cell_len(cell))}  " for cell, width in zip(row, widths, strict=True)]
        padded[3] = f"{row[3]:>{widths[3]}}  "
        print_text((padded[0], "cyan"), *padded[1:5], (row[5], linked("", address)), wrap=False)


def _print_blocks(found: Sequence[StoredDocument]) -> None:
    for document in found:
        print_text((document.id[:8], "cyan"), "  ", one_line(_titled(document) or document.source))
        about = (document.type, document.language, f"{document.chunks} passages")
        print_text(f"    {', '.join(filter(None, about))}")
        print_address(one_line(shown_source(document)), address_of(document.source))


def _titled(document: StoredDocument) -> str:
    """Return the title; of a message, the subject and the day, since many have the same subject."""
    return ", ".join(filter(None, (document.title, day_sent(document))))


def sources(library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """List the folders, files and sites the library follows, with their documents and last sync."""
    with open_library(library) as opened:
        found = opened.origins()
    if as_json:
        print_json({"sources": [origin_json(origin) for origin in found]})
    elif not found:
        print_text(("Nothing is followed yet. Follow something with: answerable add PATH", "yellow"))
    for origin in () if as_json else found:
        print_text((one_line(origin.name), linked("bold", address_of(origin.name))), wrap=False)
        documents, files = (
            counted(origin.documents, "document"),
            counted(origin.sources, "file or page", "files or pages"),
        )
        print_text(f"    {documents} from {files}, synced {origin.seen.astimezone():%Y-%m-%d %H:%M}")
        if origin.options:
            print_text("    ", ", ".join(f"{key}: {value}" for key, value in origin.options.items()), wrap=False)
