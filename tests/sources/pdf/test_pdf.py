"""PDFs: pages, metadata, everything that can be wrong with one, and the process that reads them."""

from __future__ import annotations

import gzip
import json
import re
import sys
import threading
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from development_data import DATA

from answerable.datatypes import Document, DocumentType, PartKind
from answerable.errors import DamagedSource, EmptySource, EncryptedSource, SourceError
from answerable.sources.context import ReadContext, ReadLimits
from answerable.sources.pdf.extraction import extract
from answerable.sources.pdf.read import read_pdf
from answerable.sources.process.reading_process import ReadingProcess

MakePdf = Callable[..., bytes]
PDF = DATA / "pdf"


def test_pages_and_metadata(make_pdf: MakePdf) -> None:
    info = "/Title(Annual report)/Author(Ana P\xe9rez)/CreationDate(D:20210304101112+01'00')"
    document = read_pdf(make_pdf(["One\nsecond line", "", "Three (3)"], info), "/a/report.pdf")
    assert document.content == "One\nsecond line\f\fThree (3)"
    assert [(part.kind, part.page, document.content[part.start : part.end]) for part in document.parts] == [
        (PartKind.PAGE, 1, "One\nsecond line"),
        (PartKind.PAGE, 2, ""),
        (PartKind.PAGE, 3, "Three (3)"),
    ]
    assert (document.title, document.type) == ("Annual report", DocumentType.PDF)
    assert document.metadata == {"author": "Ana Pérez", "date": "2021-03-04"}


@pytest.mark.parametrize(
    "title", ["", "Binder1.pdf", "Microsoft Word - draft.doc", "Untitled 1", "\\(anonymous\\)", "--"]
)
def test_a_useless_title_gives_way_to_the_name_of_the_file(make_pdf: MakePdf, title: str) -> None:
    assert read_pdf(make_pdf(["text"], f"/Title({title})"), "/a/my report.pdf").title == "my report"


def test_characters_that_are_none_become_spaces_or_replacements(make_pdf: MakePdf) -> None:
    mapping = "<01> <000C>\n<02> <0003>\n<03> <D83D>\n<04> <D83DDE00>\n<41> <0041>"
    document = read_pdf(
        make_pdf([], raw=[b"BT /F1 12 Tf 50 700 Td (A\\001A\\002A\\003A\\004A) Tj ET"], to_unicode=mapping), "a"
    )
    assert document.content.count("\f") == 0
    assert "😀" in document.content
    document.content.encode()


def test_right_to_left_ligatures_are_in_reading_order(make_pdf: MakePdf) -> None:
    # The word سلام as a PDF draws it, from left to right, with one glyph for lam and alef.
    mapping = "<01> <0645>\n<02> <06440627>\n<03> <0633>"
    document = read_pdf(
        make_pdf([], raw=[b"BT /F1 12 Tf 50 700 Td (\\001\\002\\003) Tj ET"], to_unicode=mapping), "a.pdf"
    )
    assert document.content == "سلام"


def test_text_outside_the_page_only_is_no_text(make_pdf: MakePdf) -> None:
    with pytest.raises(EmptySource, match="scan"):
        read_pdf(make_pdf([], raw=[b"BT /F1 12 Tf 50 -900 Td (Background) Tj ET"]), "a.pdf")


def test_no_text_layer(make_pdf: MakePdf) -> None:
    with pytest.raises(EmptySource, match=r"scan\.pdf is a scan without a text layer.*`ocrmypdf in\.pdf out\.pdf`"):
        read_pdf(make_pdf(["", ""]), "scan.pdf")


def test_no_bytes() -> None:
    with pytest.raises(EmptySource, match=r"a\.pdf is empty \(0 bytes\): download"):
        read_pdf(b"", "a.pdf")


@pytest.mark.parametrize("data", [b"%PDF-1.4 and no more", b"no PDF at all", b"%PDF-1.4\n" + b"\x00\xff" * 500])
def test_damaged(data: bytes) -> None:
    with pytest.raises(DamagedSource, match=r"a\.pdf is not a readable PDF.*download it again"):
        read_pdf(data, "a.pdf")


def test_a_truncated_pdf_is_read_or_damaged_but_never_a_crash(make_pdf: MakePdf) -> None:
    whole = make_pdf(["Page one", "Page two"])
    for size in range(0, len(whole), 97):
        try:
            read_pdf(whole[:size], "a.pdf")
        except SourceError as error:
            assert "a.pdf" in str(error)


