"""Recordings on the web page: they play from the second that is cited, also a voice note inside an export."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from browser import Visitor, visiting
from service_on_socket import small_service, upload
from speech import packed, spoken

NOTE = "00000012-AUDIO-2024-03-05-21-15-00.opus"
SAID = "The plumber comes on Thursday at half past four. Please leave the key under the blue flower pot."


def playing(visitor: Visitor) -> tuple[str, float]:
    """Where the player got its sound, and its second once it plays or is ready to."""
    player = visitor.page.locator(".panel audio.player")
    player.wait_for()
    visitor.page.wait_for_function("() => document.querySelector('.panel audio').currentTime > 2")
    address, second = player.evaluate("(audio) => [audio.src, audio.currentTime]")
    return str(address), float(second)


def test_recordings_play_from_the_cited_second(tmp_path: Path) -> None:
    note = packed(spoken(SAID))
    chat = f"[05/03/24, 21:14:00] Ana: Hello?\n[05/03/24, 21:15:00] Luis: \u200e<attached: {NOTE}>\n"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("_chat.txt", chat)
        zipped.writestr(NOTE, note)
    for name, data, place in (("memo.opus", note, "0:03"), ("chat.zip", archive.getvalue(), "Luis · 0:03")):
        folder = tmp_path / name
        with small_service(folder) as (server, client):
            upload(client, (name, data))
            (listed,) = client.get("/api/v1/library/documents").json()["documents"]
            sound = client.get(f"/api/v1/library/documents/{listed['document_id']}/recording?start=200")
            assert (sound.status_code, sound.headers["content-type"]) == (200, "audio/ogg")
            assert "sandbox" in sound.headers["content-security-policy"]
            assert sound.content == note
            with visiting(server.address) as visitor:
                shown = visitor.cite(visitor.ask("Where should the key be left?"))
                assert shown.startswith("Please leave the key")
                assert place in visitor.page.locator(".panel-title p").inner_text()
                address, second = playing(visitor)
                assert address.startswith("blob:")
                assert 3 < second < 7.5
                visitor.shot(f"recording-{name}")
            (kept,) = folder.glob(f"uploads/*/{name}")
            kept.write_bytes(data + b" ")
            changed = client.get(f"/api/v1/library/documents/{listed['document_id']}/recording?start=200")
            assert changed.status_code == (404 if name == "memo.opus" else 200)


def test_a_text_has_no_recording(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        upload(client, ("a.md", b"# Notes\n\nThe boat leaves at nine."))
        (listed,) = client.get("/api/v1/library/documents").json()["documents"]
        assert client.get(f"/api/v1/library/documents/{listed['document_id']}/recording").status_code == 404
