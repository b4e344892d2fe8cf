"""On the page a message is called by its subject and its day; a photograph of a phone says how to convert it."""

from __future__ import annotations

import re
from pathlib import Path

from browser import visiting
from made_mail import letter, write_mailbox
from service_on_socket import small_service, upload

ID = "CAF9x-771=Qq@mail.example.org"


def test_a_message_is_called_by_its_subject_and_day(tmp_path: Path) -> None:
    rent = letter("The rent of the flat in Cadiz Street is 870 euros a month.", subject="Rent of the flat", id=ID)
    boiler = letter("The boiler works again.", id="b2@x.org", date="Wed, 06 Mar 2024 10:00:00 +0100")
    box = write_mailbox(tmp_path / "inbox.mbox", [rent, boiler])
    with small_service(tmp_path / "data") as (server, client):
        upload(client, ("inbox.mbox", box.read_bytes()))
        with visiting(server.address) as visitor:
            page = visitor.page
            turn = visitor.ask("How much is the rent of the flat in Cadiz Street?")
            visitor.cite(turn)
            assert turn.locator(".source-name").first.inner_text() == "Rent of the flat"
            head = page.locator(".panel-head").inner_text()
            assert re.search(r"Rent of the flat\s+5 Mar 2024, 21:15 · Ana Ruiz\s+inbox\.mbox$", head, re.MULTILINE), (
                head
            )
            assert ID not in page.locator("body").inner_text()
            page.locator(".asked-list label", has_text="Rent of the flat, 2024-03-05").click()
            assert (
                page.locator(".filter-bar [data-field=source]").inner_text() == "Document: Rent of the flat, 2024-03-05"
            )
            page.keyboard.press("Escape")
            page.locator(".top nav a[href='#library']").click()
            page.locator(".library[data-loaded=true]").wait_for()
            row = page.locator("tr", has_text="Rent of the flat").inner_text()
            assert "5 March 2024 · inbox.mbox" in row
            assert ID not in page.locator(".library").inner_text()


def test_a_photograph_that_is_not_read_says_how_to_convert_it(tmp_path: Path) -> None:
    data = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(range(256)) * 20
    with small_service(tmp_path) as (server, _), visiting(server.address) as visitor:
        visitor.pick({"name": "IMG_0421.HEIC", "mimeType": "image/heic", "buffer": data})
        errors = visitor.page.locator(".job-errors")
        errors.wait_for()
        assert "Save it as JPEG" in errors.inner_text()
