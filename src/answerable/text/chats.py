"""Statistics of a chat: messages by sender and day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from answerable.datatypes import Document, PartKind
from answerable.text.locate import is_heard


@dataclass(frozen=True, slots=True)
class ChatStatistics:
    """Counts of messages by sender, most first, by day, in order, without empty days, and by hour of the day, from 0.

    `notices` counts the messenger's own notices, which are not messages.
    """

    first: datetime
    last: datetime
    messages: int
    notices: int
    by_sender: Mapping[str, int]
    by_day: Mapping[date, int]
    by_hour: tuple[int, ...]

    @property
    def by_month(self) -> dict[str, int]:
        """Messages of every month from the first to the last, `2024-03` → count."""
        first, last = (12 * moment.year + moment.month - 1 for moment in (self.first, self.last))
        counts = dict.fromkeys((f"{month // 12:04}-{month % 12 + 1:02}" for month in range(first, last + 1)), 0)
        for day, count in self.by_day.items():
            counts[f"{day:%Y-%m}"] += count
        return counts

    def busiest_days(self, n: int = 3) -> list[tuple[date, int]]:
        """Return the n days with the most messages, most first; the earlier first among equals."""
        return sorted(self.by_day.items(), key=lambda pair: (-pair[1], pair[0]))[:n]


def chat_statistics(document: Document) -> ChatStatistics | None:
    """Return the statistics of a chat, or None for a document without messages."""
    messages = [
        (part.time, part.sender)
        for part in document.parts
        if part.kind is PartKind.MESSAGE and not is_heard(part) and part.time is not None and part.sender is not None
    ]
    if not messages:
        return None
    times = [time for time, _ in messages]
    hours = Counter(time.hour for time in times)
    return ChatStatistics(
        first=min(times),
        last=max(times),
        messages=len(messages),
        notices=sum(part.kind is PartKind.NOTICE for part in document.parts),
        by_sender=dict(Counter(sender for _, sender in messages).most_common()),
        by_day=dict(sorted(Counter(time.date() for time in times).items())),
        by_hour=tuple(hours[hour] for hour in range(24)),
    )
