"""The page makes and removes libraries, follows folders, asks for passwords, verifies and chooses a model."""

from __future__ import annotations

import os
from pathlib import Path

import httpx
import pytest
from browser import PHONE, Visitor, documents, serving, visiting
from locked_pdf import locked_pdf
from model_server import model_server
from service_on_socket import small_service, upload

from answerable.settings import Settings

LOCKED = locked_pdf("The vault opens at seven in the morning.", "sesame")
NARROW = (360, 740)


def button(visitor: Visitor, name: str) -> None:
    """Presses a button of exactly this name with the keyboard."""
    visitor.page.get_by_role("button", name=name, exact=True).focus()
    visitor.page.keyboard.press("Enter")


def ended(visitor: Visitor) -> None:
    """Waits until a job has ended, and dismisses its card."""
    visitor.page.locator(".job:is([data-state=done], [data-state=failed])").wait_for()
    button(visitor, "Dismiss")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of who runs the server, with a folder of notes."""
    home = tmp_path / "home"
    (home / "notes" / "old").mkdir(parents=True)
    (home / ".secret").mkdir()
    (home / "notes" / "gate.txt").write_text("The gate is blue. The door is green.")
    (home / "notes" / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (home / "notes" / "vault.pdf").write_bytes(LOCKED)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.mark.long
def test_a_folder_is_followed_from_the_page(tmp_path: Path, home: Path) -> None:
    with model_server() as base_url:
        os.environ["OPENAI_BASE_URL"] = base_url
        try:
            with serving(tmp_path / "server") as address, visiting(f"{address}#library") as visitor:
                walk(visitor, home, address)
            with serving(tmp_path / "server") as address, visiting(f"{address}#library", NARROW) as visitor:
                page = visitor.page
                page.locator(".library[data-loaded=true]").wait_for()
                page.get_by_label("Choose a library").select_option("Garden & house")
                page.locator(".followed", has_text="2 documents").wait_for()
                assert page.get_by_label("Automatically").input_value() == "86400"
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                remove(visitor, address)
        finally:
            del os.environ["OPENAI_BASE_URL"]


def walk(visitor: Visitor, home: Path, address: str) -> None:
    """From a new library to answers from a followed folder, with and without a model."""
    page = visitor.page
    page.locator(".library[data-loaded=true]").wait_for()
    button(visitor, "New library")
    # The field has the focus.
    page.keyboard.type("Garden & house")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Garden & house").wait_for()
    button(visitor, "Follow a folder")
    page.locator(".folders").wait_for()
    assert page.locator(".folder-path").inner_text() == str(home)
    assert page.locator(".folders li").all_inner_texts() == ["notes"]
    page.keyboard.press("Enter")
    page.get_by_text("3 files here").wait_for()
    button(visitor, "Follow this folder")
    ended(visitor)
    source = page.locator(".followed")
    source.wait_for()
    told = source.inner_text()
    assert "2 couldn't be read" in told
    assert "broken.pdf The file is damaged" in told
    assert "vault.pdf Needs a password" in told
    assert visitor.barriers() == []
    visitor.shot("followed")
    source.get_by_label("Password of the PDF").fill("sesame")
    page.keyboard.press("Enter")
    ended(visitor)
    source.get_by_text("1 couldn't be read").wait_for()
    assert "2 documents" in source.inner_text()
    page.get_by_label("Automatically").select_option("every day")

    (home / "notes" / "gate.txt").write_text("The gate is red since Monday. The door is green.")
    button(visitor, "Check library")
    page.locator(".library", has_text="changed since it was read").wait_for()
    visitor.shot("differences")
    button(visitor, "Dismiss")
    button(visitor, "Repair")
    page.locator(".library", has_text="Repaired: 1").wait_for()
    button(visitor, "Dismiss")

    page.get_by_role("link", name="Settings").click()
    page.locator(".settings[data-loaded=true]").wait_for()
    button(visitor, "Test: openai")
    page.locator(".providers", has_text="reachable; models: 2").wait_for()
    with page.expect_response(lambda response: response.request.method == "PUT"):
        page.get_by_label("Model").select_option("openai:tiny")
    page.get_by_text("that their sources don't say are underlined").wait_for()
    assert visitor.barriers() == []
    visitor.shot("settings")
    answered_by(visitor, "openai:tiny")
    with page.expect_response(lambda response: response.request.method == "PUT"):
        page.get_by_label("Model").select_option("extractive")
    answered_by(visitor, "quotes only")


def answered_by(visitor: Visitor, name: str) -> None:
    """Asks, and looks up what answered; then returns to the settings."""
    visitor.page.get_by_role("link", name="Ask", exact=True).click()
    turn = visitor.ask("What colour is the gate?")
    turn.locator(".trace summary").click()
    assert name in turn.locator(".trace").inner_text()
    visitor.page.get_by_role("link", name="Settings").click()
    visitor.page.locator(".settings[data-loaded=true]").wait_for()


def remove(visitor: Visitor, address: str) -> None:
    """Removes the library that is shown; the one of the server can't be."""
    page = visitor.page
    button(visitor, "Remove library")
    confirm = page.locator("dialog[open] button[type=submit]")
    page.keyboard.type("Garden")
    assert confirm.is_disabled()
    page.keyboard.type(" & house")
    page.keyboard.press("Enter")
    page.locator("dialog[open]").wait_for(state="detached")
    page.get_by_role("heading", name="Library", exact=True).wait_for()
    assert [each["name"] for each in httpx.get(f"{address}api/v1/libraries").json()["libraries"]] == ["library"]
    button(visitor, "Remove library")
    assert "can't be removed here" in page.locator("dialog[open]").inner_text()
    page.keyboard.press("Escape")
    page.locator("dialog[open]").wait_for(state="detached")
    assert page.evaluate("() => document.activeElement.textContent.trim()") == "Remove library"
    button(visitor, "Rename")
    page.get_by_role("textbox", name="Name", exact=True).fill("My papers")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="My papers").wait_for()


