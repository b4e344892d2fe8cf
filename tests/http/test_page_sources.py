"""PDFs and sites on the web page: drawn, selected, linked to, and shown as text where the file is gone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from browser import last_quotes, squeezed, visiting
from playwright.sync_api import expect
from service_on_socket import EXAMPLES, small_service, upload
from site_server import SiteServer
from sources.chats.exports import TELEGRAM, as_json
from sources.ocr.drawn import drawn, saved

from answerable.interfaces.http.server import Server
from answerable.settings import Settings


def scanned() -> bytes:
    """A PDF of a line of text and a black square, packed as fax machines and scanners do it."""
    text = b"BT /F1 18 Tf 72 720 Td (The ferry leaves at nine.) Tj ET q 100 0 0 100 72 500 cm /S Do Q"
    # Eight white lines in Group 4, shown in reverse.
    image = b"\xff\x00\x10\x01"
    image_keys = b"/Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 1"
    fax = b"/Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 8 /Rows 8 >> /Decode [1 0]"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 6 0 R >> /XObject << /S 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        b"<< %s %s /Length %d >>\nstream\n%s\nendstream" % (image_keys, fax, len(image), image),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    return pdf_of(objects)


def long_pdf(pages: int) -> bytes:
    """A PDF of a sentence a page, every fourth page lying on its side."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * number) for number in range(pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, pages),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number in range(pages):
        box = b"0 0 792 612" if number % 4 == 1 else b"0 0 612 792"
        text = b"BT /F1 18 Tf 72 400 Td (Paragraph %d tells of pond %d and its ducks.) Tj ET" % (number + 1, number + 1)
        resources = b"/Resources << /Font << /F1 3 0 R >> >>"
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [%s] /Contents %d 0 R %s >>" % (box, 5 + 2 * number, resources),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        ]
    return pdf_of(objects)


