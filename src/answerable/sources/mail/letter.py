"""Headers of a message → people, time and thread; a message → Document: a head, then the text that its sender wrote.

Quoted messages and the signature are left out: a quoted message is a document of its own, if it is in the library. A
forwarded message is kept, since often it is nowhere else. Headers are parsed leniently rather than by the standard's
grammar, which half of the mail in old mailboxes breaks in some way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from email.errors import MessageError
from email.header import decode_header
from email.utils import parsedate_to_datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from answerable.datatypes import Document, DocumentType, Part, PartKind
from answerable.sources.exported import one_line
from answerable.sources.text import decode_declared, make_document, with_plain_line_ends
from answerable.text.characters import QUESTION_MARKS, encodable, printable_line
from answerable.text.languages import document_language

OF_PARSER = (MessageError, ValueError, TypeError, AttributeError, LookupError, AssertionError, RecursionError)
"""Exceptions that Python's mail parser raises, depending on its version, for mail that the standard doesn't allow."""
_LONGEST_ATTRIBUTION = 300  # characters of the attribution above a quotation ("Ana wrote:")
_LINES_OF_ATTRIBUTION = 4  # lines into which mail programs break an attribution
_QUOTE = re.compile(r"[ \t]*(?:>|\|(?=\s*>))")
_QUOTES = re.compile(r"[ \t>|]*")
_ENDS = re.compile(r"[.!?…。！？؟।:;][\"'”’»)\]]*$")
# "On 5 March 2024 at 21:15, Ana <ana@example.org> wrote:"
_ATTRIBUTION = re.compile(
    r"[\s*_]*(?:On|El|Em|Le|Am|Il|Op|A|No dia|O|At|Den)\b(?=.*(?:\d|@)).{4,}?"
    r"\b(?:wrote|writes|said|escribi[oó]|escribe|escreveu|va escriure|a écrit|schrieb|ha scritto|skrev)"
    r"\b[^:\n]{0,80}:[\s*_]*$",
    re.IGNORECASE,
)
# "Ana <ana@example.org> wrote:", "Ana <ana@example.org> (5 March 2024):"
_NAMED = re.compile(
    r"[^\n]{0,150}[<(\[][^<>\s]+@[^<>\s]+[>)\]][^\n]{0,60}"
    r"\b(?:wrote|writes|escribi[oó]|escribe|escreveu|a écrit|schrieb|ha scritto)\b[^:\n]{0,60}:[\s*_]*$",
    re.IGNORECASE,
)
_BEGINS_ATTRIBUTION = re.compile(
    r"[\s*_]*(?:(?:On|El|Em|Le|Am|Il|Op|A|No dia|O|At|Den)\b|[^\n]{0,150}[<(\[][^<>\s]+@)", re.IGNORECASE
)
_ORIGINAL = re.compile(
    r"[\s*_>]*-{2,}\s*(?:Original Message|Original Appointment|Mensaje original|Mensagem [Oo]riginal|Missatge original|"
    r"Message d'origine|Ursprüngliche Nachricht|Messaggio originale|Oorspronkelijk bericht|Reply message)\s*-{2,}",
    re.IGNORECASE,
)
_FORWARDED = re.compile(
    r"[\s*_>]*(?:-{2,}\s*(?:Forwarded|Mensaje reenviado|Mensagem encaminhada|Mensagem reencaminhada|Missatge reenviat)"
    r"|Begin forwarded message:|Inicio del mensaje reenviado:|Início da mensagem reencaminhada:)",
    re.IGNORECASE,
)
_FORWARDS = re.compile(r"\s*(?:fwd?|rv|enc|res?env|tr|wg|i)\s*:", re.IGNORECASE)
# The lines above a message that Outlook quotes.
_FROM = re.compile(r"[\s*_]*(?:From|De|Von|Da|Van)\s*\**:\**\s*\S", re.IGNORECASE)
_SENT = re.compile(
    r"[\s*_]*(?:Sent|Date|Enviado(?: el| em)?|Enviada(?: em)?|Fecha|Data|Gesendet|Envoyé|Inviato|Verzonden)\s*\**:",
    re.IGNORECASE,
)
_RULE = re.compile(r"\s*[_-]{10,}\s*$")
_OWN, _QUOTED, _ATTRIBUTED = "own", "quoted", "says who wrote the quotation below"  # kinds of lines
_SIGNATURE = re.compile(r"--\s?$")
_SENT_FROM = re.compile(
    r"[\s*_]*(?:Sent from (?:my|Mail for|Yahoo|Outlook|Proton)|Get Outlook for|Enviado desde (?:mi|Outlook|Yahoo)|"
    r"Obtener Outlook para|Enviado do meu|Enviado a partir do|Obter o Outlook para)[^\n]{0,80}$",
    re.IGNORECASE,
)
_LONGEST_SUBJECT = 1_000  # characters of the subject in the document's head
_MOST_SHOWN = 50  # people or files in the document's head, which every passage carries
_MOST_KEPT = 100  # people or files in the document's metadata
_LONGEST_TITLE = 80  # characters of a title made of a message's first words; the file's name is often an id
# Characters of a message for language detection: more would take half of the time for a mailbox.
_TELLS_LANGUAGE = 500


@dataclass(frozen=True, slots=True)
class Letter:
    """A message. `time` is in the sender's local time; `text` still has quoted history and a signature."""

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
        """Return the message as a document with one part, or None if it has no text, subject or attachment."""
        head, body = self._head(), own_text(self.text, self.subject)
        if not head or not (body.strip() or self.subject or self.attachments):
            return None
        content = f"{head}\n\n{body}" if body.strip() else head
        # Of a message without other text, the subject is the body.
        begins = len(head) + 2 if body.strip() else len(head) - len(self.subject[:_LONGEST_SUBJECT])
        sample = body if len(body) > len(self.subject) else f"{self.subject}\n{body}"
        language = document_language(sample[:_TELLS_LANGUAGE])
        part = Part(0, len(content), PartKind.MESSAGE, time=self.time, sender=self.sender.shown or None, body=begins)
        title = self.subject or one_line(body, _LONGEST_TITLE) or self.attachments[0]
        return make_document(source, content, DocumentType.MAIL, [part], title, self._metadata(), language)

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
    """Return names and addresses, so that people can be found by either."""
    return list(dict.fromkeys(text for each in people[:_MOST_KEPT] for text in (each.name, each.address) if text))


