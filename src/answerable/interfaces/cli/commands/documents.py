"""`answerable list`, `sources`, `show`, `table`, `remove`: the documents of a library, and the sources it follows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Optional

from typer import Argument, Option

from answerable.datatypes import DocumentType
from answerable.errors import SettingsError
from answerable.formats.locate import shown_source
from answerable.interfaces.cli.options import (
    DocumentArgument,
    JsonOption,
    LibrariesOption,
    LibraryOption,
    complete_documents,
    open_libraries,
    open_library,
)
from answerable.interfaces.cli.printing import (
    address_of,
    bar,
    clean,
    columns,
    console,
    counted,
    linked,
    one_line,
    print_address,
    print_json,
    print_rows,
    print_text,
)
from answerable.interfaces.plain import citation_json, document_json, origin_json, stored_json, unavailable_json
from answerable.retrieval.document_names import day_sent

if TYPE_CHECKING:
    from answerable.protocols import StoredDocument
    from answerable.tables.entries import ChatStatistics


def list_documents(library: LibrariesOption = None, as_json: JsonOption = False) -> None:
    """List the documents of the library."""
    with open_libraries(library) as opened:
        found, unavailable, waiting = opened.documents(), opened.unavailable, opened.waiting()
    if as_json:
        documents = [stored_json(document) for document in found]
        print_json({"documents": documents, **unavailable_json(unavailable, waiting)})
        return
    if unavailable:
        from answerable.interfaces.cli.render import print_unavailable

        print_unavailable(unavailable)
    if found:
        _print_documents(found)
    else:
        print_text(("The library is empty. Fill it with: answerable add PATH", "yellow"))
    if waiting:
        from answerable.indexing.reports import waiting_note

        print_text((waiting_note(waiting), "yellow"))


_TOGETHER = 500  # rows that Rich prints at once, in a third of the time that it takes for them one by one


def _print_documents(found: Sequence[StoredDocument]) -> None:
    """Print a table, or three lines per document if it is wider than the screen.

    In a pipe, titles aren't padded, since a single title may be very long.
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
    addressed = list(zip(rows, ("", *(address_of(each.source) for each in found)), strict=True))
    for start in range(0, len(rows), _TOGETHER):
        pieces: list[str | tuple[str, str]] = []
        for row, address in addressed[start : start + _TOGETHER]:
            padded = [f"{cell}{' ' * (width - cell_len(cell))}  " for cell, width in zip(row, widths, strict=True)]
            padded[3] = f"{row[3]:>{widths[3]}}  "
            pieces += ("\n", (padded[0], "cyan"), *padded[1:5], (row[5], linked("", address)))
        print_text(*pieces[1:], wrap=False)


def _print_blocks(found: Sequence[StoredDocument]) -> None:
    for document in found:
        print_text((document.id[:8], "cyan"), "  ", one_line(_titled(document) or document.source))
        about = (document.type, document.language, f"{document.chunks} passages")
        print_text(f"    {', '.join(filter(None, about))}")
        print_address(one_line(shown_source(document)), address_of(document.source))


def _titled(document: StoredDocument) -> str:
    """Return the title; for a message, its subject and day, since many messages have the same subject."""
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


_MOST_SENDERS = 20  # senders: about a screen of lines


def show(document: DocumentArgument, library: LibrariesOption = None, as_json: JsonOption = False) -> None:
    """Show a document with its text."""
    from answerable.tables.entries import chat_statistics

    with open_libraries(library) as opened:
        found = opened.document(opened.resolve(document))
        chunks = opened.chunks(found.id)
    if as_json:
        print_json(document_json(found, chunks))
        return
    rows = {
        "id": found.id,
        "title": found.title,
        "source": found.source,
        "type": str(found.type),
        "language": found.language,
        "passages": str(len(chunks)),
        "left out": ", ".join(map(str, found.left_out)),
        "metadata": ", ".join(f"{key}: {value}" for key, value in found.metadata.items()),
    }
    print_rows((name, value) for name, value in rows.items() if value)
    print_text("")
    if statistics := chat_statistics(found):
        _print_statistics(statistics)
        print_text("")
    sys.stdout.write(clean(found.content.replace("\f", "\n\n").rstrip("\n")) + "\n")
    sys.stdout.flush()


