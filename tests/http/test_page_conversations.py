"""Conversations on the page: find an earlier one, rename, export and delete it; ask again, edit, copy and vote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from browser import PHONE, Visitor, visiting
from playwright.sync_api import Route, expect
from service_on_socket import PatientModel, small_service, upload

FACTS = (
    ("gate.txt", b"The gate is blue. The door is green."),
    ("ferry.txt", "The ferry to Bogotá leaves at nine. Dogs travel free.".encode()),
)
GATE = "Which colour is the gate?"
DOOR = "Which colour is the door?"
FERRY = "When does the ferry to Bogotá leave?"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server with two small documents."""
    with small_service(tmp_path) as (server, client):
        upload(client, *FACTS)
        yield server.address


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """Somebody at the page of a server with two small documents."""
    with small_service(tmp_path_factory.mktemp("service")) as (server, client):
        upload(client, *FACTS)
        with visiting(server.address, (1280, 800), permissions=["clipboard-read", "clipboard-write"]) as visitor:
            yield visitor


@pytest.fixture
def visitor(reader: Visitor) -> Visitor:
    """Somebody before the first question, who has earlier conversations or none."""
    reader.begin()
    return reader


def questions(visitor: Visitor) -> list[str]:
    """The questions of the conversation that is open."""
    return visitor.page.locator(".question h2").all_inner_texts()


def titles(visitor: Visitor) -> list[str]:
    """The titles in the list, when it has been loaded."""
    visitor.page.locator(".earlier-list[data-loaded=true]").wait_for()
    return visitor.page.locator(".earlier-title").all_inner_texts()


def open_actions(visitor: Visitor, title: str) -> None:
    """Opens what can be done with a conversation."""
    visitor.page.get_by_role("button", name=f"Actions for “{title}”").click()


@pytest.mark.long
def test_an_earlier_conversation_is_found_after_a_restart(tmp_path: Path) -> None:
    with small_service(tmp_path) as (server, client):
        upload(client, *FACTS)
        with visiting(server.address) as visitor:
            page = visitor.page
            page.locator(".earlier-list", has_text="will be listed here").wait_for()
            visitor.ask(GATE)
            visitor.ask(DOOR)
            page.locator(".earlier-title", has_text=GATE).wait_for()
            page.get_by_role("button", name="New conversation").click()
            page.locator(".welcome").wait_for()
            assert page.evaluate("() => document.activeElement.tagName") == "TEXTAREA"
            visitor.ask(FERRY)
            page.locator(".earlier-title", has_text=FERRY).wait_for()
            assert titles(visitor) == [FERRY, GATE]
            visitor.shot("conversations")
    # It belongs to the server, not to the browser.
    with small_service(tmp_path) as (server, _), visiting(server.address) as visitor:
        page = visitor.page
        assert titles(visitor) == [FERRY, GATE]
        assert page.locator(".earlier-list h3").all_inner_texts() == ["Today"]
        page.get_by_role("searchbox", name="Search conversations").fill("green DOOR")
        page.locator(".earlier-found", has_text="door is green").wait_for()
        assert titles(visitor) == [GATE]
        page.locator(".earlier-open").click()
        page.locator(".turn").nth(1).wait_for()
        assert questions(visitor) == [GATE, DOOR]
        assert page.locator(".earlier-open").get_attribute("aria-current") == "true"
        page.get_by_role("searchbox").fill("unicorns")
        page.get_by_text("No conversation has these words.").wait_for()
        page.get_by_role("searchbox").fill("bogota")
        page.locator(".earlier-title", has_text=FERRY).wait_for()
        page.locator(".earlier-open").click()
        page.locator(".question h2", has_text=FERRY).wait_for()
        assert questions(visitor) == [FERRY]
        assert visitor.cite(page.locator(".turn")) == "The ferry to Bogotá leaves at nine."


