"""Files and texts with something in them for whoever shows, stores or sends them: they stay what they are, data."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from raw_requests import Reply, exchange, post, request, upload
from service_on_socket import small_service, wait_for
from targets import Target

from answerable.settings import Settings

DOCUMENTS = "/api/v1/library/documents"
TEXT = b"The ferry to the island leaves at nine."
NAMES = {
    # All of these are kept as ferry.txt.
    "dots": "../../../etc/cron.d/ferry.txt",
    "backslashes": "..\\..\\ferry.txt",
    "a path": "/etc/ferry.txt",
    "a path of Windows": "C:\\Windows\\ferry.txt",
    "a user's folder": "~/.ssh/ferry.txt",
    "dots, encoded": "..%2f..%2f..%2fferry.txt",
    "dots alone": "..",
    "NUL": "ferry.txt\0.exe",
    "an option": "-rf.txt",
    "a command": "$(touch hacked)`touch hacked`;touch hacked.txt",
    "a tag": "<img src=x onerror=alert(1)>.txt",
    "a tag that ends a script": "</script><script>alert(1)</script>.txt",
    "a mark": "ferry&quot;onload=alert(1).txt",
    "a formula": "=HYPERLINK(1).txt",
    "a header": "ferry.txt%0d%0aSet-Cookie: a=b",
    "letters that run backwards": "ferry\u202etxt.exe.txt",
    "a device": "CON.txt",
    "a stream of Windows": "ferry.txt::$DATA",
    "a name without end": "f" * 3_000 + ".txt",
    "a name of wide letters": "\N{CJK UNIFIED IDEOGRAPH-4E00}" * 200 + ".txt",
    "the library's own file": "library.db",
    "the folder of what comes in": ".incoming",
}
RUNNING = {
    "a page": ("page.html", b"<html><body><p>The ferry leaves at nine.</p><script>alert(1)</script></body></html>"),
    "Markdown": ("page.md", b"# Ferry\n\n<script>alert(1)</script> [ferry](javascript:alert(1)) leaves at nine.\n"),
    "a text that looks like a page": (
        "page.txt",
        b"<!doctype html><script>alert(1)</script> The ferry leaves at nine.",
    ),
}
# Of those that are kept, the ones with something in them for a header.
IN_HEADERS = ("$(touch", "ferry&", "ferry.txt%0d", "ferrytxt", "\N{CJK UNIFIED IDEOGRAPH-4E00}")
MOST = 5
FORM = "multipart/form-data; boundary=x"
END = b"--x--\r\n"


def part(disposition: str, content: bytes = b"a", more: bytes = b"") -> bytes:
    """A part of a form."""
    return (
        b"--x\r\nContent-Disposition: form-data" + disposition.encode() + b"\r\n" + more + b"\r\n" + content + b"\r\n"
    )


FILE = '; name="files"; filename="a.txt"'
FORMS = {
    "no boundary": ("multipart/form-data", part(FILE) + END),
    "another boundary": ("multipart/form-data; boundary=y", part(FILE) + END),
    "no file": (FORM, END),
    "a field instead of a file": (FORM, part('; name="files"') + END),
    "another field": (FORM, part('; name="root"; filename="a.txt"') + END),
    "a part without a name": (FORM, part('; filename="a.txt"') + END),
    "a part with endless headers": (FORM, part(FILE, more=b"X-A: a\r\n" * 10_000) + END),
    "a header that breaks off": (FORM, part('; name="files"; filename="a\r\nb.txt"') + END),
    "six files where five may be": (FORM, b"".join(part(FILE.replace("a.txt", f"{n}.txt")) for n in range(6)) + END),
    "two files of one name": (FORM, part(FILE) * 2 + END),
    "two files of one name, by paths": (FORM, part(FILE) + part(FILE.replace("a.txt", "../b/a.txt")) + END),
    "a thousand fields": (FORM, part('; name="a"') * 1_000 + END),
    "a boundary of a thousand letters": (f"multipart/form-data; boundary={'x' * 1_000}", b"--" + b"x" * 1_000 + b"--"),
    "a letter set that there isn't": (f"{FORM}; charset=evil", END),
}


@dataclass(frozen=True)
class Attacked:
    """A server with one library: its port, a client of it, and the folder where it keeps its data."""

    port: int
    client: httpx.Client
    folder: Path

    def documents(self) -> dict[str, str]:
        """The documents' ids, by source."""
        return {found["source"]: found["document_id"] for found in self.client.get(DOCUMENTS).json()["documents"]}

    def files(self) -> list[Path]:
        """All files but those of the server itself."""
        own = [*self.folder.glob("sessions.db*"), *self.folder.glob("libraries/*/**/*")]
        return sorted(path for path in self.folder.rglob("*") if path.is_file() and path not in own)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    """A server that takes five files at once, of three megabytes at most."""
    folder = tmp_path_factory.mktemp("attacked")
    with small_service(folder, max_files=MOST, settings=Settings(max_file_size=3_000_000)) as (server, client):
        yield Attacked(server.socket.getsockname()[1], client, folder)


