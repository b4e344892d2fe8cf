"""What every splitter promises, on documents that nobody would write."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_settings import examples

from answerable.datatypes import Chunk, Document, DocumentType, Location, Part, PartKind
from answerable.protocols import TextSplitter
from answerable.splitting.by_type import ChatSplitter, HeadingSplitter, SplitterByType
from answerable.splitting.recursive import RecursiveSplitter, SentenceSplitter

SIZE, OVERLAP = 40, 12
RECURSIVE = RecursiveSplitter(SIZE, OVERLAP)
SPLITTERS: dict[str, TextSplitter] = {
    "recursive": RECURSIVE,
    "sentences": SentenceSplitter(3, 1),
    "headings": HeadingSplitter(RECURSIVE),
    "chat": ChatSplitter(RECURSIVE, 5, 2),
    "by_type": SplitterByType(SIZE, OVERLAP),
}
TYPES = [DocumentType.TEXT, DocumentType.PDF, DocumentType.MARKDOWN, DocumentType.HTML, DocumentType.CHAT]
WORDS = [
    "a",
    "Word",
    "palabras",
    "Dr.",
    "end.",
    "¿qué?",
    "这是。",
    "हिन्दी",
    "👩‍👩‍👧",
    "é",
    "x" * 30,
    "\r",
    "# H",
    "- i",
]
GAPS = [" ", "  ", "\n", "\n\n", "\n \t\n", "\f", "\r\n", "\r\n\r\n", "\t", "", ". ", "! "]

texts = st.one_of(
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=60).map(
        lambda pairs: "".join(word + gap for word, gap in pairs)
    ),
    st.text(max_size=200),
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A document of any type with parts of any kind, which may leave gaps."""
    content = draw(texts)
    ends = sorted(draw(st.sets(st.integers(0, len(content)), max_size=12)))
    kind = draw(st.sampled_from([PartKind.PAGE, PartKind.SECTION, PartKind.MESSAGE]))
    parts = []
    for number, (start, end) in enumerate(pairwise(ends)):
        if draw(st.integers(0, 4)):
            parts.append(_part(draw, kind, number, start, end))
    return Document(
        id="d",
        content=content,
        title=draw(st.sampled_from(["", "Title", " A\nB "])),
        type=draw(st.sampled_from(TYPES)),
        language=draw(st.sampled_from(["", "en", "es", "zh"])),
        parts=tuple(parts),
    )


def _part(draw: st.DrawFn, kind: PartKind, number: int, start: int, end: int) -> Part:
    if kind is PartKind.PAGE:
        return Part(start, end, kind, page=number + 1)
    if kind is PartKind.SECTION:
        headings = tuple(draw(st.lists(st.sampled_from(["One", "Two"]), max_size=2)))
        return Part(start, end, kind, headings=headings, anchor=f"a{number}")
    moment = datetime(2024, 1, 1) + timedelta(minutes=draw(st.integers(0, 1000)))
    if draw(st.booleans()):
        return Part(start, end, PartKind.NOTICE, time=moment)
    sender = draw(st.sampled_from(["Ana", "Luis"]))
    return Part(start, end, PartKind.MESSAGE, time=moment, sender=sender, body=min(start + 3, end))


def slow_location(document: Document, start: int, end: int) -> Location:
    """The place of a span, character by character and part by part."""
    lines = [document.content[:index].count("\n") + 1 for index in (start, end - 1)]
    touched = [
        part
        for part in document.parts
        if any(part.start <= index < part.end for index in range(start, end)) or start < part.start == part.end < end
    ]
    pages = [part.page for part in touched if part.page]
    times = sorted(part.time for part in touched if part.time)
    sections = [part for part in touched if part.headings]
    senders = []
    for part in touched:
        if part.kind is PartKind.MESSAGE and part.sender and part.sender not in senders:
            senders.append(part.sender)
    return Location(
        lines=None if document.type is DocumentType.HTML else (lines[0], lines[1]),
        pages=(min(pages), max(pages)) if pages else None,
        headings=sections[0].headings if sections else (),
        anchor=sections[0].anchor if sections else None,
        times=(times[0], times[-1]) if times else None,
        senders=tuple(senders),
    )