def test_a_conversation_is_renamed_exported_and_deleted(address: str) -> None:
    with visiting(address) as visitor:
        page = visitor.page
        visitor.ask(FERRY)
        page.get_by_role("button", name="New conversation").click()
        visitor.ask(GATE)
        page.locator(".earlier-title").nth(1).wait_for()
        open_actions(visitor, FERRY)
        page.get_by_role("button", name="Rename").click()
        assert page.evaluate("() => document.activeElement.value") == FERRY
        page.keyboard.type("Trip <b>south</b>")
        page.keyboard.press("Enter")
        page.locator(".earlier-title", has_text="Trip <b>south</b>").wait_for()
        assert page.evaluate("() => document.activeElement.className").endswith("earlier-more")
        open_actions(visitor, "Trip <b>south</b>")
        with page.expect_download() as saving:
            page.locator(".earlier-actions").get_by_role("button", name="Save").click()
            page.keyboard.press("Enter")
        assert saving.value.suggested_filename == "Trip-b-south-b.md"
        saved = Path(saving.value.path()).read_text("utf-8")
        assert saved.startswith(f"# Trip \\<b\\>south\\</b\\>\n\n## {FERRY}")
        assert "> The ferry to Bogotá leaves at nine." in saved
        open_actions(visitor, "Trip <b>south</b>")
        page.get_by_role("button", name="Delete").click()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Yes, delete").wait_for(state="detached")
        assert page.evaluate("() => document.activeElement.className").endswith("earlier-more")
        for left in (1, 0):
            page.locator(".earlier-more").last.click()
            page.get_by_role("button", name="Delete").click()
            visitor.shot("conversation-delete")
            page.get_by_role("button", name="Yes, delete").click()
            page.locator(".earlier-row").nth(left).wait_for(state="detached")
        # What is open was deleted last.
        page.locator(".welcome").wait_for()
        assert httpx.get(f"{address}api/v1/library/sessions", timeout=60).json()["sessions"] == []


@pytest.mark.long
def test_a_question_is_asked_again_and_edited(address: str) -> None:
    with visiting(address) as visitor:
        page = visitor.page
        for question in (GATE, DOOR, FERRY):
            visitor.ask(question)
        upload_more(address, "gate.txt", b"The gate is red. The door is green.")
        page.locator(".turn").first.get_by_role("button", name="Ask again").click()
        page.locator(".turn", has_text="gate is red").wait_for()
        assert questions(visitor) == [GATE, DOOR, FERRY]
        page.reload()
        page.locator(".turn").nth(2).wait_for()
        assert questions(visitor) == [GATE, DOOR, FERRY]
        assert "gate is red" in page.locator(".turn").first.inner_text()
        page.locator(".turn").nth(1).get_by_role("button", name="Edit the question").click()
        assert "1 later question is dropped." in page.locator(".edit-question").inner_text()
        visitor.shot("edit")
        page.keyboard.press("Escape")
        page.locator(".edit-question").wait_for(state="detached")
        page.locator(".turn").nth(1).get_by_role("button", name="Edit the question").click()
        page.get_by_role("textbox", name="Edit the question").fill("Do dogs travel free?")
        page.keyboard.press("Enter")
        page.locator(".turn[data-state=done]", has_text="Dogs travel free").wait_for()
        assert questions(visitor) == [GATE, "Do dogs travel free?"]
        page.reload()
        page.locator(".turn").nth(1).wait_for()
        assert questions(visitor) == [GATE, "Do dogs travel free?"]


def test_an_edited_question_that_fails_loses_nothing(visitor: Visitor) -> None:
    page = visitor.page
    visitor.ask(GATE)
    visitor.ask(DOOR)
    page.context.set_offline(True)
    page.locator(".turn").first.get_by_role("button", name="Edit the question").click()
    page.get_by_role("textbox", name="Edit the question").fill("Which colour is the fence?")
    page.keyboard.press("Enter")
    page.locator(".turn .problem", has_text="Can't reach the server").wait_for()
    assert questions(visitor) == [GATE, DOOR]
    assert "The gate is blue." in page.locator(".turn").first.inner_text()
    page.locator(".turn").first.get_by_role("button", name="Edit the question").click()
    field = page.get_by_role("textbox", name="Edit the question")
    assert field.input_value() == "Which colour is the fence?"
    page.context.set_offline(False)
    assert all("ERR_INTERNET_DISCONNECTED" in each for each in visitor.complaints)
    visitor.complaints.clear()


@contextmanager
def asked_again(folder: Path) -> Iterator[tuple[Visitor, PatientModel, str]]:
    """Somebody whose question is being answered once more, until the model may go on, and the first answer."""
    model = PatientModel("The gate is blue [1].")
    model.go_on.set()
    with small_service(folder, model=model) as (server, client):
        upload(client, *FACTS)
        with visiting(server.address) as visitor:
            before = visitor.ask(GATE).locator(".written").inner_text()
            model.go_on.clear()
            visitor.page.get_by_role("button", name="Ask again").click()
            visitor.page.locator(".turn[data-state=writing]").wait_for()
            yield visitor, model, before


def test_asking_again_can_be_stopped(tmp_path: Path) -> None:
    with asked_again(tmp_path) as (visitor, _, before):
        page = visitor.page
        assert page.get_by_role("button", name="Edit the question").is_disabled()
        page.get_by_role("button", name="Stop").click()
        page.locator(".turn[data-state=done]").wait_for()
        assert page.locator(".turn .written").inner_text() == before


