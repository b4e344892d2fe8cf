"""`answerable mcp` as assistants meet it, by standard input and output or by HTTP; and its server in this process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commands import COMMAND
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent
from providers.scripted_server import Reply, chunk, sse_reply

import answerable
from answerable.interfaces.mcp.server import LibraryServer


@asynccontextmanager
async def in_this_process(library: Path, writes: bool = False, roots: Sequence[Path] = ()) -> AsyncIterator[Client]:
    """The official client of a server in this process: for what a tool does, however it is reached."""
    with answerable.open(library, create=writes) as opened:
        async with Client(LibraryServer(opened, writes, roots)) as client:
            yield client


def over_stdio(library: Path, *arguments: str | Path, env: Mapping[str, str] | None = None) -> StdioServerParameters:
    """What starts a server that speaks over its standard input and output."""
    command, *before = COMMAND
    options = ["mcp", "--library", str(library), *map(str, arguments)]
    return StdioServerParameters(command=command, args=[*before, *options], env={**os.environ, **(env or {})})


@dataclass
class HttpServer:
    """A server that runs: its address, and the status that it ended with."""

    url: str
    process: subprocess.Popen[str]


@contextmanager
def over_http(library: Path, *arguments: str | Path, env: Mapping[str, str] | None = None) -> Iterator[HttpServer]:
    """A server by HTTP on a free port, until it is told to stop."""
    environment = {**os.environ, **(env or {})}
    command = [*COMMAND, "mcp", "--library", str(library), "--http", "127.0.0.1:0", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        said = re.fullmatch(r"serving at (http://127\.0\.0\.1:\d+/mcp)\n", line)
        assert said, line + process.stderr.read()
        yield HttpServer(said[1], process)
        process.send_signal(signal.SIGTERM)
        printed, complaints = process.communicate(timeout=30)
        assert (process.returncode, printed) == (0, ""), complaints
        assert "Traceback" not in complaints, complaints
    finally:
        process.kill()
        process.wait()


async def given(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool gives to programs."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool says that can't do it."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text_of(result)
    assert result.structured_content is None
    return text_of(result)


def text_of(result: CallToolResult) -> str:
    """What an assistant reads of a result."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def endless_chat() -> Reply:
    """A model's answer that goes on, a word at a time, for longer than anybody waits."""
    return sse_reply(chunk("", role="assistant"), *(piece for _ in range(200) for piece in (chunk("word "), 0.1)))
