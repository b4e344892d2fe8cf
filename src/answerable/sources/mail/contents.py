"""A message's tree of parts → its text, its attachments, and the messages in it."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from pathlib import PurePosixPath

from answerable.errors import DamagedSource
from answerable.sources.mail.letter import OF_PARSER, decoded, decoded_words

_QUOTE_MARKS = re.compile(r">*")
_SIGNATURE = "-- "
# Signatures of Outlook, Gmail, Thunderbird and Yahoo. Quotations need no selector: they become lines with ">".
_SIGNED = ".gmail_signature, .moz-signature, #Signature, #ms-outlook-mobile-signature, .yahoo-signature"
_LONGEST_NAME = 150  # characters; file systems allow 255 bytes
# Characters: a shorter plain text next to HTML may only say that the message can't be shown.
_LITTLE = 200
_MUCH_MORE = 5  # HTML is used if it is this many times as long as the plain text; a guess, not measured
_SIGNATURES = frozenset(
    {"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature", "text/x-moz-deleted"}
)
_ENCRYPTED = frozenset(
    {"application/pgp-encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime", "multipart/encrypted"}
)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file in a message: its name, and a function that decodes it."""

    name: str
    data: Callable[[], bytes]


@dataclass(slots=True)
class Contents:
    """What is in a message: its text, still with quoted history, and its attachments and messages by name, in order."""

    texts: list[str] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    messages: list[tuple[str, Message]] = field(default_factory=list)
    is_encrypted: bool = False

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n\n".join(text for each in self.texts if (text := each.strip("\n")).strip())


def contents_of(message: Message) -> Contents:
    """Return what is in a message."""
    found = Contents()
    _walk(message, found)
    return found


def _walk(part: Message, found: Contents) -> None:
    kind = _kind(part)
    if kind in _SIGNATURES:
        return
    if kind in _ENCRYPTED and "signed-data" not in str(part.get_param("smime-type", "")):
        found.is_encrypted = True
    elif kind == "multipart/alternative":
        _alternatives(list(_children(part)), found)
    elif part.is_multipart() and kind == "message/rfc822":
        for inner in _children(part):
            found.messages.append((_name_of_message(inner, len(found.messages) + 1), inner))
    elif part.is_multipart():
        for inner in _children(part):
            _walk(inner, found)
    elif _is_text(part, kind):
        found.texts.append(_text(part, kind))
    elif not _is_inline_picture(part, kind):
        name = _name(part, mimetypes.guess_extension(kind) or ".bin", len(found.attachments) + 1)
        found.attachments.append(Attachment(name, lambda: payload(part)))


def _children(part: Message) -> Iterator[Message]:
    payload = part.get_payload()
    yield from (each for each in (payload if isinstance(payload, list) else []) if isinstance(each, Message))


def _alternatives(children: list[Message], found: Contents) -> None:
    """Add the plain text, or the HTML if it says much more; and add attachments inside the alternatives."""
    before = len(found.texts)
    texts: list[tuple[bool, str]] = []
    for child in children:
        is_plain = _kind(child) == "text/plain"
        is_said = any(chosen and len(text.strip()) > _LITTLE for chosen, text in texts)
        if is_said and _kind(child) == "text/html":
            continue
        _walk(child, found)
        texts += ((is_plain, text) for text in found.texts[before:])
        del found.texts[before:]
    plain = next((text for is_plain, text in texts if is_plain and text.strip()), "")
    rich = next((text for is_plain, text in texts if not is_plain and text.strip()), "")
    if plain and len(rich) <= _MUCH_MORE * len(plain):
        rich = ""
    found.texts.append(rich or plain)


def _kind(part: Message) -> str:
    """Return the media type of a part, also where no semicolon is behind it."""
    return part.get_content_type().split()[0]