def pdf_of(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1; the first is its catalogue."""
    body, offsets = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    end = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(body))
    return body + b"xref\n0 %d\n0000000000 65535 f \n%s%s" % (len(objects) + 1, table, end)


@pytest.mark.long
def test_scans_are_drawn(tmp_path: Path) -> None:
    pixel = """(canvas) => {
      const context = canvas.getContext("2d");
      return [...context.getImageData(canvas.width * 122 / 612, canvas.height * 242 / 792, 1, 1).data];
    }"""
    with small_service(tmp_path) as (server, client):
        upload(client, ("ferry.pdf", scanned()))
        with visiting(server.address) as visitor:
            loaded: list[str] = []
            visitor.page.on("response", lambda response: loaded.append(response.url))
            assert squeezed(visitor.cite(visitor.ask("When does the ferry leave?"))) == "Theferryleavesatnine."
            assert visitor.page.locator(".pdf-page canvas").evaluate(pixel) == [0, 0, 0, 255]
            assert any(url.endswith("/page/vendor/jbig2.wasm") for url in loaded)


@pytest.mark.long
def test_a_citation_opens_its_page_of_a_long_pdf(tmp_path: Path) -> None:
    in_sight = """(quote) => {
      const [box, around] = [quote, quote.closest(".panel-body")].map((each) => each.getBoundingClientRect());
      return box.height > 0 && box.top >= around.top && box.bottom <= around.bottom;
    }"""
    with small_service(tmp_path) as (server, client):
        upload(client, ("ponds.pdf", long_pdf(400)))
        for number in (397, 230, 2):
            # A page loaded anew, so that this citation is the first to be opened.
            with visiting(server.address) as visitor:
                turn = visitor.ask(f"What does paragraph {number} tell of pond {number}?")
                assert squeezed(visitor.cite(turn)) == squeezed(last_quotes(server.address, visitor)[0])
                quote = visitor.page.locator(f".pdf-page[data-page='{number}'][data-drawn=true] .pdf-quote")
                # Pages around it that are of another shape may not move it away.
                visitor.page.wait_for_timeout(500)
                assert quote.evaluate(in_sight)
                visitor.shot(f"long-pdf-{number}")


def test_text_of_a_pdf_can_be_asked_about(example_server: Server) -> None:
    with visiting(example_server.address) as visitor:
        page = visitor.page
        visitor.cite(visitor.ask("How many tools may I borrow at once?"))
        page.locator(".textLayer span", has_text="Membership costs 36 euros").first.select_text()
        page.locator(".ask-about").click()
        turn = visitor.ask("How much does membership cost a year?")
        assert turn.locator(".turn-hint").inner_text().startswith("Membership costs 36 euros")
        assert "Found in: " in turn.inner_text()
        assert "36 euros" in turn.locator(".answer").inner_text()


@pytest.mark.long
def test_a_pdf_whose_file_is_gone_is_shown_as_text(tmp_path: Path) -> None:
    path = EXAMPLES / "riverside-library-rules.pdf"
    with small_service(tmp_path) as (server, client):
        upload(client, (path.name, path.read_bytes()))
        (kept,) = tmp_path.glob(f"uploads/*/{path.name}")
        kept.unlink()
        with visiting(server.address) as visitor:
            shown = visitor.cite(visitor.ask("How many tools may a member borrow?"))
            assert shown == last_quotes(server.address, visitor)[0]
            assert visitor.page.locator(".panel .text .plain").count() > 0
            # That there is no file is an error to the console.
            assert all("404" in each for each in visitor.complaints)
            visitor.complaints.clear()


def test_a_site_is_added_by_its_address_and_linked_to(tmp_path: Path) -> None:
    words = "On this page it is written that the lighthouse is painted white every spring. " * 4
    with SiteServer() as site:
        text = f"<html><head><title>Coast</title></head><body><main><h1>Coast</h1><p>{words}</p></main></body></html>"
        site.put("/coast", text.encode())
        settings = Settings(allow_hosts=site.home.split("/")[2], requests_per_second=1000)
        with small_service(tmp_path, settings=settings) as (server, _), visiting(server.address) as visitor:
            page = visitor.page
            page.get_by_label("Or add a website by its address").fill(site.home)
            page.get_by_role("button", name="Add", exact=True).click()
            page.locator(".job[data-state=done]").wait_for()
            assert "lighthouse" in visitor.cite(visitor.ask("What is painted white every spring?"))
            link = page.get_by_role("link", name="Open the web page")
            assert str(link.get_attribute("href")).startswith(f"{site.home}coast")
            assert link.get_attribute("rel") == "noopener noreferrer"
            visitor.shot("site")


def test_a_chat_of_another_app_shows_replies_and_reactions_below_a_message(tmp_path: Path) -> None:
    with small_service(tmp_path) as (server, client):
        upload(client, ("result.json", as_json(TELEGRAM)))
        with visiting(server.address) as visitor:
            shown = visitor.cite(visitor.ask("Where is the shed key?"))
            assert shown == last_quotes(server.address, visitor)[0] == "The shed key is under the blue pot."
            page = visitor.page
            assert page.locator(".quoted-message .sender").inner_text() == "Ana"
            assert page.locator(".quoted-message .notes").inner_text() == "👍 Ben, Cleo"
            reply = page.locator(".message .notes", has_text="in reply to Ana")
            assert reply.inner_text() == "in reply to Ana: “The shed key is under the blue pot.”, edited"
            assert page.locator(".notice").inner_text() == "Ana: invite members: Ben, Cleo"
            visitor.shot("chat-notes")


def test_a_saved_page_is_shown_by_its_file_with_its_address_beside(tmp_path: Path) -> None:
    words = "On this page it is written that the lighthouse is painted white every spring. " * 4
    saved = (
        f"<!DOCTYPE html><!-- saved from url=(0027)https://coast.example/light --><title>Coast</title><p>{words}</p>"
    )
    with small_service(tmp_path) as (server, client):
        upload(client, ("Light.html", saved.encode()))
        with visiting(server.address) as visitor:
            visitor.cite(visitor.ask("What is painted white every spring?"))
            link = visitor.page.get_by_role("link", name="Open the web page")
            assert str(link.get_attribute("href")).startswith("https://coast.example/light")
            assert visitor.page.locator(".panel-file").inner_text() == "Light.html"


def test_a_quote_is_marked_on_its_picture(tmp_path: Path) -> None:
    notice = saved(drawn(["Notice of the town", "The swimming pool opens at nine.", "Dogs stay outside."], 180))
    with small_service(tmp_path) as (server, client):
        upload(client, ("pool.png", notice), ("pool.tif", saved(drawn(["The sauna opens at seven."]), "TIFF")))
        with visiting(server.address) as visitor:
            turn = visitor.ask("When does the swimming pool open?")
            turn.locator(".chip[data-citation='1']").click()
            quote = visitor.page.locator(".pdf-page .pdf-quote").first
            quote.wait_for()
            size = "(image) => [image.naturalWidth, image.naturalHeight]"
            assert visitor.page.locator("img.picture").evaluate(size) == [900, 300]
            box, around = quote.bounding_box(), visitor.page.locator(".pdf-page").bounding_box()
            assert box
            assert around
            # The second line of a picture that is upside down: below the middle, at the right.
            assert 0.6 < (box["y"] + box["height"] / 2 - around["y"]) / around["height"] < 0.8
            assert (box["x"] + box["width"] - around["x"]) / around["width"] > 0.9
            visitor.shot("picture")


def test_a_source_says_in_how_many_other_places_it_stands(tmp_path: Path) -> None:
    text = b"The boat leaves the harbour at nine on Sundays. " + b"It has a deck, two cabins and a kitchen. " * 5
    with small_service(tmp_path) as (server, client):
        upload(client, *((f"boat{n}.txt", text) for n in range(3)))
        found = client.post("api/v1/library/search", json={"question": "When does the boat leave?"}).json()["results"]
        assert [each["other_places"] for each in found] == [2]
        with visiting(server.address, locale="pt-BR") as visitor:
            turn = visitor.ask("When does the boat leave?")
            visitor.cite(turn)
            assert "e em outros 2 lugares" in visitor.page.locator(".panel-title").inner_text()
            others = turn.locator(".source-others")
            assert others.inner_text() == "and in 2 other places"
            others.click()
            title = visitor.page.locator(".panel-title")
            expect(title).to_contain_text("boat1.txt")
            visitor.page.get_by_role("button", name="Próxima fonte").click()
            expect(title).to_contain_text("boat2.txt")
            visitor.shot("other-places")
