"""Recordings on the web page: they play from the second that is cited, also a voice note inside an export."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from browser import Visitor, visiting
from helpers import make_document
from service_on_socket import small_service, upload
from speech import packed, silence, spoken, wav

from answerable.datatypes import DocumentType

NOTE = "00000012-AUDIO-2024-03-05-21-15-00.opus"
SAID = "The plumber comes on Thursday at half past four. Please leave the key under the blue flower pot."


def playing(visitor: Visitor) -> tuple[str, float]:
    """Where the player got its sound, and its second once it plays or is ready to."""
    player = visitor.page.locator(".panel audio.player")
    player.wait_for()
    visitor.page.wait_for_function("() => document.querySelector('.panel audio').currentTime > 2")
    address, second = player.evaluate("(audio) => [audio.src, audio.currentTime]")
    return str(address), float(second)


@pytest.mark.parametrize("name", ["chat.zip", pytest.param("memo.opus", marks=pytest.mark.long)])
def test_recordings_play_from_the_cited_second(tmp_path: Path, name: str) -> None:
    note = packed(spoken(SAID))
    data, place = (note, "0:03") if name == "memo.opus" else (chat_with(note), "Luis · 0:03")
    with small_service(tmp_path) as (server, client):
        upload(client, (name, data))
        (listed,) = client.get("/api/v1/library/documents").json()["documents"]
        plays(client, f"{listed['document_id']}/recording?start=200", note)
        with visiting(server.address) as visitor:
            shown = visitor.cite(visitor.ask("Where should the key be left?"))
            assert shown.startswith("Please leave the key")
            assert place in visitor.page.locator(".panel-title p").inner_text()
            address, second = playing(visitor)
            assert address.startswith("blob:")
            assert 3 < second < 7.5
            visitor.shot(f"recording-{name}")
        (kept,) = tmp_path.glob(f"uploads/*/{name}")
        kept.write_bytes(data + b" ")
        changed = client.get(f"/api/v1/library/documents/{listed['document_id']}/recording?start=200")
        assert changed.status_code == (404 if name == "memo.opus" else 200)


def test_a_recording_of_its_own_is_given_while_it_is_the_same(tmp_path: Path) -> None:
    note = packed(wav(silence(2)))
    with small_service(tmp_path) as (server, client):
        document = make_document("The key is under the pot.", source="memo.opus", type=DocumentType.RECORDING)
        document = replace(document, metadata={"sha256": sha256(note).hexdigest()})
        server.service.libraries.get("library").add_documents([document])
        kept = server.service.libraries.uploads("library") / "memo.opus"
        kept.parent.mkdir(parents=True)
        kept.write_bytes(note)
        plays(client, f"{document.id}/recording?start=2", note)
        kept.write_bytes(note + b" ")
        assert client.get(f"/api/v1/library/documents/{document.id}/recording?start=2").status_code == 404


def chat_with(note: bytes) -> bytes:
    """An export of a chat with a voice note."""
    chat = f"[05/03/24, 21:14:00] Ana: Hello?\n[05/03/24, 21:15:00] Luis: \u200e<attached: {NOTE}>\n"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("_chat.txt", chat)
        zipped.writestr(NOTE, note)
    return archive.getvalue()


def plays(client: httpx.Client, path: str, note: bytes) -> None:
    """The server gives a recording, as a sound that is nothing else."""
    sound = client.get(f"/api/v1/library/documents/{path}")
    assert (sound.status_code, sound.headers["content-type"]) == (200, "audio/ogg")
    assert "sandbox" in sound.headers["content-security-policy"]
    assert sound.content == note


def test_a_text_has_no_recording(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        upload(client, ("a.md", b"# Notes\n\nThe boat leaves at nine."))
        (listed,) = client.get("/api/v1/library/documents").json()["documents"]
        assert client.get(f"/api/v1/library/documents/{listed['document_id']}/recording").status_code == 404