def own_text(text: str, subject: str = "") -> str:
    """Return what the sender wrote, or the whole text if nothing else is in it.

    Of quotations, only the paragraph above each answer is kept, as `> question`. Of one quotation above the whole
    answer, only a question.
    """
    lines = _told_apart(text.split("\n"), bool(_FORWARDS.match(subject)))
    groups = [(kind, "\n".join(line for _, line in group)) for kind, group in groupby(lines, itemgetter(0))]
    own = [kind == _OWN and bool(group.strip()) for kind, group in groups]
    answered = {n for n, (kind, _) in enumerate(groups[:-1]) if kind == _QUOTED and own[n + 1]}
    if len(answered) == 1 and not (any(own[: min(answered)]) and groups[min(answered) - 1][0] == _OWN):
        answered = {n for n in answered if _question(groups[n][1]).endswith(QUESTION_MARKS)}
    shown = (
        group if kind == _OWN else _question(group)
        for n, (kind, group) in enumerate(groups)
        if kind == _OWN or n in answered
    )
    kept = re.sub(r"\n{3,}", "\n\n", "\n".join(shown)).strip("\n")
    return kept if kept.strip() else text.strip("\n")


def _question(quoted: str) -> str:
    """Return the last paragraph of a quotation, or the one above if that ends in no mark, such as `Thanks, Ana`."""
    marks = ((_QUOTES.match(line), line) for line in reversed(quoted.split("\n")))
    lines = [(mark[0].count(">"), line[mark.end() :].strip()) for mark, line in marks if mark]
    depth = next((each for each, text in lines if text), 0)
    groups = groupby(lines, lambda each: each[0] == depth and bool(each[1]))
    paragraphs = ["\n".join(f"> {text}" for _, text in reversed(list(group))) for is_text, group in groups if is_text]
    return next(filter(_ENDS.search, paragraphs), paragraphs[0] if paragraphs else "")