def check(document: Document, chunks: list[Chunk]) -> None:
    """Everything that holds for the chunks of any splitter."""
    covered = 0
    for number, chunk in enumerate(chunks):
        assert document.content[chunk.start : chunk.end] == chunk.content == chunk.content.strip() != ""
        assert not document.content[covered : max(chunk.start, covered)].strip()
        assert chunk.sequence == number
        assert chunk.document_id == document.id
        covered = max(covered, chunk.end)
    assert not document.content[covered:].strip()
    for one, other in pairwise(chunks):
        assert one.start < other.start
        assert one.end < other.end
    assert len({chunk.id for chunk in chunks}) == len(chunks)


@pytest.mark.parametrize("name", SPLITTERS)
@examples(150)
@given(document=documents())
def test_chunks_are_exact_ordered_complete_and_located(name: str, document: Document) -> None:
    chunks = SPLITTERS[name].split(document)
    check(document, chunks)
    for chunk in chunks:
        assert chunk.location == slow_location(document, chunk.start, chunk.end)
        assert set(chunk.parts) <= set(document.parts)
        if name != "sentences":
            assert len(chunk.content) <= SIZE
    assert SPLITTERS[name].split(document) == chunks


@examples(200)
@given(text=texts, size=st.integers(1, 60), data=st.data())
def test_neither_size_nor_overlap_is_exceeded(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    document = Document.from_text(text)
    chunks = RecursiveSplitter(size, overlap).split(document)
    check(document, chunks)
    assert all(len(chunk.content) <= size for chunk in chunks)
    assert all(one.end - other.start <= overlap for one, other in pairwise(chunks))


ADVERSARIAL = {
    "no separator": "x",
    "spaces": " ",
    "line ends": "\n",
    "form feeds": "\f",
    "full stops": ".",
    "full stops with spaces": ". ",
    "combining marks": "\u0301",
    "joined emoji": "👩\u200d",
    "flags": "🇪🇸",
    "carriage returns": "\r\n",
    "headings": "# a\n",
    "abbreviations": "art. 5 ",
    "numbers": "1. ",
    "brackets": "(",
    "bars": "|",
    "bars with spaces": "a | ",
    "Chinese": "这是第一句。",
    "mixed": "Ab, cd. \n",
}


@pytest.mark.parametrize("unit", ADVERSARIAL.values(), ids=ADVERSARIAL)
def test_a_million_characters_of_anything_take_seconds(unit: str) -> None:
    text = (unit * 1_000_000)[:1_000_000]
    document = Document.from_text(text, title="t", type="markdown", language="en")
    started = time.process_time()
    chunks = SplitterByType().split(document)
    assert time.process_time() - started < 10
    assert bool(chunks) is bool(text.strip())
    assert all(len(chunk.content) <= 1800 for chunk in chunks)


@pytest.mark.parametrize("unit", ADVERSARIAL.values(), ids=ADVERSARIAL)
def test_sentences_of_anything_take_time_in_proportion(unit: str) -> None:
    document = Document.from_text((unit * 100_000)[:100_000], language="en")
    started = time.process_time()
    check(document, SentenceSplitter().split(document))
    assert time.process_time() - started < 10


def test_many_sections_that_are_headings_only_take_time_in_proportion() -> None:
    content = "# a\n" * 50_000
    parts = tuple(Part(at, at + 4, PartKind.SECTION, headings=("a",)) for at in range(0, len(content), 4))
    started = time.process_time()
    HeadingSplitter(RecursiveSplitter()).split(Document("d", content, parts=parts))
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        ("aaaa bbbb.\n\ncccc. dddd\neeee", ["aaaa bbbb.", "cccc. dddd\neeee"]),  # a paragraph before all else
        ("aaaa bbbb. ccc\ndddd. eeeeeeee", ["aaaa bbbb. ccc", "dddd. eeeeeeee"]),  # a line before a sentence
        ("aaaa bbbb. cccc dddd eeeeeeee", ["aaaa bbbb.", "cccc dddd eeeeeeee"]),  # a sentence before a word
        ("aaaa bbbb cccc dddd eeeeeeee", ["aaaa bbbb cccc dddd", "eeeeeeee"]),  # the last word that fits
        ("a" * 25, ["a" * 20, "a" * 5]),  # anywhere, when nothing else is left
        ("aaaa bbbb.\fcccc. dddd\neeee", ["aaaa bbbb.", "cccc. dddd\neeee"]),  # a page's end is a paragraph's
        ("aaaa bbbb.\r\n\r\ncccc dddd\r\neee", ["aaaa bbbb.", "cccc dddd\r\neee"]),
        ("a.\n\nbbbb cccc dddd eeee ffff", ["a.\n\nbbbb cccc dddd", "eeee ffff"]),  # not in the first half
        ("这是第一句话。这是第二句话好吗好吗好吗好吗", ["这是第一句话。这是第二句话好吗好吗好吗好", "吗"]),
        ("这是第一句话这是第二句话。好吗好吗好吗好吗", ["这是第一句话这是第二句话。", "好吗好吗好吗好吗"]),
    ],
)
def test_cuts_fall_at_the_strongest_separator(text: str, chunks: list[str]) -> None:
    found = RecursiveSplitter(20, 0).split(Document.from_text(text))
    assert [chunk.content for chunk in found] == chunks


