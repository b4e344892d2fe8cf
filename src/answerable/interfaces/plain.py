"""What the engine gives, as plain values that JSON has: the same for `--json`, the HTTP API and MCP."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from answerable.datatypes import Answer, Chunk, Citation, Document, Location, Narrowing, Part, RetrievalResult
from answerable.errors import AnswerableError
from answerable.indexing.ingest import AddReport
from answerable.indexing.sync import Origin
from answerable.protocols import StoredDocument
from answerable.text.chats import ChatStatistics, chat_statistics

Plain = dict[str, Any]

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def error_code(kind: type[AnswerableError]) -> str:
    """What programs know a kind of error by: `DocumentNotFound` → `document_not_found`."""
    return _WORD.sub("_", kind.__name__.removesuffix("Error") or "Error").lower()


def answer_json(found: Answer) -> Plain:
    """An answer with its citations; of one that a model wrote, also the draft, the check and what it cost."""
    return {
        "question": found.question,
        "answered": found.answered,
        "text": found.text,
        "reason": str(found.reason),
        "confidence": found.confidence,
        "language": found.language,
        "narrowing": narrowing_json(found.narrowing),
        "citations": [citation_json(citation) for citation in found.citations],
        "timings": dict(found.timings),
        **(_written(found) if found.model else {}),
    }


def added_json(report: AddReport, dry_run: bool) -> Plain:
    """What adding did; of a dry run also what embedding would take."""
    failures = [
        {"source": failure.source, "code": error_code(type(failure.error)), "error": str(failure.error)}
        for failure in report.failures
    ]
    names = ("added", "changed", "moved", "unchanged", "removed", "kept", "chunks")
    estimated = ("tokens", "estimated_seconds", "cost") if dry_run else ()
    return {
        **{name: getattr(report, name) for name in (*names, *estimated)},
        "skipped": dict(sorted(report.skipped.items())),
        "passed_over": [{"source": each.source, "reason": each.reason} for each in report.passed_over],
        "failed": failures,
        "seconds": report.seconds,
    }


def origin_json(origin: Origin) -> Plain:
    """What a library follows: its name, the options to visit it with, what it holds, and the last visit."""
    return {
        "origin": origin.name,
        "options": dict(origin.options),
        "sources": origin.sources,
        "documents": origin.documents,
        "visited": origin.seen.isoformat(),
    }


def document_json(found: Document, chunks: Sequence[Chunk]) -> Plain:
    """A document with its text and the places of its chunks; a chat with its statistics."""
    statistics = chat_statistics(found)
    return {
        "document_id": found.id,
        "source": found.source,
        "title": found.title,
        "type": str(found.type),
        "language": found.language,
        "metadata": dict(found.metadata),
        **({"statistics": statistics_json(statistics)} if statistics else {}),
        "chunks": [{"start": chunk.start, "end": chunk.end, "location": str(chunk.location)} for chunk in chunks],
        "content": found.content,
    }


def part_json(part: Part) -> Plain:
    """A page, a section, a message … of a document; what it has not is left out."""
    known = {
        "page": part.page,
        "headings": part.headings,
        "anchor": part.anchor,
        "time": part.time.isoformat() if part.time else None,
        "sender": part.sender,
        "body": part.body,
        "symbol": part.symbol,
    }
    named = {name: value for name, value in known.items() if value is not None and value != ()}
    return {"kind": str(part.kind), "start": part.start, "end": part.end, **named}


def chunk_json(chunk: Chunk) -> Plain:
    """A passage with its number in the document, and its place."""
    return {
        "number": chunk.sequence,
        "start": chunk.start,
        "end": chunk.end,
        "content": chunk.content,
        "location": str(chunk.location),
        **_place(chunk.location),
    }


def narrowing_json(found: Narrowing | None) -> Plain | None:
    """The filter that a question asked for, if it did."""
    if found is None:
        return None
    periods = [
        {
            "since": None if start == datetime.min else start.isoformat(),
            "before": None if end == datetime.max else end.isoformat(),
        }
        for start, end in found.periods
    ]
    return {"senders": found.senders, "periods": periods, "applied": found.applied}


def citation_json(citation: Citation) -> Plain:
    """A quote with its exact place."""
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


def result_json(result: RetrievalResult) -> Plain:
    """A passage with its score and its place."""
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


def stored_json(document: StoredDocument) -> Plain:
    """What a library lists of a document."""
    return {
        "document_id": document.id,
        "source": document.source,
        "title": document.title,
        "type": document.type,
        "language": document.language,
        "chunks": document.chunks,
        "characters": document.characters,
    }


def statistics_json(found: ChatStatistics) -> Plain:
    """Who wrote how much and when, in a chat."""
    return {
        "first": found.first.isoformat(),
        "last": found.last.isoformat(),
        "messages": found.messages,
        "notices": found.notices,
        "by_sender": dict(found.by_sender),
        "by_day": {day.isoformat(): count for day, count in found.by_day.items()},
    }


def _written(found: Answer) -> Plain:
    """What programs are told of an answer that a model wrote."""
    return {
        "model": found.model,
        "draft": found.draft,
        "checks": [{"text": check.text, "support": check.support, "how": check.how} for check in found.checks],
        "usage": asdict(found.usage) if found.usage else None,
        "problem": found.problem,
    }


def _place(location: Location) -> Plain:
    """A location's parts that are known, for programs."""
    known = {
        "lines": location.lines,
        "pages": location.pages,
        "headings": location.headings,
        "anchor": location.anchor,
        "times": [time.isoformat() for time in location.times] if location.times else None,
        "senders": location.senders,
        "symbol": location.symbol,
    }
    return {name: value for name, value in known.items() if value}
