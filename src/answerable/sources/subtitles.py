"""Subtitles (SubRip and WebVTT) → Document: what is said, as running text, with a part for each cue and its time.

Numbers, times, tags and styles are not in the text. Cues are joined with a blank, so that a sentence over several cues
is one; a paragraph ends at a pause after a sentence, or where another person begins to speak. Lines that a cue repeats
from the one before, as in automatic captions, are left out. See w3.org/TR/webvtt1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.errors import DamagedSource, EmptySource
from answerable.sources.text import require_text, stem

_CLOCK = r"(?:(\d{1,4}):)?([0-5]?\d):([0-5]?\d)[.,](\d{1,3})"
_TIMES = re.compile(rf"[ \t]*{_CLOCK}[ \t]*-->[ \t]*{_CLOCK}(?:[ \t].*)?")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,500}>|</?[A-Za-z]>|<\d[\d:.]{0,20}>|\{\\[^{}\n]{0,200}\}")
_VOICE = re.compile(r"<v(?:\.[\w.-]+)?[ \t]+([^<>\n]{1,100})>")
_NUMBER = re.compile(r"\s*\d+\s*")
_ENDS = re.compile(r"[.!?…。！？؟।][\"'”’»)\]]*$")
_DASH = re.compile(r"[-–—]\s*(?=\S)")
_PAUSE = 2.0
_LONG_PAUSE = 8.0
_LONG_PARAGRAPH = 600
_LONGEST_SENTENCE = 400


class Cue(NamedTuple):
    """A cue: its times in seconds, its text, and who speaks, if a tag says so."""

    start: float
    end: float
    text: str
    voice: str


def read_subtitles(content: str, source: str) -> Document:
    """Return a document with a part for each cue. Raise DamagedSource without any times, and EmptySource."""
    require_text(content, source)
    cues = list(parse_cues(content))
    if not cues:
        if any(map(_TIMES.fullmatch, content.split("\n"))):
            raise EmptySource(f"{source} has times but no words: leave it out, or add subtitles that have text")
        raise DamagedSource(
            f"{source} has no line with times such as 00:01:02,500 --> 00:01:04,000: "
            "save it again as SubRip or WebVTT, or name it .txt"
        )
    text, parts = _joined(cues)
    return Document(document_id(source, text), text, source, stem(source), DocumentType.SUBTITLES, parts=tuple(parts))


def parse_cues(content: str) -> Iterator[Cue]:
    """Yield the cues that say something, in the order of the file."""
    lines = content.split("\n")
    places = [number for number, line in enumerate(lines) if "-->" in line and _TIMES.fullmatch(line)]
    shown: list[str] = []
    for number, following in zip(places, [*places[1:], len(lines)], strict=False):
        raw = _text_lines(lines, number + 1, following)
        voices = [voice[1].strip() for line in raw if (voice := _VOICE.search(line))]
        said = [text for line in raw if (text := _plain(line))]
        fresh = [line for line in said if line not in shown]
        shown = said or shown
        times = _TIMES.fullmatch(lines[number])
        if fresh and times:
            start, end = _seconds(times.groups()[:4]), _seconds(times.groups()[4:])
            yield Cue(start, end, " ".join(fresh), voices[0] if voices else "")


def _text_lines(lines: list[str], first: int, following: int) -> list[str]:
    """Return the lines of a cue's text: up to the blank line, or without one to the number of the next cue."""
    text: list[str] = []
    for line in lines[first:following]:
        if not line.strip() and text:
            return text
        if line.strip():
            text.append(line)
    if text and following < len(lines) and _NUMBER.fullmatch(text[-1]) and len(text) > 1:
        text.pop()
    return text


def _plain(line: str) -> str:
    line = _TAG.sub("", line)
    return " ".join((unescape(line) if "&" in line else line).replace("\ufeff", "").split())


def _seconds(clock: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = clock
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return whole + int((fraction or "0").ljust(3, "0")) / 1000


def _joined(cues: list[Cue]) -> tuple[str, list[Part]]:
    """Return the text of the cues, and their parts."""
    pieces: list[str] = []
    parts: list[Part] = []
    length = paragraph = sentence = 0
    before: Cue | None = None
    has_stops = any(_ENDS.search(cue.text) for cue in cues)
    for cue in cues:
        text = cue.text
        if before:
            speaks = cue.voice != before.voice or bool(_DASH.match(text))
            goes_on = has_stops and text[:1].islower()
            is_end = _is_end(before, cue, length - paragraph, length - sentence, goes_on)
            gap = "\n\n" if speaks or is_end else " "
            pieces.append(gap)
            length += len(gap)
            paragraph = length if gap != " " else paragraph
            sentence = length if gap != " " or _ENDS.search(before.text) else sentence
        if cue.voice and (before is None or cue.voice != before.voice):
            text = f"{cue.voice}: {text}"
        parts.append(Part(length, length + len(text), PartKind.SECTION, seconds=cue.start))
        pieces.append(text)
        length += len(text)
        before = cue
    return "".join(pieces), parts


def _is_end(before: Cue, cue: Cue, paragraph: int, sentence: int, goes_on: bool) -> bool:
    """Whether a paragraph ends between two cues; both lengths are in characters so far.

    `goes_on` is whether the text has full stops and the cue begins in lower case.
    """
    pause = cue.start - before.end
    if _ENDS.search(before.text):
        return pause >= _PAUSE or paragraph > _LONG_PARAGRAPH
    # Automatic captions have no full stops.
    if goes_on or sentence > _LONGEST_SENTENCE:
        return sentence > _LONGEST_SENTENCE
    return pause >= _LONG_PAUSE or (sentence > _LONGEST_SENTENCE / 4 and pause >= _PAUSE)
