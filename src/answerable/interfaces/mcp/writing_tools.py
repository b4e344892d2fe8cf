"""The tools that change the library, available only with --write."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from anyio import Lock, from_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from pydantic import Field

from answerable.indexing.ingest import Progress
from answerable.interfaces.mcp.calls import Calls, check_cancelled, require_admin
from answerable.interfaces.mcp.reading_tools import DocumentId, result
from answerable.interfaces.mcp.texts import added_text
from answerable.interfaces.mcp.tool_outputs import AddedOutput, RemovedOutput
from answerable.interfaces.plain import added_json
from answerable.library import Library

# Seconds between two notifications of progress.
PACE = 0.2


class WritingTools:
    """The tools that change the library. They read sites, but only files under the roots."""

    def __init__(self, library: Library, calls: Calls, roots: Sequence[Path] = ()) -> None:
        self._library = library
        self._calls = calls
        self._roots = tuple(root.expanduser().resolve() for root in roots)
        self._one_at_a_time = Lock()

    async def add_source(
        self,
        source: Annotated[str, Field(max_length=4000, description="A file, a folder, or a site's URL (https://…).")],
        context: Context[Any, Any],
    ) -> Annotated[CallToolResult, AddedOutput]:
        """Add a file, a folder's files or a site to the user's library. Unchanged documents stay as they are.

        A newer version of a file replaces the old one. Pages that no longer exist on a site are removed.
        """
        require_admin()
        place = allowed_source(source, self._roots)
        async with self._one_at_a_time:
            report = await self._calls.run(self._library.add, place, Notifier(context))
        return result(added_text(report), added_json(report, dry_run=False))

    async def remove_document(self, document_id: DocumentId) -> Annotated[CallToolResult, RemovedOutput]:
        """Remove a document from the user's library without a trace. The file itself stays."""
        require_admin()
        async with self._one_at_a_time:
            await self._calls.run(self._library.remove, document_id)
        return result("Removed.", {"removed": document_id})


class Notifier:
    """A progress callback that reports to the client, and ends the thread when the client cancels."""

    def __init__(self, context: Context[Any, Any]) -> None:
        self._context = context
        self._reported = 0.0
        self._reached = -1

    def __call__(self, progress: Progress) -> None:
        """Report the sum of passages and sources done, so that the number always grows."""
        check_cancelled()
        reached = progress.sources_done + progress.chunks_done
        now = time.monotonic()
        if reached <= self._reached or now - self._reported < PACE:
            return
        self._reported, self._reached = now, reached
        total = progress.sources_total + progress.chunks_total
        from_thread.run(partial(self._context.report_progress, reached, total, _message(progress)))


def allowed_source(source: str, roots: Sequence[Path]) -> str:
    """Return the URL, or the real path of a file or folder under the roots. Raise ToolError."""
    if source.lower().startswith(("http://", "https://")):
        return source
    try:
        for root in roots:
            path = (root / os.path.expanduser(source)).resolve()
            if path.is_relative_to(root):
                return str(path)
    except (OSError, ValueError, RuntimeError) as error:
        raise ToolError("This is not a valid path. Name a file under the server's roots.") from error
    if not roots:
        raise ToolError("Only sites can be added here. To add files, start the server with --root FOLDER.")
    raise ToolError(
        f"Only files under {', '.join(map(str, roots))} can be added. Start the server with another --root."
    )


def _message(progress: Progress) -> str:
    name = " ".join(progress.source.rsplit("/", 1)[-1].split()) or progress.source
    if not progress.document_total:
        return f"reading {name}"
    return f"{name}: passage {progress.document_done} of {progress.document_total}"
