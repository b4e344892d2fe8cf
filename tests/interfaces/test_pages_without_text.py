"""A PDF with a page without text, such as a cover: read in part, which is said, and read again with OCR."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from commands import run_command
from made_mail import letter, write_mailbox
from sources.conftest import build_pdf

import answerable
from answerable.interfaces.mcp.results import added_text, documents_text
from answerable.sources.context import Ocr, ReadContext
from answerable.sources.file_reader import FileReader

COVER = b"0 0 300 300 re f"
TEXT = b"BT /F1 12 Tf 50 700 Td (The ferry Boreal leaves at nine in the morning.) Tj ET"
REPORT = build_pdf([], raw=[COVER, TEXT])
PARTLY = """read in part, left out:
  report.pdf: 1 page without text (1)
Pages without text are read with `pip install '.[ocr]'` or tesseract.
"""
LONG_AGO = 1_700_000_000


@pytest.fixture
def without_ocr(tmp_path: Path) -> Mapping[str, str]:
    """The environment of a machine without OCR: its RapidOCR has no models, and there is no tesseract."""
    other = tmp_path / "packages" / "rapidocr"
    other.mkdir(parents=True)
    (other / "__init__.py").touch()
    return {"PYTHONPATH": str(other.parent), "PATH": str(other)}


def test_a_cover_is_named_once_and_the_file_is_not_opened_again(tmp_path: Path, without_ocr: Mapping[str, str]) -> None:
    folder, library = tmp_path / "folder", tmp_path / "library"
    folder.mkdir()
    report = folder / "report.pdf"
    report.write_bytes(REPORT)
    os.utime(report, (LONG_AGO, LONG_AGO))

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        done = run_command(*arguments, "--library", library, env=without_ocr)
        return done.returncode, done.stdout, done.stderr

    status, shown, said = run("add", folder)
    assert (status, said) == (0, "")
    assert "added 1" in " ".join(shown.split())
    assert shown.endswith(PARTLY)
    # Other bytes of the same size and time: whoever opened the file would say that it is damaged.
    report.write_bytes(bytes(len(REPORT)))
    os.utime(report, (LONG_AGO, LONG_AGO))
    for command in (("sync",), ("add", folder), ("sync", "--dry-run")):
        status, shown, said = run(*command)
        assert (status, said, "left out" in shown) == (0, "", False), command
    report.write_bytes(REPORT)
    status, shown, said = run("verify")
    assert status == 0, shown
    assert "1 read in part, left out: 1 page without text. `answerable show` says it of each." in shown
    assert "left out  1 page without text (1)" in run("show", "report.pdf")[1]
    left_out = [{"kind": "page", "count": 1, "names": ["1"]}]
    (listed,) = json.loads(run("list", "--json")[1])["documents"]
    assert (listed["left_out"], json.loads(run("show", "report.pdf", "--json")[1])["left_out"]) == (left_out, left_out)
    status, shown, _ = run("add", tmp_path / "folder", "--json")
    assert (status, json.loads(shown)["partly"]) == (0, [])


def test_a_pdf_without_any_text_stays_an_error(tmp_path: Path, without_ocr: Mapping[str, str]) -> None:
    (tmp_path / "scan.pdf").write_bytes(build_pdf([], raw=[COVER, COVER]))
    done = run_command("add", tmp_path / "scan.pdf", "--library", tmp_path / "library", env=without_ocr)
    assert (done.returncode, "is a scan without a text layer" in done.stderr) == (1, True)


def test_in_a_mailbox_too_and_all_is_read_once_ocr_is_there(tmp_path: Path) -> None:
    box = write_mailbox(tmp_path / "box.mbox", [letter("See below.", attached=[("report.pdf", REPORT)])])
    (tmp_path / "report.pdf").write_bytes(REPORT)
    with (
        answerable.open(tmp_path / "library") as library,
        closing(FileReader(ReadContext())) as blind,
        closing(FileReader(ReadContext(ocr=Ocr()))) as seeing,
    ):
        for path in (box, tmp_path / "report.pdf"):
            added = library.reading_with(blind).add(path)
            assert [(Path(source).name, *map(str, found)) for source, found in added.partly.items()] == [
                ("report.pdf", "1 page without text (1)")
            ]
            assert added.failures == []
            assert "report.pdf, left out: 1 page without text (1)" in added_text(added)
        assert documents_text(library.documents(), 0, 3).count("(read in part, left out: 1 page without text (1))") == 2
        again = library.reading_with(blind).sync().total
        assert (again.unchanged, again.partly, again.failures) == (3, {}, [])
        with_ocr = library.reading_with(seeing).sync().total
        assert (with_ocr.partly, with_ocr.failures) == ({}, [])
        records = [each for each in library._store.records() if each.origin]
        assert [bool(each.hash) and "rapidocr" in each.validators["readers"] for each in records] == [True, True]