def test_an_unfinished_answer_goes_on_while_another_conversation_is_open(tmp_path: Path) -> None:
    with asked_again(tmp_path) as (visitor, model, _):
        page = visitor.page
        writing = page.locator(".turn[data-state=writing]")
        page.get_by_role("button", name="New conversation").click()
        page.locator(".welcome").wait_for()
        # Back to the answer that is being written, and away from it again.
        page.locator(".earlier-title", has_text=GATE).click()
        writing.wait_for()
        assert questions(visitor) == [GATE]
        page.get_by_role("button", name="New conversation").click()
        page.get_by_role("textbox", name="question").fill(FERRY)
        page.keyboard.press("Enter")
        writing.wait_for()
        assert questions(visitor) == [FERRY]
        model.go_on.set()
        page.locator(".turn[data-state=done]").wait_for()
        assert questions(visitor) == [FERRY]
        page.locator(".earlier-title", has_text=FERRY).wait_for()
        assert not model.stopped.is_set()
        page.locator(".earlier-title", has_text=GATE).click()
        page.locator(".turn[data-state=done]", has_text=GATE).wait_for()
        assert questions(visitor) == [GATE]


def test_a_deleted_conversation_ends_its_answer(tmp_path: Path) -> None:
    with asked_again(tmp_path) as (visitor, model, _):
        page = visitor.page
        page.get_by_role("button", name="New conversation").click()
        open_actions(visitor, GATE)
        page.get_by_role("button", name="Delete").click()
        page.get_by_role("button", name="Yes, delete").click()
        assert model.stopped.wait(60)
        page.locator(".earlier-list", has_text="will be listed here").wait_for()


def test_a_failure_in_another_conversation_is_said(visitor: Visitor) -> None:
    page = visitor.page
    held: list[Route] = []
    page.route("**/ask", lambda route: held.append(route))
    page.get_by_role("textbox", name="question").fill(GATE)
    page.keyboard.press("Enter")
    page.locator(".turn[data-state=searching]").wait_for()
    page.get_by_role("button", name="New conversation").click()
    held[0].abort()
    page.unroute("**/ask")
    page.locator(".banner").wait_for()
    page.locator(".welcome").wait_for()
    visitor.complaints.clear()


def test_arrow_up_brings_back_the_last_question(visitor: Visitor) -> None:
    page = visitor.page
    visitor.ask(GATE)
    visitor.ask(FERRY)
    field = page.locator(".composer textarea")
    field.press("ArrowUp")
    assert field.input_value() == FERRY
    field.fill("else")
    field.press("ArrowUp")
    assert field.input_value() == "else"
    field.fill("")
    page.get_by_role("button", name="New conversation").click()
    page.locator(".welcome").wait_for()
    field.press("ArrowUp")
    assert field.input_value() == FERRY


def test_keys_are_shown_and_find_conversations_documents_and_pages(visitor: Visitor) -> None:
    page = visitor.page
    visitor.ask(FERRY)
    page.get_by_role("button", name="New conversation").click()
    page.locator(".welcome").wait_for()
    page.keyboard.press("Control+k")
    finder = page.get_by_role("combobox", name="Document, conversation or page")
    finder.fill("ferry bogota")
    page.get_by_role("option", name=FERRY).first.wait_for()
    assert visitor.barriers() == []
    visitor.shot("finder")
    finder.press("Enter")
    page.locator(".turn", has_text=FERRY).wait_for()
    page.keyboard.press("Control+k")
    page.get_by_role("option").nth(4).wait_for()
    finder.press("ArrowUp")
    finder.press("ArrowDown")
    finder.press("ArrowDown")
    expect(page.locator(".finder-found [aria-selected=true]")).to_have_text("Library")
    finder.press("Enter")
    page.locator(".library[data-loaded=true]").wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keyboard shortcuts").wait_for()
    assert visitor.barriers() == []
    visitor.shot("shortcuts")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    finder.fill("new conv")
    finder.press("Enter")
    page.locator(".welcome").wait_for()
    expect(page.locator(".composer textarea")).to_be_focused()
    page.keyboard.press("Control+k")
    finder.fill("gate")
    page.get_by_role("option", name="gate Document", exact=True).click()
    page.locator(".document-page").wait_for()
    # A question mark of a question is one.
    visitor.begin()
    page.locator(".composer textarea").press_sequentially("gate?")
    assert page.locator("dialog[open]").count() == 0
    page.locator(".composer textarea").fill("")


