"""Tar archives, compressed files, and archives within archives; and everything hostile in them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from made_files import zipped
from reading_here import read_file

import answerable
from answerable.datatypes import DocumentType
from answerable.errors import DamagedSource, EmptySource, SourceTooLarge, UnsupportedSource
from answerable.sources import ReadContext, ReadingProcess, ReadLimits, Skipped, walk
from answerable.sources.archives import members
from answerable.sources.formats import without_ocr

CHAT = "".join(
    f"[{day:02}/03/2024, 10:{day:02}:00] {name}: message number {day}\r\n"
    for day in range(1, 20)
    for name in ("Ana", "João")
)
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".tar": bytes,
    ".tar.gz": gzip.compress,
    ".tgz": gzip.compress,
    ".tar.bz2": bz2.compress,
    ".tar.xz": lzma.compress,
}
NOISE = bytes(range(256)) * 40


def tarred(*entries: tuple[str | tarfile.TarInfo, str | bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for name, content in entries:
            info = tarfile.TarInfo(name) if isinstance(name, str) else name
            data = content.encode() if isinstance(content, str) else content
            if info.isreg():
                info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def entry(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    def save_(data: bytes, name: str) -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return save_


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_documents_in_a_tar_archive(
    save: Callable[..., Path], make_pdf: Callable[..., bytes], ending: str, form: int
) -> None:
    folder = entry("./docs", tarfile.DIRTYPE)
    long = f"docs/{'a' * 90}/{'b' * 60}.md"
    data = tarred(
        (entry("./", tarfile.DIRTYPE), ""),
        (folder, ""),
        ("./docs/b.md", "# B\nThe gate opens at nine."),
        ("./docs/a.pdf", make_pdf(["page"])),
        (long, "# Long\nA path of many letters."),
        ("./photo.jpg", b"\xff\xd8\xff\0" + NOISE),
        ("blank.txt", " "),
        ("./.hidden/c.md", "x"),
        ("./página_files/x.js", "let x"),
        ("./página.html", "<h1>P</h1><p>para</p>"),
        form=form,
    )
    path, skipped = save(PACKERS[ending](data), f"all{ending}"), Skipped()
    documents = read_file(path, ReadContext(skipped=skipped))
    names = ["docs/b.md", "docs/a.pdf", long, "página.html"]
    assert [each.source for each in documents] == [f"{path.as_posix()}!/{name}" for name in names]
    assert {(each.source.split("!/")[1], each.reason) for each in skipped.passed_over} == {
        ("photo.jpg", without_ocr()),
        ("blank.txt", "empty"),
        ("página_files/x.js", "part of a web page"),
    }
    assert list(walk(path.parent)) == [path]


def test_a_member_is_asked_and_cited(save: Callable[..., Path]) -> None:
    path = save(gzip.compress(tarred(("rules/pool.md", "# Pool\n\nThe pool closes at half past eight."))), "a.tgz")
    with answerable.open(":memory:") as library:
        library.add(str(path))
        answer = library.ask("When does the pool close?")
        (citation,) = answer.citations
        assert citation.source == f"{path.as_posix()}!/rules/pool.md"
        assert (citation.link, citation.location.lines) == (path.as_uri(), (3, 3))
        (document,) = library.documents()
        content = library.document(document.id).content
        assert content[citation.start : citation.end] == citation.quote


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)])
def test_a_single_compressed_file(save: Callable[..., Path], ending: str, pack: Callable[[bytes], bytes]) -> None:
    # Compressed in two pieces, as logs are that a program goes on writing.
    path = save(pack(b"# Notes\n") + pack(b"\nThe boiler was serviced in May.\n"), f"notes.md{ending}")
    (document,) = read_file(path)
    assert document.source == f"{path.as_posix()}!/notes.md"
    assert (document.title, document.type) == ("Notes", DocumentType.MARKDOWN)
    assert "boiler" in document.content


def test_a_compressed_file_that_holds_none(save: Callable[..., Path]) -> None:
    with pytest.raises(EmptySource, match="holds no document"):
        read_file(save(gzip.compress(b"\x89PNG\r\n\x1a\n\0"), "photo.png.gz"))
    with pytest.raises(UnsupportedSource, match="gzip"):
        read_file(save(gzip.compress(b"<project>of another program</project>"), "song.als"))


@pytest.mark.parametrize("ending", PACKERS)
def test_the_chat_of_an_export(save: Callable[..., Path], ending: str) -> None:
    data = tarred(("photo.jpg", NOISE), ("notes.md", "# No"), ("WhatsApp Chat with Ana.txt", CHAT))
    (document,) = read_file(save(PACKERS[ending](data), f"export{ending}"))
    assert document.type is DocumentType.CHAT


def test_archives_in_an_archive_one_level_deep(save: Callable[..., Path]) -> None:
    deepest = zipped({"d.md": "# Deepest"})
    inner = gzip.compress(tarred(("c.md", "# Deep"), ("deeper.zip", deepest)))
    hostile = tarred(("../evil.txt", "evil"))
    data = zipped(
        {
            "a.md": "# A",
            "chat.zip": zipped({"_chat.txt": CHAT}),
            "empty.zip": zipped({"x.png": b"\x89PNG\r\n\x1a\n"}),
            "in.tar.gz": inner,
            "log.gz": gzip.compress(b"Started."),
            "trap.tar": hostile,
        }
    )
    path = save(data, "all.zip")
    for read in (read_file, ReadingProcess().read):
        skipped = Skipped()
        documents = (
            read(path, path.as_posix(), context=ReadContext(skipped=skipped))
            if read is not read_file
            else (read_file(path, ReadContext(skipped=skipped)))
        )
        sources = [each.source.removeprefix(path.as_posix()) for each in documents]
        assert sources == ["!/a.md", "!/chat.zip!/_chat.txt", "!/in.tar.gz!/c.md", "!/log.gz!/log"]
        assert {(each.source.removeprefix(path.as_posix()), each.reason) for each in skipped.passed_over} == {
            ("!/in.tar.gz!/deeper.zip", "archive within an archive within another"),
            ("!/empty.zip!/x.png", without_ocr()),
            ("!/empty.zip", "empty"),
        }
        (error,) = skipped.errors
        assert isinstance(error, DamagedSource)
        assert str(error).startswith(f"{path.as_posix()}!/trap.tar is refused, its member '../evil.txt' points outside")


def test_an_archive_in_an_archive_has_the_same_budget(save: Callable[..., Path]) -> None:
    inner = {f"{number}.txt": "word " * 1_000 for number in range(3)}
    path = save(zipped({"a.zip": zipped(inner), "b.zip": zipped(inner)}), "all.zip")
    assert len(read_file(path)) == 6
    with pytest.raises(SourceTooLarge, match=r"all\.zip unpacks to over 20,000 bytes.*max_file_size"):
        read_file(path, ReadContext(ReadLimits(max_file_size=20_000)))


def test_the_size_of_what_is_passed_over_does_not_matter(save: Callable[..., Path]) -> None:
    data = tarred(("video.mp4", NOISE * 50), ("a.md", "# A"))
    for name, packed in (("a.tar", data), ("a.tar.gz", gzip.compress(data))):
        assert read_file(save(packed, name), ReadContext(ReadLimits(max_file_size=100_000)))[0].title == "A"
    with pytest.raises(SourceTooLarge, match=r"takes unpacking over 200,000 bytes: unpack it and add the folder"):
        read_file(save(gzip.compress(data), "a.tgz"), ReadContext(ReadLimits(max_file_size=10_000)))


@pytest.mark.parametrize("ending", [".tar", ".tar.gz"])
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (tarfile.SYMTYPE, "link"),
        (tarfile.LNKTYPE, "link"),
        (tarfile.CHRTYPE, "device"),
        (tarfile.BLKTYPE, "device"),
        (tarfile.FIFOTYPE, "device"),
    ],
)
def test_what_is_no_file_is_skipped(save: Callable[..., Path], kind: bytes, reason: str, ending: str) -> None:
    other, hidden = entry("b.txt", kind, "/etc/passwd"), entry(".b", kind)
    data = tarred(("a.txt", "one"), (other, ""), (hidden, ""), ("c.txt", "two"), form=tarfile.GNU_FORMAT)
    path, skipped = save(PACKERS[ending](data), f"a{ending}"), Skipped()
    assert [each.content for each in read_file(path, ReadContext(skipped=skipped))] == ["one", "two"]
    assert [(each.source.split("!/")[1], each.reason) for each in skipped.passed_over] == [("b.txt", reason)]


@pytest.mark.parametrize("name", ["../evil.txt", "/../evil.txt", "a/../../evil.txt", "C:/evil.txt", "..\\evil.txt"])
def test_names_that_point_outside_are_refused(save: Callable[..., Path], name: str) -> None:
    with pytest.raises(DamagedSource, match=r"a\.tar is refused.*points outside the archive"):
        read_file(save(tarred(("ok.txt", "fine"), (name, "evil")), "a.tar"))


def test_names_are_paths_in_the_archive(save: Callable[..., Path]) -> None:
    path = save(tarred(("/home/ana/ferry.txt", "The ferry leaves at nine.")), "a.tar")
    assert [each.source for each in read_file(path)] == [f"{path.as_posix()}!/home/ana/ferry.txt"]


def test_sparse_files_are_refused(save: Callable[..., Path]) -> None:
    old = tarred((entry("holes.txt", tarfile.GNUTYPE_SPARSE), ""), form=tarfile.GNU_FORMAT)
    with pytest.raises(DamagedSource, match=r"'holes\.txt' is a sparse file.*pack the files again"):
        read_file(save(old, "old.tar"))
    info = tarfile.TarInfo("holes.txt")
    info.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.map": "0,5",
        "GNU.sparse.size": "9",
    }
    with pytest.raises(DamagedSource, match="is a sparse file"):
        read_file(save(tarred((info, "words")), "a.tar"))


def test_headers_that_are_made_to_hurt_are_refused(save: Callable[..., Path]) -> None:
    info = tarfile.TarInfo("a.txt")
    info.pax_headers = {"comment": "x" * 200_000}
    with pytest.raises(DamagedSource, match=r"is refused, the header of its member .* is over 100,000 bytes"):
        read_file(save(tarred((info, "words")), "a.tar"))
    negative = tarfile.TarInfo("a.txt")
    negative.pax_headers = {"size": "-512"}
    with pytest.raises(DamagedSource):
        read_file(save(tarred((negative, "words")), "b.tar"))
    names = entry("long", tarfile.GNUTYPE_LONGNAME).tobuf(tarfile.GNU_FORMAT)
    with pytest.raises(DamagedSource):
        read_file(save(names * 5_000, "c.tar"))


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_a_bomb_is_refused_by_its_ratio(save: Callable[..., Path], ending: str) -> None:
    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[ending]
    with pytest.raises(DamagedSource, match="unpacks to 200 times its size"):
        read_file(save(pack(b"0" * 30_000_000), f"a.txt{ending}"))
    with pytest.raises(DamagedSource, match="unpacks to 200 times its size"):
        read_file(save(pack(tarred(("a.md", "# A"), ("zeros.bin", bytes(30_000_000)))), f"a.tar{ending}"))


def test_what_takes_too_much_memory_to_unpack_is_refused(save: Callable[..., Path]) -> None:
    data = bytearray(lzma.compress(b"words"))
    # The size of the dictionary, half a gigabyte, is a byte in the block's header, which ends with a checksum.
    data[16] = 34
    data[20:24] = zlib.crc32(data[12:20]).to_bytes(4, "little")
    with pytest.raises(DamagedSource, match="Memory usage limit"):
        read_file(save(bytes(data), "a.txt.xz"))


def test_too_many_members(save: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MAX_MEMBERS", 5)
    with pytest.raises(SourceTooLarge, match=r"over 5 files: unpack it and add the folder"):
        read_file(save(tarred(*((f"{number}.txt", "x") for number in range(6))), "a.tar"))


@pytest.mark.parametrize("ending", PACKERS)
def test_damaged_archives(save: Callable[..., Path], ending: str) -> None:
    whole = tarred(("a.bin", b"\0" * 5_000), ("b.txt", "some text " * 2_000), ("c.txt", "other text " * 2_000))
    packed = PACKERS[ending](whole)
    with pytest.raises(DamagedSource, match=r"download or export it again"):
        read_file(save(packed[: len(packed) * 2 // 3], f"cut{ending}"))
    broken = bytearray(whole)
    # The checksum of the second header.
    broken[512 + 5_120 + 150] ^= 0x01
    with pytest.raises(DamagedSource, match=r"is a damaged tar file .*download or export it again"):
        read_file(save(PACKERS[ending](bytes(broken)), f"broken{ending}"))
    with pytest.raises(DamagedSource, match=r"is a damaged tar file"):
        read_file(save(PACKERS[ending](b"no archive at all" * 100), f"none{ending}"))


def test_the_last_of_two_members_with_one_name_counts(save: Callable[..., Path]) -> None:
    (document,) = read_file(save(tarred(("a.md", "# Old"), ("a.md", "# New")), "a.tar"))
    assert document.title == "New"


def test_nothing_to_read_in_it(save: Callable[..., Path]) -> None:
    with pytest.raises(EmptySource, match=r"holds no document"):
        read_file(save(tarred(("a.jpg", b"\xff\xd8\xff\0")), "a.tar"))
    with pytest.raises(EmptySource, match="holds no document"):
        read_file(save(tarred(), "b.tar"))