@pytest.mark.parametrize("first", range(MOST))
def test_files_are_kept_in_their_place_whatever_their_names(attacked: Attacked, first: int) -> None:
    known, names = attacked.files(), list(NAMES.values())[first::MOST]
    parts = [part(f'; name="files"; filename="{name}"', TEXT) for name in names]
    reply = exchange(attacked.port, request("POST", DOCUMENTS, b"".join(parts) + END, {"Content-Type": FORM}))
    report = wait_for(attacked.client, reply.json())["report"]
    assert report["added"] + report["unchanged"] == len(names), report
    for path in attacked.files():
        # The hash of an upload is noted beside it.
        is_note = path.parent.name == ".read"
        assert path.parents[2 if is_note else 1] == attacked.folder / "uploads"
        assert path in known or path.read_bytes() == (sha256(TEXT).hexdigest().encode() if is_note else TEXT)
    assert not Path("hacked").exists()
    for source, document_id in attacked.documents().items():
        assert os.sep not in source
        assert source.isprintable()
        if source.startswith(IN_HEADERS):
            served(attacked.client.get(f"{DOCUMENTS}/{document_id}/file"))


@pytest.mark.parametrize("attack", RUNNING)
def test_nothing_of_a_document_runs(attacked: Attacked, attack: str) -> None:
    name, content = RUNNING[attack]
    job = exchange(attacked.port, upload(DOCUMENTS, name, content)).json()
    assert wait_for(attacked.client, job)["report"]["added"] == 1
    path = f"{DOCUMENTS}/{attacked.documents()[name]}"
    file = attacked.client.get(f"{path}/file")
    served(file)
    assert file.content == content
    asked = attacked.client.post("/api/v1/library/ask", json={"question": "When does the ferry leave?"})
    for reply in (attacked.client.get(path), attacked.client.get(DOCUMENTS), asked):
        assert reply.headers["content-type"].startswith("application/json")
        assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("attack", FORMS)
def test_a_form_that_makes_no_sense_is_refused(attacked: Attacked, attack: str) -> None:
    before = attacked.documents(), attacked.files()
    form, body = FORMS[attack]
    reply = exchange(attacked.port, request("POST", DOCUMENTS, body, {"Content-Type": form}))
    assert 400 <= reply.status < 500, reply
    assert reply.headers["content-type"] == "application/problem+json"
    assert (attacked.documents(), attacked.files()) == before


@pytest.mark.parametrize(
    ("name", "member"),
    [("WhatsApp Chat with Ana.zip", "_chat.txt"), ("files.zip", "a.txt"), ("report.docx", "word/document.xml")],
)
def test_a_bomb_does_not_go_off(attacked: Attacked, name: str, member: str) -> None:
    before = attacked.documents(), attacked.files()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(member, b"0" * 30_000_000)
    job = wait_for(attacked.client, exchange(attacked.port, upload(DOCUMENTS, name, packed.getvalue())).json())
    assert job["report"]["added"] == 0
    assert job["report"]["failed"] or job["state"] == "failed"
    assert (attacked.documents(), attacked.files()) == before


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "<svg/onload=alert(1)>", "a\r\nSet-Cookie: b=c", "${7*7}"]
)
def test_what_was_sent_comes_back_as_data(local: Target, text: str) -> None:
    quoted = httpx.URL("/", params={"a": text}).query.decode()[2:]
    for message in (
        post("/api/v1/book/ask", {"question": text}),
        post("/api/v1/book/ask", {"question": "a", "session": text}),
        post("/api/v1/book/ask", {"question": "a", text: 1}),
        post("/api/v1/book/search", {"question": "a", "where": {text: {text: text}}}),
        request("GET", f"/api/v1/book/documents/{quoted}"),
        request("GET", f"/api/v1/book/documents?limit={quoted}"),
        request("GET", f"/{quoted}"),
    ):
        reply = exchange(local.port, message)
        assert reply.headers["content-type"] in ("application/json", "application/problem+json")
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in reply.headers["content-security-policy"] or reply.status == 404
        assert "set-cookie" not in reply.headers
        assert no_header_has(reply, "alert(1)")


def no_header_has(reply: Reply, text: str) -> bool:
    """Whether a text stands in no header."""
    return not [name for name, value in reply.headers.items() if text in value]


def served(reply: httpx.Response) -> None:
    """Whether a file is given as it is, to be saved, so that no browser runs any of it."""
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/octet-stream"
    assert reply.headers["content-disposition"].startswith("attachment; filename")
    assert reply.headers["content-disposition"].isascii()
    assert "sandbox" in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in reply.headers
