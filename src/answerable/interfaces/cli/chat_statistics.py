"""The statistics of a chat, as `show` prints them."""

from __future__ import annotations

from answerable.interfaces.cli.printing import bar, columns, one_line, print_text
from answerable.text.chats import ChatStatistics

_MOST_SENDERS = 20


def print_statistics(found: ChatStatistics) -> None:
    """Who wrote how much, the months as a plot, the busiest days."""
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
