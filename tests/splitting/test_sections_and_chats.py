"""Sections, windows of messages, and what of a chunk may be quoted."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from answerable.datatypes import Chunk, Document, DocumentType, Part, PartKind
from answerable.splitting.by_type import ChatSplitter, HeadingSplitter
from answerable.splitting.make_chunks import evidence_spans
from answerable.splitting.recursive import RecursiveSplitter

START = datetime(2024, 3, 5, 21, 15)


def sections(*texts: tuple[tuple[str, ...], str]) -> Document:
    """A Markdown document of sections, each with its headings."""
    content, parts = "", []
    for headings, text in texts:
        parts.append(Part(len(content), len(content) + len(text), PartKind.SECTION, headings=headings))
        content += text
    return Document("d", content, title="Guide", type=DocumentType.MARKDOWN, language="en", parts=tuple(parts))


def chat(*bodies: str, senders: tuple[str | None, ...] = ("Ana", "Luis"), gap: str = "") -> Document:
    """A chat, a message a minute; a sender of None makes a notice."""
    content, parts = "", []
    for number, body in enumerate(bodies):
        sender, moment = senders[number % len(senders)], START + timedelta(minutes=number)
        header = f"{moment:%d/%m/%y, %H:%M} - {sender + ': ' if sender else ''}"
        end = len(content) + len(header) + len(body) + 1
        kind = PartKind.MESSAGE if sender else PartKind.NOTICE
        parts.append(Part(len(content), end, kind, time=moment, sender=sender, body=len(content) + len(header)))
        content += f"{header}{body}\n{gap}"
    return Document("d", content, title="Friends", type=DocumentType.CHAT, language="en", parts=tuple(parts))


def numbers(chunk: Chunk, document: Document) -> list[int]:
    """Which messages a chunk has."""
    return [document.parts.index(part) for part in chunk.parts]


def quotable(chunk: Chunk, language: str = "en") -> list[str]:
    """The texts of the spans that may be quoted."""
    spans = evidence_spans(chunk, language)
    assert all(0 <= start < end <= len(chunk.content) for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    return [chunk.content[start:end] for start, end in spans]


def test_one_chunk_per_section_with_its_path() -> None:
    document = sections(
        (("Guide",), "# Guide\n\nWelcome.\n\n"),
        (("Guide", "Setup"), "## Setup\n\nInstall it.\n\n"),
        (("Guide", "Use"), "## Use\n\nRun it.\n"),
    )
    chunks = HeadingSplitter(RecursiveSplitter()).split(document)
    assert [chunk.content for chunk in chunks] == [
        "# Guide\n\nWelcome.",
        "## Setup\n\nInstall it.",
        "## Use\n\nRun it.",
    ]
    assert [chunk.context for chunk in chunks] == ["Guide", "Guide › Setup", "Guide › Use"]
    assert [str(chunk.location) for chunk in chunks] == [
        "Guide, lines 1-3",
        "Guide › Setup, lines 5-7",
        "Guide › Use, lines 9-11",
    ]


def test_headings_alone_go_with_the_next_section() -> None:
    document = sections((("A",), "# A\n\n"), (("A", "B"), "## B\n"), (("A", "B", "C"), "### C\n\nText.\n"))
    chunks = HeadingSplitter(RecursiveSplitter()).split(document)
    assert [chunk.content for chunk in chunks] == ["# A\n\n## B\n### C\n\nText."]


def test_the_heading_of_a_pdfs_section_is_no_evidence() -> None:
    content = "2. Late\nreturns\nA day costs fifty cents. No more\f1. Late returns are rare."
    parts = (
        Part(0, 40, PartKind.PAGE, page=1, headings=("Rules", "2. Late returns")),
        Part(41, len(content), PartKind.PAGE, page=2, headings=("Rules", "2. Late returns")),
    )
    document = Document("d", content, type=DocumentType.PDF, language="en", parts=parts)
    (chunk,) = RecursiveSplitter().split(document)
    assert quotable(chunk)[0] == "A day costs fifty cents."
    assert any("Late returns are rare." in quote for quote in quotable(chunk))


def test_a_last_heading_without_text_is_kept() -> None:
    document = sections((("A",), "# A\n\nText.\n\n"), (("B",), "# B\n"))
    assert [chunk.content for chunk in HeadingSplitter(RecursiveSplitter()).split(document)] == ["# A\n\nText.", "# B"]


def test_long_sections_are_cut_and_keep_their_path() -> None:
    document = sections((("A",), "# A\n\n" + "Some words. " * 40), (("B",), "# B\n\nShort.\n"))
    chunks = HeadingSplitter(RecursiveSplitter(100, 10)).split(document)
    assert len(chunks) > 5
    assert all(chunk.location.headings == ("A",) for chunk in chunks[:-1])
    assert chunks[-1].content == "# B\n\nShort."


def test_text_before_between_and_after_the_parts_is_kept() -> None:
    content = "Before.\n# A\nText a.\nBetween.\n# B\nText b.\nAfter."
    parts = tuple(
        Part(content.index(text), content.index(text) + len(text), PartKind.SECTION, headings=(text[2],))
        for text in ("# A\nText a.\n", "# B\nText b.\n")
    )
    document = Document("d", content, type=DocumentType.MARKDOWN, parts=parts)
    chunks = HeadingSplitter(RecursiveSplitter()).split(document)
    assert "\n".join(chunk.content for chunk in chunks) == content
    windows = ChatSplitter(RecursiveSplitter()).split(document)
    assert [chunk.content for chunk in windows] == [content]


def with_silences(document: Document, silences: dict[int, timedelta]) -> Document:
    """The chat with more time before some messages."""
    late, parts = timedelta(), []
    for number, part in enumerate(document.parts):
        late += silences.get(number, timedelta())
        assert part.time
        parts.append(replace(part, time=part.time + late))
    return replace(document, parts=tuple(parts))


def test_a_window_ends_at_a_long_silence_and_nothing_is_shared_across_it() -> None:
    document = with_silences(
        chat(*(f"Message {number}" for number in range(50))),
        {5: timedelta(days=2), 20: timedelta(hours=11), 45: timedelta(hours=13)},
    )
    chunks = ChatSplitter(RecursiveSplitter(5000, 200)).split(document)
    ends = [(numbers(chunk, document)[0], numbers(chunk, document)[-1]) for chunk in chunks]
    assert ends == [(0, 4), (5, 34), (25, 44), (45, 49)]


def test_where_messages_are_rare_a_day_is_no_silence() -> None:
    document = chat(*(f"Message {number}" for number in range(20)))
    daily = with_silences(document, dict.fromkeys(range(1, 20), timedelta(days=1)))
    assert len(ChatSplitter(RecursiveSplitter()).split(daily)) == 1
    assert len(ChatSplitter(RecursiveSplitter()).split(with_silences(daily, {10: timedelta(days=30)}))) == 2


def test_windows_of_thirty_messages_share_ten() -> None:
    document = chat(*(f"Message {number}" for number in range(75)))
    chunks = ChatSplitter(RecursiveSplitter(5000, 200)).split(document)
    assert [(numbers(chunk, document)[0], numbers(chunk, document)[-1]) for chunk in chunks] == [
        (0, 29),
        (20, 49),
        (40, 69),
        (60, 74),
    ]
    assert chunks[0].location.times == (START, START + timedelta(minutes=29))
    assert chunks[0].location.senders == ("Ana", "Luis")
    assert {chunk.context for chunk in chunks} == {"Friends"}


@pytest.mark.parametrize(("size", "overlap"), [(1, 0), (2, 1), (3, 2), (10, 9), (7, 0)])
def test_full_windows_share_what_is_asked(size: int, overlap: int) -> None:
    document = chat(*(f"Message {number}" for number in range(40)))
    chunks = ChatSplitter(RecursiveSplitter(5000, 0), size, overlap).split(document)
    for one, other in pairwise(chunks):
        shared = set(numbers(one, document)) & set(numbers(other, document))
        assert len(shared) == overlap
        assert len(numbers(one, document)) == size


def test_no_window_is_longer_than_allowed_and_each_brings_something_new() -> None:
    bodies = ["short"] * 25 + ["long " * 90] + ["short"] * 25 + ["longer " * 200] + ["short"] * 5
    document = chat(*bodies)
    chunks = ChatSplitter(RecursiveSplitter(600, 50)).split(document)
    assert all(len(chunk.content) <= 600 for chunk in chunks)
    seen = 0
    for chunk in chunks:
        assert chunk.end > seen
        seen = chunk.end


def test_a_message_that_is_too_long_is_cut_and_stays_its_senders() -> None:
    document = chat("Hi.", "One thing. " * 100, "Bye.")
    chunks = ChatSplitter(RecursiveSplitter(300, 30)).split(document)
    inner = [chunk for chunk in chunks if "thing" in chunk.content]
    assert len(inner) > 3
    assert all(chunk.location.senders == ("Luis",) for chunk in inner)
    assert {quote for chunk in inner for quote in quotable(chunk)} == {"One thing."}


def test_messages_with_gaps_between_them_leave_nothing_out() -> None:
    document = chat("One.", "Two.", "Three.", gap="stray text\n")
    chunks = ChatSplitter(RecursiveSplitter(), 2, 1).split(document)
    assert chunks[0].start == 0
    assert chunks[-1].end == len(document.content.rstrip())
    assert all(other.start <= one.end for one, other in pairwise(chunks))
    assert quotable(chunks[0]) == ["One.", "Two."]


def test_notices_and_headers_are_not_quotable() -> None:
    document = chat("Ana changed the subject", "I am here. Are you?", senders=(None, "Luis"))
    (chunk,) = ChatSplitter(RecursiveSplitter()).split(document)
    assert quotable(chunk) == ["I am here.", "Are you?"]


def test_headings_rules_fences_and_table_lines_are_not_quotable() -> None:
    text = "# Guide\n\n---\n\n## Setup\nInstall it. Then run it.\n\n"
    text += "| A | B |\n| --- | --- |\n| 1 | 2 |\n\n```sh\nmake all\n```\n"
    document = sections((("Guide",), text))
    (chunk,) = HeadingSplitter(RecursiveSplitter()).split(document)
    assert quotable(chunk) == ["Install it.", "Then run it.", "| A | B |", "| 1 | 2 |", "make all"]


def test_a_chunk_that_ends_within_a_header_gives_nothing_of_it() -> None:
    document = chat("Hello there.", "Bye.")
    second = document.parts[1]
    end = second.start + 5
    whole = ChatSplitter(RecursiveSplitter()).split(document)[0]
    cut = Chunk("c", "d", document.content[:end], 0, end, 0, whole.location, parts=document.parts)
    assert quotable(cut) == ["Hello there."]
