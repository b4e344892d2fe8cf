"""Voice notes of an exported chat → lines of the chat, below the messages that they are attached to.

A line is `🎤 0:07 ` and a sentence. It is a separate part, with its second and with its message's time and sender.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import PurePosixPath

from answerable.datatypes import Document, Part, PartKind, clock, document_id
from answerable.errors import SourceError
from answerable.sources.context import Beside, ReadContext
from answerable.sources.formats import not_heard
from answerable.sources.recordings.hear import Line, hear, name_of_model
from answerable.text.languages import document_language

MARK = "🎤"
"""Begins a line of transcribed speech, in chats of all languages; WhatsApp's own list of chats uses it too."""
_SUFFIXES = "opus ogg oga m4a mp3 aac amr wav"
_MAY_BE_NOTE = re.compile(rf"\.(?:{_SUFFIXES.replace(' ', '|')})\b", re.IGNORECASE)
_TIME_IS_OVER = "voice note, not heard: the time of the setting max_audio_seconds was over"


def is_voice_note(name: str) -> bool:
    """Whether a sound file has a name that WhatsApp gives to voice notes: `PTT-20240305-WA0001.opus`."""
    # Imported here and below, since every folder's scan imports this module, and few folders have a chat.
    from answerable.text.whatsapp_bodies import NAMED_BY_APP

    suffix = PurePosixPath(name).suffix.lower().removeprefix(".")
    return suffix in _SUFFIXES.split() and NAMED_BY_APP.match(name) is not None


def is_chat_name(name: str) -> bool:
    """Whether a file has the name of an exported chat."""
    stem, _, suffix = name.lower().rpartition("/")[2].rpartition(".")
    return suffix == "txt" and (stem == "_chat" or "whatsapp" in stem)


def with_voice_notes(document: Document, data: bytes, context: ReadContext) -> Document:
    """Return a chat with transcripts of the voice notes next to it; `data` are the bytes of the chat's file.

    Voice notes that can't be transcribed are added to `context.skipped`.
    """
    attached = [(number, name) for number, part in enumerate(document.parts) if (name := _note(document, part))]
    if not attached:
        return document
    ends = time.process_time() + context.limits.max_audio_seconds
    language = document_language(document.content) if context.speech else ""
    expected, folder = [language] if language else [], document.source.rpartition("/")[0]
    found = ((number, _heard(name, f"{folder}/{name}", ends, expected, context)) for number, name in attached)
    heard = {number: lines for number, lines in found if lines}
    if not heard or context.speech is None:
        return document
    metadata = {
        **document.metadata,
        "voice_notes": len(heard),
        "model": name_of_model(context.speech),
    }
    document = _with_lines(replace(document, metadata=metadata), heard)
    digest = fingerprint(document, data, context.beside)
    return replace(document, metadata={**document.metadata, "sha256": digest})


def fingerprint(document: Document, data: bytes, beside: Beside | None) -> str:
    """Return the SHA-256 of a chat's file and its transcribed voice notes; it shows whether any has changed."""
    digest = sha256(data)
    for before, part in pairwise(document.parts):
        if part.is_heard and not before.is_heard:
            digest.update((beside(_note(document, before)) if beside else None) or b"")
    return digest.hexdigest()


def note_at(document: Document, offset: int) -> str:
    """Return the name of the voice note whose transcript contains the offset, or ""."""
    name = ""
    for part in document.parts:
        if part.start > offset:
            break
        name = name if part.is_heard else _note(document, part)
    return name


def _note(document: Document, part: Part) -> str:
    """Return the name of the sound file attached to a message, or ""."""
    if part.kind is not PartKind.MESSAGE:
        return ""
    from answerable.text.whatsapp_bodies import attachment_of

    raw = document.content[part.start if part.body is None else part.body : part.end]
    name = attachment_of(raw) if _MAY_BE_NOTE.search(raw) else None
    return name if name and _MAY_BE_NOTE.fullmatch(PurePosixPath(name).suffix) else ""


def _heard(name: str, source: str, ends: float, expected: Collection[str], context: ReadContext) -> list[Line]:
    """Return the sentences of a voice note; [] if there are none. `ends` is when the time for all of them is over."""
    skipped, beside = context.skipped, context.beside
    try:
        data = beside(name) if beside else None
        if not data:
            return []
        if context.speech is None:
            skipped.count(not_heard(), source)
            return []
        seconds = ends - time.process_time()
        if seconds <= 0:
            skipped.count(_TIME_IS_OVER, source)
            return []
        if not context.enter(source, context.limits.of_recording):
            return []
        heard = hear(data, source, context.speech, seconds, context.working, expected)
    except SourceError as error:
        skipped.errors.append(error)
        return []
    if not heard.lines:
        skipped.count("voice note without speech", source)
    elif heard.is_cut:
        skipped.count(_TIME_IS_OVER, source)
    return heard.lines


def _with_lines(document: Document, heard: dict[int, list[Line]]) -> Document:
    """Return the document with new lines: after each numbered part in `heard`, the lines given for it."""
    pieces: list[str] = []
    parts: list[Part] = []
    reached = moved = 0
    for number, part in enumerate(document.parts):
        moved_body = None if part.body is None else part.body + moved
        parts.append(replace(part, start=part.start + moved, end=part.end + moved, body=moved_body))
        for line in heard.get(number, ()):
            pieces.append(document.content[reached : part.end])
            reached = part.end
            opening = f"\n{MARK} {clock(line.seconds)} "
            start, body = part.end + moved + 1, part.end + moved + len(opening)
            end = body + len(line.text)
            parts.append(replace(part, start=start, end=end, body=body, seconds=line.seconds))
            pieces.append(opening + line.text)
            moved += len(opening) + len(line.text)
    pieces.append(document.content[reached:])
    content = "".join(pieces)
    return replace(document, id=document_id(document.source, content), content=content, parts=tuple(parts))
