"""The web page in a real browser: documents come in, questions are asked, and quotes are shown where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from browser import Visitor, documents, last_quotes, serving, squeezed, visiting
from made_files import zipped
from playwright.sync_api import Page, expect
from service_on_socket import EXAMPLES, example_service

from answerable.interfaces.http.server import Server

CHAT = "Chat de WhatsApp con Viaje a Oaxaca.txt"
PDF = EXAMPLES / "riverside-library-rules.pdf"
GUIDE = EXAMPLES / "espresso-machine-guide.md"
GARDEN = EXAMPLES / "horta-na-varanda.html"
CODE = '''"""Doors and gates."""


def paint(gate: str) -> str:
    """The colour of a gate is always cobalt blue."""
    return "🚪 cobalt"
'''
# Characters outside the basic plane take two units in JavaScript and one in Python.
EMOJI = "🎉🎉 Party notes 🎈\n\n🥁 The drummer arrives at half past seven 🕢 with two cymbals.\n"
MARKUP = """# Ferns

A **fern** of the kind [maidenhair](https://example.org/a) needs *misting every `three` days*, \\*always\\*.

- Use rain water
  that stood for a day.
- Never use tap water.

```text
fern = shade
```
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Iterator[Visitor]:
    """Somebody at the page of a server with documents of every kind."""
    texts = [(name, text.encode()) for name, text in {"gates.py": CODE, "party.txt": EMOJI, "ferns.md": MARKUP}.items()]
    folder = tmp_path_factory.mktemp("page")
    with example_service(folder, cache_folder, *texts) as server, visiting(server.address) as visitor:
        yield visitor


@pytest.fixture
def visitor(reader: Visitor) -> Visitor:
    """Somebody before the first question."""
    reader.begin()
    return reader


@pytest.mark.long
def test_from_an_empty_library_to_answers_in_three_languages(tmp_path: Path) -> None:
    archive = {
        "name": "Chat.zip",
        "mimeType": "application/zip",
        "buffer": zipped({CHAT: (EXAMPLES / CHAT).read_bytes()}),
    }
    with serving(tmp_path) as address, visiting(address) as visitor:
        page = visitor.page
        page.locator(".welcome .drop-zone").wait_for()
        visitor.shot("empty")
        visitor.pick({"name": PDF.name, "mimeType": "application/pdf", "buffer": PDF.read_bytes()}, archive)
        page.locator(".job[data-state=done]").wait_for()
        page.get_by_role("button", name="Add documents").click()
        page.locator("dialog[open]").wait_for()
        visitor.shot("add")
        visitor.pick(GUIDE, GARDEN)
        page.locator(".job[data-state=done]").nth(1).wait_for()
        visitor.shot("added")
        assert set(documents(address)) == {PDF.name, f"Chat.zip!/{CHAT}", GUIDE.name, GARDEN.name}
        page.get_by_role("button", name="Dismiss").first.click()
        assert page.locator(".job").count() == 1

        turn = visitor.ask("How many tools may I borrow at once?")
        assert "five tools" in turn.inner_text()
        assert page.locator(".job").count() == 0
        assert squeezed(visitor.cite(turn)) == squeezed(last_quotes(address, visitor)[0])
        visitor.shot("pdf")
        turn = visitor.ask("¿Cuándo puede viajar Ana Lucía?")
        assert visitor.cite(turn) == last_quotes(address, visitor)[0]
        assert page.locator(".quoted-message .sender").inner_text() == "Ana Lucía"
        visitor.shot("chat")
        turn = visitor.ask("Quantas horas de sol o manjericão precisa?")
        assert visitor.cite(turn) == last_quotes(address, visitor)[0]
        turn = visitor.ask("How often must the espresso machine be descaled?")
        assert visitor.cite(turn) == last_quotes(address, visitor)[0]
        visitor.shot("markdown")


@pytest.mark.parametrize(
    ("question", "source", "quote"),
    [
        ("How many tools may I borrow at once?", PDF.name, "five tools"),
        ("¿Cuándo puede viajar Ana Lucía?", CHAT, "27 al 31 de marzo"),
        ("After how many cups must the machine be descaled?", GUIDE.name, "every 200 cups"),
        ("Quantas horas de sol o manjericão precisa?", GARDEN.name, "seis horas"),
        ("Which colour is a gate always?", "gates.py", "cobalt blue"),
        ("When does the drummer arrive?", "party.txt", "half past seven 🕢"),
        ("How often does a maidenhair fern need misting?", "ferns.md", "*misting every `three` days*"),
    ],
)
def test_every_kind_of_source_shows_the_quote_exactly(visitor: Visitor, question: str, source: str, quote: str) -> None:
    document = documents(visitor.address)[source]
    path = f"{visitor.address}api/v1/library/documents/{document['document_id']}"
    content = httpx.get(path, timeout=60).json()["content"]
    turn = visitor.ask(question)
    quotes = last_quotes(visitor.address, visitor)
    assert quote in quotes[0]
    assert quotes[0] in content
    shown = visitor.cite(turn)
    assert (squeezed(shown) == squeezed(quotes[0])) if source == PDF.name else (shown == quotes[0])
    visitor.shot(f"source-{document['type']}-{source.split('.')[0].replace(' ', '-').lower()}")


def test_a_source_is_shown_character_by_character(visitor: Visitor) -> None:
    page = visitor.page
    page.get_by_role("link", name="Library", exact=True).click()
    for name, text in (("ferns.md", MARKUP), ("gates.py", CODE), ("party.txt", EMOJI)):
        page.locator("tr", has_text=name).locator(".document-name").click()
        page.locator(".panel[data-shown=true]", has_text=name).wait_for()
        assert page.locator(".panel-body").evaluate("(each) => each.textContent") == text
        page.keyboard.press("Escape")
        page.locator(".panel").wait_for(state="detached")


def the_panel_is_made_wider(page: Page) -> None:
    edge, panel = page.get_by_role("separator", name="Width of the source"), page.locator(".panel")
    width = "(panel) => panel.clientWidth"
    before, share = panel.evaluate(width), int(edge.get_attribute("aria-valuenow") or 0)
    edge.press("ArrowLeft")
    expect(edge).to_have_attribute("aria-valuenow", str(share + 2))
    box = edge.bounding_box()
    assert box
    page.mouse.move(box["x"] + 6, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] - 44, box["y"] + 200, steps=3)
    page.mouse.up()
    wider = panel.evaluate(width)
    assert wider > before + 50
    kept = page.evaluate("() => Object.entries(localStorage).find(([name]) => name.endsWith(':panel'))[1]")
    stage = page.locator(".stage")
    assert float(kept.rstrip("%")) == pytest.approx(100 * wider / stage.evaluate(width), abs=0.2)
    assert stage.evaluate("(stage) => stage.style.getPropertyValue('--panel')")
    edge.dblclick(position={"x": 6, "y": 200})
    assert panel.evaluate(width) == before


