"""Zip archives: the chat in a phone's export, documents, and everything hostile."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from reading_here import read_file

from answerable.datatypes import DocumentType
from answerable.errors import DamagedSource, EmptySource, EncryptedSource, SourceTooLarge, UnsupportedSource
from answerable.sources.archives import members
from answerable.sources.context import ReadContext, ReadLimits, Skipped

CHAT = "".join(
    f"[{day:02}/03/2024, 10:{day:02}:00] {name}: message number {day}\r\n"
    for day in range(1, 20)
    for name in ("Ana", "João")
)
Member = tuple[str | zipfile.ZipInfo, str | bytes]


def packed(*members: Member, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    def save_(data: bytes, name: str = "export.zip") -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return save_


@pytest.mark.parametrize(
    "name", ["_chat.txt", "WhatsApp Chat with Ana.txt", "Conversa do WhatsApp com João.txt", "other.txt"]
)
def test_the_chat_of_a_shared_export(save: Callable[..., Path], name: str) -> None:
    path = save(
        packed(
            ("photo.jpg", b"\xff\xd8\xff\x00"), (name, CHAT), ("contract.pdf", b"%PDF-1.4"), ("voice.opus", b"OggS\0")
        )
    )
    (document,) = read_file(path)
    assert document.type is DocumentType.CHAT
    assert document.source == f"{path.as_posix()}!/{name}"
    assert "message number 7" in document.content


def test_a_name_in_utf8_that_does_not_say_so(save: Callable[..., Path]) -> None:
    data = packed(("Conversa do WhatsApp com Joao~.txt", CHAT)).replace(b"Joao~", "João".encode())
    (document,) = read_file(save(data))
    assert document.source.endswith("!/Conversa do WhatsApp com João.txt")


def test_documents_in_an_archive(save: Callable[..., Path], make_pdf: Callable[..., bytes]) -> None:
    path = save(
        packed(
            ("docs/b.md", "# B\ntext"),
            ("docs/a.pdf", make_pdf(["page"])),
            ("page.html", "<h1>P</h1><p>para</p>"),
            ("notes.txt", "plain"),
            ("logo.png", b"\x89PNG\r\n\x1a\n"),
            ("blank.txt", " "),
            ("inner.zip", packed(("x.txt", "nested"))),
            ("__MACOSX/._b.md", "x"),
            (".hidden/c.md", "x"),
        )
    )
    skipped = Skipped()
    documents = read_file(path, ReadContext(skipped=skipped))
    assert [document.source.split("!/")[1] for document in documents] == [
        "docs/a.pdf",
        "docs/b.md",
        "inner.zip",
        "notes.txt",
        "page.html",
    ]
    assert documents[2].source.endswith("export.zip!/inner.zip!/x.txt")
    assert skipped.counts == {"picture (pip install '.[ocr]')": 1, "empty": 1}
    assert [(each.source.split("!/")[1], each.reason) for each in skipped.passed_over] == [
        ("blank.txt", "empty"),
        ("logo.png", "picture (pip install '.[ocr]')"),
    ]


def test_the_parts_of_a_saved_page_are_no_documents(save: Callable[..., Path]) -> None:
    parts = ("a/P_files/x.js.download", "a/P_files/deep/frame.html", "a/main.css")
    path = save(packed(("a/P.html", "<h1>P</h1><p>para</p>"), *((part, "text") for part in parts)))
    skipped = Skipped()
    (document,) = read_file(path, ReadContext(skipped=skipped))
    assert document.source.endswith("!/a/P.html")
    assert skipped.counts == {"part of a web page": 3}


def test_names_that_no_system_has_room_for_are_refused(save: Callable[..., Path]) -> None:
    with pytest.raises(DamagedSource, match="a name of over 4,096 characters"):
        read_file(save(packed((f"{'a/' * 2_050}b.txt", "text"))))


def test_a_broken_member_is_reported_and_the_others_are_read(save: Callable[..., Path]) -> None:
    path = save(packed(("a.pdf", "%PDF-1.4 broken"), ("b.txt", "fine")))
    skipped = Skipped()
    assert len(read_file(path, ReadContext(skipped=skipped))) == 1
    (error,) = skipped.errors
    assert isinstance(error, DamagedSource)
    assert "!/a.pdf is not a readable PDF" in str(error)


@pytest.mark.parametrize(
    "name",
    ["../evil.txt", "/../evil.txt", "a/../../evil.txt", "/C:/evil.txt", "..\\evil.txt", "a\\..\\..\\b", "C:\\b"],
)
def test_names_that_point_outside_are_refused(save: Callable[..., Path], name: str) -> None:
    with pytest.raises(DamagedSource, match=r"export\.zip is refused.*points outside.*pack the files again"):
        read_file(save(packed(("ok.txt", "fine"), (name, "evil"))))


@pytest.mark.parametrize("folder", ["notes\\", "\\notes\\", "/notes/"])
def test_names_are_paths_in_the_archive_with_slashes(save: Callable[..., Path], folder: str) -> None:
    path = save(packed((f"{folder}ferry.txt", "The ferry leaves at nine."), (folder, "")))
    (document,) = read_file(path)
    assert (document.source, document.content) == (f"{path.as_posix()}!/notes/ferry.txt", "The ferry leaves at nine.")


@pytest.mark.parametrize("name", ["plan.pages", "plan.numbers", "plan.key"])
def test_documents_of_apple_by_their_preview(
    save: Callable[..., Path], make_pdf: Callable[..., bytes], name: str
) -> None:
    own, preview = ("Index/Document.iwa", b"x"), ("QuickLook/Preview.pdf", make_pdf(["The orchard has nine rows."]))
    (document,) = read_file(save(packed(own, preview, ("preview.jpg", b"\xff\xd8\xff")), name))
    assert (document.type, document.content) == (DocumentType.PDF, "The orchard has nine rows.")
    assert document.source.endswith(f"{name}!/QuickLook/Preview.pdf")
    with pytest.raises(UnsupportedSource, match=r"without a preview.*icloud\.com, export it as Word, Excel"):
        read_file(save(packed(own), name))
    (key,) = read_file(save(b"-----BEGIN PUBLIC KEY-----", "id.key"))
    assert key.type is DocumentType.TEXT


def test_symbolic_links_are_skipped(save: Callable[..., Path]) -> None:
    link = zipfile.ZipInfo("link.txt")
    link.external_attr = 0o120777 << 16
    path, skipped = save(packed((link, "/etc/passwd"), ("a.txt", "fine"))), Skipped()
    assert [each.content for each in read_file(path, ReadContext(skipped=skipped))] == ["fine"]
    assert [(each.source.split("!/")[1], each.reason) for each in skipped.passed_over] == [("link.txt", "link")]


def test_encrypted_members_are_refused(save: Callable[..., Path]) -> None:
    data = bytearray(packed(("a.txt", "text")))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(EncryptedSource, match=r"export\.zip is encrypted.*unpack it with its password"):
        read_file(save(bytes(data)))


def test_a_bomb_is_refused_by_its_ratio(save: Callable[..., Path]) -> None:
    with pytest.raises(DamagedSource, match=r"unpacks to 200 times its size"):
        read_file(save(packed(("a.txt", b"0" * 30_000_000))))


def test_the_limit_counts_all_members_together(save: Callable[..., Path]) -> None:
    path = save(packed(("a.txt", "word " * 2_000), ("b.txt", "other " * 2_000)))
    assert len(read_file(path)) == 2
    with pytest.raises(SourceTooLarge, match=r"unpacks to over 15,000 bytes.*max_file_size"):
        read_file(path, ReadContext(ReadLimits(max_file_size=15_000)))


def test_the_size_of_an_export_with_its_media_does_not_matter(save: Callable[..., Path]) -> None:
    path = save(packed(("_chat.txt", CHAT), ("video.mp4", bytes(range(256)) * 500), compression=zipfile.ZIP_STORED))
    assert read_file(path, ReadContext(ReadLimits(max_file_size=50_000)))[0].type is DocumentType.CHAT
    path = save(packed(("a.md", "# A"), ("video.mp4", bytes(range(256)) * 500), compression=zipfile.ZIP_STORED))
    assert read_file(path, ReadContext(ReadLimits(max_file_size=50_000)))[0].title == "A"


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_a_spoofed_size_is_refused(save: Callable[..., Path], compression: int) -> None:
    data = bytearray(packed(("a.txt", "x" * 5_000), compression=compression))
    struct.pack_into("<L", data, data.index(b"PK\x01\x02") + 24, 10)
    struct.pack_into("<L", data, 22, 10)
    with pytest.raises(DamagedSource, match=r"is damaged at its member 'a\.txt' \(Bad CRC-32"):
        read_file(save(bytes(data)))


def test_too_many_members(save: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MAX_MEMBERS", 5)
    with pytest.raises(SourceTooLarge, match=r"over 5 files: unpack it and add the folder"):
        read_file(save(packed(*((f"{number}.txt", "x") for number in range(6)))))


def test_damaged_archives(save: Callable[..., Path]) -> None:
    whole = packed(("a.txt", "some text " * 100))
    with pytest.raises(DamagedSource, match=r"not a valid zip file.*download or export it again"):
        read_file(save(whole[: len(whole) // 2]))
    broken = bytearray(whole)
    broken[45] ^= 0xFF
    with pytest.raises(DamagedSource, match=r"download or export it again"):
        read_file(save(bytes(broken)))


def test_nothing_to_read_in_it(save: Callable[..., Path]) -> None:
    with pytest.raises(EmptySource, match=r"holds no document.*or a chat export"):
        read_file(save(packed(("a.jpg", b"\xff\xd8\xff\x00"))))
    with pytest.raises(EmptySource, match="holds no document"):
        read_file(save(packed()))


@pytest.mark.parametrize("name", ["drawing.vsdx", "renamed.zip"])
def test_other_office_documents_are_unsupported(save: Callable[..., Path], name: str) -> None:
    data = packed(("[Content_Types].xml", "<x/>"), ("visio/document.xml", "<x/>"))
    with pytest.raises(UnsupportedSource, match=r"PDF"):
        read_file(save(data, name))
