"""The page as an app on a phone: installed, without its server, and as the target of what other apps share."""

from __future__ import annotations

import time
from pathlib import Path

import httpx
import pytest
from browser import PATIENCE, PHONE, documents, serving, visiting
from playwright.sync_api import Page
from service_on_socket import small_service, upload

GATE = {"name": "pórtico.txt", "mimeType": "text/plain", "buffer": b"The gate is blue. The door is green."}
KEPT = "async () => (await (await caches.open('answerable:shared:/')).keys()).length"
KEEPS_ALL = """async () => {
  const names = performance.getEntriesByType("resource").map(({ name }) => name);
  const files = new Set(names.filter((name) => new URL(name).pathname.startsWith("/page/")));
  const kept = await (await caches.open("answerable:page:/")).keys();
  return files.size > 5 && kept.length > files.size;
}"""
FORM = """
<form method="post" enctype="multipart/form-data" action="{address}share">
  <input type="file" name="files" multiple><input name="text" value="{text}"><button>share</button>
</form>
"""


def with_worker(page: Page) -> None:
    """Wait until the page's worker serves it and has kept it."""
    page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
    ends = time.monotonic() + PATIENCE / 1_000
    while not page.evaluate(KEEPS_ALL):
        assert time.monotonic() < ends, "the worker doesn't keep the page"
        page.wait_for_timeout(100)


def share(page: Page, address: str, text: str = "", *files: dict[str, object]) -> None:
    """Share as another app does: by a form that it sends to the page's address."""
    page.set_content(FORM.format(address=address, text=text))
    page.locator("input[type=file]").set_input_files(list(files))  # type: ignore[arg-type]
    page.get_by_role("button", name="share").click()


def test_it_can_be_installed_and_takes_a_shared_link(tmp_path: Path) -> None:
    with small_service(tmp_path) as (server, _), visiting(server.address) as visitor:
        with_worker(visitor.page)
        session = visitor.page.context.new_cdp_session(visitor.page)
        assert session.send("Page.getAppManifest")["errors"] == []
        found = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
        # Every context of the tests is a private window.
        assert [each["errorId"] for each in found] == ["in-incognito"]
        page = visitor.page.context.new_page()
        share(page, server.address, "Read this: http://127.0.0.1:1/")
        page.locator(".shared", has_text="http://127.0.0.1:1/").wait_for()
        page.locator(".shared").get_by_role("button", name="Add").click()
        # It is refused, as every private address.
        assert "can't be used" in page.locator(".job-errors").inner_text()


@pytest.mark.long
def test_files_shared_with_it_are_kept_until_they_are_added(tmp_path: Path) -> None:
    with serving(tmp_path) as address, visiting(address, PHONE, has_touch=True, is_mobile=True) as visitor:
        with_worker(visitor.page)
        page = visitor.page.context.new_page()
        share(page, address, "", GATE)
        page.locator(".shared", has_text="pórtico.txt").wait_for()
        assert page.url == f"{address}#ask"
        # Nothing is added unasked: any site can send such a form.
        page.reload()
        page.locator(".shared").wait_for()
        assert documents(address) == {}
        page.screenshot(path=tmp_path / "shared.png")
        page.locator(".shared").get_by_role("button", name="Add").click()
        page.locator(".job[data-state=done]").wait_for()
        assert list(documents(address)) == ["pórtico.txt"]
        page.wait_for_function(f"async () => await ({KEPT})() === 0")
        page = visitor.page.context.new_page()
        share(page, address, "", GATE)
        page.locator(".shared").get_by_role("button", name="Discard").click()
        page.wait_for_function(f"async () => await ({KEPT})() === 0")
        assert page.locator(".shared").count() == 0


def test_without_its_server_it_says_so_and_goes_on_later(tmp_path: Path) -> None:
    with small_service(tmp_path) as (server, _), visiting(server.address, locale="es-MX") as visitor:
        port = server.address.rstrip("/").rpartition(":")[2]
        page = visitor.page
        with_worker(page)
        page.context.set_offline(True)
        page.reload()
        page.locator(".unreachable").wait_for()
        assert "Sin conexión con el servidor" in page.locator(".unreachable").inner_text()
        assert "Este dispositivo no tiene conexión" in page.locator(".unreachable").inner_text()
        assert visitor.barriers() == []
        page.context.set_offline(False)
        page.locator(".welcome").wait_for()
        assert all(port in each or "ERR_INTERNET" in each for each in visitor.complaints)
        visitor.complaints.clear()


def test_one_hand_reaches_everything(tmp_path: Path) -> None:
    with small_service(tmp_path) as (server, client):
        upload(client, ("gate.txt", b"The gate is blue. The door is green."))
        with visiting(server.address, PHONE, has_touch=True, is_mobile=True) as visitor:
            page = visitor.page
            turn = visitor.ask("Which colour is the gate?")
            low = "(each) => each.getBoundingClientRect().top > innerHeight / 2"
            for place in (".top nav", ".composer", ".filter-bar"):
                assert page.locator(place).count() == 0 or page.locator(place).evaluate(low), place
            page.locator(".composer textarea").fill("Which colour is the gate?\n" * 20)
            assert page.locator(".composer").evaluate("(each) => each.offsetHeight") <= PHONE[1] / 4
            page.locator(".composer textarea").fill("")
            # A finger can't point: its first tap shows the quote, a tap elsewhere hides it.
            chip = turn.locator(".chip").first
            chip.tap()
            page.locator(".preview mark", has_text="The gate is blue.").wait_for()
            assert visitor.barriers() == []
            turn.locator(".question").tap()
            page.locator(".preview").wait_for(state="detached")
            assert page.locator(".panel").count() == 0
            chip.tap()
            page.get_by_role("button", name="Open the source").tap()
            page.locator(".panel[data-shown=true]").wait_for()
            assert page.locator(".panel-head").evaluate(low)
            page.get_by_role("button", name="More").tap()
            assert visitor.barriers() == []
            visitor.shot("one-hand")
            with page.expect_popup() as original:
                page.get_by_role("button", name="Open the original").tap()
            original.value.locator("body", has_text="The gate is blue. The door is green.").wait_for()
            original.value.close()
            page.go_back()
            page.locator(".panel").wait_for(state="detached")
            assert page.locator(".turn").is_visible()
            chip.tap()
            chip.tap()
            page.get_by_role("button", name="Close the source").click()
            page.locator(".panel").wait_for(state="detached")
            # The browser goes back in its own time.
            page.wait_for_function("() => !history.state?.isOpen")


def test_an_address_without_a_page_is_explained_in_the_readers_language(tmp_path: Path) -> None:
    with small_service(tmp_path, base_path="/docs") as (server, client):
        headers = {"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate", "Accept-Language": "fr,es-MX;q=0.8"}
        found = client.get("nothing", headers=headers)
        assert (found.status_code, found.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert '<html lang="es">' in found.text
        assert "Aquí no hay ninguna página." in found.text
        assert 'href="/docs/"' in found.text
        assert "sandbox" in found.headers["content-security-policy"]
        elsewhere = client.get("", headers={**headers, "Host": "evil.example"})
        assert elsewhere.status_code == 421
        assert "El servidor no reconoce esta dirección." in elsewhere.text
        assert "--" not in elsewhere.text.replace("<!--", "")
        # Programs go on reading problems.
        assert client.get("nothing").json()["code"] == "not_found"
        assert client.get("api/v1/library/nothing", headers=headers).json()["code"] == "not_found"
        assert httpx.get(f"{server.address}api/v1/library/documents/x", headers=headers).json()["status"] == 404