def test_a_pdf_that_takes_too_long_is_ended_and_the_next_one_is_read(make_pdf: MakePdf) -> None:
    slow = zlib.compress(b"BT /F1 12 Tf 5 7 Td " + b"(word) Tj 1 1 Td " * 3_000_000 + b"ET", 9)
    with ReadingProcess() as worker:
        with pytest.raises(DamagedSource, match=r"slow\.pdf took longer than 0 s.*raise the setting max_pdf_seconds"):
            data = make_pdf([], raw=[slow], filters="/Filter/FlateDecode")
            worker.read(data, "slow.pdf", ReadContext(ReadLimits(max_seconds=0)))
        assert worker.read(make_pdf(["fine"]), "a.pdf")[0].content == "fine"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems don't limit an address space")
def test_a_pdf_that_needs_too_much_memory_is_an_error(make_pdf: MakePdf) -> None:
    bomb = zlib.compress(zlib.compress(b" " * 200_000_000, 9), 9)
    data = make_pdf([], raw=[bomb], filters="/Filter[/FlateDecode/FlateDecode]")
    with ReadingProcess() as worker:
        with pytest.raises(SourceError, match=r"bomb\.pdf"):
            worker.read(data, "bomb.pdf", ReadContext(ReadLimits(max_memory=100_000_000)))
        assert worker.read(make_pdf(["fine"]), "a.pdf")[0].content == "fine"


def test_one_process_reads_many_and_threads_take_turns(make_pdf: MakePdf) -> None:
    documents: list[Document] = []
    with ReadingProcess() as worker:
        texts = [f"text {number}" for number in range(12)]
        threads = [
            threading.Thread(target=lambda text=text: documents.extend(worker.read(make_pdf([text]), "a.pdf")))
            for text in texts
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(document.content for document in documents) == sorted(texts)


def test_the_extraction_itself(make_pdf: MakePdf) -> None:
    # The same code as in the worker, where coverage and debuggers see it.
    assert extract(make_pdf(["a", "b"]), "a.pdf", ReadContext())["pages"] == ["a", "b"]
    with pytest.raises(DamagedSource, match=r"a\.pdf is not a readable PDF"):
        extract(b"nothing", "a.pdf", ReadContext())


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    manifest = PDF / "manifest.json"
    if not manifest.is_file():
        pytest.fail(f"the quality data is missing: {manifest} (put the shared data beside the repository)")
    found: list[dict[str, Any]] = json.loads(manifest.read_text(encoding="utf-8"))
    return found


@pytest.mark.quality
def test_the_manifest(cases: list[dict[str, Any]]) -> None:
    failures = {case["file"]: why for case in cases if (why := _judge(case))}
    assert failures == {}


def _judge(case: dict[str, Any]) -> list[str]:
    data, expected = (PDF / "files" / case["file"]).read_bytes(), case["expect"]
    try:
        outcome, document = "text", read_pdf(data, case["file"])
    except EncryptedSource:
        outcome, document = "needs_password", read_pdf(data, case["file"], ReadContext(password=case["password"]))
    except EmptySource:
        outcome, document = "no_text", None
    except DamagedSource:
        outcome, document = "error", None
    wrong = [] if outcome in (expected["outcome"], *expected.get("accept", ())) else [f"{outcome}"]
    return wrong + (_judge_text(document, expected) if document else [])


def _judge_text(document: Document, expected: dict[str, Any]) -> list[str]:
    text = " ".join(document.content.split())
    wrong = [f"lacks {snippet}" for snippet in expected.get("contains", ()) if snippet not in text]
    order = [text.find(snippet) for snippet in expected.get("order", ())]
    if order != sorted(order) or -1 in order:
        wrong.append("order")
    if (pages := len({part.page for part in document.parts})) != expected["pages"]:
        wrong.append(f"{pages} pages")
    if len(text) < expected.get("min_chars", 0):
        wrong.append(f"{len(text)} characters")
    if "gold" in expected and (recall := _recall(document.content, expected["gold"])) < 0.94:
        wrong.append(f"word recall {recall:.3f}")
    return wrong


def _recall(content: str, name: str) -> float:
    data = (PDF / "gold" / name).read_bytes()
    gold = (gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8")
    wanted, found = _words(gold), _words(content)
    return (wanted & found).total() / wanted.total()


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", re.sub(r"-\n\s*", "", unicodedata.normalize("NFKC", text))))
