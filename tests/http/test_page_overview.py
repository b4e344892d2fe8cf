"""The page before the first question, and the page of a document, in a real browser."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from browser import PHONE, documents, serving, visiting
from playwright.sync_api import expect
from service_on_socket import small_service, upload, wait_for

LONG_CHAT = "\n".join(
    f"{day:02}/{month:02}/{year}, {(day * 3) % 24:02}:15 - {('Ana', 'Ben', 'Carla')[day % 3]}: late again"
    for year in range(2015, 2025)
    for month in range(1, 13)
    for day in range(1, 2 + (month + year) % 2)
)

TOUCH = {"has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with the English examples, and a chat of ten years."""
    with small_service(tmp_path_factory.mktemp("overview")) as (server, client):
        wait_for(client, client.post("api/v1/library/examples", json={"language": "en"}).json())
        upload(client, ("WhatsApp Chat with Boat.txt", LONG_CHAT.encode()))
        yield server.address


def page_of(address: str, source: str) -> str:
    """The address of a document's page."""
    return f"{address}#document={documents(address)[source]['document_id']}"


@pytest.mark.long
def test_from_an_empty_library_over_examples_to_an_answer_by_keyboard(tmp_path: Path) -> None:
    with serving(tmp_path) as address, visiting(address, locale="es-ES") as visitor:
        page = visitor.page
        page.get_by_role("button", name="Probar con ejemplos").focus()
        page.keyboard.press("Enter")
        page.locator(".offered[data-loaded=true] a").nth(3).wait_for()
        assert page.locator(".offered a").count() == 4
        assert visitor.barriers() == []
        question = "¿Quién es alérgica al marisco?"
        page.keyboard.press("/")
        page.keyboard.type(question)
        page.keyboard.press("Enter")
        page.locator(".turn[data-state=done]").wait_for()
        assert page.locator(".turn h2").inner_text() == question
        assert page.locator(".turn").get_attribute("data-outcome") == "answered"
        assert visitor.cite(page.locator(".turn"))


def test_what_the_welcome_names_leads_to_its_page(address: str) -> None:
    with visiting(address) as visitor:
        page = visitor.page
        page.locator(".offered[data-loaded=true] a").nth(4).wait_for()
        # One of each kind before a second of any.
        kinds = [said.split(" · ")[0] for said in page.locator(".offer .muted").all_inner_texts()]
        assert len(set(kinds[:4])) == 4
        assert kinds.count("Chat") == 2
        assert page.locator(".hints li").count() == 3
        page.locator(".offer", has_text="Care guide").click()
        page.locator(".document-page[data-loaded]").wait_for()
        page.locator(".extract").first.click()
        page.locator(".panel[data-shown=true]").wait_for()
        assert page.locator(".panel mark").first.text_content() == page.locator(".extract q").first.text_content()


def test_a_document_has_its_page_where_it_alone_is_asked(address: str) -> None:
    with visiting(f"{address}#library") as visitor:
        page = visitor.page
        page.get_by_role("button", name="Actions for “Care guide").click()
        page.locator(":popover-open").get_by_role("link", name="Details").click()
        page.locator(".document-page[data-loaded]").wait_for()
        assert page.locator("h1").inner_text() == "Care guide for the Aurora 3 espresso machine"
        assert page.locator(".outline button").all_inner_texts()[2] == "Descaling"
        assert page.locator(".document-table tbody tr").count() == 3
        assert visitor.barriers() == []
        page.locator(".outline button", has_text="Descaling").click()
        page.locator(".panel[data-shown=true] mark").first.wait_for()
        assert "Descaling" in page.locator(".panel .heading", has=page.locator("mark")).inner_text()
        page.keyboard.press("Escape")
        assert page.evaluate("() => document.activeElement.textContent").strip() == "Descaling"
        answers = []
        for source in ("espresso-machine.md", "tool-library-rules.pdf"):
            page.goto(page_of(address, source))
            page.get_by_label("Ask only this document").fill("How many minutes does the descaling cycle take?")
            page.keyboard.press("Enter")
            page.locator(".turn[data-state=done]").nth(len(answers)).wait_for()
            turn = page.locator(".turn").nth(len(answers))
            answers.append((turn.get_attribute("data-outcome"), "25 minutes" in turn.inner_text()))
        assert answers == [("answered", True), ("refused", False)]
        page.evaluate("() => { location.hash = '#document=nothing' }")
        page.locator(".document-page .problem").wait_for()
        visitor.complaints.clear()


def test_a_chat_of_ten_years_is_charted_at_any_width(address: str) -> None:
    with visiting(page_of(address, "WhatsApp Chat with Boat.txt"), color_scheme="dark") as visitor:
        page = visitor.page
        for width in (1280, PHONE[0], 320):
            page.set_viewport_size({"width": width, "height": 800})
            # Months where there is room, years where there isn't.
            expect(page.locator(".chart").first.locator("rect")).to_have_count(120 if width > 500 else 10)
            visitor.shot(f"chat-{width}")
            assert page.locator(".chart").nth(1).locator("rect").count() == 24
            assert re.match(
                r"Messages over time; most in .*20\d\d: \d",
                page.locator(".chart").first.get_attribute("aria-label") or "",
            )
            # It is drawn again some time after the window has another width.
            page.wait_for_function("() => document.querySelector('.scroll').scrollWidth <= innerWidth")
            boxes = [each.bounding_box() for each in page.locator(".chart").first.locator(".chart-names span").all()]
            edges = [(box["x"], box["x"] + box["width"]) for box in boxes if box]
            assert len(edges) > 1
            assert all(right <= left for (_, right), (left, _) in itertools.pairwise(edges))
        assert visitor.barriers() == []


