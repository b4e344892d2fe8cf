"""Filters of the page: chosen above the question, taken off under it, and what a refusal offers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from browser import PHONE, Visitor, visiting
from playwright.sync_api import Request, Route, expect

from answerable.interfaces.http.server import Server

ABOUT_TICKETS = "¿Qué dijo Marta en marzo sobre los boletos?"


def asked(visitor: Visitor, press: Any) -> dict[str, Any]:
    """What the page sends to be answered when something is pressed."""

    def is_ask(request: Request) -> bool:
        return request.url.endswith("/ask")

    with visitor.page.expect_request(is_ask) as sending:
        press()
    return dict(json.loads(sending.value.post_data or ""))


def chips(visitor: Visitor) -> list[str]:
    """The chips under the last question."""
    found = visitor.page.locator(".turn").last.locator(".narrowed .filter-name").all_inner_texts()
    # Some languages and versions set the dash of a period between narrow spaces.
    return [re.sub(r"\s–\s", "–", each) for each in found]


def answered(visitor: Visitor, count: int) -> None:
    """Wait for so many answers."""
    visitor.page.locator(".turn[data-state=done]").nth(count - 1).wait_for()


@pytest.mark.long
def test_filters_are_chosen_and_taken_off(example_server: Server) -> None:
    # Where it is wider, documents are chosen beside the conversation.
    with visiting(example_server.address, (1280, 800)) as visitor:
        page = visitor.page
        bar, panel = page.locator(".filter-bar"), page.locator(".filter-panel")
        # Beside the list of documents no chip would offer them.
        page.get_by_role("button", name="Hide conversations").click()
        bar.get_by_role("button", name="Person").click()
        panel.get_by_role("button", name="Ana Lucía").click()
        bar.get_by_role("button", name="Document").click()
        panel.get_by_label("Viaje a Oaxaca").check()
        bar.get_by_role("button", name="Type").click()
        panel.get_by_role("button", name="Chat").click()
        bar.get_by_role("button", name="Language").click()
        panel.get_by_role("button", name="Spanish").click()
        bar.get_by_role("button", name="Date").click()
        panel.get_by_label("From").fill("2024-03-01")
        panel.get_by_label("To", exact=True).fill("2024-03-31")
        visitor.shot("filters")
        page.keyboard.press("Escape")
        assert page.locator(".filter-panel").is_hidden()
        assert page.evaluate("() => document.activeElement.dataset.field") == "date"
        page.get_by_role("textbox").fill("¿Cuándo puede viajar?")
        body = asked(visitor, lambda: page.keyboard.press("Enter"))
        assert body["where"] == {
            "sender": ["Ana Lucía"],
            "source": ["Chat de WhatsApp con Viaje a Oaxaca.txt"],
            "type": ["chat"],
            "language": ["es"],
            "date": {"gte": "2024-03-01", "lte": "2024-03-31"},
        }
        answered(visitor, 1)
        assert chips(visitor) == ["Ana Lucía", "Viaje a Oaxaca", "Chat", "Spanish", "1–31 March 2024"]
        # Taken off above the question.
        page.get_by_role("button", name=re.compile("Take off Date: 1")).click()
        assert page.evaluate("() => document.activeElement.dataset.field") == "date"
        # Taken off a question, which is asked again.
        press = page.locator(".narrowed").get_by_role("button", name="Take off Ana Lucía").click
        body = asked(visitor, press)
        assert "sender" not in body["where"]
        answered(visitor, 2)
        assert page.locator(".question h2").all_inner_texts() == ["¿Cuándo puede viajar?"] * 2
        assert page.locator(".filter-bar").get_by_role("button", name="Take off Person").count() == 0
        assert visitor.barriers() == []
        # A conversation remembers what it was asked with.
        before = chips(visitor)
        page.reload()
        answered(visitor, 2)
        assert len(chips(visitor)) == len(before) == 4


def test_what_a_question_narrowed_itself_to_can_be_taken_off(example_server: Server) -> None:
    with visiting(example_server.address, locale="es-MX") as visitor:
        page = visitor.page
        visitor.ask(ABOUT_TICKETS)
        assert chips(visitor) == ["Marta", "1–31 de marzo de 2024"]
        visitor.shot("narrowed")
        body = asked(visitor, page.get_by_role("button", name="Quitar Marta").click)
        assert body["question"] == ABOUT_TICKETS
        assert body["narrow"] is False
        assert body["where"]["date"] == {"gte": "2024-03-01T00:00:00", "lt": "2024-04-01T00:00:00"}
        answered(visitor, 2)
        body = asked(visitor, page.locator(".turn").first.get_by_role("button", name=re.compile("Quitar 1")).click)
        assert body["where"]["sender"] == ["Marta"]
        assert "date" not in body["where"]
        answered(visitor, 3)
        # The next question is free of all this.
        page.get_by_role("textbox").fill("¿Cuánto cuesta el autobús?")
        assert "where" not in asked(visitor, lambda: page.keyboard.press("Enter"))


def test_a_new_conversation_has_no_filter(example_server: Server) -> None:
    with visiting(example_server.address) as visitor:
        page = visitor.page
        bar = page.locator(".filter-bar")
        page.locator(".asked-list input").nth(1).check()
        page.locator(".asked-list input").first.check()
        assert bar.get_by_role("button").first.inner_text() == "2 documents"
        bar.get_by_role("button", name="Take off 2 documents").click()
        # Documents are chosen in a chip only while their list isn't there.
        expect(bar.get_by_role("button", name="Document")).to_have_count(0)
        page.get_by_role("button", name="Hide conversations").click()
        bar.get_by_role("button", name="Document").wait_for()
        bar.get_by_role("button", name="Person").click()
        page.locator(".filter-panel").get_by_role("button", name="Ana Lucía").click()
        page.keyboard.press("Escape")
        visitor.ask("¿Cuándo puede viajar?")
        page.get_by_role("button", name="New conversation").first.click()
        page.get_by_role("textbox").fill("When is it open?")
        assert "where" not in asked(visitor, lambda: page.keyboard.press("Enter"))


def test_a_refusal_helps(example_server: Server) -> None:
    with visiting(example_server.address) as visitor:
        page = visitor.page
        page.get_by_role("button", name="Type").click()
        page.get_by_role("button", name="PDF").click()
        turn = visitor.ask("May I borrow a chainsaw at night?")
        said = turn.locator(".answer").inner_text()
        assert said.startswith("The documents don't say that. Nearest:")
        assert "A member may borrow up to five tools at the same time." in said
        turn.locator(".source").first.click()
        page.locator(".panel mark, .pdf-page[data-drawn=true] .pdf-quote").first.wait_for()
        page.keyboard.press("Escape")
        body = asked(visitor, page.get_by_role("button", name="Search everything").click)
        assert "where" not in body
        answered(visitor, 2)
        assert page.locator(".filter-bar [data-on=true]").count() == 0
        visitor.shot("refusal-helps")
        assert visitor.barriers() == []
        # Which of several tables is meant is pressed.
        page.route("**/ask", unclear, times=1)
        turn = visitor.ask("How much is it in total?")
        assert turn.locator(".answer").inner_text().split("\n")[0] == "Which table is meant?"
        assert turn.get_by_role("button", name="unknown.csv Day, Price").is_disabled()
        found, columns = turn.locator(".source-text").first.inner_text().split("\n")
        assert columns == "Day, Sum (in all)"
        assert visitor.barriers() == []
        body = asked(visitor, turn.locator(".source").first.click)
        assert found in body["where"]["source"][0]
        assert body["instead_of"]
        answered(visitor, 3)
        assert page.locator(".turn").count() == 3


def unclear(route: Route) -> None:
    """Two tables are named, of which the first is a document that was found."""
    response = route.fetch()
    *_, last = (line for line in response.text().splitlines() if line.startswith("data:"))
    answer = json.loads(last.removeprefix("data:"))
    name = Path(answer["passages"][0]["source"]).name
    answer["text"] = f"Name one:\n- {name} (Day, Sum (in all))\n- unknown.csv (Day, Price)"
    answer |= {"reason": "it isn't clear what to compute", "answered": False, "verdict": "refused", "citations": []}
    route.fulfill(response=response, body=f"event: answer\ndata: {json.dumps(answer)}\n\n")


@pytest.mark.parametrize("width", [360, pytest.param(PHONE[0], marks=pytest.mark.long)])
def test_filters_fit_a_phone(example_server: Server, width: int) -> None:
    with visiting(example_server.address, (width, 740), locale="pt-BR", has_touch=True, is_mobile=True) as visitor:
        page = visitor.page
        page.locator("[data-field=source]").click()
        page.locator(".asked-list label").nth(3).wait_for()
        page.locator(".asked-list label").first.click()
        assert page.evaluate("() => document.documentElement.scrollWidth") == width
        sizes = page.locator(".asked-list label, .filter-chip button").evaluate_all(
            "(all) => all.map((each) => Math.min(each.offsetHeight, each.offsetWidth))"
        )
        assert min(sizes) >= 34
        visitor.shot(f"filters-{width}")
