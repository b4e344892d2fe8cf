"""The source panel: the cited page of a large PDF, tables of every kind of document, marks and cards."""

from __future__ import annotations

import io
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from browser import PHONE, Visitor, documents, last_quotes, squeezed, visiting
from docx import Document as WordDocument
from made_office_files import saved, workbook
from service_on_socket import PatientModel, small_service, upload
from sources.conftest import build_pdf
from sources.ocr.drawn import drawn
from sources.ocr.drawn import saved as saved_picture
from sources.pdf.test_pdf_tables import ROWS, table
from test_page_sources import pdf_of

PAGES = 352
WORDS = "water heat light room people work river stone wood salt town sea roof house pump field".split()
# Notes, in order, which pages are drawn.
WATCH_DRAWING = """() => {
  globalThis.drawn = [];
  const look = (changes) => {
    for (const { target } of changes)
      if (target.dataset.drawn === "true") globalThis.drawn.push(Number(target.dataset.page));
  };
  const options = { subtree: true, attributes: true, attributeFilter: ["data-drawn"] };
  new MutationObserver(look).observe(document.body, options);
}"""
IN_SIGHT = """(quote) => {
  const [box, around] = [quote, quote.closest(".panel-body")].map((each) => each.getBoundingClientRect());
  return box.height > 0 && box.top >= around.top && box.bottom <= Math.min(around.bottom, innerHeight);
}"""
HEIGHT = "(span) => span.getBoundingClientRect().height"
FERRIES = """# Ferries

| Ferry | Leaves | Price |
|:--|:-:|--:|
| Aurora \\| North | 09:15 | **12,50** |
| Borealis | 11:40 | 9,00 |
| Cygnus | - | 7,25 |

Pay on board.
"""
TREES = "* Trees\n\n| Tree | Height |\n|------+--------|\n| Oak | 21 |\n| Silver birch | 15 |\n"
BIRDS = 'Bird;Count;Remark\nHeron;3;"Grey; tall"\nKingfisher;17;"Said ""blue"" 🐦"\nWren;5;Brown\n'
SUBTITLES = "1\n00:00:01,000 --> 00:00:04,000\nThe spare key is under the pot.\n"
SHOP = """# Tools

## Prices

The red pump costs 300 euros. It comes with a hose.

The garden hose costs 12 euros. The long ladder costs 85 euros.

## Hours

The shop opens at nine.
"""