@pytest.mark.parametrize(("size", "touch"), [(PHONE, TOUCH), ((1280, 800), {}), ((1920, 1080), {})])
def test_nothing_moves_as_it_comes_in(
    address: str, size: tuple[int, int], touch: dict[str, bool], tmp_path: Path
) -> None:
    with small_service(tmp_path) as (empty, _), visiting(empty.address, size, **touch) as visitor:
        visitor.page.locator(".welcome .drop-zone").wait_for()
        assert visitor.moved() <= 0.01
    with visiting(address, size, **touch) as visitor:
        page = visitor.page
        page.locator(".offered[data-loaded=true] a").nth(4).wait_for()
        assert visitor.moved() <= 0.01
        visitor.ask("Can I use vinegar?")
        page.reload()
        page.locator(".turn[data-state=done]").wait_for()
        assert visitor.moved() <= 0.01
        for view in ("library", "settings"):
            page.goto(f"{address}#{view}")
            page.reload()
            page.locator(f".{view}[data-loaded=true]").wait_for()
            assert visitor.moved() <= 0.01, view


def test_the_welcome_fits_a_phone(address: str) -> None:
    with visiting(address, PHONE) as visitor:
        page = visitor.page
        page.locator(".offered[data-loaded=true] a").nth(4).wait_for()
        assert page.evaluate("() => document.querySelector('.scroll').scrollWidth <= innerWidth")
        for box in (each.bounding_box() for each in page.locator(".offer").all()):
            assert box
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE[0]
            assert box["height"] >= 44


REPAIRS = """Date,Job,Firm,Amount (€),State
2024-03-02,Lift,Kone,1240.50,paid
2024-03-19,Gate,Ruiz,310.00,unpaid
2024-04-05,Roof,Ruiz,2150.00,unpaid
2024-05-11,Bulbs,,48.00,paid
"""


def test_a_table_is_sorted_filtered_and_added_up(address: str) -> None:
    with httpx.Client(base_url=address, timeout=60) as client:
        upload(client, ("repairs.csv", REPAIRS.encode()))
    with visiting(page_of(address, "repairs.csv")) as visitor:
        page = visitor.page
        page.locator(".document-page[data-loaded]").wait_for()
        rows, sums = page.locator(".document-table tbody tr"), page.locator(".document-table .sums")
        jobs = rows.locator("td:nth-child(3)")
        assert sums.inner_text().split() == ["Σ", "3,748.5", "EUR"]
        page.get_by_role("button", name="Amount").click()
        assert jobs.all_inner_texts() == ["Bulbs", "Gate", "Lift", "Roof"]
        page.get_by_role("button", name="Amount").click()
        assert jobs.all_inner_texts() == ["Roof", "Lift", "Gate", "Bulbs"]
        assert page.locator("th[aria-sort=descending]").count() == 1
        # A cell without a value comes last, whatever the order.
        page.get_by_role("button", name="Firm").click()
        page.get_by_role("button", name="Firm").click()
        assert jobs.all_inner_texts() == ["Gate", "Roof", "Lift", "Bulbs"]
        page.get_by_label("Filter rows").fill("RUÍZ")
        expect(page.locator(".table-filter [role=status]")).to_have_text("2 rows found")
        assert sums.inner_text().split() == ["Σ", "2,460", "EUR"]
        page.get_by_label("Select row 2").check()
        assert sums.inner_text().split() == ["Σ", "310", "EUR"]
        expect(page.locator(".table-filter [role=status]")).to_have_text("1 row selected")
        assert visitor.barriers() == []
        visitor.shot("table")
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        assert page.evaluate("() => document.querySelector('.scroll').scrollWidth <= innerWidth")
        page.get_by_role("button", name="3", exact=True).click()
        page.locator(".panel[data-shown=true] .quoted-row").wait_for()
        assert "Roof" in page.locator(".panel .quoted-row").inner_text()
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(f"{address}#ask")
        page.get_by_role("textbox").first.fill("What is the total amount for Ruiz?")
        page.keyboard.press("Enter")
        page.locator(".turn[data-state=done]").wait_for()
        visitor.cite(page.locator(".turn"))
        page.get_by_role("link", name="Sort, filter, add up").click()
        expect(page.locator("h1")).to_have_text("repairs")


def test_what_was_not_read_is_named_where_it_was_added_and_on_its_page(tmp_path: Path) -> None:
    shown = {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}}
    cell = {"cell_type": "code", "source": "plot(rain)", "outputs": [shown, shown]}
    data = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}).encode()
    with small_service(tmp_path) as (server, _):
        with visiting(server.address, locale="pt-BR") as visitor:
            visitor.pick({"name": "rain.ipynb", "mimeType": "application/json", "buffer": data})
            visitor.page.locator(".job-errors").wait_for()
            assert visitor.page.locator(".job-errors").inner_text() == "Não lido: 2 imagens"
        with visiting(page_of(server.address, "rain.ipynb"), locale="es-ES") as visitor:
            visitor.page.locator(".document-page[data-loaded]").wait_for()
            assert visitor.page.locator(".left-out").inner_text() == "Sin leer: 2 imágenes"
            assert visitor.barriers() == []
