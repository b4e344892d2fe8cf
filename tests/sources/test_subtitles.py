"""Subtitles: sentences over several cues, with the times of the first and the last."""

from __future__ import annotations

from pathlib import Path

import pytest

import answerable
from answerable.datatypes import Document, DocumentType
from answerable.errors import DamagedSource, EmptySource
from answerable.formats.locate import Locator
from answerable.sources.dispatch import read_bytes
from answerable.splitting.by_type import SplitterByType
from answerable.splitting.make_chunks import evidence_spans

SRT = """1
00:00:42,000 --> 00:00:44,000
<i>The harbour was built</i>

2
00:00:44,100 --> 00:00:46,000
{\\an8}by fishermen in 1820,
and it still

3
00:01:10,500 --> 00:01:12,000
stands today. Its keeper
was <font color="#fff">Ezra Pike.</font>

4
01:02:03,000 --> 01:02:05,000
- Who pays for it?

5
01:02:05,000 --> 01:02:06,000
- The town does.
"""
VTT = """WEBVTT - Kind: captions

NOTE A secret note
over two lines

STYLE
::cue { color: red }

opening
00:01.000 --> 00:02.500 align:start position:0%
<v Ana>Hello &amp; welcome

00:02.500 --> 00:03.000
<v Ana>Hello &amp; welcome
<c.big>to</c><00:02.700> the show.

00:03.000 --> 00:04.000
<v.loud Ben>Thanks, I paid 3 < 4 euros.
"""


def read(content: str, name: str = "a.srt") -> Document:
    (document,) = read_bytes(content.encode(), f"/in/{name}")
    return document


def quoted(document: Document) -> list[tuple[str, str]]:
    locator = Locator(document)
    return [
        (chunk.content[start:end], str(locator.location(chunk.start + start, chunk.start + end)))
        for chunk in SplitterByType().split(document)
        for start, end in evidence_spans(chunk, "en")
    ]


def test_a_sentence_over_several_cues_is_one() -> None:
    document = read(SRT)
    assert document.type is DocumentType.SUBTITLES
    assert [document.content[part.start : part.end] for part in document.parts[:2]] == [
        "The harbour was built",
        "by fishermen in 1820, and it still",
    ]
    assert [part.seconds for part in document.parts] == [42, 44.1, 70.5, 3723, 3725]
    assert quoted(document) == [
        ("The harbour was built by fishermen in 1820, and it still stands today.", "0:42 to 1:10"),
        ("Its keeper was Ezra Pike.", "1:10"),
        ("- Who pays for it?", "1:02:03"),
        ("- The town does.", "1:02:05"),
    ]


def test_web_subtitles_without_tags_notes_and_repeated_lines() -> None:
    assert quoted(read(VTT, "a.vtt")) == [
        ("Ana: Hello & welcome to the show.", "0:01 to 0:02"),
        ("Ben: Thanks, I paid 3 < 4 euros.", "0:03"),
    ]


def test_numbers_that_are_said_stay_and_numbers_of_cues_go() -> None:
    content = "1\n00:01,000 --> 00:02,000\nThe year was\n1820\n\n2\n00:02,000 --> 00:03,000\n42\n"
    assert read(content).content == "The year was 1820 42"
    tight = "1\n00:01,000 --> 00:02,000\nThe year was\n2\n00:02,000 --> 00:03,000\n1820.\n"
    assert read(tight).content == "The year was 1820."


def test_the_last_line_needs_no_line_end() -> None:
    assert read("1\n00:01,000 --> 00:02,000\nThe year was\n1820").content == "The year was 1820"


def test_captions_without_full_stops_end_at_pauses() -> None:
    cues = [
        f"{number}\n00:00:{number:02},000 --> 00:00:{number:02},900\nwords number {number}\n" for number in range(5)
    ]
    cues.append("9\n00:00:30,000 --> 00:00:31,000\nafter a pause\n")
    assert read("\n".join(cues)).content.split("\n\n")[1:] == ["after a pause"]


def test_long_speech_without_full_stops_is_cut_between_cues() -> None:
    cues = [
        f"{number}\n00:{number // 60:02}:{number % 60:02},000 --> 00:{number // 60:02}:{number % 60:02},900\n"
        f"and then we walked on for hour {number}\n"
        for number in range(200)
    ]
    spans = quoted(read("\n".join(cues)))
    assert len(spans) > 10
    assert max(len(text) for text, _ in spans) < 500


@pytest.mark.parametrize(
    ("content", "error", "match"),
    [
        ("Just words.\n", DamagedSource, r"no line with times.*name it \.txt"),
        ("1\n00:00:01,000 --> 00:00:02,000\n<i></i>\n", EmptySource, "times but no words"),
        (" \n", EmptySource, "no text"),
    ],
)
def test_no_subtitles(content: str, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        read(content)


def test_an_answer_cites_the_times(tmp_path: Path) -> None:
    path = tmp_path / "harbour.srt"
    path.write_text(SRT)
    with answerable.open(":memory:") as library:
        library.add(path)
        (citation, *_) = library.ask("Who built the harbour?").citations
        document = library.document(citation.document_id)
    assert document.content[citation.start : citation.end] == citation.quote
    assert citation.quote == "The harbour was built by fishermen in 1820, and it still stands today."
    assert str(citation.location) == "0:42 to 1:10"
    assert citation.link == path.as_uri()