def test_arrows_go_through_the_sources(visitor: Visitor) -> None:
    page = visitor.page
    turn = visitor.ask("How many tools may I borrow at once?")
    quotes = last_quotes(visitor.address, visitor)
    assert len(quotes) > 1
    turn.locator(".chip").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.dataset.citation") == "2"
    page.keyboard.press("Enter")
    page.locator(".panel[data-shown=true] .pdf-quote").first.wait_for()
    assert turn.locator(".chip[aria-pressed=true]").inner_text() == "2"
    page.keyboard.press("ArrowLeft")
    assert turn.locator(".chip[aria-pressed=true]").inner_text() == "1"
    the_panel_is_made_wider(page)
    assert turn.locator(".chip[aria-pressed=true]").inner_text() == "1"
    page.keyboard.press("Escape")
    page.locator(".panel").wait_for(state="detached")
    assert page.evaluate("() => document.activeElement.dataset.citation") == "2"
    page.keyboard.press("/")
    assert page.evaluate("() => document.activeElement.tagName") == "TEXTAREA"


def test_a_refusal_says_what_was_looked_at(visitor: Visitor) -> None:
    turn = visitor.ask("Who won the 1998 world cup final in Paris?")
    assert turn.get_attribute("data-outcome") == "refused"
    assert "The documents don't say." in turn.inner_text()
    turn.locator(".looked-at summary", has_text=re.compile(r"Nearest: \d+ passages of \d+ documents")).click()
    assert turn.locator(".chip").count() == 0
    visitor.shot("refusal")
    turn.locator(".source").first.click()
    visitor.page.locator(".panel[data-shown=true]").wait_for()


