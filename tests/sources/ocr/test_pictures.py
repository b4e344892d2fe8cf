"""Pictures: their text, the places of their lines, and what is left out without OCR."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pypdfium2  # type: ignore[import-untyped]
import pytest
from reading_here import read_file
from sources.conftest import build_pdf
from sources.ocr.drawn import NOTICE, drawn, saved

import answerable
from answerable.datatypes import DocumentType, document_id
from answerable.errors import DamagedSource, EmptySource, SourceError, SourceTooLarge, UnsupportedSource
from answerable.sources import ReadContext, Skipped, walk
from answerable.sources.context import Ocr
from answerable.sources.file_reader import FileReader
from answerable.sources.formats import recognise
from answerable.sources.ocr import models
from answerable.sources.ocr.lines import PictureTooLarge
from answerable.sources.ocr.models import pages
from answerable.sources.ocr.pictures import find_ocr, rapid_recogniser, read_picture, rectangles
from answerable.sources.process.reading_process import ReadingProcess

TEXT = "\n".join(NOTICE)


@pytest.fixture(scope="module", params=["", "eng+spa+por"], ids=["rapidocr", "tesseract"])
def ocr(request: pytest.FixtureRequest) -> Ocr:
    """Both kinds of OCR; the tests need them."""
    found = find_ocr(request.param)
    assert found is not None
    assert bool(found.command) is bool(request.param)
    return found


@pytest.fixture
def rapid() -> Ocr:
    return Ocr()


def test_the_text_of_a_picture_with_the_place_of_each_line(ocr: Ocr) -> None:
    document = read_picture(saved(drawn(NOTICE)), "/a/notice.png", ReadContext(ocr=ocr))
    assert document.type is DocumentType.PICTURE
    assert document.content.split() == TEXT.split()
    assert document.id == document_id("/a/notice.png", document.content)
    texts = [document.content[part.start : part.end].strip() for part in document.parts]
    assert texts == list(NOTICE)
    assert "".join(document.content[part.start : part.end] for part in document.parts) == document.content
    for number, part in enumerate(document.parts):
        assert part.box is not None
        left, top, right, bottom = part.box
        assert left == pytest.approx(50 / 900, abs=0.02)
        assert top * 300 < 40 + number * 51 + 25 < bottom * 300
        assert right < 0.85


def test_an_answer_cites_the_line_and_the_page_can_show_it(tmp_path: Path) -> None:
    path = tmp_path / "notice.png"
    path.write_bytes(saved(drawn(NOTICE)))
    with answerable.open(":memory:") as library:
        assert library.add(path).added == 1
        answer = library.ask("When does the harbour office open?")
        assert answer.answered, answer
        citation = answer.citations[0]
        document = library.document(citation.document_id)
    assert "opens at nine" in citation.quote
    assert document.content[citation.start : citation.end] == citation.quote
    assert (str(citation.location), citation.link) == ("page 1", path.as_uri())
    start = document.content.index("at nine")
    ((page, left, bottom, right, top),) = rectangles(document, [(start, start + len("at nine"))])
    (line,) = rectangles(document, [(0, len(NOTICE[0]))])
    assert page == 1
    assert line[1] + 0.3 < left < right == pytest.approx(line[3], abs=0.01)
    assert (bottom, top) == (line[2], line[4])
    assert top > 0.7
    assert len(rectangles(document, [(0, len(document.content))])) == 3


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_page_on_its_side_or_upside_down_is_turned(turned: int, rapid: Ocr) -> None:
    document = read_picture(saved(drawn(NOTICE, turned), "JPEG"), "a.jpg", ReadContext(ocr=rapid))
    assert document.content == TEXT
    box = document.parts[0].box
    assert box is not None
    middle = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    # The first line is where the picture, as it is, shows it.
    expected = {90: (0.2, 0.6), 180: (0.6, 0.8), 270: (0.8, 0.4)}[turned]
    assert middle == pytest.approx(expected, abs=0.12)


def test_accents_and_signs_of_three_languages(rapid: Ocr) -> None:
    lines = ("¿Qué pasó mañana, señor Núñez?", "A informação não está à mão.", "It costs £11.50 (or more).")
    # Pillow's own font lacks accents.
    page = pypdfium2.PdfDocument(build_pdf(["\n".join(lines)]))[0].render(scale=200 / 72).to_pil()
    document = read_picture(saved(page), "a.png", ReadContext(ocr=rapid))
    assert [line for line in document.content.split("\n") if line] == list(lines)


def test_the_pages_of_a_tiff_file(ocr: Ocr) -> None:
    data = saved(drawn(["The first page"]), "TIFF", drawn(["A second page"]))
    document = read_picture(data, "a.tif", ReadContext(ocr=ocr))
    assert document.content == "The first page\fA second page"
    assert [part.page for part in document.parts] == [1, 2]


def test_a_tiff_file_with_too_many_pages_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "MOST_PAGES", 1)
    image = drawn([], size=(20, 20))
    assert len(list(pages(saved(image, "TIFF")))) == 1
    with pytest.raises(PictureTooLarge, match="has over 1 pages: split it"):
        list(pages(saved(image, "TIFF", image)))


@pytest.mark.parametrize("form", ["JPEG", "WEBP", "GIF", "BMP", "AVIF"])
def test_other_formats(form: str) -> None:
    image = drawn(["Plain words"], size=(300, 100))
    data = saved(image, form)
    assert recognise(data, f"a.{form.lower()}").name == "picture"
    (page,) = pages(data)
    assert (page.mode, page.size) == ("RGB", image.size)
    assert abs(np.asarray(page).astype(int) - np.asarray(image)).mean() < 4


def test_a_cameras_mark_of_turning_is_followed_and_transparency_is_white(rapid: Ocr) -> None:
    image = drawn(["Plain words"])
    marked = image.rotate(90, expand=True)
    marked.getexif()[0x0112] = 6
    assert read_picture(saved(marked, "JPEG"), "a.jpg", ReadContext(ocr=rapid)).content == "Plain words"
    clear = image.convert("RGBA")
    clear.putalpha(image.convert("L").point(lambda shade: 255 - shade))
    assert read_picture(saved(clear), "a.png", ReadContext(ocr=rapid)).content == "Plain words"


def test_without_ocr_the_command_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(saved(drawn(NOTICE)))
    with pytest.raises(UnsupportedSource, match=r"a\.png is a picture: .* `pip install '.\[ocr\]'`"):
        read_file(tmp_path / "a.png")
    skipped = Skipped()
    assert list(walk(tmp_path, skipped)) == []
    assert [(Path(each.source).name, each.reason) for each in skipped.passed_over] == [
        ("a.png", "picture (pip install '.[ocr]')")
    ]
    assert list(walk(tmp_path, ocr=Ocr())) == [tmp_path / "a.png"]


def heif(brand: bytes, *others: bytes) -> bytes:
    """The first box of a file in the container of MP4, and what could be a picture."""
    box = b"ftyp" + brand + bytes(4) + b"".join(others)
    return struct.pack(">I", len(box) + 4) + box + bytes(range(256)) * 20


def test_pictures_of_phones_are_told_from_sound_and_say_how_to_convert_them(tmp_path: Path) -> None:
    heic = heif(b"heic", b"mif1", b"heic")
    for name, data, kind in (
        ("a.heic", heic, "HEIC"),
        ("b.heif", heif(b"mif1", b"heic"), "HEIC"),
        ("c.hif", heif(b"heix"), "HEIC"),
        ("sent.jpg", heic, "HEIC"),
        ("no suffix", heic, "HEIC"),
        ("d.avif", heif(b"mif1", b"avif", b"miaf"), "AVIF"),
    ):
        assert recognise(data, name).name == "picture", name
        for ocr in (None, find_ocr("eng")):
            with pytest.raises(UnsupportedSource, match=rf"{name} is a {kind} picture, which isn't .*save it as JPEG"):
                read_picture(data, name, ReadContext(ocr=ocr))
        (tmp_path / name).write_bytes(data)
    skipped = Skipped()
    assert list(walk(tmp_path, skipped, find_ocr("eng"))) == []
    assert skipped.counts == {"HEIC picture (save it as JPEG)": 5, "AVIF picture (save it as JPEG)": 1}
    assert recognise(heif(b"M4A "), "a.m4a").name == "recording"
    with pytest.raises(UnsupportedSource, match="save it as JPEG or PNG"):
        recognise(heif(b"crx ", b"isom"), "a.cr3")


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "notice.png").write_bytes(saved(drawn(NOTICE)))
    (folder / "sky.jpg").write_bytes(saved(drawn([]), "JPEG"))
    (folder / "text.md").write_text("# Title\n\nSome text.")
    return folder


def test_a_folder_is_read_again_when_ocr_becomes_available_and_kept_when_it_is_gone(pictures: Path) -> None:
    with closing(FileReader()) as blind, closing(FileReader(ReadContext(ocr=find_ocr("eng")))) as reader:
        visit = blind.visit(str(pictures))
        known = {each.source: each.record for each in visit.items({}) if each.record}
        assert [Path(source).name for source in known] == ["text.md"]
        assert visit.skipped == {"picture (pip install '.[ocr]')": 2}

        visit = reader.visit(str(pictures))
        found = list(visit.items(known))
        known = {each.source: each.record for each in found if each.record}
        assert [Path(source).name for source in known] == ["notice.png", "sky.jpg", "text.md"]
        assert visit.skipped == {"picture without text": 1}
        assert [len(record.documents) for record in known.values()] == [1, 0, 1]

        # What shows no text isn't searched again.
        again = [each for each in reader.visit(str(pictures)).items(known) if each.record]
        assert not any(each.documents for each in again)
        assert {each.source for each in again} == known.keys()

        visit = blind.visit(str(pictures))
        kept = {Path(each.source).name: each for each in visit.items(known) if each.record}
        assert kept["notice.png"].is_unchanged
        assert visit.gone() == []


def test_pictures_of_a_saved_page_stay_parts_of_it(tmp_path: Path) -> None:
    (tmp_path / "Page_files").mkdir()
    (tmp_path / "Page.html").write_text("<p>text</p>")
    (tmp_path / "Page_files" / "logo.png").write_bytes(saved(drawn(NOTICE)))
    skipped = Skipped()
    assert [path.name for path in walk(tmp_path, skipped, Ocr())] == ["Page.html"]
    assert skipped.counts == {"part of a web page": 1}


def png(width: int, height: int) -> bytes:
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (header, b"IDAT" + bytes(100))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) for chunk in chunks
    )


def tiff(width: int, height: int) -> bytes:
    # Width, height, black is zero, and where the pixels begin.
    entries = ((256, width), (257, height), (262, 1), (273, 8))
    packed = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in entries)
    return struct.pack("<2sHIH", b"II", 42, 8, len(entries)) + packed + bytes(4)


@pytest.mark.parametrize("data", [png(100_000, 100_000), tiff(60_000, 60_000)])
def test_a_picture_with_too_many_pixels_is_refused_before_it_is_decoded(data: bytes, ocr: Ocr) -> None:
    error: type[SourceError] = SourceTooLarge
    message = "has over 200,000,000 pixels: save it smaller"
    if ocr.command:
        # tesseract decodes pictures itself, within the memory of the process that runs it.
        error, message = (
            DamagedSource,
            "is not a readable picture \\(tesseract can't decode it, or has no memory for it",
        )
    with pytest.raises(error, match=rf"^a\.png {message}"):
        read_picture(data, "a.png", ReadContext(ocr=ocr))


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b"GIF89a" + struct.pack("<HH", 65535, 65535), DamagedSource, "is not a readable picture"),
        (saved(drawn([], size=(5, 400))), EmptySource, "shows no text that OCR can read"),
        (saved(drawn([], size=(1, 1))), EmptySource, "shows no text that OCR can read"),
        (png(300, 300), DamagedSource, "is not a readable picture"),
        (saved(drawn(NOTICE), "BMP")[:60], DamagedSource, "is not a readable picture"),
        (saved(drawn([])), EmptySource, "shows no text that OCR can read: leave it out, or scan it"),
    ],
)
def test_what_cannot_be_read_says_what_to_do(data: bytes, error: type[SourceError], message: str, ocr: Ocr) -> None:
    with pytest.raises(error, match=rf"^a\.png .*{message}"):
        read_picture(data, "a.png", ReadContext(ocr=ocr))


def test_a_picture_that_takes_too_long_is_given_up_and_the_next_is_read(ocr: Ocr) -> None:
    data = saved(drawn(NOTICE))
    for hasty in (replace(ocr, page_seconds=0.01), replace(ocr, file_seconds=0)):
        with pytest.raises(EmptySource, match=r"OCR failed or took too long at it"):
            read_picture(data, "a.png", ReadContext(ocr=hasty))
    assert read_picture(data, "a.png", ReadContext(ocr=ocr)).content.startswith(NOTICE[0])


def test_a_recognising_process_that_ended_is_started_again() -> None:
    reads = rapid_recogniser()
    for _ in range(2):
        (page,) = reads.pages(saved(drawn(["Plain words"])), 120)
        assert page is not None
        assert page.text == "Plain words"
        process = reads._child._process
        assert process
        assert process.stdin
        # As if it had been idle: it ends without an error.
        process.stdin.close()
        process.wait(60)


@pytest.fixture
def process() -> Iterator[ReadingProcess]:
    with ReadingProcess() as process:
        yield process


def test_the_reading_process_reads_pictures_within_its_limits(process: ReadingProcess) -> None:
    """By tesseract; RapidOCR is what a library's own process uses above."""
    (document,) = process.read(saved(drawn(NOTICE)), "a.png", ReadContext(ocr=find_ocr("eng")))
    assert document.content.split() == TEXT.split()
    assert all(part.box for part in document.parts)
