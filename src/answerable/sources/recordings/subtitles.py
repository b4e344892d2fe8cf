"""Subtitles (SubRip and WebVTT) → Document: what is said, as running text, with a part and a time for each cue.

Numbers, times, tags and styles are left out. Cues are joined with a blank, so that a sentence across several cues is
one sentence; a paragraph ends at a pause after a sentence, or where another person begins to speak. Lines that a cue
repeats from the previous cue, as in automatic captions, are left out. See w3.org/TR/webvtt1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from answerable.datatypes import Document, DocumentType, PartKind
from answerable.errors import DamagedSource, EmptySource
from answerable.sources.text import PartedText, make_document, require_text

_CLOCK = r"(?:(\d{1,4}):)?([0-5]?\d):([0-5]?\d)[.,](\d{1,3})"
_TIMES = re.compile(rf"[ \t]*{_CLOCK}[ \t]*-->[ \t]*{_CLOCK}(?:[ \t].*)?")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,500}>|</?[A-Za-z]>|<\d[\d:.]{0,20}>|\{\\[^{}\n]{0,200}\}")
_VOICE = re.compile(r"<v(?:\.[\w.-]+)?[ \t]+([^<>\n]{1,100})>")
_NUMBER = re.compile(r"\s*\d+\s*")
_ENDS = re.compile(r"[.!?…。！？؟।][\"'”’»)\]]*$")
_DASH = re.compile(r"[-–—]\s*(?=\S)")
_PAUSE = 2.0  # seconds of silence that end a paragraph after a sentence; a guess, not measured
_LONG_PAUSE = 8.0  # seconds of silence that end a paragraph elsewhere; a guess, not measured
_LONG_PARAGRAPH = 600  # characters after which a paragraph ends with the sentence, about a minute of speech
_LONGEST_SENTENCE = 400  # characters after which a sentence is cut; as long as a passage


class Cue(NamedTuple):
    """A cue: its times in seconds, its text, and who speaks, if a tag says so."""

    start: float
    end: float
    text: str
    voice: str


def read_subtitles(content: str, source: str) -> Document:
    """Return a document with a part for each cue. Raise DamagedSource if there are no times, and EmptySource."""
    require_text(content, source)
    cues = list(parse_cues(content))
    if not cues:
        if any(map(_TIMES.fullmatch, content.split("\n"))):
            raise EmptySource(f"{source} has times but no words: leave it out, or add subtitles that have text")
        raise DamagedSource(
            f"{source} has no line with times such as 00:01:02,500 --> 00:01:04,000: "
            "save it again as SubRip or WebVTT, or name it .txt"
        )
    written = _joined(cues)
    return make_document(source, written.content, DocumentType.SUBTITLES, written.parts)


def parse_cues(content: str) -> Iterator[Cue]:
    """Yield the cues that have text, in the order of the file."""
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
    """Return the lines of a cue's text: up to a blank line or, if there is none, to the number of the next cue."""
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


def _joined(cues: list[Cue]) -> PartedText:
    """Return the text of the cues, with a part for each."""
    written = PartedText()
    paragraph = sentence = 0
    before: Cue | None = None
    has_stops = any(_ENDS.search(cue.text) for cue in cues)
    for cue in cues:
        text = cue.text
        if before:
            speaks = cue.voice != before.voice or bool(_DASH.match(text))
            goes_on = has_stops and text[:1].islower()
            is_end = _is_end(before, cue, written.length - paragraph, written.length - sentence, goes_on)
            gap = "\n\n" if speaks or is_end else " "
            written.write(gap)
            paragraph = written.length if gap != " " else paragraph
            sentence = written.length if gap != " " or _ENDS.search(before.text) else sentence
        if cue.voice and (before is None or cue.voice != before.voice):
            text = f"{cue.voice}: {text}"
        written.part(text, PartKind.SECTION, seconds=cue.start)
        before = cue
    return written


def _is_end(before: Cue, cue: Cue, paragraph: int, sentence: int, goes_on: bool) -> bool:
    """Whether a paragraph ends between two cues; `paragraph` and `sentence` are their lengths so far, in characters.

    `goes_on` is whether the text has full stops and the cue begins in lower case.
    """
    pause = cue.start - before.end
    if _ENDS.search(before.text):
        return pause >= _PAUSE or paragraph > _LONG_PARAGRAPH
    # Automatic captions have no full stops, so their sentences end at a length or at a pause.
    if goes_on or sentence > _LONGEST_SENTENCE:
        return sentence > _LONGEST_SENTENCE
    return pause >= _LONG_PAUSE or (sentence > _LONGEST_SENTENCE / 4 and pause >= _PAUSE)