def test_a_selected_text_can_be_asked_about(visitor: Visitor) -> None:
    page = visitor.page
    visitor.cite(visitor.ask("Quantas horas de sol o manjericão precisa?"))
    page.locator(".panel .md", has_text="Misture duas partes").select_text()
    page.locator(".ask-about").wait_for()
    visitor.shot("selected")
    page.locator(".ask-about").click()
    assert "Misture duas partes" in page.locator(".composer-hint").inner_text()
    turn = visitor.ask("De quanto em quanto tempo devo trocar a terra dos vasos?")
    assert "dezoito meses" in turn.inner_text()
    assert "Found in: A mistura de terra" in turn.inner_text()
    assert page.locator(".composer-hint").count() == 0
    visitor.shot("about-selected")


def test_the_trace_says_why(visitor: Visitor) -> None:
    turn = visitor.ask("How many tools may I borrow at once?")
    turn.locator(".trace summary").click()
    said = turn.locator(".trace").inner_text()
    assert re.search(r"confidence\s+\d+(?:\.\d)? % \(at least \d+ %\)", said)
    assert "quotes only, no model" in said
    assert re.search(r"\d+ passages found", said)
    visitor.shot("trace")
    turn.locator(".passages .link").last.click()
    visitor.page.locator(".panel[data-shown=true]").wait_for()


def test_the_trace_of_a_refusal_starts_with_its_reason(visitor: Visitor) -> None:
    turn = visitor.ask("¿Quién ganó el mundial de fútbol de 1998?")
    turn.locator(".trace summary").click()
    reason, said = turn.locator(".trace > p").inner_text(), turn.locator(".trace").inner_text()
    assert re.fullmatch(r"Refused: the best sentence, “.+”, has a chance of .+ of answering; \d+ % is needed\.", reason)
    assert said.count("words of the question not in this passage") == 1


def test_a_conversation_stays_after_a_reload(visitor: Visitor) -> None:
    page = visitor.page
    visitor.ask("Quantas horas de sol o manjericão precisa?")
    visitor.ask("E a hortelã?")
    before = page.locator(".turn .written").all_inner_texts()
    page.reload()
    page.locator(".turn").nth(1).wait_for()
    assert page.locator(".question h2").all_inner_texts() == [
        "Quantas horas de sol o manjericão precisa?",
        "E a hortelã?",
    ]
    assert page.locator(".turn .written").all_inner_texts() == before
    visitor.cite(page.locator(".turn").first)
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_role("button", name="Markdown").click()
    saved = Path(saving.value.path()).read_text("utf-8")
    assert saved.startswith("# Conversation\n\n## Quantas horas de sol o manjericão precisa?")
    assert "> Manjericão, alecrim e tomate-cereja" in saved
    page.get_by_role("button", name="New conversation").click()
    page.locator(".welcome").wait_for()
    page.reload()
    page.locator(".welcome").wait_for()


def test_the_page_speaks_the_readers_language(example_server: Server) -> None:
    # Tests of phones and errors have readers of Spanish and Portuguese.
    with visiting(example_server.address, locale="fr-FR") as visitor:
        page = visitor.page
        assert "What would you" in page.locator(".welcome").inner_text()
        page.get_by_role("combobox", name="Language").select_option("pt")
        page.reload()
        assert "O que você quer saber?" in page.locator(".welcome").inner_text()
        assert page.locator("html").get_attribute("lang") == "pt"
