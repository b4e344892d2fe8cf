"""A small textbook, servers that play OpenAI and Qdrant, and the service on a real socket."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
from helpers import HashEmbedder
from providers.scripted_server import Reply, Request, ScriptedServer, chat, embeddings

from src.collection import Collected
from src.main import app
from src.passages import Passage
from src.qdrant import open_qdrant
from src.settings import COLLECTION, load

BACKEND = Path(__file__).parents[3] / "apps" / "textbook" / "backend"
SCRIPT = BACKEND / "src" / "tools" / "sync_book_to_qdrant.py"
KEY = "sk-Secret-0123456789abcdef"
ADMIN = "admin-Secret-0123456789"
EMBEDDINGS = "/embeddings"
COMPLETIONS = "/chat/completions"
DIMENSION = 1536

NODES = "docs/module1/nodes.md"
ARMS = "docs/module2/arms.mdx"

BOOK = {
    "module1/nodes.md": """---
title: "Nodes and Topics"
description: "A page's front matter says nothing to readers."
---

# Nodes and Topics

A node is an independent process with one task. Nodes are found by their names.

## Topics

Publishers send messages to a topic, and **subscribers** receive them. A camera publishes [thirty
frames](https://example.org/frames) each second.

### Quality of service

Reliable delivery repeats what was lost. Best effort drops it.
""",
    "module1/services.md": """# Services

A service answers one request with one response. The client waits for it.
""",
    "module2/arms.mdx": """# Arms

## Forward kinematics

Forward kinematics finds the pose of the hand from the angles of the joints.

## Inverse kinematics

Inverse kinematics finds the angles of the joints from the pose of the hand. Servos of the arm draw two amperes.
""",
    "module2/empty.md": "---\ntitle: Nothing yet\n---\n",
    "module2/notes.txt": "No page of the book: notes of the author on kinematics.\n",
}

# A folder is the engine that is in memory, too: what isn't about places is proved without it.
BOTH_ENGINES = pytest.mark.parametrize(
    "anywhere", ["memory", pytest.param("folder", marks=pytest.mark.long), "server"], indirect=True
)

_EMBEDDER = HashEmbedder(DIMENSION)


def write_book(folder: Path, pages: dict[str, str]) -> None:
    """Writes pages under a folder."""
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def embed(request: Request) -> Reply:
    """OpenAI's reply to a request for embeddings: texts that share words are near to each other."""
    vectors = [[float(value) for value in _EMBEDDER.embed_query(text)] for text in request.body["input"]]
    return embeddings(vectors, request.body.get("encoding_format", "float"))


def writes(*texts: str) -> Reply:
    """OpenAI's reply when a model writes."""
    return chat(*texts)


def asked(openai: ScriptedServer) -> list[list[dict[str, str]]]:
    """The messages of each request for an answer."""
    return [request.body["messages"] for request in openai.requests if request.path == COMPLETIONS]


def embedded(openai: ScriptedServer) -> list[str]:
    """The texts that vectors were asked for."""
    return [
        text for request in openai.requests if request.path == EMBEDDINGS for text in json.loads(request.raw)["input"]
    ]


def passages() -> list[Passage]:
    """What is stored, by place and text."""
    with open_qdrant(load().qdrant) as opened:
        return sorted(Collected(opened).passages(), key=lambda passage: (passage.place, passage.text))


def versions() -> list[str]:
    """The collections of all versions of the book."""
    with open_qdrant(load().qdrant) as opened:
        found = opened.client.get_collections().collections
    return [each.name for each in found if each.name.startswith(COLLECTION)]


@contextmanager
def running() -> Iterator[httpx.Client]:
    """The service on a port of this machine, served by a thread, and a client for it."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the service did not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120, verify=False) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()


def say(client: httpx.Client, message: str, session: str = "s1", **more: str) -> httpx.Response:
    """A message of a session."""
    return client.post("/chat", json={"message": message, "session_id": session, **more})


def ingest(client: httpx.Client, force: bool = False, key: str = ADMIN) -> httpx.Response:
    """An ingestion."""
    return client.post("/ingest", json={"force_resync": force}, headers={"X-Admin-Key": key})


def last_ingestion(client: httpx.Client) -> httpx.Response:
    """What the service says of the last ingestion."""
    return client.get("/ingest", headers={"X-Admin-Key": ADMIN})


def run_script(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python, run with the service's modules; an empty value takes a variable away."""
    given = {**os.environ, "PYTHONPATH": str(BACKEND), **environment}
    variables = {name: value for name, value in given.items() if value}
    return subprocess.run([sys.executable, *arguments], env=variables, capture_output=True, text=True, timeout=120)
