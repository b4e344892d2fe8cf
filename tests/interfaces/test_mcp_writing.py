"""What assistants may change by the MCP server, and what they may not."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from commands import EXAMPLES
from mcp import Client
from mcp_servers import given, in_this_process, over_stdio, refused

pytestmark = pytest.mark.anyio

WRITES = {"add_source", "remove_document"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_server_that_only_reads_changes_nothing(example_library: Path) -> None:
    async with in_this_process(example_library, roots=[EXAMPLES]) as client:
        (document,) = (await given(client, "list_documents", limit=1))["documents"]
        assert "Unknown tool" in await refused(client, "remove_document", document_id=document["document_id"])
        assert "Unknown tool" in await refused(client, "add_source", source=str(EXAMPLES))
        assert (await given(client, "list_documents"))["total"] == 4


async def test_adding_and_removing(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "meeting.txt").write_text("The meeting is on Monday at nine in the blue room.")
    told: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    async with Client(over_stdio(tmp_path / "library", "--write", "--root", notes)) as client:
        tools = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
        assert set(tools) > WRITES
        for name in WRITES:
            annotations = tools[name]
            assert annotations
            assert (annotations.read_only_hint, annotations.destructive_hint) == (False, True)
        added = await client.call_tool("add_source", {"source": "meeting.txt"}, progress_callback=hear)
        assert added.structured_content is not None
        assert (added.structured_content["added"], added.structured_content["failed"]) == (1, [])
        assert told
        assert sorted(set(told)) == told
        answer = await given(client, "ask", question="When is the meeting?")
        assert "Monday at nine" in answer["text"]
        again = await given(client, "add_source", source=str(notes))
        assert (again["added"], again["unchanged"]) == (0, 1)
        document_id = answer["citations"][0]["document_id"]
        assert (await given(client, "remove_document", document_id=document_id)) == {"removed": document_id}
        assert "No document has the id" in await refused(client, "remove_document", document_id=document_id)
        assert (await given(client, "list_documents"))["total"] == 0


async def test_files_are_added_from_the_roots_only(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "root-secrets"
    for folder in (root, outside):
        folder.mkdir()
        (folder / "note.txt").write_text("A note.")
    (root / "link.txt").symlink_to(outside / "note.txt")
    (root / "linked").symlink_to(outside)
    paths = (
        "/etc/hostname",
        str(outside),
        "../root-secrets/note.txt",
        "link.txt",
        "linked/note.txt",
        "~",
        "file:///etc",
    )
    async with in_this_process(tmp_path / "library", True, [root]) as client:
        for path in (*paths, "a\0b"):
            assert await refused(client, "add_source", source=path)
        assert "there is nothing at" in await refused(client, "add_source", source="missing.txt")
        assert "http://127.0.0.1:9/robots.txt is not fetched" in await refused(
            client, "add_source", source="http://127.0.0.1:9/"
        )
        assert (await given(client, "list_documents"))["total"] == 0
    async with in_this_process(tmp_path / "library", True) as client:
        assert "start the server with --root" in await refused(client, "add_source", source=str(root / "note.txt"))


async def test_a_cancelled_addition_leaves_a_whole_library(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(100):
        (notes / f"{number:03}.txt").write_text(f"Note {number}. " + f"Plant number {number} wants water. " * 4)
    async with Client(over_stdio(tmp_path / "library", "--write", "--root", notes)) as client:
        with anyio.CancelScope() as scope:

            async def cancel(progress: float, total: float | None, message: str | None) -> None:
                if message and "passage" in message:
                    scope.cancel()

            await client.call_tool("add_source", {"source": "."}, progress_callback=cancel)
        assert scope.cancelled_caught
        # One addition at a time: this one begins when the other has ended.
        finished = await given(client, "add_source", source="007.txt")
        assert finished["failed"] == []
        assert (await given(client, "list_documents"))["total"] == 100
