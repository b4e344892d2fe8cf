"""What many people at once do to `answerable serve`: times to the first quoted text, mistakes, memory.

A real server process on the examples, asked over real sockets from this process. One user asks on and on, then eight
at once: a time is from sending a question until the event with its quotes has come. Then fifty ask for a minute while
500 documents are added; every answer must quote what its own question is about. Nothing else is measured beside it: the
figures are ratios within the run.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from measuring import ROOT, show

# Each question with a word that every answer to it has, and no answer to another.
QUESTIONS = {
    "How often must the espresso machine be descaled?": "200 cups",
    "Can I use vinegar?": "Vinegar",
    "¿Quién es alérgica al cacahuate?": "cacahuate",
    "Quanto sol o manjericão precisa?": "seis horas",
    "How many tools may I borrow at once?": "five tools",
}


def main() -> None:
    """Runs the three loads and prints them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--asks", type=int, default=100, help="of the user alone; eight users ask as many each")
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as (address, process):
        asyncio.run(measure(address, process, arguments.asks, arguments.seconds))


async def measure(address: str, process: int, asks: int, seconds: float) -> None:
    """The three loads, one after the other."""
    limits = httpx.Limits(max_connections=100)
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as client:
        await several(client, 1, asks // 4)
        alone = await several(client, 1, asks)
        eight = await several(client, 8, asks)
        job = await upload(client, 500)
        await until(client, 50, time.monotonic() + seconds / 6)
        before = resident(process)
        answers, wrong = await until(client, 50, time.monotonic() + seconds)
        after = resident(process)
        added = (await client.get(f"/api/v1/library/jobs/{job}")).json()
    p95 = statistics.quantiles(eight, n=20)[-1]
    rows = [
        ("one user, median", statistics.median(alone) * 1000, "ms"),
        ("eight users, median", statistics.median(eight) * 1000, "ms"),
        ("eight users, 95th percentile", p95 * 1000, "ms"),
        ("times one user's median", p95 / statistics.median(alone), ""),
        ("answers to fifty users", answers, ""),
        ("wrong, failed or mixed up", wrong, ""),
        ("memory before", before, "MB"),
        ("memory after", after, "MB"),
    ]
    show("Many people at once", rows, asks=asks, seconds=seconds, job=added.get("state"))


async def several(client: httpx.AsyncClient, users: int, asks: int) -> list[float]:
    """Seconds of every question of so many users, who each ask so often without pause."""

    async def user(number: int) -> list[float]:
        return [(await ask(client, number + turn))[0] for turn in range(asks)]

    return [each for times in await asyncio.gather(*map(user, range(users))) for each in times]


async def until(client: httpx.AsyncClient, users: int, end: float) -> tuple[int, int]:
    """How many answers so many users got until then, and how many of them weren't what they should be."""

    async def user(number: int) -> list[bool]:
        right = []
        while time.monotonic() < end:
            right.append((await ask(client, number + len(right)))[1])
        return right

    found = [each for answers in await asyncio.gather(*map(user, range(users))) for each in answers]
    return len(found), found.count(False)


async def ask(client: httpx.AsyncClient, number: int) -> tuple[float, bool]:
    """Seconds until a streamed answer has come, and whether it is the one to its question."""
    question, expected = list(QUESTIONS.items())[number % len(QUESTIONS)]
    started, event = time.perf_counter(), ""
    body = {"question": question, "keep": False}
    headers = {"Accept": "text/event-stream"}
    async with client.stream("POST", "/api/v1/library/ask", json=body, headers=headers) as response:
        async for line in response.aiter_lines():
            name, _, value = line.partition(": ")
            event = value if name == "event" else event
            if name == "data" and event == "answer":
                answer = json.loads(value)
                return time.perf_counter() - started, question == answer["question"] and expected in answer["text"]
    return time.perf_counter() - started, False


async def upload(client: httpx.AsyncClient, count: int) -> str:
    """Sends so many notes that no question is about, in an archive; gives the job."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(count):
            archive.writestr(f"note {number}.txt", f"Box {number} of the archive holds {number * 7} maps.")
    response = await client.post("/api/v1/library/documents", files={"files": ("notes.zip", packed.getvalue())})
    response.raise_for_status()
    return str(response.json()["job_id"])


def resident(process: int) -> float:
    """The megabytes of memory that a process holds."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    assert found
    return int(found[1]) / 1024


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, int]]:
    """The address and the process of a server with the examples."""
    command = [sys.executable, "-m", "answerable"]
    library = ["--library", str(folder / "library")]
    subprocess.run([*command, "add", str(ROOT / "examples"), *library], check=True, stdout=subprocess.DEVNULL)
    serve = [*command, "serve", *library, "--data", str(folder / "data"), "--port", "0"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, encoding="utf-8") as server:
        assert server.stdout
        address = re.search(r"http://\S+/", server.stdout.readline())
        assert address
        try:
            yield address[0], server.pid
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
