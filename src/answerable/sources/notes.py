"""Notes of Evernote (`.enex`), Google Keep and Simplenote (JSON) → Documents: each note, and each file attached to it.

Times are UTC. A note's text is Markdown, below its title as heading.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from answerable.datatypes import Document, DocumentType
from answerable.errors import DamagedSource, EmptySource
from answerable.formats.registry import FORMAT
from answerable.sources.archives.members import ReadMember
from answerable.sources.chats.read import chats_in_json
from answerable.sources.context import ReadContext
from answerable.sources.dispatch import load
from answerable.sources.entries import read_moment
from answerable.sources.exported import (
    epoch,
    first,
    member_name,
    moment,
    one_line,
    plain_text,
    row,
    rows,
    texts,
    words,
)
from answerable.sources.mail.contents import Attachment, safe_name, text_of_markup
from answerable.sources.mail.read import read_contained
from answerable.sources.markdown import find_headings, section_parts
from answerable.sources.records import read_records
from answerable.sources.text import decode, make_document
from answerable.sources.xml import stream

if TYPE_CHECKING:
    from lxml.etree import _Element  # type: ignore[import-untyped]

_ADVICE = "export the notes again, or as HTML"
# Bytes of an attached file in base64: libxml2 refuses texts of over ten million.
_TOO_LONG = re.compile(rb"(<data\b[^<>]{0,200}>)[^<]{9000000,}")
_BOX = re.compile(
    r"<en-todo\b(?P<old>[^<>]{0,200})>(?:\s*</en-todo>)?|<li\b[^<>]{0,500}--en-checked:\s*(?P<new>\w+)[^<>]{0,500}>"
    r"(?:\s*<div\b[^<>]{0,500}>)?"
)
_UNREAD = re.compile(r"<en-crypt\b[^<>]{0,500}>[^<]*</en-crypt>|</?en-media\b[^<>]{0,2000}>")
_BOXES = {True: "☒", False: "☐"}
_KEEP = {"title", "textContent", "listContent"}
_LONGEST = 200  # characters of a title, a task or a tag


def read_evernote(file: Path | bytes, source: str, read_member: ReadMember, context: ReadContext) -> list[Document]:
    """Return the notes and the files attached to them. Raise DamagedSource, and EmptySource if no note has text."""
    data = _TOO_LONG.sub(rb"\1", load(file, source, context.limits.max_file_size))
    documents: list[Document] = []
    used: Counter[str] = Counter()
    try:
        for _, note in stream(data, source, _ADVICE, "note"):
            place = member_name(source, _text(note, "title"), used)
            attached = list(_attached(note))
            if document := _of_evernote(note, place, [each.name for each in attached]):
                files = ((each, f"{place}!/{each.name}") for each in attached)
                documents += read_contained([(document, place), *files], place, read_member, context)
    except DamagedSource as error:
        if not documents:
            raise
        context.skipped.errors.append(error)
    if not documents:
        raise EmptySource(f"{source} has no note with a text: {_ADVICE}")
    return documents


def _text(note: _Element, name: str) -> str:
    return one_line(note.findtext(f"{{*}}{name}"), _LONGEST)


def _of_evernote(note: _Element, place: str, files: Sequence[str]) -> Document | None:
    markup = _BOX.sub(_with_box, _UNREAD.sub("", note.findtext("{*}content") or ""))
    tasks = [(_text(each, "title"), _text(each, "taskStatus") == "completed") for each in note.iterfind("{*}task")]
    tags = [each.text or "" for each in note.iterfind("{*}tag")]
    created = read_moment(_text(note, "created"))
    blocks = [text_of_markup(markup), *_items(tasks), *_named(files)]
    return _note(place, _text(note, "title"), blocks, tags, created.time if created else None)


def _with_box(found: re.Match[str]) -> str:
    return f"{found[0] if found['new'] else ''}{_BOXES['true' in (found['new'] or found['old'])]} "


def _items(found: Iterable[tuple[str, bool]]) -> list[str]:
    """Return a list of what is to do, and whether it is done, as the last block of a note."""
    return ["\n".join(f"- {_BOXES[is_done]} {text}" for text, is_done in found)]


def _named(files: Sequence[str]) -> list[str]:
    return [f"Attachments: {', '.join(files)}"] if files else []


def _note(
    source: str, title: str, blocks: Sequence[str], tags: Sequence[str], time: datetime | None
) -> Document | None:
    """Return a note as a document with a part for each section, or None for a note without text."""
    content = plain_text("\n\n".join(filter(None, (f"# {title}" if title else "", *blocks))))
    if not content:
        return None
    parts = [replace(part, time=time) for part in section_parts(content, list(find_headings(content)))]
    facts: dict[str, Any] = {FORMAT: "exported note"}
    facts |= {"date": f"{time:%Y-%m-%d}"} if time else {}
    facts |= {"tags": [one_line(tag, _LONGEST) for tag in tags if tag]} if tags else {}
    return make_document(source, content, DocumentType.MARKDOWN, parts, title or one_line(content, _LONGEST), facts)


def _attached(note: _Element) -> Iterator[Attachment]:
    for number, resource in enumerate(note.iterfind("{*}resource"), 1):
        name = safe_name(resource.findtext("{*}resource-attributes/{*}file-name") or "")
        yield Attachment(name or f"attachment {number}", partial(_decoded, resource.findtext("{*}data") or ""))


def _decoded(data: str) -> bytes:
    try:
        return b64decode(data)
    except ValueError:
        return b""


def read_exported(data: bytes, source: str, context: ReadContext) -> Document | list[Document]:
    """Return a note of Google Keep, notes of Simplenote, chats, or other JSON and CSV as `read_records` does."""
    content = decode(data, source)
    if exported := _exported(content):
        return (_keep if "isTrashed" in exported else _simplenote)(exported, source, context)
    return chats_in_json(content, source) or read_records(content, source)


def _exported(content: str) -> dict[str, Any]:
    """Return the parsed JSON of a note of Google Keep or of Simplenote's notes; {} for other text."""
    if not content.lstrip().startswith("{") or not ('"isTrashed"' in content or '"trashedNotes"' in content):
        return {}
    try:
        found = row(json.loads(content))
    except (ValueError, RecursionError):
        return {}
    is_note = "isTrashed" in found and not _KEEP.isdisjoint(found)
    return found if is_note or found.keys() == {"activeNotes", "trashedNotes"} else {}


