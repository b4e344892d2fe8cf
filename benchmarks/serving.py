"""What many people at once do to `answerable serve`: times of answers, mistakes, memory.

A real server process on the examples, asked over real sockets from this process. One user asks on and on, then eight at
once: a time is from sending a question until the event with its quotes has come. Then eight chat as a front end such as
Open WebUI does: the list of models, streamed completions with the whole conversation before them, and after the first
answer a request for a title. With `--old PATH`, the `src` folder of another version, a server of that version takes
turns with this one in these loads. Then fifty ask while 500 documents are added, and 32 for ten minutes; every answer
must quote what its own question is about. A load of 0 is left out. Figures are ratios within the run.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
ROUNDS = 4
TITLE = """### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Output:
JSON format: {{ "title": "your concise title here" }}
### Chat History:
<chat_history>
USER: {question}
ASSISTANT: {answer}
</chat_history>"""


@dataclass
class Load:
    """What a load met: seconds of each answer, wrong answers, what failed; the server's megabytes before and after."""

    times: list[float] = field(default_factory=list)
    wrong: int = 0
    failures: list[str] = field(default_factory=list)
    before: float = 0
    after: float = 0

    @asynccontextmanager
    async def counted(self) -> AsyncIterator[Callable[[bool], None]]:
        """Time one answer, which is right or wrong by what is called with; what fails is counted."""
        started, right = time.perf_counter(), list[bool]()
        try:
            yield right.append
            self.times.append(time.perf_counter() - started)
            self.wrong += right != [True]
        except (httpx.HTTPError, ValueError, LookupError) as error:
            self.failures.append(f"{type(error).__name__}: {error}"[:200])
            # Otherwise a server that refuses would be asked without end.
            await asyncio.sleep(1)

    def rows(self, name: str) -> list[tuple[str, float, str]]:
        """Rows of a table."""
        return [
            (f"{name}, answers", len(self.times), ""),
            (f"{name}, wrong", self.wrong, ""),
            (f"{name}, failed", len(self.failures), ""),
            (f"{name}, median", statistics.median(self.times) * 1000, "ms"),
            (f"{name}, 95th percentile", self.p95 * 1000, "ms"),
            (f"{name}, memory before", self.before, "MB"),
            (f"{name}, memory after", self.after, "MB"),
        ]

    @property
    def p95(self) -> float:
        """The 95th percentile of the times, in seconds."""
        return statistics.quantiles(self.times, n=20)[-1]


@dataclass(frozen=True)
class Served:
    """A running server: where it is, its process, a client for it."""

    address: str
    process: int
    client: httpx.AsyncClient


User = Callable[[Served, Load, int], Awaitable[None]]
"""One user's next question or conversation; the number chooses it."""


def main() -> None:
    """Runs the loads and prints them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--asks", type=int, default=100, help="of the user alone; eight users ask as many each")
    parser.add_argument("--chats", type=int, default=4, help="conversations of each of eight users")
    parser.add_argument("--adding", type=float, default=60, help="seconds of fifty users while documents are added")
    parser.add_argument("--seconds", type=float, default=600, help="seconds of 32 users")
    parser.add_argument("--old", type=Path, help="the folder `src` of another version, to compare with")
    arguments = parser.parse_args()
    sources = {"": ROOT / "src", **({"old: ": arguments.old.resolve()} if arguments.old else {})}
    with ExitStack() as stack:
        servers = {}
        for name, source in sources.items():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            servers[name] = stack.enter_context(served(folder, source))
        asyncio.run(measure(servers, arguments))


async def measure(servers: dict[str, tuple[str, int]], wanted: argparse.Namespace) -> None:
    """Run all loads, one after the other."""
    async with AsyncExitStack() as stack:
        limits, timeout = httpx.Limits(max_connections=100), 300
        opened = {
            name: Served(address, process, await stack.enter_async_context(client))
            for name, (address, process) in servers.items()
            for client in [httpx.AsyncClient(base_url=address, timeout=timeout, limits=limits)]
        }
        for server in opened.values():
            await several(server, Load(), 1, 5, ask)
        if wanted.asks:
            await compared(opened, wanted.asks, wanted.chats)
        if wanted.adding:
            await while_adding(opened[""], wanted.adding)
        if wanted.seconds:
            load = Load()
            # Until here, each thread and connection needs its own memory.
            await until(opened[""], Load(), 32, wanted.seconds / 10)
            await until(opened[""], load, 32, wanted.seconds)
            show(f"32 users, {wanted.seconds:.0f} s", load.rows("32 users"), failures=load.failures[:5])


async def compared(servers: dict[str, Served], asks: int, chats: int) -> None:
    """One user, eight, and eight who chat; the servers take turns."""
    names = ("one user", "eight users", *(["eight chats"] if chats else []))
    loads = {(server, name): Load() for server in servers for name in names}
    for number in range(ROUNDS):
        for name, server in list(servers.items())[:: -1 if number % 2 else 1]:
            await several(server, loads[name, "one user"], 1, -(-asks // ROUNDS), ask)
            await several(server, loads[name, "eight users"], 8, -(-asks // ROUNDS), ask)
    for name, server in servers.items():
        if chats:
            await several(server, loads[name, "eight chats"], 8, chats, chat)
    rows: list[tuple[str, float, str]] = []
    for name in servers:
        rows += [row for load in names for row in loads[name, load].rows(name + load)]
        alone, eight = loads[name, "one user"], loads[name, "eight users"]
        rows += [(f"{name}eight users, median / one user's", median(eight) / median(alone), "times")]
        rows += [(f"{name}eight users, 95th percentile / one user's median", eight.p95 / median(alone), "times")]
    if len(servers) > 1:
        for load in names:
            old, new = loads["old: ", load], loads["", load]
            rows += [(f"{load}, median, old / new", median(old) / median(new), "times")]
            rows += [(f"{load}, 95th percentile, old / new", old.p95 / new.p95, "times")]
    failures = [failure for load in loads.values() for failure in load.failures]
    show("Many people at once", rows, asks=asks, chats=chats, failures=failures[:5])


def median(load: Load) -> float:
    """The median of a load's times, in seconds."""
    return statistics.median(load.times)


