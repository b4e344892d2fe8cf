"""`answerable list` and `answerable sources`: show the library's documents, and the sources it follows."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from rich.table import Table

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
    """Print a table or, if that is wider than the screen, three lines per document."""
    from rich.measure import Measurement

    screen = console()
    table = _table(found)
    # The width the table wants, not the width it gets here.
    wanted = Measurement.get(screen, screen.options.update(max_width=100_000), table).maximum
    if wanted <= screen.width:
        screen.print(table)
        return
    for document in found:
        print_text((document.id[:8], "cyan"), "  ", one_line(document.title or document.source))
        about = (document.type, document.language, f"{document.chunks} passages")
        print_text(f"    {', '.join(filter(None, about))}")
        print_address(one_line(document.source), address_of(document.source))


def _table(found: Sequence[StoredDocument]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("id", "type", "lang", "passages", "title", "source"):
        justify = "right" if heading == "passages" else "left"
        table.add_column(heading, no_wrap=True, justify=justify)  # type: ignore[arg-type]
    for document in found:
        cells = (document.type, document.language, str(document.chunks), document.title)
        source = Text(one_line(document.source), linked("", address_of(document.source)))
        table.add_row(Text(document.id[:8], "cyan"), *(Text(one_line(cell)) for cell in cells), source)
    return table


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
