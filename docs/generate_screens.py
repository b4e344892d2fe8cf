"""Takes the screenshots of docs/screens: 20 states of the page, by `python docs/generate_screens.py`.

A server with example documents and Chromium are started by it, as in the tests of the page; a model's answer is one
that the program writes itself.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import Locator

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / folder) for folder in ("", "http")]

from browser import PHONE, Visitor, serving, visiting  # noqa: E402
from service_on_socket import PatientModel, small_service, upload, wait_for  # noqa: E402

FOLDER = Path(__file__).with_name("screens")
DESKTOP, WIDE = (1440, 900), (1920, 1080)
LOCALES = {"en": "en-GB", "es": "es-MX", "pt": "pt-BR"}
COLOURS = 96
FERRIES = (
    b"# Ferries\n\n| Ferry | Leaves | Price |\n|---|---|---|\n| Aurora | 09:15 | 12,50 |\n| Boreal | 11:40 | 9,00 |\n"
)
MACHINE = {
    "en": "How often must the espresso machine be descaled?",
    "es": "¿Cada cuánto hay que descalcificar la cafetera?",
    "pt": "Com que frequência a cafeteira deve ser descalcificada?",
}
REFUSED = {
    "en": "Who won the 1998 world cup final in Paris?",
    "es": "¿Quién ganó la final del mundial de 1998?",
    "pt": "Quem ganhou a final da copa de 1998?",
}
NEAR = {"en": "When does the ferry Carola leave?", "pt": "Quem reservou o hotel em Recife?"}
DEPOSIT = {
    "en": "How many tools may I borrow at once?",
    "es": "¿Cuántas herramientas puedo llevar a la vez?",
    "pt": "Quantas ferramentas posso levar de uma vez?",
}


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with serving(folder / "empty") as address, seen(address, "en", "light", DESKTOP) as visitor:
            visitor.page.locator(".welcome .drop-zone").wait_for()
            keep(visitor, "01-empty")
        written(folder / "written")
        for language, states in STATES.items():
            with serving(folder / language) as address:
                fill(address, language)
                for name, scheme, size, show in states:
                    with seen(address, language, scheme, size) as visitor:
                        show(visitor, language)
                        keep(visitor, name)


def fill(address: str, language: str) -> None:
    """Add the examples of a language."""
    with httpx.Client(base_url=address, timeout=600) as client:
        wait_for(client, client.post("api/v1/library/examples", json={"language": language}).json())
        upload(client, ("ferries.md", FERRIES))


@contextmanager
def seen(address: str, language: str, scheme: str, size: tuple[int, int]) -> Iterator[Visitor]:
    """The page on a desk or a phone."""
    touch = {"has_touch": True, "is_mobile": True} if size == PHONE else {}
    with visiting(address, size, locale=LOCALES[language], color_scheme=scheme, **touch) as visitor:
        yield visitor


def keep(visitor: Visitor, name: str) -> None:
    """Write a picture of what is seen, with few colours, so that it is small."""
    shown = visitor.page.screenshot(animations="disabled")
    picture = Image.open(io.BytesIO(shown)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(FOLDER / f"{name}.png", optimize=True)


def welcome(visitor: Visitor, language: str) -> None:
    visitor.page.locator(".offered[data-loaded=true] a").nth(4).wait_for()


def answer(visitor: Visitor, language: str) -> None:
    visitor.ask(DEPOSIT[language])
    shown_beside(visitor, visitor.ask(MACHINE[language]))


def shown_beside(visitor: Visitor, turn: Locator) -> None:
    """On a desk, wait for the source of an answer, which opens by itself."""
    if visitor.page.viewport_size != {"width": PHONE[0], "height": PHONE[1]}:
        visitor.cite(turn)


def near(visitor: Visitor, language: str) -> None:
    shown_beside(visitor, visitor.ask(NEAR[language]))


def written(folder: Path) -> None:
    """A model's answer with each of the marks."""
    said = "The gate is blue [1]. The door has 7 bolts [2].\n\nBoth were painted last year."
    model = PatientModel(said, "The gate is blue.", "The door is green and has 9 bolts.")
    model.go_on.set()
    with small_service(folder, model=model) as (server, client):
        upload(client, ("gate.txt", b"The gate is blue.\n\nThe door is green and has 9 bolts.\n"))
        with seen(server.address, "en", "light", DESKTOP) as visitor:
            shown_beside(visitor, visitor.ask("What colour is the gate, and how many bolts has the door?"))
            keep(visitor, "17-marks")


def refusal(visitor: Visitor, language: str) -> None:
    visitor.ask(REFUSED[language])


def source(visitor: Visitor, language: str) -> None:
    visitor.cite(visitor.ask(MACHINE[language]))


def pdf(visitor: Visitor, language: str) -> None:
    visitor.cite(visitor.ask(DEPOSIT[language]))


def table(visitor: Visitor, language: str) -> None:
    visitor.cite(visitor.ask("When does the ferry Boreal leave?"))


def filters(visitor: Visitor, language: str) -> None:
    visitor.page.locator(".filter-bar button[data-field='source'], .filter-bar button").first.click()
    # The documents come from the server.
    visitor.page.locator(".filter-panel .filter-value").first.wait_for()
    welcome(visitor, language)


def library(visitor: Visitor, language: str) -> None:
    visitor.page.locator(".top nav a[href='#library']").click()
    visitor.page.locator(".library[data-loaded=true]").wait_for()


def settings(visitor: Visitor, language: str) -> None:
    visitor.page.locator(".top nav a[href='#settings']").click()
    visitor.page.locator(".settings[data-loaded=true]").wait_for()


def details(kind: str) -> Callable[[Visitor, str], None]:
    """The page of the document whose name ends so."""

    def show(visitor: Visitor, language: str) -> None:
        with httpx.Client(base_url=visitor.address, timeout=60) as client:
            listed = client.get("api/v1/library/documents").json()["documents"]
        found = next(each for each in listed if each["source"].endswith(kind) and each["source"] != "ferries.md")
        visitor.page.goto(f"{visitor.address}#document={found['document_id']}")
        visitor.page.locator(".document-page[data-loaded]").wait_for()

    return show


State = tuple[str, str, tuple[int, int], Callable[[Visitor, str], None]]
# By language: name, colours, size, and what is shown. Conversations of earlier states are in the list.
STATES: dict[str, list[State]] = {
    "en": [
        ("02-welcome", "light", DESKTOP, welcome),
        ("03-pdf", "light", DESKTOP, pdf),
        ("04-table", "dark", DESKTOP, table),
        ("05-library", "light", DESKTOP, library),
        ("06-settings", "dark", DESKTOP, settings),
        ("07-phone-source", "light", PHONE, source),
        ("18-near", "light", DESKTOP, near),
    ],
    "es": [
        ("08-answer", "dark", DESKTOP, answer),
        ("09-source", "light", DESKTOP, source),
        ("10-document", "light", DESKTOP, details(".md")),
        ("11-phone-welcome", "dark", PHONE, welcome),
        ("12-phone-chat", "light", PHONE, details(".txt")),
        ("19-wide", "dark", WIDE, pdf),
    ],
    "pt": [
        ("13-refusal", "light", DESKTOP, refusal),
        ("14-filters", "dark", DESKTOP, filters),
        ("15-phone-answer", "light", PHONE, answer),
        ("16-phone-library", "dark", PHONE, library),
        ("20-near-dark", "dark", WIDE, near),
    ],
}


if __name__ == "__main__":
    main()