async def while_adding(server: Served, seconds: float) -> None:
    """Fifty users while documents are added."""
    load = Load()
    job = await upload(server.client, 500)
    await until(server, Load(), 50, seconds / 6)
    await until(server, load, 50, seconds)
    added = (await server.client.get(f"/api/v1/library/jobs/{job}")).json()
    show("Fifty users while documents are added", load.rows("fifty users"), seconds=seconds, job=added.get("state"))


async def several(server: Served, load: Load, users: int, turns: int, take_turn: User) -> None:
    """So many users, who each ask or chat so often without pause."""

    async def user(number: int) -> None:
        for turn in range(turns):
            await take_turn(server, load, number + turn)

    load.before = load.before or resident(server.process)
    await asyncio.gather(*map(user, range(users)))
    load.after = resident(server.process)


async def until(server: Served, load: Load, users: int, seconds: float) -> None:
    """So many users ask for so long."""
    end = time.monotonic() + seconds

    async def user(number: int) -> None:
        while time.monotonic() < end:
            await ask(server, load, number)
            number += 1

    load.before = resident(server.process)
    await asyncio.gather(*map(user, range(users)))
    load.after = resident(server.process)


async def ask(server: Served, load: Load, number: int) -> None:
    """A question, until its streamed answer has come."""
    question, expected = list(QUESTIONS.items())[number % len(QUESTIONS)]
    body = {"question": question, "keep": False}
    async with load.counted() as answered:
        async for name, data in events(server, "/api/v1/library/ask", body):
            if name == "answer":
                answered(question == data["question"] and expected in data["text"])
                return
        raise ValueError("the stream ended without an answer")


async def chat(server: Served, load: Load, number: int) -> None:
    """A conversation of five questions as a front end sends it; the times are those until the end of each answer."""
    (await server.client.get("/v1/models")).raise_for_status()
    messages: list[dict[str, str]] = []
    for turn in range(len(QUESTIONS)):
        question, expected = list(QUESTIONS.items())[(number + turn) % len(QUESTIONS)]
        messages.append({"role": "user", "content": question})
        body = {"model": "library", "messages": messages, "stream": True, "stream_options": {"include_usage": True}}
        text = ""
        async with load.counted() as answered:
            async for _, data in events(server, "/v1/chat/completions", body):
                text += "".join(choice["delta"].get("content") or "" for choice in data["choices"])
            answered(expected in text)
        messages.append({"role": "assistant", "content": text})
        if not turn:
            asked = TITLE.format(question=question, answer=text)
            body = {"model": "library", "messages": [{"role": "user", "content": asked}], "stream": False}
            response = await server.client.post("/v1/chat/completions", json=body)
            if response.is_error:
                load.failures.append(f"title: {response.status_code} {response.text}"[:200])


async def events(server: Served, path: str, body: dict[str, Any]) -> AsyncIterator[tuple[str, Any]]:
    """The name and data of each server-sent event. Raises HTTPStatusError and ValueError for errors of the server."""
    event = ""
    async with server.client.stream("POST", path, json=body, headers={"Accept": "text/event-stream"}) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            name, _, value = line.partition(": ")
            event = value if name == "event" else event
            if name == "data" and value != "[DONE]":
                data = json.loads(value)
                if event == "error" or "error" in data:
                    raise ValueError(value)
                yield event, data


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
def served(folder: Path, source: Path, *more: Path) -> Iterator[tuple[str, int]]:
    """The address and process of a server with the examples and more; `source` is the folder `src` of its version."""
    command = [sys.executable, "-m", "answerable"]
    variables = {**os.environ, "PYTHONPATH": str(source)}
    library = ["--library", str(folder / "library")]
    add = [*command, "add", str(ROOT / "examples"), *map(str, more), *library]
    subprocess.run(add, check=True, stdout=subprocess.DEVNULL, env=variables)
    serve = [*command, "serve", *library, "--data", str(folder / "data"), "--port", "0"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, encoding="utf-8", env=variables) as server:
        assert server.stdout
        address = re.search(r"http://\S+/", server.stdout.readline())
        assert address
        try:
            yield address[0], server.pid
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
