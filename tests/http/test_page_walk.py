"""One visitor's whole way: an empty library, examples, a large PDF, a restart, filters, a model, a folder, a phone."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest
from browser import Visitor, last_quotes, squeezed, visiting
from model_server import model_server
from playwright.sync_api import Locator, expect
from service_on_socket import small_service, upload
from test_page_panel import IN_SIGHT, book

from answerable.interfaces.http.server import Server
from answerable.settings import Settings

NARROW = (360, 740)
MOST_TABS = 80
LIGHTHOUSE = "The lighthouse of Cape Marengo was built in 1893 by Elena Torres."
BUILT = "When was the lighthouse of Cape Marengo built?"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of notes."""
    notes = tmp_path / "home" / "notes"
    notes.mkdir(parents=True)
    (notes / "gate.txt").write_text("The gate is blue. The door is green.")
    return notes


def test_a_visitors_whole_way(tmp_path: Path, notes: Path) -> None:
    with model_server() as base_url:
        settings = Settings(openai_base_url=base_url, openai_api_key="none", openai_chat_model="tiny")

        def service() -> AbstractContextManager[tuple[Server, httpx.Client]]:
            return small_service(tmp_path / "data", settings=settings, folders=(notes.parent,))

        with service() as (server, _), visiting(server.address) as visitor:
            question = begin_by_keyboard(visitor, server.address)
        with service() as (server, _):
            with visiting(server.address) as visitor:
                find_again(visitor, question)
                filter_by_document(visitor, question)
                turn_model_on_and_off(visitor)
                follow_folder(visitor, notes)
            with visiting(server.address, NARROW) as visitor:
                turn = visitor.ask("What colour is the gate?")
                assert "red" in visitor.cite(turn)
                visitor.shot("walk-phone")
                assert visitor.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def begin_by_keyboard(visitor: Visitor, address: str) -> str:
    """From nothing to a citation in a large PDF, without a mouse; returns the first question."""
    page = visitor.page
    tab_to(visitor, page.get_by_role("button", name="Try it with examples"))
    page.keyboard.press("Enter")
    page.locator(".offered[data-loaded=true] a").nth(3).wait_for()
    question = "Can I use vinegar?"
    tab_to(visitor, page.get_by_role("textbox", name=re.compile("question")))
    page.keyboard.type(question)
    page.keyboard.press("Enter")
    page.locator(".turn[data-outcome=answered][data-state=done]").wait_for()
    chip = page.locator(".turn .chip").first
    tab_to(visitor, chip)
    page.keyboard.press("Enter")
    page.locator(".panel[data-shown=true]").wait_for()
    page.keyboard.press("Escape")
    page.locator(".panel").wait_for(state="detached")
    expect(chip).to_be_focused()

    # The system's dialog for files isn't the page's.
    with httpx.Client(base_url=address, timeout=120) as client:
        upload(client, ("ponds.pdf", book(2, LIGHTHOUSE, 40)))
    page.keyboard.press("/")
    page.keyboard.type(BUILT)
    page.keyboard.press("Enter")
    turn = page.locator(".turn[data-state=done]").nth(1)
    turn.wait_for()
    tab_to(visitor, turn.locator(".chip").first)
    page.keyboard.press("Enter")
    page.locator(".panel[data-shown=true]").wait_for()
    quote = page.locator(".pdf-page[data-page='30'][data-drawn=true] .pdf-quote").first
    quote.wait_for()
    assert quote.evaluate(IN_SIGHT)
    assert squeezed(last_quotes(address, visitor)[0]) == squeezed(LIGHTHOUSE)
    page.keyboard.press("Escape")
    tab_to(visitor, page.get_by_role("button", name="New conversation"))
    page.keyboard.press("Enter")
    page.locator(".welcome").wait_for()
    return question


def tab_to(visitor: Visitor, wanted: Locator) -> None:
    """Presses Tab until an element has the focus."""
    wanted.wait_for()
    for _ in range(MOST_TABS):
        if wanted.evaluate("(element) => element === document.activeElement"):
            return
        visitor.page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} can't be reached by keyboard")


def find_again(visitor: Visitor, question: str) -> None:
    """Finds the conversation from before the restart by a word of its second question."""
    page = visitor.page
    page.get_by_role("searchbox", name="Search conversations").fill("cape marengo")
    page.locator(".earlier-found").wait_for()
    page.locator(".earlier-open").first.click()
    page.locator(".turn").nth(1).wait_for()
    assert page.locator(".question h2").all_inner_texts() == [question, BUILT]
    page.get_by_role("button", name="New conversation").click()
    page.locator(".welcome").wait_for()


def filter_by_document(visitor: Visitor, question: str) -> None:
    """Asks the ponds only, where the answer isn't."""
    page = visitor.page
    # A window of this width has the documents beside the conversation.
    page.locator(".asked-list").get_by_label("ponds").check()
    assert visitor.ask(question).get_attribute("data-outcome") == "refused"
    page.locator(".filter-bar").get_by_role("button", name="Take off Document").click()
    turn = visitor.ask(question)
    assert turn.get_attribute("data-outcome") == "answered"


def turn_model_on_and_off(visitor: Visitor) -> None:
    """Lets a model write, and no longer."""
    page = visitor.page
    for model, named in (("openai:tiny", "openai:tiny"), ("extractive", "quotes only")):
        page.get_by_role("link", name="Settings").click()
        page.locator(".settings[data-loaded=true]").wait_for()
        if model != "extractive":
            page.get_by_role("button", name="Test: openai").click()
            page.locator(".providers", has_text="reachable").wait_for()
        with page.expect_response(lambda response: response.request.method == "PUT"):
            page.get_by_label("Model").select_option(model)
        page.get_by_role("link", name="Ask", exact=True).click()
        turn = visitor.ask(BUILT)
        turn.locator(".trace summary").click()
        assert named in turn.locator(".trace").inner_text()


def follow_folder(visitor: Visitor, notes: Path) -> None:
    """Adds a folder, changes a file of it and syncs."""
    page = visitor.page
    page.get_by_role("link", name="Library", exact=True).click()
    page.locator(".library[data-loaded=true]").wait_for()
    page.get_by_role("button", name="Follow a folder").click()
    page.locator(".folders li", has_text="notes").get_by_role("button").click()
    page.get_by_text("1 file here").wait_for()
    page.get_by_role("button", name="Follow this folder").click()
    page.locator(".followed", has_text="1 document").wait_for()
    page.get_by_role("button", name="Dismiss", exact=True).click()
    (notes / "gate.txt").write_text("The gate is red since Monday. The door is green.")
    page.get_by_role("button", name="Sync: notes").click()
    page.locator(".job[data-state=done]").wait_for()
    page.get_by_role("link", name="Ask", exact=True).click()
    assert "red" in visitor.cite(visitor.ask("What colour is the gate?"))
