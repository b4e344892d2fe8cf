"""Adding documents and sites over HTTP: jobs, their events, and what becomes of a library meanwhile."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from reading_processes import SLOW, Started, is_running
from service_on_socket import (
    GatedEmbedder,
    ask_events,
    once_stopping,
    read_events,
    small_service,
    upload,
    wait_for,
)
from site_server import SiteServer

from answerable.settings import Settings

PAGE = "<html><head><title>{0}</title></head><body><main><h1>{0}</h1><p>{1}</p></main></body></html>"


def sources(client: httpx.Client, library: str = "library") -> list[str]:
    """What a library lists."""
    return [each["source"] for each in client.get(f"api/v1/{library}/documents").json()["documents"]]


def test_several_files_are_one_job(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        job = upload(client, ("a.txt", b"The gate is blue."), ("b.md", b"# Doors\n\nThe door is green."))
        assert (job["state"], job["sources"]) == ("done", ["a.txt", "b.md"])
        assert (job["report"]["added"], job["report"]["failed"]) == (2, [])
        assert sources(client) == ["a.txt", "b.md"]
        again = upload(client, ("a.txt", b"The gate is blue."))
        assert (again["report"]["added"], again["report"]["unchanged"]) == (0, 1)
        assert [each["job_id"] for each in client.get("api/v1/library/jobs").json()["jobs"]] == [
            again["job_id"],
            job["job_id"],
        ]
    assert list(tmp_path.glob("uploads/*/.incoming/*")) == []


def test_the_same_name_is_a_new_version(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        upload(client, ("gate.txt", b"The gate is blue."))
        job = upload(client, ("sub/../gate.txt", b"The gate is red now."))
        assert job["report"]["changed"] == 1
        (found,) = client.get("api/v1/library/documents").json()["documents"]
        path = f"api/v1/library/documents/{found['document_id']}"
        assert client.get(path).json()["content"] == "The gate is red now."
        assert client.get(f"{path}/file").content == b"The gate is red now."


def test_what_cannot_be_read_leaves_the_earlier_version(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client):
        upload(client, ("guide.pdf", (Path(__file__).parents[2] / "examples/riverside-library-rules.pdf").read_bytes()))
        job = upload(client, ("guide.pdf", b"%PDF-1.7 broken"), ("empty.txt", b""), ("good.txt", b"Still added."))
        assert job["state"] == "done"
        assert [failure["source"] for failure in job["report"]["failed"]] == ["guide.pdf", "empty.txt"]
        assert str(tmp_path) not in str(job)
        assert sources(client) == ["good.txt", "guide.pdf"]
        (document,) = (
            each for each in client.get("api/v1/library/documents").json()["documents"] if each["type"] == "pdf"
        )
        assert client.get(f"api/v1/library/documents/{document['document_id']}/file").status_code == 200
        assert sorted(kept.name for kept in tmp_path.glob("uploads/*/*.*")) == [
            *(".incoming", ".read", "good.txt", "guide.pdf")
        ]


def test_uploads_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    with small_service(tmp_path, max_files=3) as (_, client):
        path = "api/v1/library/documents"
        none = client.post(path, files=[("other", ("a.txt", b"text"))])
        assert (none.status_code, none.json()["code"]) == (422, "invalid_request")
        twice = client.post(path, files=[("files", ("a.txt", b"1")), ("files", ("x/a.txt", b"2"))])
        assert (twice.status_code, twice.json()["code"]) == (422, "invalid_request")
        many = client.post(path, files=[("files", (f"{number}.txt", b"1")) for number in range(4)])
        assert many.status_code == 400
        assert many.headers["content-type"] == "application/problem+json"
        assert client.get("api/v1/library/jobs").json() == {"jobs": []}
        assert list(tmp_path.glob("uploads/*/.incoming/*")) == []


def test_a_jobs_events_lead_to_its_report(tmp_path: Path) -> None:
    embedder = GatedEmbedder()
    with small_service(tmp_path, embedder=embedder) as (_, client):
        text = "\n\n".join(f"Paragraph {number} says that gate {number} is blue." * 5 for number in range(20))
        job = client.post("api/v1/library/documents", files={"files": ("long.txt", text.encode())}).json()
        assert job["state"] in ("waiting", "running")
        with client.stream("GET", f"api/v1/library/jobs/{job['job_id']}/events") as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            events = read_events(response)
            first = next(events)
            embedder.gate.set()
            told = [first, *events]
        assert [name for name, _ in told[:-1]] == ["progress"] * (len(told) - 1)
        name, last = told[-1]
        assert (name, last["state"], last["report"]["added"]) == ("ended", "done", 1)
        assert last["progress"]["source"] == "long.txt"
        assert last["progress"]["document_done"] == last["progress"]["document_total"] > 1
        assert client.get(f"api/v1/library/jobs/{job['job_id']}").json() == last


def test_questions_are_answered_while_a_job_runs(tmp_path: Path) -> None:
    embedder = GatedEmbedder()
    embedder.gate.set()
    with small_service(tmp_path, embedder=embedder) as (_, client):
        files = [(f"{n}.txt", f"Gate number {n} has the colour {n * n}.".encode()) for n in range(30)]
        upload(client, *files)
        embedder.gate.clear()
        embedder.waiting.clear()
        more = [("files", (f"more-{n}.txt", f"Doors are open, says {n}.".encode())) for n in range(90)]
        job = client.post("api/v1/library/documents", files=more).json()
        assert embedder.waiting.wait(60)

        def ask(number: int) -> str:
            events = ask_events(client, "api/v1/library/ask", question=f"Which colour has gate number {number}?")
            assert [name for name, _ in events] == ["searched", "answer"]
            assert f"number {number}?" in events[0][1]["question"]
            return str(events[-1][1]["passages"][0]["source"])

        with ThreadPoolExecutor(20) as threads:
            found = list(threads.map(ask, [n % 30 for n in range(60)]))
        assert sum(source == f"{n % 30}.txt" for n, source in enumerate(found)) >= 50
        assert client.get(f"api/v1/library/jobs/{job['job_id']}").json()["state"] == "running"
        embedder.gate.set()
        assert wait_for(client, job)["report"]["added"] == 90


def test_jobs_wait_for_each_other_and_can_be_cancelled(tmp_path: Path) -> None:
    embedder = GatedEmbedder()
    with small_service(tmp_path, "library", "second", embedder=embedder, jobs_waiting=2) as (_, client):

        def start(name: str, library: str = "library") -> httpx.Response:
            text = "\n\n".join(f"Sentence {n} of {name}. " * 30 for n in range(10))
            return client.post(f"api/v1/{library}/documents", files={"files": (name, text.encode())})

        running = start("a.txt").json()
        assert embedder.waiting.wait(60)
        waiting = start("b.txt").json()
        other = start("c.txt", "second").json()
        embedder.waiting.clear()
        assert start("d.txt").status_code == 202
        full = start("e.txt")
        assert (full.status_code, full.json()["code"]) == (429, "too_many_jobs")
        assert int(full.headers["retry-after"]) > 0
        dropped = client.delete(f"api/v1/library/jobs/{waiting['job_id']}")
        assert (dropped.status_code, dropped.json()["state"]) == (202, "cancelled")
        assert client.delete(f"api/v1/library/jobs/{running['job_id']}").json()["state"] == "running"
        assert client.get(f"api/v1/second/jobs/{running['job_id']}").json()["code"] == "job_not_found"
        embedder.gate.set()
        assert wait_for(client, running)["state"] == "cancelled"
        assert wait_for(client, other)["state"] == "done"
        # Its words were stored; what waits for its vectors is found by them.
        assert "a.txt" in sources(client)
        assert "b.txt" not in sources(client)
        assert client.delete(f"api/v1/library/jobs/{running['job_id']}").json()["state"] == "cancelled"
    assert [kept.name for kept in tmp_path.glob("uploads/*/[ab].txt")] == ["a.txt"]
    assert list(tmp_path.glob("uploads/*/.incoming/*")) == []


def test_stopping_the_server_cancels_its_jobs(tmp_path: Path) -> None:
    embedder = GatedEmbedder()
    with small_service(tmp_path, embedder=embedder) as (server, client):
        text = "\n\n".join(f"Sentence {n}. " * 30 for n in range(40))
        client.post("api/v1/library/documents", files={"files": ("a.txt", text.encode())})
        assert embedder.waiting.wait(60)
        (job,) = server.service.jobs.list("library")
        once_stopping(server, embedder.gate.set)
    assert job.json()["state"] == "cancelled"
    with small_service(tmp_path) as (_, client):
        assert sources(client) == ["a.txt"]
        assert client.get("api/v1/library/documents").json()["waiting"] > 0


def test_cancelling_a_job_ends_what_it_reads(tmp_path: Path) -> None:
    processes = Started()
    with small_service(tmp_path) as (_, client):
        job = client.post("api/v1/library/documents", files={"files": ("slow.md", SLOW)}).json()
        reading = processes.busy()
        started = time.monotonic()
        client.delete(f"api/v1/library/jobs/{job['job_id']}")
        assert wait_for(client, job)["state"] == "cancelled"
        assert time.monotonic() - started < 10
        assert not is_running(reading)
        assert upload(client, ("next.txt", b"The gate is blue."))["report"]["added"] == 1
        assert sources(client) == ["next.txt"]
    assert [kept.name for kept in tmp_path.glob("uploads/*/slow.md")] == []


def test_stopping_the_server_ends_what_is_read(tmp_path: Path) -> None:
    processes = Started()
    with small_service(tmp_path) as (server, client):
        client.post("api/v1/library/documents", files={"files": ("slow.md", SLOW)})
        processes.busy()
        (job,) = server.service.jobs.list("library")
        started = time.monotonic()
    assert time.monotonic() - started < 20
    assert job.json()["state"] == "cancelled"
    assert processes.all() == []


@pytest.mark.parametrize("url", ["ftp://example.org/", "file:///etc/passwd", "/etc/passwd", "", "http://a b/"])
def test_only_sites_can_be_added_by_address(tmp_path: Path, url: str) -> None:
    with small_service(tmp_path) as (_, client):
        assert client.post("api/v1/library/sources", json={"url": url}).status_code == 422


def test_a_private_address_is_refused(tmp_path: Path) -> None:
    with small_service(tmp_path) as (_, client), SiteServer() as site:
        site.put("/a", PAGE.format("A", "Text.").encode())
        job = wait_for(client, client.post("api/v1/library/sources", json={"url": site.home}).json())
        assert (job["state"], job["error"]["code"]) == ("failed", "address_refused")
        assert not site.asked()


def test_a_site_is_added_and_brought_up_to_date(tmp_path: Path) -> None:
    with SiteServer() as site:
        for name in ("a", "b"):
            words = f"On page {name} it is written that the gate of {name} is painted blue every spring. " * 4
            site.put(f"/{name}", PAGE.format(name.upper(), words).encode())
        settings = Settings(allow_hosts=site.home.split("/")[2], requests_per_second=1000)
        with small_service(tmp_path, settings=settings) as (_, client):
            job = wait_for(client, client.post("api/v1/library/sources", json={"url": site.home}).json())
            assert (job["state"], job["report"]["added"]) == ("done", 2), job
            site.remove("/b")
            job = wait_for(client, client.post("api/v1/library/sources", json={"url": site.home}).json())
            assert (job["report"]["removed"], job["report"]["unchanged"]) == (1, 1), job
            (found,) = client.get("api/v1/library/documents").json()["documents"]
            assert client.get(f"api/v1/library/documents/{found['document_id']}/file").status_code == 404
