"""Voice notes of WhatsApp chats: in the message that they are attached to, in zips and folders."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from reading_here import read_file
from speech import packed, silence, spoken, wav

import answerable
from answerable.datatypes import Document, DocumentType
from answerable.errors import DamagedSource
from answerable.formats.locate import Locator
from answerable.sources.archives.archives import Unpacking
from answerable.sources.archives.read import opened_member
from answerable.sources.context import ReadContext, ReadLimits, Skipped
from answerable.sources.process.reading_process import ReadingProcess
from answerable.sources.recordings.hear import find_speech
from answerable.sources.whatsapp.voice_notes import fingerprint, note_at
from answerable.tables.entries import chat_statistics, chat_table

SAID = "The plumber comes on Thursday at half past four. Please leave the key under the blue flower pot."
NOTE = "PTT-20240305-WA0001.opus"
IPHONE_NOTE = "00000012-AUDIO-2024-03-05-21-15-00.opus"
ATTACHED = f"\u200e<attached: {IPHONE_NOTE}>"
BEFORE = "[05/03/24, 21:14:00] Ana: Did anybody call about the leak in the bathroom?\n"
AFTER = "[05/03/24, 21:16:00] Ana: Thank you, I have told the neighbour."
LINE = "05/03/2024, 21:{minute} - {sender}: {text}\n"
SPEECH = find_speech()


@pytest.fixture(scope="module")
def note() -> bytes:
    return packed(spoken(SAID))


@pytest.fixture(scope="module")
def short() -> bytes:
    return packed(spoken("The boat leaves at nine."))


@pytest.fixture(scope="module")
def document(note: bytes) -> Document:
    """A chat with the note."""
    return read(export(chat(ATTACHED), **{IPHONE_NOTE: note}))


def export(text: str, **files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("_chat.txt", text)
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def chat(attached: str) -> str:
    return f"{BEFORE}[05/03/24, 21:15:00] Luis: {attached}\n{AFTER}"


def read(data: bytes, skipped: Skipped | None = None, **options: object) -> Document:
    context = ReadContext(speech=SPEECH, skipped=skipped or Skipped(), **options)  # type: ignore[arg-type]
    (document,) = read_file(data, context, "/in/chat.zip")
    return document


@pytest.mark.parametrize(
    ("attached", "name"),
    [
        (ATTACHED, IPHONE_NOTE),
        (f"\u200e<adjunto: {IPHONE_NOTE}>", IPHONE_NOTE),
        (f"\u200e<anexado: {IPHONE_NOTE}>", IPHONE_NOTE),
        (f"\u200e<Anhang: {IPHONE_NOTE}>", IPHONE_NOTE),
        (f"{NOTE} (file attached)", NOTE),
        (f"{NOTE} (archivo adjunto)", NOTE),
        (f"\u200e{NOTE} (arquivo anexado)", NOTE),
        (f"{NOTE} (файл добавлен)", NOTE),
        (f"{NOTE} (添付ファイル)", NOTE),
    ],
)
def test_the_attachment_is_found_in_exports_of_all_phones(attached: str, name: str) -> None:
    """Which is told by what is skipped without a model."""
    skipped = Skipped()
    (document,) = read_file(export(chat(attached), **{name: b"OggS\0"}), ReadContext(skipped=skipped), "/in/chat.zip")
    assert [each.source for each in skipped.passed_over] == [f"/in/chat.zip!/{name}"]
    assert "pip install '.[audio]'" in skipped.passed_over[0].reason
    assert document.content == chat(attached)


def test_a_note_is_part_of_its_message(document: Document) -> None:
    lines = document.content.split("\n")
    assert lines[:2] == chat(ATTACHED).split("\n")[:2]
    assert lines[2] == "🎤 0:00 The plumber comes on Thursday at half past four."
    assert lines[3].startswith("🎤 0:03 Please leave the key")
    assert lines[4:] == [AFTER]
    said = [part for part in document.parts if part.seconds is not None]
    assert [document.content[part.start : part.end] for part in said] == lines[2:4]
    assert document.content[said[0].body : said[0].end] == "The plumber comes on Thursday at half past four."
    assert {(part.sender, str(part.time)) for part in said} == {("Luis", "2024-03-05 21:15:00")}
    assert [part.start for part in document.parts] == sorted(part.start for part in document.parts)
    assert document.content[document.parts[-1].start : document.parts[-1].end] == AFTER
    assert (document.metadata["messages"], document.metadata["voice_notes"]) == (3, 1)
    assert note_at(document, said[1].start + 9) == IPHONE_NOTE
    assert note_at(document, document.parts[-1].start) == ""
    # What is said is not in the file: its lines don't count.
    place = Locator(document).location(document.parts[-1].start, document.parts[-1].end)
    assert place.lines == (3, 3)


def tarred(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def test_notes_are_read_in_every_archive_and_found_again(note: bytes, short: bytes, tmp_path: Path) -> None:
    text = chat(ATTACHED)
    packed_chat = tarred(**{"_chat.txt": text.encode(), f"media/{IPHONE_NOTE}": note})
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("chats/ana.tar.gz", packed_chat)
        archive.writestr("memo.opus", short)
        archive.writestr("bad.opus", b"OggS\0" + bytes(50))
    path = tmp_path / "all.zip"
    path.write_bytes(outer.getvalue())
    skipped = Skipped()
    documents = read_file(path, ReadContext(speech=SPEECH, skipped=skipped), str(path))
    assert ["bad.opus" in str(error) for error in skipped.errors] == [True]
    assert {each.source.removeprefix(f"{path}!/"): each.type for each in documents} == {
        "chats/ana.tar.gz!/_chat.txt": DocumentType.CHAT,
        "memo.opus": DocumentType.RECORDING,
    }
    (found,) = [each for each in documents if each.type is DocumentType.CHAT]
    assert found.content.count("🎤") == 2
    unpacking = Unpacking(10_000_000, lambda: None)
    with opened_member(path, str(path), "chats/ana.tar.gz!/_chat.txt", 10_000_000, unpacking) as (data, beside):
        assert data.decode() == text
        assert beside(IPHONE_NOTE) == note
        assert fingerprint(found, data, beside) == found.metadata["sha256"]


def test_messages_are_counted_without_the_lines_of_notes(document: Document) -> None:
    statistics = chat_statistics(document)
    assert statistics is not None
    assert (statistics.messages, statistics.by_sender) == (3, {"Ana": 2, "Luis": 1})
    table = chat_table(document)
    assert table is not None
    assert len(table.rows) == 3
    sender, _, text, attachment = table.rows[1].values
    assert (sender.text, attachment.text) == ("Luis", "audio")
    assert text.text.startswith("The plumber comes on Thursday")


@pytest.mark.long
def test_answers_cite_the_message_and_the_second(note: bytes, tmp_path: Path) -> None:
    (tmp_path / "chat.zip").write_bytes(export(chat(ATTACHED), **{IPHONE_NOTE: note}))
    with answerable.open(":memory:") as library:
        library.add(tmp_path / "chat.zip")
        (citation,) = library.ask("Where should the key be left?").citations
        assert citation.quote.startswith("Please leave the key under the blue")
        assert str(citation.location) == "2024-03-05 21:15, Luis, 0:03"
        assert citation.link == (tmp_path / "chat.zip").as_uri()
        (told,) = library.ask("Who did Ana tell?").citations
        assert told.location.seconds is None
        (stored,) = library.documents()
        document = library.document(stored.id)
        assert document.content[citation.start : citation.end] == citation.quote


@pytest.mark.long
def test_in_a_folder_the_note_beside_the_chat_is_read_with_it(note: bytes, tmp_path: Path) -> None:
    text = LINE.format(minute=14, sender="Ana", text="Hello?")
    text += LINE.format(minute=15, sender="Luis", text=f"{NOTE} (file attached)")
    text += LINE.format(minute=16, sender="Ana", text="The neighbour has been told.")
    (tmp_path / "WhatsApp Chat with Luis.txt").write_text(text)
    (tmp_path / NOTE).write_bytes(note)
    with answerable.open(":memory:") as library:
        report = library.add(tmp_path)
        assert (report.added, dict(report.skipped)) == (1, {"voice note of a chat": 1})
        (citation,) = library.ask("When does the plumber come?").citations
        assert str(citation.location) == "2024-03-05 21:15, Luis, 0:00"
        (later,) = library.ask("Who has been told?").citations
        assert later.link.endswith("WhatsApp%20Chat%20with%20Luis.txt#L3")


def test_notes_that_are_missing_silent_or_damaged_are_left_out(short: bytes) -> None:
    text = "".join(
        LINE.format(minute=minute, sender="Ana", text=f"PTT-20240305-WA000{minute % 10}.opus (file attached)")
        for minute in (11, 12, 13, 14)
    )
    files = {
        "PTT-20240305-WA0001.opus": packed(wav(silence(5))),
        "PTT-20240305-WA0002.opus": b"OggS\0" + bytes(40),
        "PTT-20240305-WA0003.opus": short,
    }
    skipped = Skipped()
    document = read(export(text, **files), skipped)
    assert document.content.count("🎤") == 1
    assert document.content.count("file attached") == 4
    assert [each.reason for each in skipped.passed_over] == ["voice note without speech"]
    assert [type(error) for error in skipped.errors] == [DamagedSource]


def test_all_notes_of_a_chat_share_their_time(short: bytes) -> None:
    text = "".join(
        LINE.format(minute=minute, sender="Ana", text=f"PTT-20240305-WA000{minute % 10}.opus (file attached)")
        for minute in (11, 12)
    )
    files = {"PTT-20240305-WA0001.opus": short, "PTT-20240305-WA0002.opus": short}
    skipped = Skipped()
    document = read(export(text, **files), skipped, limits=ReadLimits(max_audio_seconds=0.5))
    # The speech synthesiser of some machines says "leaps".
    assert "The boat lea" in document.content
    assert [each.source.rpartition("/")[2] for each in skipped.passed_over][-1] == "PTT-20240305-WA0002.opus"
    assert "max_audio_seconds" in skipped.passed_over[-1].reason


def test_a_note_that_ends_the_reading_process_does_not_take_the_chat_with_it(note: bytes) -> None:
    """By a limit that no recording can be read in, but any chat."""
    data = export(chat(ATTACHED), **{IPHONE_NOTE: note})
    skipped = Skipped()
    context = ReadContext(ReadLimits(max_audio_memory=1_000_000), speech=SPEECH, skipped=skipped)
    with ReadingProcess() as process:
        (document,) = process.read(data, "/in/chat.zip", context)
    assert (document.type, document.content) == (DocumentType.CHAT, chat(ATTACHED))
    assert len(skipped.errors) == 1
    assert IPHONE_NOTE in str(skipped.errors[0])