def test_an_answer_is_copied_with_its_citations(visitor: Visitor) -> None:
    turn = visitor.ask(GATE)
    turn.get_by_role("button", name="Copy with sources").click()
    turn.get_by_role("status").filter(has_text="Copied.").wait_for()
    copied = visitor.page.evaluate("() => navigator.clipboard.readText()")
    assert copied == "The documents say:\n“The gate is blue.” [1]\n\n[1] gate, line 1"
    # Other machines without HTTPS have no such interface.
    visitor.page.evaluate("() => navigator.clipboard.writeText('')")
    visitor.page.evaluate("() => Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    turn.get_by_role("button", name="Copy with sources").click()
    visitor.page.locator(".composer textarea").press("Control+V")
    assert visitor.page.locator(".composer textarea").input_value() == copied


def test_votes_are_kept_and_taken_back(tmp_path: Path) -> None:
    votes = tmp_path / "libraries" / "library" / "votes.jsonl"
    with small_service(tmp_path) as (server, client):
        upload(client, *FACTS)
        with visiting(server.address) as visitor:
            page = visitor.page
            turn = visitor.ask(GATE)
            turn.get_by_role("button", name="Right answer").click()
            turn.get_by_text("Kept on this server").wait_for()
            (line,) = votes.read_text("utf-8").splitlines()
            assert json.loads(line)["judgement"] == "up"
            visitor.shot("voted")
            refusal = visitor.ask("Who won the 1998 world cup final in Paris?")
            refusal.get_by_role("button", name="Right, the documents don't say").click()
            refusal.get_by_text("Kept on this server").wait_for()
            page.reload()
            pressed = page.locator(".turn [data-vote][aria-pressed=true]")
            pressed.nth(1).wait_for()
            assert pressed.evaluate_all("(all) => all.map((each) => each.dataset.vote)") == ["up", "up"]
            pressed.first.click()
            page.locator(".turn").first.locator("[data-vote=up][aria-pressed=false]").wait_for()
            page.locator(".turn").first.get_by_role("button", name="Wrong answer").click()
            page.locator(".turn").first.get_by_text("Kept on this server").wait_for()
            assert [json.loads(line)["judgement"] for line in votes.read_text("utf-8").splitlines()] == ["up", "down"]


def test_the_list_can_be_folded_and_is_a_drawer_beside_a_source(visitor: Visitor) -> None:
    page = visitor.page
    turn = visitor.ask(GATE)
    visitor.cite(turn)
    # Three columns have no room.
    assert page.locator("aside.earlier").count() == 0
    page.get_by_role("button", name="Show conversations").click()
    page.locator("dialog.drawer[open] .earlier-open").first.click()
    page.locator("dialog.drawer[open]").wait_for(state="detached")
    assert page.locator(".panel").is_visible()
    page.keyboard.press("Escape")
    page.locator("aside.earlier").wait_for()
    page.get_by_role("button", name="Hide conversations").click()
    page.locator(".earlier-rail").wait_for()
    expect(page.get_by_role("button", name="Show conversations")).to_be_focused()
    page.reload()
    page.locator(".earlier-rail").wait_for()
    visitor.shot("folded")
    assert visitor.barriers() == []
    page.get_by_role("button", name="Show conversations").click()
    page.locator("aside.earlier").wait_for()
    expect(page.get_by_role("button", name="Hide conversations")).to_be_focused()


@pytest.mark.long
@pytest.mark.parametrize("size", [PHONE, (360, 740)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_the_list_is_a_drawer(address: str, size: tuple[int, int], scheme: str) -> None:
    with visiting(address, size, color_scheme=scheme, has_touch=True, is_mobile=True) as visitor:
        page = visitor.page
        visitor.ask(FERRY)
        page.get_by_role("button", name="New conversation").click()
        visitor.ask(GATE)
        page.get_by_role("button", name="Show conversations").click()
        page.locator(".drawer .earlier-open").nth(1).wait_for()
        page.locator(".earlier-more").first.click()
        visitor.shot(f"drawer-{size[0]}-{scheme}")
        assert visitor.barriers() == []
        # Escape closes what is open inside first.
        page.keyboard.press("Escape")
        assert page.locator(".drawer .earlier-actions").count() == 0
        page.keyboard.press("Escape")
        page.locator("dialog.drawer[open]").wait_for(state="detached")
        assert page.evaluate("() => document.activeElement.getAttribute('aria-label')") == "Show conversations"
        page.keyboard.press("Enter")
        page.locator(".drawer .earlier-open", has_text=FERRY).click()
        page.locator(".question h2", has_text=FERRY).wait_for()
        page.locator("dialog.drawer[open]").wait_for(state="detached")
        page.get_by_role("button", name="Edit the question").click()
        visitor.shot(f"edit-{size[0]}-{scheme}")
        assert visitor.barriers() == []
        assert not page.evaluate("() => document.documentElement.scrollWidth > innerWidth")


def upload_more(address: str, name: str, content: bytes) -> None:
    """Adds a document to the server's library."""
    with httpx.Client(base_url=address, timeout=60) as client:
        upload(client, (name, content))
