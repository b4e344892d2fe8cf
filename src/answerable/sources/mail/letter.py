"""A message, whatever file it was in → Document: a head that people can read, then what its sender wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.sources.mail.headers import Person
from answerable.sources.mail.history import own_text
from answerable.text.languages import document_language

_MOST_SHOWN = 50
_MOST_KEPT = 100
_LONGEST_SUBJECT = 1_000
# As mail programs say it: the file of a message is often named by an id.
_UNTITLED = {"en": "(no subject)", "es": "(sin asunto)", "pt": "(sem assunto)"}

# Characters: more of each letter would take half of the time for a mailbox.
_TELLS_LANGUAGE = 500


@dataclass(frozen=True, slots=True)
class Letter:
    """A message. `time` is local time of its sender; `text` still has quoted history and a signature."""

    sender: Person
    to: Sequence[Person]
    copied: Sequence[Person]
    subject: str
    time: datetime | None
    text: str
    attachments: Sequence[str] = ()
    id: str = ""
    thread: str = ""

    def document(self, source: str) -> Document | None:
        """Return the message as a document with one part, or None if it says nothing."""
        head, body = self._head(), own_text(self.text, self.subject)
        if not head or not (body.strip() or self.subject or self.attachments):
            return None
        content = f"{head}\n\n{body}" if body.strip() else head
        begins = len(head) + 2 if body.strip() else self._subject_begins(head)
        told_by = body if len(body) > len(self.subject) else f"{self.subject}\n{body}"
        language = document_language(told_by[:_TELLS_LANGUAGE])
        part = Part(0, len(content), PartKind.MESSAGE, time=self.time, sender=self.sender.shown or None, body=begins)
        return Document(
            document_id(source, content),
            content,
            source,
            self.subject or _UNTITLED.get(language, _UNTITLED["en"]),
            DocumentType.MAIL,
            language,
            self._metadata(),
            (part,),
        )

    def _head(self) -> str:
        lines = [
            ("From", str(self.sender)),
            ("To", _listed(self.to)),
            ("Cc", _listed(self.copied)),
            ("Date", f"{self.time:%Y-%m-%d %H:%M}" if self.time else ""),
            ("Attachments", ", ".join(self.attachments[:_MOST_SHOWN])),
            ("Subject", self.subject[:_LONGEST_SUBJECT]),
        ]
        return "\n".join(f"{name}: {value}" for name, value in lines if value)

    def _subject_begins(self, head: str) -> int:
        """Return where a message begins that has no text but its subject."""
        return head.rfind("\nSubject: ") + len("\nSubject: ") if self.subject else len(head)

    def _metadata(self) -> dict[str, Any]:
        found = {
            "participants": [self.sender.shown] if self.sender.shown else [],
            "from": self.sender.address,
            "to": _names(self.to),
            "cc": _names(self.copied),
            "first_day": f"{self.time:%Y-%m-%d}" if self.time else "",
            "last_day": f"{self.time:%Y-%m-%d}" if self.time else "",
            "thread": self.thread,
            "message_id": self.id,
            "attachments": list(self.attachments[:_MOST_KEPT]),
        }
        return {name: value for name, value in found.items() if value}


def _listed(people: Sequence[Person]) -> str:
    more = [f"and {len(people) - _MOST_SHOWN} others"] if len(people) > _MOST_SHOWN else []
    return ", ".join([*map(str, people[:_MOST_SHOWN]), *more])


def _names(people: Sequence[Person]) -> list[str]:
    """Return names and addresses, so that either can be asked for."""
    return list(dict.fromkeys(text for each in people[:_MOST_KEPT] for text in (each.name, each.address) if text))
