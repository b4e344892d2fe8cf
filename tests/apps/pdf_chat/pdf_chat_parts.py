"""A server that plays OpenAI: vectors made of a text's words, and answers that a test gives."""

from __future__ import annotations

import math
import re
import zlib
from pathlib import Path

from providers.scripted_server import Reply, Request, ScriptedServer, chat, embeddings, failure

APP = Path(__file__).parents[3] / "apps" / "pdf_chat"
DIMENSION = 1536
KEY = "sk-test-0123456789abcdef"
EMBEDDINGS = "/v1/embeddings"
CHAT = "/v1/chat/completions"


def vector(text: str, dimension: int = DIMENSION) -> list[float]:
    """Texts that share words are near to each other; the same text has the same vector everywhere."""
    values = [0.0] * dimension
    for word in re.findall(r"\w+", text.lower()):
        values[zlib.crc32(word.encode()) % dimension] += 1.0
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    values[0] += 0.0 if any(values) else 1.0
    return [value / length for value in values]


def embed(request: Request) -> Reply:
    """The reply to a request for embeddings."""
    return embeddings([vector(text) for text in request.body["input"]])


def answers(server: ScriptedServer, *replies: str | Reply) -> None:
    """What the server writes, one after the other; the last serves all that come after it."""
    server.script(CHAT, *(chat(reply) if isinstance(reply, str) else reply for reply in replies))


def refuses(server: ScriptedServer, path: str, status: int, message: str = "no", code: str | None = None) -> None:
    """Makes every request to a path fail."""
    server.script(path, failure(status, message, code))


def embedded(server: ScriptedServer) -> list[str]:
    """The texts that vectors were asked for, in order."""
    return [text for request in server.requests if request.path == EMBEDDINGS for text in request.body["input"]]


def prompts(server: ScriptedServer) -> list[str]:
    """The prompts that answers were asked for, in order."""
    return [str(request.body["messages"][0]["content"]) for request in server.requests if request.path == CHAT]
