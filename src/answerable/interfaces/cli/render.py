"""What the commands print: text for people, one JSON object for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from answerable.datatypes import Answer, Chunk, Citation, Document, Location, RetrievalResult
from answerable.ingestion import AddReport
from answerable.protocols import StoredDocument

SNIPPET = 300


def error(message: str) -> None:
    """One line on the error stream."""
    line = " ".join(message.split())
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text.assemble(("error: ", "bold red"), line))


def added(report: AddReport, dry_run: bool, as_json: bool) -> None:
    """The summary of an `add`, then what was passed over and what failed."""
    failures = [{"source": failure.source, "error": str(failure.error)} for failure in report.failures]
    if as_json:
        counts = {name: getattr(report, name) for name in ("added", "changed", "unchanged", "chunks")}
        estimate = {"tokens": report.tokens, "estimated_seconds": report.estimated_seconds} if dry_run else {}
        skipped = dict(sorted(report.skipped.items()))
        _print_json({**counts, **estimate, "skipped": skipped, "failed": failures, "seconds": report.seconds})
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_row("would add" if dry_run else "added", str(report.added))
    table.add_row("would change" if dry_run else "changed", str(report.changed))
    table.add_row("unchanged", str(report.unchanged))
    table.add_row("passages", str(report.chunks))
    if dry_run:
        table.add_row("tokens", f"{report.tokens:,}")
        table.add_row("estimated time", _duration(report.estimated_seconds))
    if report.skipped:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(report.skipped.items()))
        table.add_row("skipped", escape(reasons))
    if failures:
        table.add_row("failed", str(len(failures)))
    _console().print(table)
    for failure in report.failures:
        error(str(failure.error))


def answer(found: Answer, as_json: bool) -> None:
    """An answer with its citations, or the refusal with what was looked at."""
    if as_json:
        _print_json(
            {
                "question": found.question,
                "answered": found.answered,
                "text": found.text,
                "reason": str(found.reason),
                "confidence": found.confidence,
                "language": found.language,
                "citations": [_citation(citation) for citation in found.citations],
                "timings": dict(found.timings),
            }
        )
        return
    console = _console()
    console.print(Text(found.text, style="" if found.answered else "yellow"))
    if found.citations:
        console.print()
    for number, citation in enumerate(found.citations, 1):
        console.print(
            Text.assemble(
                (f"[{number}] ", "bold cyan"), _name(citation.source, citation.title), ", ", str(citation.location)
            )
        )
        if citation.link:
            console.print(Text(f"    {citation.link}", style="dim", overflow="fold"))
    if not found.answered and found.results:
        console.print(Text(f"({found.reason}; looked at {len(found.results)} passages)", style="dim"))


def results(found: Sequence[RetrievalResult], as_json: bool) -> None:
    """Passages with their scores and places."""
    if as_json:
        _print_json({"results": [_result(result) for result in found]})
        return
    console = _console()
    if not found:
        console.print(Text("nothing found", style="yellow"))
    for number, result in enumerate(found, 1):
        source = _name(result.document.source, result.document.title)
        heading = Text.assemble(
            (f"{number}. ", "bold cyan"), source, ", ", str(result.chunk.location), (f"  {result.score:.3f}", "dim")
        )
        console.print(heading)
        text = " ".join(result.chunk.content.split())
        console.print(Text(f"{text if len(text) <= SNIPPET else text[:SNIPPET] + '…'}\n"))


def documents(found: Sequence[StoredDocument], as_json: bool) -> None:
    """A table of documents."""
    if as_json:
        _print_json({"documents": [_stored(document) for document in found]})
        return
    table = Table(box=None, pad_edge=False)
    for heading, style in (
        ("id", "cyan"),
        ("type", ""),
        ("lang", ""),
        ("passages", ""),
        ("title", ""),
        ("source", "dim"),
    ):
        table.add_column(heading, style=style, overflow="fold", justify="right" if heading == "passages" else "left")
    for document in found:
        cells = (
            document.id[:8],
            document.type,
            document.language,
            str(document.chunks),
            document.title,
            document.source,
        )
        table.add_row(*(Text(cell) for cell in cells))
    _console().print(table if found else Text("the library is empty: answerable add PATH", style="yellow"))


def document(found: Document, chunks: Sequence[Chunk], as_json: bool) -> None:
    """A document with its text."""
    if as_json:
        parts = [{"start": chunk.start, "end": chunk.end, "location": str(chunk.location)} for chunk in chunks]
        described = {
            "document_id": found.id,
            "source": found.source,
            "title": found.title,
            "type": str(found.type),
            "language": found.language,
            "metadata": dict(found.metadata),
            "chunks": parts,
            "content": found.content,
        }
        _print_json(described)
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    metadata = ", ".join(f"{key}: {value}" for key, value in found.metadata.items())
    rows = (
        ("id", found.id),
        ("title", found.title),
        ("source", found.source),
        ("type", str(found.type)),
        ("language", found.language),
        ("passages", str(len(chunks))),
        ("metadata", metadata),
    )
    for name, value in rows:
        if value:
            table.add_row(Text(name, style="bold"), Text(value, overflow="fold"))
    console = _console()
    console.print(table)
    console.print()
    console.print(Text(found.content.replace("\f", "\n\n")))


def removed(document_id: str, as_json: bool) -> None:
    """Which document is gone."""
    if as_json:
        _print_json({"removed": document_id})
    else:
        _console().print(Text(f"removed {document_id}"))


def diagnosis(found: Mapping[str, Any], as_json: bool) -> None:
    """What `doctor` saw, a line each."""
    if as_json:
        _print_json(found)
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in found.items():
        table.add_row(Text(name.replace("_", " "), style="bold"), Text(str(value), overflow="fold"))
    _console().print(table)


def _console() -> Console:
    # A pipe has no width: whatever reads it wants whole lines.
    return Console(highlight=False, width=None if sys.stdout.isatty() else 10_000)


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def _citation(citation: Citation) -> dict[str, Any]:
    return {
        "quote": citation.quote,
        "source": citation.source,
        "title": citation.title,
        "document_id": citation.document_id,
        "start": citation.start,
        "end": citation.end,
        "location": str(citation.location),
        **_place(citation.location),
        "link": citation.link,
    }


def _result(result: RetrievalResult) -> dict[str, Any]:
    chunk = result.chunk
    return {
        "score": result.score,
        "content": chunk.content,
        "source": result.document.source,
        "title": result.document.title,
        "document_id": result.document.id,
        "start": chunk.start,
        "end": chunk.end,
        "location": str(chunk.location),
        **_place(chunk.location),
    }


def _place(location: Location) -> dict[str, Any]:
    """A location's parts that are known, for programs."""
    known = {
        "lines": location.lines,
        "pages": location.pages,
        "headings": location.headings,
        "anchor": location.anchor,
        "times": [time.isoformat() for time in location.times] if location.times else None,
        "senders": location.senders,
    }
    return {name: value for name, value in known.items() if value}


def _stored(document: StoredDocument) -> dict[str, Any]:
    return {
        "document_id": document.id,
        "source": document.source,
        "title": document.title,
        "type": document.type,
        "language": document.language,
        "chunks": document.chunks,
        "characters": document.characters,
    }


def _name(source: str, title: str) -> str:
    """What people call a source: its file's name, its address, or its title."""
    if "://" in source or not source:
        return source or title or "untitled"
    return source.rsplit("/", 1)[-1]


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(round(seconds), 1)} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
