"""Split the text of a message into sender and body, based on all messages of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from answerable.text.whatsapp import wordings
from answerable.text.whatsapp.bodies import is_encryption_notice
from answerable.text.whatsapp.wordings import without_marks

_LONGEST_SENDER = 160
_AFTER_COLON = frozenset(" \t\r\n\u00a0\u202f\u2009\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069\u061c")
_CLOSING_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "”": "”"}
# At least 3 messages by "Work: Ana" and none by "Work" alone: the colon belongs to the name.
_REPEATED = 3


class Senders:
    """The senders of a file whose message headers end at `starts`."""

    def __init__(self, content: str, starts: Sequence[int]) -> None:
        self._content = content
        self._counts: Counter[str] = Counter()
        self._longer: dict[str, Counter[str]] = {}
        self._names: dict[str, str | None] = {}
        for start in starts:
            self._count(start)
        self._with_colon = {name for name in self._longer if self._always_continues(name)}

    def split(self, start: int) -> tuple[str | None, int]:
        """Return the sender (None for a notice) of the message at `start`, and where its text begins."""
        content = self._content
        line_end = self._line_end(start)
        colon = self._colon(start, line_end)
        if colon >= 0 and content[start:colon] in self._with_colon:
            colon = self._colon(colon + 1, line_end)
        if colon < 0:
            # "Ana:hello", typed by hand, if Ana is a sender elsewhere.
            colon = content.find(":", start, line_end)
            if colon < 0 or content[start:colon] not in self._counts:
                return None, start
        name = self._name(content[start:colon])
        if name is None:
            return None, start
        has_blank = colon + 1 < line_end and content[colon + 1] in " \t\u00a0\u202f"
        return name, colon + 1 + has_blank

    def _line_end(self, start: int) -> int:
        line_end = self._content.find("\n", start)
        return line_end if line_end >= 0 else len(self._content)

    def _colon(self, start: int, line_end: int) -> int:
        """Return the first colon that may end a name, or -1."""
        limit = min(line_end, start + _LONGEST_SENDER)
        colon = self._content.find(":", start, limit)
        while colon >= 0 and colon + 1 != line_end and self._content[colon + 1] not in _AFTER_COLON:
            colon = self._content.find(":", colon + 1, limit)
        return colon

    def _count(self, start: int) -> None:
        line_end = self._line_end(start)
        colon = self._colon(start, line_end)
        if colon < 0:
            return
        name = self._content[start:colon]
        self._counts[name] += 1
        second = self._colon(colon + 1, min(line_end, colon + 80))
        if second >= 0:
            self._longer.setdefault(name, Counter())[self._content[start:second]] += 1

    def _always_continues(self, name: str) -> bool:
        """Whether a name ("Work") only begins longer names ("Work: Ana", "Work: Ben"), each with several messages."""
        longer = self._longer[name]
        return self._counts[name] >= _REPEATED and longer.total() == self._counts[name] and min(longer.values()) > 1

    def _name(self, prefix: str) -> str | None:
        """Return the sender's visible name, or None if the text is the beginning of a notice that has a colon."""
        if prefix not in self._names:
            is_notice = self._counts[prefix] < _REPEATED and _begins_notice(prefix)
            name = " ".join(without_marks(prefix).split())
            self._names[prefix] = None if is_notice or not name else name
        return self._names[prefix]


def _begins_notice(prefix: str) -> bool:
    text = without_marks(prefix)
    if _is_open_quotation(text) or wordings.NOTICE_WITH_QUOTE.search(text):
        return True
    return text.casefold().startswith(wordings.NOTICES_TO_READER) or (len(text) > 30 and is_encryption_notice(text))


def _is_open_quotation(text: str) -> bool:
    """Whether a quotation begins in the text and doesn't end there."""
    closing = ""
    for character in text:
        if not closing:
            closing = _CLOSING_QUOTES.get(character, "")
        elif character == closing:
            closing = ""
    return bool(closing)
