"""The files of `integrations/`: the protocol's official client starts what they say, as they say it."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import EXAMPLES
from mcp import Client, StdioServerParameters
from mcp_servers import given

import answerable

pytestmark = pytest.mark.anyio
ROOT = EXAMPLES.parent
FILES = ROOT / "integrations"
PAGE = (ROOT / "docs" / "assistants.md").read_text("utf-8")
STARTED = ["claude-code/.mcp.json", "claude-desktop/claude_desktop_config.json", "cursor/mcp.json", "vscode/mcp.json"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def read(name: str) -> Any:
    return json.loads((FILES / name).read_text("utf-8"))


async def asked(client: Client) -> None:
    assert {tool.name for tool in (await client.list_tools()).tools} == {
        *("search", "ask", "list_documents", "get_passage")
    }
    assert {prompt.name for prompt in (await client.list_prompts()).prompts} == {
        *("ask_documents", "gather_from_documents")
    }
    assert len((await client.list_resources()).resources) == 4
    answer = await given(client, "ask", question="Can I use vinegar?")
    assert "must not be used" in answer["text"]


async def test_the_files_start_the_server(example_library: Path) -> None:
    servers = []
    for name in STARTED:
        said = read(name)
        (server,) = said["servers" if name.startswith("vscode") else "mcpServers"].values()
        assert server.pop("type", "stdio") == "stdio", name
        servers.append(server)
    # What a user's shell has: the command on the path, and a library of their own.
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "ANSWERABLE_LIBRARY": str(example_library)}
    # One start for all that say the same.
    for server in [each for number, each in enumerate(servers) if each not in servers[:number]]:
        async with Client(StdioServerParameters(**server, env=environment)) as client:
            await asked(client)


def test_the_address_of_open_webui_is_that_of_the_documented_command() -> None:
    (server,) = read("open-webui/tool-servers.json")
    (listening,) = re.findall(r"answerable mcp --http (\S+)", PAGE)
    # test_mcp_http.py has sessions at such an address.
    assert (server["type"], server["url"]) == ("mcp", f"http://{listening}/mcp")


def test_the_plug_in_is_whole() -> None:
    (listed,) = read(".claude-plugin/marketplace.json")["plugins"]
    plugin = (FILES / listed["source"]).resolve()
    assert plugin == FILES / "claude-code"
    described = json.loads((plugin / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    assert (described["name"], described["version"]) == (listed["name"], answerable.__version__)
    command = (plugin / "commands" / "ask-documents.md").read_text("utf-8")
    assert re.match(r"---\ndescription: .+\nargument-hint: .+\n---\n", command)
    assert "$ARGUMENTS" in command


def test_the_page_names_every_file() -> None:
    named = {link for link in re.findall(r"\(\.\./integrations/?([^)]*)\)", PAGE) if link}
    assert all((FILES / link).exists() for link in named)
    assert {*STARTED[1:], "claude-code", "open-webui/tool-servers.json"} == named