def test_an_uploaded_pdf_is_asked_for_its_password(tmp_path: Path) -> None:
    with small_service(tmp_path) as (server, _), visiting(server.address, PHONE) as visitor:
        visitor.pick({"name": "vault.pdf", "mimeType": "application/pdf", "buffer": LOCKED})
        visitor.page.locator(".job", has_text="Needs a password").wait_for()
        for password in ("open", "sesame"):
            visitor.page.get_by_label("Password of the PDF").fill(password)
            visitor.page.keyboard.press("Enter")
            if password == "open":
                visitor.page.locator(".job", has_text="That password is wrong").wait_for()
        visitor.page.locator(".job[data-errors=false]", has_text="1 document added").wait_for()
        assert set(documents(server.address)) == {"vault.pdf"}


def test_a_model_that_is_fixed_says_by_what(tmp_path: Path) -> None:
    settings = Settings(openai_api_key="sk-secret")
    with small_service(tmp_path, settings=settings, fixed={"model": "ANSWERABLE_MODEL"}) as (server, client):
        upload(client, ("gate.txt", b"The gate is blue."))
        with visiting(f"{server.address}#settings", NARROW, locale="es-ES", color_scheme="dark") as visitor:
            page = visitor.page
            page.locator(".settings[data-loaded=true]").wait_for()
            assert "Lo fija ANSWERABLE_MODEL" in page.locator(".settings").inner_text()
            assert page.locator(".setting select").first.is_disabled()
            assert "sk-secret" not in page.content()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert visitor.barriers() == []
            page.locator(".setting select").nth(2).select_option("light")
            page.wait_for_function("document.documentElement.dataset.theme === 'light'")


def test_all_libraries_are_asked_together(tmp_path: Path) -> None:
    with small_service(tmp_path, "library", "work") as (server, client):
        upload(client, ("gate.txt", b"The gate is blue. The door is green."))
        upload(client, ("boat.txt", b"The boat leaves the harbour at nine on Sundays."), library="work")
        with visiting(server.address) as visitor:
            page = visitor.page
            page.get_by_label("Choose a library").select_option("All libraries")
            turn = visitor.ask("When does the boat leave?")
            assert turn.locator(".source-place").inner_text().startswith("work")
            assert visitor.cite(turn) == "The boat leaves the harbour at nine on Sundays."
            page.keyboard.press("Escape")
            page.get_by_role("link", name="Library", exact=True).click()
            page.get_by_role("heading", name="All libraries").wait_for()
            page.get_by_text("boat.txt").first.wait_for()
            assert page.get_by_text("gate.txt").count()
            assert not page.get_by_role("button", name="Add", exact=True).count()