def table(
    document: DocumentArgument,
    where: Annotated[
        Optional[list[str]],
        Option(metavar="CONDITION", help="State=paid, Amount>50 or Notes~lift (contains); repeat it: all hold."),
    ] = None,
    by: Annotated[str, Option(metavar="COLUMN", help="Count, or compute, apart for each value of this column.")] = "",
    period: Annotated[str, Option(metavar="PERIOD", help="With --by a date: each day, month or year.")] = "day",
    total: Annotated[str, Option("--sum", metavar="COLUMN", help="Add up a column of numbers.")] = "",
    average: Annotated[str, Option(metavar="COLUMN", help="The mean of a column of numbers.")] = "",
    most: Annotated[str, Option(metavar="COLUMN", help="The rows with the greatest number or date.")] = "",
    least: Annotated[str, Option(metavar="COLUMN", help="The rows with the smallest number or date.")] = "",
    distinct: Annotated[str, Option(metavar="COLUMN", help="How many different values a column has.")] = "",
    count: Annotated[bool, Option("--count", help="Count the rows.")] = False,
    sort: Annotated[str, Option(metavar="COLUMN", help="Sort the rows by this column; -COLUMN: greatest first.")] = "",
    limit: Annotated[Optional[int], Option(min=1, help="Rows or groups at most.")] = None,
    number: Annotated[int, Option("--table", min=1, help="Which table of the document, from 1.")] = 1,
    library: LibraryOption = None,
    as_json: JsonOption = False,
) -> None:
    """List, count, add up or compare rows of a document's table or a chat's messages, each with its place.

    Without an option, the first rows are listed. Signs of --where: = != < <= > >= ~, and State= for empty cells.
    Columns may be named by their beginning; those of a chat are sender, time, text and attachment.
    """
    named = {"sum": total, "average": average, "most": most, "least": least, "distinct": distinct}
    chosen = [name for name, column in named.items() if column]
    if len(chosen) + count > 1:
        raise SettingsError(f"Give one of --count, {', '.join(f'--{name}' for name in named)}.")
    if period != "day" and not by:
        raise SettingsError("--period needs --by with a column of dates.")
    operation = chosen[0] if chosen else "count" if count or by else "list"
    with open_library(library) as opened:
        found = opened.table(
            opened.resolve(document), operation, named.get(operation, ""), where or (), by, period, sort, limit, number
        )
    from answerable.interfaces.cli.render import place_of

    if as_json:
        lines = [{"text": text, "citations": [citation_json(each) for each in cited]} for text, cited in found.lines]
        print_json({"lines": lines})
        return
    (plan, _), (result, _), *rest = found.lines
    print_text((one_line(result.partition(": ")[2]), "bold"))
    for text, cited in rest:
        places = [place_of(each, each.location) for each in cited] if text.startswith("-") else []
        more = f" (+{len(places) - 1})" if len(places) > 1 else ""
        print_text(one_line(text), *[(f"  {place}{more}", "dim") for place in places[:1]], wrap=False)
    print_text((one_line(plan.partition(": ")[2]), "dim"))


def _print_statistics(found: ChatStatistics) -> None:
    """Print each sender's share of the messages, a chart of the months, and the busiest days."""
    most, width = max(found.by_sender.values()), len(f"{found.messages:,}")
    for sender, count in list(found.by_sender.items())[:_MOST_SENDERS]:
        share = f"{count / found.messages:4.0%}"
        print_text(f"{count:>{width},} {share} ", (bar(count / most), "cyan"), f" {one_line(sender)}", wrap=False)
    others = list(found.by_sender.values())[_MOST_SENDERS:]
    if others:
        print_text(f"{sum(others):>{width},} by {len(others)} others")
    months = found.by_month
    if len(months) > 1:
        plot = columns(list(months.values()))
        print_text(f"{next(iter(months))} ", (plot, "cyan"), f" {list(months)[-1]}", wrap=False)
    busiest = ", ".join(f"{day:%Y-%m-%d} ({count:,})" for day, count in found.busiest_days())
    print_text(("busiest  ", "bold"), busiest)


def remove(
    document: Annotated[
        str,
        Argument(
            metavar="DOCUMENT",
            help="Its path, file name, start of its id, or a part of its title; or a folder or site that was added.",
            autocompletion=complete_documents,
        ),
    ],
    library: LibraryOption = None,
    forget: Annotated[
        bool, Option("--forget", help="Also erase its vectors in the cache, which all libraries share.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove a document from the library without a trace, or all documents of a folder or site. The files stay.

    In a library of over 10,000 passages, its data may stay in the library's files; then the command says so.
    A folder, file or site that was added is no longer followed. A single document from a followed folder or site
    returns with the next sync if its file or page still exists.
    """
    from answerable.maintenance.erasing import erasing_note

    with open_library(library) as opened:
        origins = opened.origins()
        named = [origin for origin in origins if origin.is_called(document)]
        if not named:
            found = opened.document(opened.resolve(document))
            # If the name is that of a followed file, stop following the file; if it is an id, remove only the document.
            named = [origin for origin in origins if origin.name == found.source and not found.id.startswith(document)]
        if named:
            name = named[0].name
            report = opened.unfollow(name, forget)
        else:
            opened.remove(found.id, forget)
        unerased = opened.unerased()
    if named and as_json:
        print_json({"origin": name, "documents": report.removed, "unerased": unerased})
    elif named:
        print_text(f"removed {counted(report.removed, 'document')}  ", one_line(name), wrap=False)
    elif as_json:
        print_json({"removed": found.id, "unerased": unerased})
    else:
        name = found.title if found.type == DocumentType.MAIL else found.source
        print_text(f"removed {found.id[:8]}  ", one_line(name or found.title), wrap=False)
    if unerased and not as_json:
        print_text((erasing_note(unerased), "dim"))