def _told_apart(lines: list[str], is_forward: bool) -> Iterator[tuple[str, str]]:
    """Yield the sender's own lines, quoted ones and attributions, without the signature and what is below."""
    number = 0
    in_signature = False
    while number < len(lines):
        line = lines[number]
        if _FORWARDED.match(line) or (is_forward and (_is_head(lines, number) or _ORIGINAL.match(line))):
            yield from ((_OWN, line) for line in lines[number:])
            return
        if _is_head(lines, number) or _ORIGINAL.match(line):
            return
        if _QUOTE.match(line):
            in_signature = False
            yield _QUOTED, line
            number += 1
            continue
        if length := _attribution(lines, number):
            if not _is_quoted(lines, number + length):
                # The rest is a quoted message without a mark on each line.
                return
            yield _ATTRIBUTED, ""
            number += length
            while number < len(lines) and not lines[number].strip():
                number += 1
            continue
        in_signature = in_signature or bool(_SIGNATURE.match(line))
        if not (in_signature or _SENT_FROM.match(line)):
            yield _OWN, line
        number += 1


def _is_head(lines: list[str], number: int) -> bool:
    """Whether the head of a quoted message begins here, perhaps with a rule above it."""
    if _RULE.match(lines[number]):
        number += 1
    if number >= len(lines) or not _FROM.match(lines[number]):
        return False
    return any(_SENT.match(line) for line in lines[number + 1 : number + 4])


def _attribution(lines: list[str], number: int) -> int:
    """Return how many lines, from this line on, say who wrote the quotation below; mail programs break such lines."""
    if not _BEGINS_ATTRIBUTION.match(lines[number][:_LONGEST_ATTRIBUTION]):
        return 0
    joined = ""
    for length, line in enumerate(lines[number : number + _LINES_OF_ATTRIBUTION], 1):
        if not line.strip() or len(joined) + len(line) > _LONGEST_ATTRIBUTION:
            return 0
        joined = f"{joined} {line.strip()}" if joined else line.strip()
        if joined.endswith((":", "*", "_")) and (_ATTRIBUTION.match(joined) or _NAMED.match(joined)):
            return length
    return 0


def _is_quoted(lines: list[str], number: int) -> bool:
    """Whether the next line that isn't blank is marked as quoted."""
    below = next((line for line in lines[number:] if line.strip()), ">")
    return _QUOTE.match(below) is not None


# Codecs of charsets that mail programs for other alphabets declare instead of the right one.
_UNRELIABLE = frozenset({"cp1252", "utf-8"})
Headers = Mapping[str, Sequence[str]]
_MOST_PEOPLE = 500  # people of one header
# Lengths are limited: otherwise, the time for unclosed quotes and brackets grows with the square of their number.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.){0,500}"|<[^<>]{0,500}>|\([^()]{0,500}\)|[,;]|[^",;<(]+|["<(]')
_ESCAPED = re.compile(r"\\(.)")
_ADDRESS = re.compile(r"[^\s<>@]+@[^\s<>@]+")
_ID = re.compile(r"<\s*([^<>\s]+)\s*>")
# "Thu Mar  7 10:00:00 2024", "7 Mar 2024 10:00:00 +0000"
_DATE_IN_LINE = re.compile(r"(?:\S+\s+){3}\d\d?:\d\d.*")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in a header: a name, an address, or both."""

    name: str = ""
    address: str = ""

    def __str__(self) -> str:
        """Return the name and the address as mail programs show them."""
        return f"{self.name} <{self.address}>" if self.name and self.address else self.shown

    @property
    def shown(self) -> str:
        """The name, or the address if there is no name."""
        return self.name or self.address


def decoded_words(value: str) -> str:
    """Return a header's value on one line, with its encoded words decoded."""
    value = re.sub(r"\r?\n[ \t]*", " ", value)
    if "=?" in value:
        with suppress(MessageError, ValueError):
            pieces = decode_header(value)
            value = "".join(each if isinstance(each, str) else decoded(each, name or "") for each, name in pieces)
    return _line(value)