def book(count: int = 46, last: str = "", pages: int = PAGES) -> bytes:
    """A PDF of pages with so many lines; the cover lies on its side, and `last` is the last line of page 30."""
    chosen = random.Random(1)
    kids = b" ".join(b"%d 0 R" % (4 + 2 * number) for number in range(pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, pages),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number in range(pages):
        lines = [" ".join(chosen.choices(WORDS, k=14)).capitalize() + "." for _ in range(count)]
        lines[count * 2 // 3] = (
            f"Pond {number + 1} is the home of {1000 + number} ducks that came from village {number + 1}."
        )
        if last and number == 29:
            lines[-1] = last
        shown = lines if number else ["The book of ponds"]
        box, first = (b"0 0 612 792", b"60 740 Td") if number else (b"0 0 1200 600", b"60 400 Td")
        drawing = b" ".join(b"(%s) Tj 0 -%d Td" % (line.encode(), 644 // count) for line in shown)
        text = b"BT /F1 10 Tf %s %s ET" % (first, drawing)
        resources = b"/Resources << /Font << /F1 3 0 R >> >>"
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [%s] /Contents %d 0 R %s >>" % (box, 5 + 2 * number, resources),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        ]
    return pdf_of(objects)


def look_round(visitor: Visitor, cited: int, pages: int) -> None:
    """Zoom in and out on an open PDF, and go to another page."""
    page = visitor.page
    number = page.get_by_label("Go to page")
    assert (number.input_value(), page.locator(".pdf-number").inner_text()) == (str(cited), f"/ {pages}")
    across = "(list) => list.clientWidth"
    before = page.locator(".pdf").evaluate(across)
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_function(f"() => document.querySelector('.pdf').clientWidth > {before * 1.24}")
    # The quote is there still.
    assert page.locator(f".pdf-page[data-page='{cited}'] .pdf-quote").evaluate(IN_SIGHT)
    page.get_by_role("button", name="Actual size").click()
    page.wait_for_function("() => document.querySelector('.pdf').clientWidth === 816")
    page.get_by_role("button", name="Fit width").click()
    page.wait_for_function(
        "(body) => body.scrollWidth === body.clientWidth", arg=page.locator(".panel-body").element_handle()
    )
    number.fill("12")
    number.press("Enter")
    page.locator(".pdf-page[data-page='12'][data-drawn=true]").wait_for()
    assert number.input_value() == "12"
    number.press("ArrowLeft")
    assert page.locator(".panel .steps").count() == 0 or "1 /" in page.locator(".panel .steps").inner_text()


@pytest.mark.parametrize(
    ("size", "pages", "cited"),
    [
        ((1280, 800), 60, 46),
        pytest.param((1280, 800), PAGES, 246, marks=pytest.mark.long),
        pytest.param(PHONE, PAGES, 246, marks=pytest.mark.long),
    ],
)
def test_a_citation_of_a_large_pdf_opens_at_its_page_and_draws_it_first(
    tmp_path: Path, size: tuple[int, int], pages: int, cited: int
) -> None:
    with small_service(tmp_path) as (server, client):
        upload(client, ("ponds.pdf", book(pages=pages)))
        with visiting(server.address, size=size) as visitor:
            page = visitor.page
            page.evaluate(WATCH_DRAWING)
            turn = visitor.ask(f"Pond {cited} is the home of which ducks from village {cited}?")
            assert squeezed(visitor.cite(turn)) == squeezed(last_quotes(server.address, visitor)[0])
            quote = page.locator(f".pdf-page[data-page='{cited}'] .pdf-quote")
            assert quote.evaluate(IN_SIGHT)
            where = page.locator(".panel-body").evaluate("(body) => body.scrollTop")
            # The words that answer come as soon as they are measured, and move nothing; nor do other pages.
            page.locator(".pdf-answer").first.wait_for()
            page.wait_for_timeout(500)
            assert quote.evaluate(IN_SIGHT)
            assert page.locator(".panel-body").evaluate("(body) => body.scrollTop") == where
            shown = page.evaluate("() => globalThis.drawn")
            assert shown[0] == cited
            assert set(shown) <= set(range(cited - 2, cited + 3))
            visitor.shot(f"panel-large-pdf-{size[0]}")
            # Text of 10 points is 11 pixels high, and its column is seen from its start.
            assert page.locator(f".pdf-page[data-page='{cited}'] .textLayer span").first.evaluate(HEIGHT) > 10.9
            assert quote.evaluate("(quote) => quote.getBoundingClientRect().left") > 0
            look_round(visitor, cited, pages)


@pytest.mark.long
def test_what_is_far_away_is_drawn_when_it_comes_into_view(tmp_path: Path) -> None:
    with small_service(tmp_path) as (server, client):
        upload(client, ("ponds.pdf", book()))
        with visiting(server.address) as visitor:
            visitor.cite(visitor.ask("Pond 246 is the home of which ducks from village 246?"))
            far = visitor.page.locator(".pdf-page[data-page='20']")
            far.scroll_into_view_if_needed()
            far.and_(visitor.page.locator("[data-drawn=true]")).wait_for()
            # What was drawn before is let go of.
            visitor.page.locator(".pdf-page[data-page='246'][data-drawn=false]").wait_for()


@pytest.mark.long
def test_an_uploaded_pdf_is_not_read_again_to_be_shown(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        upload(client, ("ponds.pdf", book()))
        (listed,) = client.get("api/v1/library/documents").json()["documents"]
        path = f"api/v1/library/documents/{listed['document_id']}"
        began = time.process_time()
        sizes = client.get(f"{path}/pages").json()["pages"]
        assert time.process_time() - began < 1
        assert sizes[:2] == [{"width": 1200.0, "height": 600.0}, {"width": 612.0, "height": 792.0}]
        assert len(sizes) == PAGES
        (kept,) = tmp_path.glob("uploads/*/ponds.pdf")
        (note,) = tmp_path.glob("uploads/*/.read/ponds.pdf")
        note.write_text("0" * 64)
        # Of a library of an earlier version nothing is noted: the file is read, and noted.
        kept.touch()
        assert client.get(f"{path}/file").status_code == 200
        assert note.read_text() != "0" * 64
        kept.write_bytes(kept.read_bytes() + b"%")
        note.unlink()
        assert client.get(f"{path}/pages").status_code == 200
        kept.write_bytes(build_pdf(["Another text altogether"]))
        assert client.get(f"{path}/pages").status_code == 404
        assert client.delete(path).status_code == 204
        assert not kept.exists()
        assert list(tmp_path.glob("uploads/*/.read/*")) == []


@pytest.mark.long
def test_a_scan_opens_at_its_page(tmp_path: Path) -> None:
    pages = [drawn([f"This is page {number} of the notice"]) for number in range(1, 4)]
    pages.append(drawn(["The swimming pool opens at nine."]))
    with small_service(tmp_path) as (server, client):
        upload(client, ("notice.pdf", saved_picture(pages[0], "PDF", *pages[1:])))
        with visiting(server.address, size=PHONE) as visitor:
            turn = visitor.ask("When does the swimming pool open?")
            turn.locator(".chip[data-citation='1']").click()
            page = visitor.page.locator(".pdf-page[data-page='4'][data-drawn=true]")
            page.wait_for()
            assert page.evaluate(IN_SIGHT)


def word() -> bytes:
    """A Word document with a table."""
    document, buffer = WordDocument(), io.BytesIO()
    document.add_heading("Prices", 1)
    made = document.add_table(3, 2)
    for number, row in enumerate((("Item", "Price"), ("Red pump", "300"), ("Garden hose", "12"))):
        for cell, text in zip(made.rows[number].cells, row, strict=True):
            cell.text = text
    document.save(buffer)
    return buffer.getvalue()


def sheet() -> bytes:
    """A workbook of a sheet of 1,000 rows."""
    rows: list[Sequence[object]] = [("Tool", "Deposit", "Shelf", "Remark")]
    rows += [(f"Tool {number}", number * 1.5, f"S{number % 9}", "The *red* one | oiled") for number in range(1, 1001)]
    rows[700] = ("Chainsaw", 1050, "S7", "Ask the desk")
    return saved(workbook({"Loans": rows}))


ROWS_OF_TABLES = [
    (
        "ferries.md",
        FERRIES.encode(),
        "Ferry Aurora North leaves 09:15",
        ["Aurora | North", "09:15", "12,50"],
        "Ferry",
    ),
    ("trees.org", TREES.encode(), "height of the silver birch", ["Silver birch", "15"], "Tree"),
    (
        "birds.csv",
        BIRDS.encode(),
        "What is the count of the Kingfisher?",
        ["Kingfisher", "17", 'Said "blue" 🐦'],
        "Bird",
    ),
    ("shop.docx", word(), "What is the price of the garden hose?", ["Garden hose", "12"], "Item"),
    ("tools.xlsx", sheet(), "Which shelf is the chainsaw on?", ["Chainsaw", "1050", "S7", "Ask the desk"], "Tool"),
    (
        "capitals.pdf",
        build_pdf([], raw=[table(ROWS)]),
        "Belgium 11.5 Brussels",
        ["Belgium", "11.5", "Brussels"],
        "Country",
    ),
]


def test_a_cited_row_is_a_row_of_a_table(tmp_path: Path) -> None:
    with small_service(tmp_path) as (server, client):
        upload(client, *((name, data) for name, data, *_ in ROWS_OF_TABLES))
        # Without its file, only the text of a PDF is there to show.
        next(tmp_path.glob("uploads/*/*.pdf")).unlink()
        listed = documents(server.address)
        with visiting(server.address, size=PHONE) as visitor:
            for name, _, question, cells, header in ROWS_OF_TABLES:
                visitor.begin()
                path = f"api/v1/library/documents/{listed[name]['document_id']}"
                shows_row(visitor, question, cells, header, client.get(path).json()["content"])
                visitor.shot(f"panel-table-{name}")
            assert visitor.barriers() == []
            visitor.complaints[:] = [each for each in visitor.complaints if "404" not in each]


def shows_row(visitor: Visitor, question: str, cells: Sequence[str], header: str, content: str) -> None:
    """A question whose answer is a row leads to it, shown as a row of its table."""
    page = visitor.page
    # The text of a row has hidden characters too.
    word = cells[0].split()[0]
    open_row(visitor, question, word)
    row = page.locator(".panel tr.quoted-row", has_text=word).first
    # Only what is seen counts, not the characters between the cells that are hidden.
    assert row.locator("td").evaluate_all("(all) => all.map((cell) => cell.innerText.trim())") == cells
    assert row.locator("mark:not(.syntax)").first.evaluate(IN_SIGHT)
    assert page.locator(".panel thead th").first.inner_text().strip() == header
    assert page.locator(".panel-body").evaluate("(body) => body.innerText.includes('---')") is False
    if page.locator(".panel .more").count() == 0:
        assert page.locator(".panel-body").evaluate("(body) => body.textContent") == content


def open_row(visitor: Visitor, question: str, word: str) -> None:
    """Opens the quote or the passage that has the word."""
    turn = visitor.ask(question)
    if turn.locator(".chip").count():
        turn.locator(".chip").first.click()
    else:
        turn.locator(".looked-at summary").click()
        turn.locator(".source").first.click()
    visitor.page.locator(".panel[data-shown=true] tr.quoted-row", has_text=word).first.wait_for()


@pytest.mark.long
def test_a_row_of_a_sheet_has_its_number(tmp_path: Path) -> None:
    with small_service(tmp_path) as (server, client):
        upload(client, ("tools.xlsx", sheet()))
        with visiting(server.address) as visitor:
            assert (
                visitor.cite(visitor.ask("Which shelf is the chainsaw on?")) == last_quotes(server.address, visitor)[0]
            )
            row = visitor.page.locator(".panel tr.quoted-row")
            assert row.get_attribute("data-row") == "701"
            # What is in a cell is no Markdown.
            assert "The *red* one | oiled" in visitor.page.locator(".panel tbody").inner_text()
            assert visitor.page.locator(".panel tbody tr").count() <= 300


def test_subtitles_show_their_times_and_ask_for_no_recording(tmp_path: Path) -> None:
    with small_service(tmp_path) as (server, client):
        upload(client, ("talk.srt", SUBTITLES.encode()))
        with visiting(server.address) as visitor:
            asked: list[str] = []
            visitor.page.on("request", lambda request: asked.append(request.url))
            visitor.cite(visitor.ask("Where is the spare key?"))
            assert visitor.page.locator(".panel .moment").inner_text() == "0:01"
            assert not any("/recording?" in url for url in asked)


def test_the_words_that_answer_are_marked_in_their_sentence(tmp_path: Path) -> None:
    with small_service(tmp_path) as (server, client):
        upload(client, ("talk.md", b"# Keys\n\nThe spare key is under the blue pot.\n"))
        with visiting(server.address) as visitor:
            shown = visitor.cite(visitor.ask("Where is the spare key?"))
            citation = citations(server.address, visitor)[0]
            assert shown == citation["quote"]
            first, last = (place - citation["start"] for place in citation["answer"])
            assert visitor.page.locator(".panel mark.answering").inner_text() == shown[first:last]
            colour = "(each) => getComputedStyle(each).backgroundColor"
            marks = visitor.page.locator(".panel mark")
            assert len({mark.evaluate(colour) for mark in marks.all()}) == 2


def test_quotes_of_a_section_are_one_card_with_their_marks(tmp_path: Path) -> None:
    quoted = ("The red pump costs 300 euros.", "The garden hose costs 12 euros.", "The long ladder costs 85 euros.")
    said = " ".join(f"{quote[:-1]} [{number}]." for number, quote in enumerate(quoted, 1))
    model = PatientModel(said, *quoted)
    model.go_on.set()
    with small_service(tmp_path, model=model) as (server, client):
        upload(client, ("shop.md", SHOP.encode()))
        with visiting(server.address) as visitor:
            turn = visitor.ask("What do the red pump, the garden hose and the long ladder cost?")
            quotes = last_quotes(server.address, visitor)
            assert set(quotes) == set(quoted)
            card = turn.locator(".source")
            assert card.count() == 1
            assert card.locator(".source-number").inner_text() == "1–3"
            assert card.locator(".source-quote").count() == 3
            card.click()
            page = visitor.page
            page.locator(".panel[data-shown=true] mark").nth(2).wait_for()
            assert sorted(page.locator(".panel mark").all_inner_texts()) == sorted(quotes)
            assert page.locator(".panel mark.also").count() == 2
            visitor.shot("panel-card")
            # The card goes on to the next of its quotes.
            card.click()
            page.locator(".panel mark:not(.also)", has_text=quotes[1]).wait_for()
            assert turn.locator(".chip[aria-pressed=true]").inner_text() == "2"


def citations(address: str, visitor: Visitor) -> list[dict[str, Any]]:
    """The citations of the last answer, as the API tells them."""
    names = "() => Object.entries(localStorage).find(([name]) => name.includes('session:'))[1]"
    session = visitor.page.evaluate(names)
    turns = httpx.get(f"{address}api/v1/library/sessions/{session}", timeout=60).json()["turns"]
    found: list[dict[str, Any]] = turns[-1]["answer"]["citations"]
    return found
