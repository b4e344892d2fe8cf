"""Classify the text of a WhatsApp message: written by a person, or a placeholder or notice of the app.

The form decides first, the wording only if the form is ambiguous. The app's own texts begin with U+200E on iPhones; on
Android they are in angle brackets, or in round brackets after a file name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from answerable.datatypes import Name
from answerable.text import whatsapp_words as wordings
from answerable.text.whatsapp_words import BLANKS, MARKS, plain, without_marks


class MessageKind(Name):
    """The kinds of messages."""

    TEXT = "text"
    MEDIA = "media"
    SYSTEM = "system"
    DELETED = "deleted"


class Body(NamedTuple):
    """A message's text, classified."""

    kind: MessageKind
    text: str
    attachment: str | None = None
    edited: bool = False


APP_MARK = "\u200e"
"""The mark that WhatsApp puts before its own texts, on iPhones always."""

_FILL = f"[{MARKS}{BLANKS}]"
_FILE_NAME = r'[^\n<>:"|?*/\\]{1,230}\.\w{0,8}'
_ANDROID_FILE = re.compile(
    rf"{_FILL}*(?P<name>{_FILE_NAME}){_FILL}{{0,3}}[(（](?P<word>[^()（）\n]{{1,40}})[)）]{_FILL}*(?=\n|\Z)"
)
_IPHONE_FILE = re.compile(
    rf"(?P<mark>{APP_MARK}?)<{_FILL}{{0,3}}(?P<word>[^<>:：\n]{{1,30}}?){_FILL}{{0,3}}[:：]{_FILL}{{0,3}}(?P<name>{_FILE_NAME}){_FILL}{{0,3}}>"
    rf"(?={_FILL}*(?:\n|\Z))"
)
_OLD_IPHONE_FILE = re.compile(
    rf"{_FILL}*(?P<name>{_FILE_NAME}){_FILL}{{1,3}}<(?P<word>[^<>\n]{{1,30}})>{_FILL}*(?=\n|\Z)"
)
NAMED_BY_APP = re.compile(r"[A-Z]{3,4}-\d{8}-WA\d+|\d{6,8}-|\d{4}-\d\d-\d\d-[A-Z]+-\d+|WhatsApp ")
"""Matches the start of file names that the app chooses."""
_DOCUMENT = re.compile(rf"{_FILL}*(?P<name>[^\n<>:\"|?*/\\]{{1,200}}?\.\w{{1,8}})(?=[{BLANKS}{MARKS}•]|\Z)")
_EDIT_MARK = re.compile(rf"(?P<mark>{APP_MARK}?)<{_FILL}{{0,3}}(?P<words>[^<>:：\n]{{3,60}})>{_FILL}{{0,8}}\Z")
_LABELLED = re.compile(r"[^\s:：]{2,24}\s?[:：](?:\s|\Z)|.*://")


def read_body(raw: str, sender: str, is_iphone: bool) -> Body:
    """Classify a sender's text; `raw` is the exported text without blank lines at its end."""
    if APP_MARK not in raw and "<" not in raw and "(" not in raw and not _may_be_of_app(raw, sender):
        return Body(MessageKind.TEXT, cleaned(raw))
    raw, edited = _without_edit_mark(raw)
    attachment = attachment_of(raw)
    if attachment is not None:
        return Body(MessageKind.MEDIA, cleaned(raw), attachment, edited)
    has_mark = APP_MARK in raw
    is_of_app = raw.startswith(APP_MARK)
    first_line = plain(raw.partition("\n")[0])
    kind = _kind(first_line, raw, is_of_app, has_mark)
    if kind is None and is_iphone and _is_notice_of_app(first_line, raw, sender, is_of_app):
        kind = MessageKind.SYSTEM
    name = _DOCUMENT.match(raw) if kind is MessageKind.MEDIA else None
    return Body(kind or MessageKind.TEXT, cleaned(raw), without_marks(name["name"]) if name else None, edited)


def _may_be_of_app(raw: str, sender: str) -> bool:
    """Return whether a text without marks and brackets must be compared with the app's sentences."""
    words = raw[:100].split(None, 1)
    if not words or _begins_sentence(words[0]) or raw.startswith(sender) or raw.endswith((sender, sender + ".")):
        return True
    return "." in raw and plain(raw.rstrip()[-40:].split()[-1]) in wordings.LAST_WORDS


@lru_cache(maxsize=65_536)
def _begins_sentence(word: str) -> bool:
    return plain(word) in wordings.FIRST_WORDS or wordings.ENCRYPTION_FIRST_WORD.match(word) is not None


def is_encryption_notice(text: str) -> bool:
    """Return whether the text is the app's notice that the chat is encrypted."""
    return bool(
        wordings.ENCRYPTION_START.match(text) and wordings.ENCRYPTION.search(text, 0, 240) and "?" not in text[:240]
    )


