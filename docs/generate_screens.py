"""Takes the screenshots of docs/screens: 16 states of the page, by `python docs/generate_screens.py`.

A server with example documents and Chromium are started by it, as in the tests of the page.
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

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / folder) for folder in ("", "http")]

from browser import PHONE, Visitor, serving, visiting  # noqa: E402
from service_on_socket import upload, wait_for  # noqa: E402

FOLDER = Path(__file__).with_name("screens")
DESKTOP = (1280, 800)
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
        with serving(folder / "empty") as address, seen(address, "en", "light") as visitor:
            visitor.page.locator(".welcome .drop-zone").wait_for()
            keep(visitor, "01-empty")
        for language, states in STATES.items():
            with serving(folder / language) as address:
                fill(address, language)
                for name, scheme, is_phone, show in states:
                    with seen(address, language, scheme, is_phone) as visitor:
                        show(visitor, language)
                        keep(visitor, name)


def fill(address: str, language: str) -> None:
    """Add the examples of a language."""
    with httpx.Client(base_url=address, timeout=600) as client:
        wait_for(client, client.post("api/v1/library/examples", json={"language": language}).json())
        upload(client, ("ferries.md", FERRIES))


@contextmanager
def seen(address: str, language: str, scheme: str, is_phone: bool = False) -> Iterator[Visitor]:
    """The page on a desk or a phone."""
    touch = {"has_touch": True, "is_mobile": True} if is_phone else {}
    size = PHONE if is_phone else DESKTOP
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
    visitor.ask(MACHINE[language])


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


State = tuple[str, str, bool, Callable[[Visitor, str], None]]
# By language: name, colours, whether on a phone, and what is shown. Conversations of earlier states are in the list.
STATES: dict[str, list[State]] = {
    "en": [
        ("02-welcome", "light", False, welcome),
        ("03-pdf", "light", False, pdf),
        ("04-table", "dark", False, table),
        ("05-library", "light", False, library),
        ("06-settings", "dark", False, settings),
        ("07-phone-source", "light", True, source),
    ],
    "es": [
        ("08-answer", "dark", False, answer),
        ("09-source", "light", False, source),
        ("10-document", "light", False, details(".md")),
        ("11-phone-welcome", "dark", True, welcome),
        ("12-phone-chat", "light", True, details(".txt")),
    ],
    "pt": [
        ("13-refusal", "light", False, refusal),
        ("14-filters", "dark", False, filters),
        ("15-phone-answer", "light", True, answer),
        ("16-phone-library", "dark", True, library),
    ],
}


if __name__ == "__main__":
    main()
