"""The web page for everybody: seen by axe in every view, light and dark, on a desk and on a phone."""

from __future__ import annotations

import pytest
from browser import PHONE, Visitor, visiting

from answerable.interfaces.http.server import Server


def all_views(visitor: Visitor, name: str) -> list[str]:
    """What axe and a look at the width find in the page's views, each kept as a picture."""
    page, found = visitor.page, []

    def look(view: str) -> None:
        visitor.shot(f"{name}-{view}")
        found.extend(f"{view}: {each}" for each in visitor.barriers())
        if page.evaluate("() => document.querySelector('.scroll').scrollWidth > innerWidth"):
            found.append(f"{view}: wider than the window")

    page.locator(".offered[data-loaded=true] a").first.wait_for()
    look("welcome")
    turn = visitor.ask("How many tools may I borrow at once?")
    turn.locator(".trace summary").click()
    look("answer")
    questions = ("¿Cuándo puede viajar Ana Lucía?", "How often must the espresso machine be descaled?")
    for number, question in enumerate(questions):
        visitor.cite(visitor.ask(question))
        look(f"source-{number}")
        page.keyboard.press("Escape")
    visitor.cite(turn)
    look("pdf")
    page.keyboard.press("Escape")
    visitor.ask("Who won the 1998 world cup final in Paris?")
    look("refusal")
    page.locator(".top nav a").nth(1).click()
    page.locator(".timeline .bars").wait_for()
    look("library")
    page.locator(".library-head button").click()
    page.locator("dialog[open]").wait_for()
    look("add")
    return found


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_anybody_out(example_server: Server, scheme: str) -> None:
    with visiting(example_server.address, color_scheme=scheme) as visitor:
        assert all_views(visitor, scheme) == []


def test_the_theme_can_be_turned_round(example_server: Server) -> None:
    with visiting(example_server.address) as visitor:
        page = visitor.page
        paper = "() => getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(paper)
        page.get_by_role("button", name="Dark").click()
        page.locator("html[data-theme=dark]").wait_for()
        dark = page.evaluate(paper)
        assert light != dark
        page.reload()
        page.locator("html[data-theme=dark]").wait_for()
        assert page.get_by_role("button", name="Light").is_visible()
        assert page.evaluate(paper) == dark


def test_nothing_keeps_anybody_out_on_a_phone(example_server: Server) -> None:
    with visiting(example_server.address, PHONE, locale="es-MX", has_touch=True, is_mobile=True) as visitor:
        assert all_views(visitor, "phone") == []