def test_overlap_begins_at_a_word() -> None:
    text = " ".join(f"word{number:02}" for number in range(40))
    chunks = RecursiveSplitter(50, 15).split(Document.from_text(text))
    assert len(chunks) > 4
    for one, other in pairwise(chunks):
        assert 0 < one.end - other.start <= 15
        assert other.content.startswith("word")


@pytest.mark.parametrize("cluster", ["👩‍👩‍👧", "👍🏽", "🇪🇸", "é", "हि", "1️⃣", "🏴\U000e0067\U000e0062\U000e007f"])
@pytest.mark.parametrize("shift", range(9))
def test_what_people_see_as_one_character_stays_whole(cluster: str, shift: int) -> None:
    text = "x" * shift + cluster * 30
    for chunk in RecursiveSplitter(25, 0).split(Document.from_text(text)):
        assert not chunk.content.lstrip("x").replace(cluster, "")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RecursiveSplitter(0), "chunk_size is 0"),
        (lambda: RecursiveSplitter(10, 10), "chunk_overlap is 10"),
        (lambda: RecursiveSplitter(10, -1), "chunk_overlap is -1"),
        (lambda: SentenceSplitter(0, 0), "sentences_per_chunk is 0"),
        (lambda: SentenceSplitter(2, 2), "overlap is 2"),
        (lambda: SentenceSplitter(2, -1), "overlap is -1"),
        (lambda: ChatSplitter(RECURSIVE, 0, 0), "window_size is 0"),
        (lambda: ChatSplitter(RECURSIVE, 3, 3), "window_overlap is 3"),
        (lambda: ChatSplitter(RECURSIVE, 3, -1), "window_overlap is -1"),
        (lambda: SplitterByType(10, 20), "chunk_overlap is 20"),
    ],
)
def test_numbers_that_make_no_sense_are_errors(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("text", ["", " \n\f ", "\r\n"])
def test_no_text_gives_no_chunks(name: str, text: str) -> None:
    assert SPLITTERS[name].split(Document.from_text(text)) == []


def test_groups_of_sentences_share_sentences() -> None:
    document = Document.from_text("One. Two. Three. Four. Five. Six.", language="en")
    found = [chunk.content for chunk in SentenceSplitter(3, 1).split(document)]
    assert found == ["One. Two. Three.", "Three. Four. Five.", "Five. Six."]
    assert [chunk.content for chunk in SentenceSplitter(2, 0).split(document)] == [
        "One. Two.",
        "Three. Four.",
        "Five. Six.",
    ]


def test_the_type_chooses_the_splitter() -> None:
    content = "# A\n\nText a.\n\n# B\n\nText b.\n"
    half = content.index("# B")
    parts = (
        Part(0, half, PartKind.SECTION, headings=("A",)),
        Part(half, len(content), PartKind.SECTION, headings=("B",)),
    )
    counts = {kind: len(SplitterByType().split(Document("d", content, type=kind, parts=parts))) for kind in TYPES}
    assert counts == {
        DocumentType.TEXT: 1,
        DocumentType.PDF: 1,
        DocumentType.CHAT: 1,
        DocumentType.MARKDOWN: 2,
        DocumentType.HTML: 2,
    }


def test_the_lines_of_a_picture_are_one_chunk_and_pages_stay_known() -> None:
    lines = ["The harbour office", "opens at nine", "in the morning.", "Dogs travel free."]
    content = "\n".join(lines)
    starts = [content.index(line) for line in lines]
    parts = tuple(
        Part(start, start + len(line), PartKind.PAGE, page=page)
        for start, line, page in zip(starts, lines, (1, 1, 1, 2), strict=True)
    )
    (chunk,) = SplitterByType().split(Document("d", content, type=DocumentType.PICTURE, parts=parts))
    assert (chunk.content, chunk.location.pages) == (content, (1, 2))
