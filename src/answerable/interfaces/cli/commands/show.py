"""`answerable show`: print a document, and the statistics of a chat."""

from __future__ import annotations

import sys

from answerable.interfaces.cli.options import DocumentArgument, JsonOption, LibrariesOption, open_libraries
from answerable.interfaces.cli.printing import bar, clean, columns, one_line, print_json, print_rows, print_text
from answerable.interfaces.plain import document_json
from answerable.text.chats import ChatStatistics, chat_statistics

_MOST_SENDERS = 20


def show(document: DocumentArgument, library: LibrariesOption = None, as_json: JsonOption = False) -> None:
    """Show a document with its text."""
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
        "metadata": ", ".join(f"{key}: {value}" for key, value in found.metadata.items()),
    }
    print_rows((name, value) for name, value in rows.items() if value)
    print_text("")
    if statistics := chat_statistics(found):
        _print_statistics(statistics)
        print_text("")
    sys.stdout.write(clean(found.content.replace("\f", "\n\n").rstrip("\n")) + "\n")
    sys.stdout.flush()


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
