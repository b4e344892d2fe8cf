"""Scanned pages: read by RapidOCR or tesseract if one is there, otherwise said so."""

from __future__ import annotations

import re
import shutil
import zlib
from collections.abc import Callable
from dataclasses import replace

import pypdfium2  # type: ignore[import-untyped]
import pytest

from answerable.errors import EmptySource, SettingsError
from answerable.left_out import LeftOut, LeftOutKind
from answerable.sources.context import Ocr, ReadContext, Skipped
from answerable.sources.ocr.pictures import find_ocr
from answerable.sources.pdf.read import read_pdf

MakePdf = Callable[..., bytes]
TEXT = "The invoice of the harbour\nwas paid in full on Monday"


@pytest.fixture
def tesseract() -> Ocr:
    """The tesseract of this machine; the tests need it."""
    if shutil.which("tesseract") is None:
        pytest.fail("tesseract is missing: install the packages tesseract-ocr, tesseract-ocr-spa and tesseract-ocr-por")
    ocr = find_ocr("eng")
    assert ocr is not None
    return ocr


@pytest.fixture
def scan(make_pdf: MakePdf) -> bytes:
    """A PDF of a picture of a text, and of a second page that was typed."""
    page = pypdfium2.PdfDocument(make_pdf([TEXT]))[0]
    bitmap = page.render(scale=200 / 72, grayscale=True)
    rows = b"".join(
        bytes(memoryview(bitmap.buffer)[row * bitmap.stride :][: bitmap.width]) for row in range(bitmap.height)
    )
    size = f"/W {bitmap.width} /H {bitmap.height}".encode()
    image = b"q 600 0 0 800 0 0 cm BI %b /CS /G /BPC 8 /F /Fl ID %b EI Q" % (size, zlib.compress(rows))
    return make_pdf([], raw=[image, b"BT /F1 12 Tf 50 700 Td (typed) Tj ET", b""])


def test_a_scanned_page_is_read(scan: bytes, tesseract: Ocr) -> None:
    skipped = Skipped()
    document = read_pdf(scan, "scan.pdf", ReadContext(ocr=tesseract, skipped=skipped))
    assert document.content.split("\f") == [TEXT, "typed", ""]
    assert [part.page for part in document.parts] == [1, 2, 3]
    assert skipped.errors == []


def test_a_scanned_page_is_read_by_rapidocr_if_no_language_is_named(scan: bytes) -> None:
    ocr = find_ocr()
    assert ocr == Ocr()
    skipped = Skipped()
    document = read_pdf(scan, "scan.pdf", ReadContext(ocr=ocr, skipped=skipped))
    assert document.content.split("\f") == [TEXT, "typed", ""]
    assert skipped.errors == []


def test_without_ocr_the_page_is_named(scan: bytes) -> None:
    context = ReadContext()
    assert read_pdf(scan, "scan.pdf", context).content == "\ftyped\f"
    assert (context.skipped.errors, context.left_out) == ([], [LeftOut(LeftOutKind.PAGE, 1, ("1",))])


def test_a_file_of_nothing_but_scans_is_an_error_that_names_the_pages(make_pdf: MakePdf) -> None:
    picture = b"0 0 100 100 re f"
    with pytest.raises(
        EmptySource, match=r"a\.pdf .*page 1 has no text layer: `pip install '.\[ocr\]'` or tesseract reads it"
    ):
        read_pdf(make_pdf([], raw=[picture]), "a.pdf")
    with pytest.raises(EmptySource, match=r"pages 1, 2, 3, 4, 5, … have no text layer"):
        read_pdf(make_pdf([], raw=[picture] * 7), "a.pdf")


def test_an_ocr_that_takes_too_long_is_said(scan: bytes, tesseract: Ocr) -> None:
    for hasty in (replace(tesseract, page_seconds=0.001), replace(tesseract, file_seconds=0)):
        skipped = Skipped()
        assert read_pdf(scan, "scan.pdf", ReadContext(ocr=hasty, skipped=skipped)).content == "\ftyped\f"
        assert re.search("page 1 has no text layer, and OCR failed or took too long", str(skipped.errors[0]))


def test_languages(tesseract: Ocr) -> None:
    assert tesseract.languages == "eng"
    for languages in ("klingon", "eng+klingon", "--help", "../eng"):
        with pytest.raises(SettingsError, match=r"tesseract can't read .*install the package tesseract-ocr-<language>"):
            find_ocr(languages)