def _simplenote(exported: dict[str, Any], source: str, context: ReadContext) -> list[Document]:
    """Return the notes, whose first lines are their titles; those in the trash are counted as skipped."""
    used: Counter[str] = Counter()
    documents = []
    for _ in rows(exported["trashedNotes"]):
        # By number, because the first line of a note that was thrown away is text as the rest is.
        context.skipped.count("note in the trash", member_name(source, "trash", used))
    for each in rows(exported["activeNotes"]):
        first_line, _, text = words(each.get("content")).strip().partition("\n")
        title, (time, _) = one_line(first_line.lstrip("# "), _LONGEST), moment(each.get("creationDate"))
        blocks = [text.strip()] if title == first_line.strip("# \r") else [first_line, text]
        place = member_name(source, title, used)
        documents.append(_note(place, title, blocks, list(texts(each.get("tags"))), time))
    return list(filter(None, documents))


def _keep(exported: dict[str, Any], source: str, context: ReadContext) -> list[Document]:
    """Return a note, or [] for a note in the trash, which is counted as skipped. Raise EmptySource."""
    if exported["isTrashed"] is True:
        context.skipped.count("note in the trash", source)
        return []
    listed = [(words(each.get("text")), each.get("isChecked") is True) for each in rows(exported.get("listContent"))]
    files = [words(each.get("filePath")) for each in rows(exported.get("attachments"))]
    pages = [f"{words(each.get('title'))} ({words(each.get('url'))})" for each in rows(exported.get("annotations"))]
    blocks = [words(exported.get("textContent")).strip(), *_items(listed), "\n".join(pages), *_named(files)]
    microseconds = first(exported.get("createdTimestampUsec"), exported.get("userEditedTimestampUsec"))
    tags = [words(each.get("name")) for each in rows(exported.get("labels"))]
    title = one_line(words(exported.get("title")), _LONGEST)
    if document := _note(source, title, blocks, tags, epoch(microseconds[:-3], 1_000)):
        return [document]
    raise EmptySource(f"{source} is a note without text: leave it out")