def _is_text(part: Message, kind: str) -> bool:
    """Whether a part is text of the message rather than a file; an undeclared or invalid type counts as text."""
    if part.get_content_disposition() == "attachment" or part.get_filename():
        return False
    return kind in ("text/plain", "text/html", "text/enriched") or kind.startswith("message/")


def _is_inline_picture(part: Message, kind: str) -> bool:
    """Whether a picture belongs to the text, such as a logo: nobody looks for it among the attachments."""
    is_attached = part.get_content_disposition() == "attachment"
    return kind.startswith("image/") and not is_attached and part.get("content-id") is not None


def _text(part: Message, kind: str) -> str:
    text = decoded(payload(part), str(part.get_param("charset", "") or ""))
    if kind == "text/html":
        return text_of_markup(text)
    if str(part.get_param("format", "")).lower() == "flowed":
        return unwrapped(text, str(part.get_param("delsp", "")).lower() == "yes")
    return text


def payload(part: Message) -> bytes:
    """Return the bytes of a part; if it is encoded wrongly, the bytes that can be decoded."""
    with suppress(*OF_PARSER):
        payload = part.get_payload(decode=True)
        if isinstance(payload, bytes):
            return payload
    payload = part.get_payload()
    return payload.encode("utf-8", "surrogateescape") if isinstance(payload, str) else b""


def _name(part: Message, suffix: str, number: int) -> str:
    """Return a name for an attached file, without a folder; if it has no suffix, add the suffix of its type."""
    with suppress(*OF_PARSER):
        written = decoded_words(part.get_filename() or "")
        if name := safe_name(written):
            return name if PurePosixPath(name).suffix else f"{name}{suffix}"
    return f"attachment {number}{suffix}"


def _name_of_message(message: Message, number: int) -> str:
    subject = next((str(value) for name, value in message.raw_items() if name.lower() == "subject"), "")
    return f"{safe_name(decoded_words(subject).replace('/', ' ')) or f'message {number}'}.eml"


def safe_name(name: str) -> str:
    """Return a name without anything that separates folders or members of archives."""
    name = name.replace("\\", "/").rpartition("/")[2].replace("!", "_").strip(" .")
    stem, dot, suffix = name.rpartition(".")
    # A long name keeps its suffix.
    return f"{stem[:_LONGEST_NAME]}{dot}{suffix[:10]}" if len(name) > _LONGEST_NAME else name


def unwrapped(text: str, delete_space: bool = False) -> str:
    """Join each line that ends with a space to the next line, if both have the same quotation depth.

    `delete_space` is for languages without spaces between words.
    """
    joined: list[tuple[int, list[str]]] = []
    flows = False
    for line in text.split("\n"):
        quote = _QUOTE_MARKS.match(line)
        depth = quote.end() if quote else 0
        # Mail programs put a space before a line that would look like a quotation or a separator.
        own = line[depth:].removeprefix(" ")
        is_signature = own.rstrip() == "--" or line[depth:] == _SIGNATURE or own == _SIGNATURE
        follows = flows and joined[-1][0] == depth and not is_signature
        flows = own.endswith(" ") and not is_signature
        if flows and delete_space:
            own = own[:-1]
        if follows:
            joined[-1][1].append(own)
        else:
            joined.append((depth, [_SIGNATURE if is_signature else own]))
    return "\n".join(f"{'>' * depth}{' ' if depth else ''}{''.join(pieces)}" for depth, pieces in joined)


def text_of_markup(markup: str) -> str:
    """Return the text of a message as Markdown; "" if it is nested too deeply."""
    from answerable.sources.html.parse import parse_page, render, valid_markup
    from answerable.sources.html.shown import write_forms

    try:
        page = parse_page(valid_markup(markup, ""))
    except DamagedSource:
        return ""
    write_forms(page)
    page.strip_tags(["title"])
    for node in page.css(_SIGNED):
        if node.tag not in ("html", "body"):
            node.decompose()
    root = page.body or page.root
    return render(root)[0] if root is not None else ""