def cleaned(raw: str) -> str:
    """Remove the app's invisible marks, and all marks at both ends; other marks belong to the text."""
    raw = raw.replace("\r\n", "\n")
    return raw if raw.isascii() else raw.replace(APP_MARK, "").strip(MARKS)


def _without_edit_mark(raw: str) -> tuple[str, bool]:
    ends = raw.rstrip(MARKS + " ").endswith(">")
    match = _EDIT_MARK.search(raw, max(0, len(raw) - 100)) if ends else None
    if match is None:
        return raw, False
    before = raw[: match.start()]
    words = plain(match["words"])
    if words in wordings.OMITTED_MEDIA or words in wordings.OMITTED_KIND or words in wordings.ATTACHED:
        return raw, False
    # In an unlisted language, a placeholder is recognised by the app's mark after some text.
    if wordings.EDITED.search(words) or (match["mark"] and before.strip() and not wordings.MEDIA_STEM.search(words)):
        return before.rstrip(" \t\u00a0\u202f\r" + MARKS), True
    return raw, False


def attachment_of(raw: str) -> str | None:
    """Return the name of the attached file, if the text mentions one."""
    first_line = raw.partition("\n")[0][:300]
    match = _ANDROID_FILE.match(first_line) if first_line.rstrip(MARKS + " \r").endswith((")", "）")) else None
    if match is None and "<" in raw:
        match = _IPHONE_FILE.search(raw) or _OLD_IPHONE_FILE.match(raw)
    if match is None:
        return None
    name = without_marks(match["name"]).strip()
    is_marked = "mark" in match.groupdict() and match["mark"]
    if plain(match["word"]) in wordings.ATTACHED or is_marked or NAMED_BY_APP.match(name):
        return name
    return None


def _kind(first_line: str, raw: str, is_of_app: bool, has_mark: bool) -> MessageKind | None:
    """Return the kind that the first line, normalised by `plain`, shows; None if it could be any kind."""
    if len(first_line) > wordings.LONGEST_SENTENCE:
        return None
    if first_line in wordings.DELETED:
        return MessageKind.DELETED if "\n" not in raw else None
    if first_line.startswith("<"):
        words = first_line[1:-1].strip(" .")
        if first_line.endswith(">") and (words in wordings.OMITTED_MEDIA or _is_placeholder(words)):
            return MessageKind.MEDIA
        return None
    if first_line in wordings.OMITTED_KIND:
        return MessageKind.MEDIA
    if not has_mark:
        return _kind_of_rare(first_line)
    # A caption or the name of a document may come first: "report.pdf • ‎3 pages ‎document omitted".
    last_words = plain(raw[raw.rindex(APP_MARK) :])
    if last_words in wordings.OMITTED_KIND or last_words in wordings.OMITTED_MEDIA:
        return MessageKind.MEDIA
    if is_of_app and first_line not in wordings.MISSED_CALL:
        if wordings.VIEW_ONCE.search(first_line) or (len(last_words) < 50 and wordings.OMITTED_STEM.search(last_words)):
            return MessageKind.MEDIA
        if _LABELLED.match(first_line) or wordings.SENT.search(first_line) or "\n" in raw:
            return MessageKind.TEXT  # a poll, a place or an event by the sender
    return _kind_of_rare(first_line)


def _kind_of_rare(first_line: str) -> MessageKind | None:
    if "admin" in first_line and any(first_line.startswith(sentence + " ") for sentence in wordings.DELETED):
        return MessageKind.DELETED
    name = _DOCUMENT.match(first_line)
    words = first_line[name.end() :].split() if name else []
    is_placeholder = any(
        " ".join(words[-count:]) in wordings.OMITTED_KIND for count in range(1, min(len(words), 5) + 1)
    )
    return MessageKind.MEDIA if is_placeholder else None


def _is_placeholder(words: str) -> bool:
    """Return whether words in angle brackets are a media placeholder in an unlisted language."""
    is_phrase = " " in words or not words.isascii()
    return is_phrase and len(words) < 60 and bool(wordings.MEDIA_STEM.search(words) or wordings.VIEW_ONCE.search(words))


def _is_notice_of_app(first_line: str, raw: str, sender: str, is_of_app: bool) -> bool:
    """Return whether an iPhone's message is a notice of the app, although its sender is a person or the group."""
    if first_line in wordings.MISSED_CALL:
        return "\n" not in raw
    return is_of_app or _is_notice(raw, sender)


def _is_notice(raw: str, sender: str) -> bool:
    """Return whether a text without marks is a notice: about its sender in the third person, or a listed sentence."""
    text = without_marks(raw[:300]).strip()
    if len(text) > 40 and is_encryption_notice(text):
        return True
    if len(text) > wordings.LONGEST_SENTENCE or "\n" in text:
        return False
    if text.startswith(sender) or text.endswith((sender, sender + ".")):
        rest = text.removeprefix(sender) if text.startswith(sender) else text.removesuffix(".").removesuffix(sender)
        return bool("," not in rest and wordings.NOTICE.search(rest))
    return text.casefold().startswith(wordings.NOTICES_TO_READER)