def _line(value: str) -> str:
    """Return a value on one line, with the bytes beyond ASCII decoded that the parser kept as lone surrogates."""
    value = value if value.isascii() else decoded(value.encode("utf-8", "surrogateescape"), "")
    return printable_line(value)


def people(headers: Headers, name: str) -> list[Person]:
    """Return the people in a header, without groups that hide them ("undisclosed-recipients:;")."""
    found = (person for value in headers.get(name, ()) for person in _people(value))
    return [person for person, _ in zip(found, range(_MOST_PEOPLE), strict=False)]


def _people(value: str) -> Iterator[Person]:
    words: list[str] = []
    address = comment = ""
    for token in [*_TOKEN.findall(value), ","]:
        if token in (",", ";"):
            if person := _person(words, address, comment):
                yield person
            words, address, comment = [], "", ""
        elif token.startswith("<") and len(token) > 1:
            address = token[1:-1].strip()
        elif token.startswith("(") and len(token) > 1:
            comment = token[1:-1]
        elif token.startswith('"') and len(token) > 1:
            words.append(_ESCAPED.sub(r"\1", token[1:-1]))
        else:
            # A group begins with its name and a colon.
            words.append(token.rpartition(":")[2] if ":" in token and "=?" not in token else token)


def _person(words: Sequence[str], address: str, comment: str) -> Person | None:
    name = decoded_words(" ".join(words)).strip(" '\"")
    address = _line(address)
    if not address and (bare := _ADDRESS.search(name)):
        address, name = bare[0], decoded_words(comment)
    if name.casefold() == address.casefold():
        name = ""
    return Person(name, address) if name or address else None


def time_of(headers: Headers, mailbox_line: str = "") -> datetime | None:
    """Return when a message was sent, in the sender's local time; without a date, when it was received.

    `mailbox_line` is the "From " line above the message in a mailbox, which says when it was put there.
    """
    dates = [value[:200] for value in headers.get("date", ())]
    received = [value[-200:].rpartition(";")[2] for value in headers.get("received", ())[:1]]
    for value in (*dates, *received, *_DATE_IN_LINE.findall(mailbox_line[-100:])):
        with suppress(TypeError, ValueError, IndexError, OverflowError):
            return parsedate_to_datetime(" ".join(value.split())).replace(tzinfo=None, microsecond=0)
    return None


def message_id(headers: Headers) -> str:
    """Return the id of a message, or ""."""
    return next(iter(_ids(headers, "message-id")), "")


def thread_id(headers: Headers) -> str:
    """Return the id of the message that began the thread, as far as this message shows it, or ""."""
    roots = (_ids(headers, name) for name in ("references", "in-reply-to", "message-id"))
    return next((ids[0] for ids in roots if ids), "")


def _ids(headers: Headers, name: str) -> list[str]:
    value = " ".join(headers.get(name, ())[:1])
    found = _ID.findall(value) or value.split()[:1]
    return [_line(each)[:300] for each in found[:1]]


def decoded(data: bytes, charset: str) -> str:
    """Return the text in these bytes, with `\\n` line ends, without NULs and lone surrogates.

    Valid UTF-8 is decoded as UTF-8 whatever `charset` says. Otherwise, an unreliable `charset` is replaced by a guess.
    """
    text = decode_declared(data, charset, _UNRELIABLE)
    return with_plain_line_ends(encodable(text).replace("\0", "").removeprefix("\ufeff"))
