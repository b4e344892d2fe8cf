"""Convert the engine's datatypes to JSON values for `--json`, the HTTP API and MCP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from answerable.datatypes import Answer, Chunk, Citation, Document, Location, Narrowing, Part, PartKind, RetrievalResult
from answerable.errors import error_code
from answerable.retrieval.document_names import day_sent

if TYPE_CHECKING:
    from answerable.indexing.followed_sources import Origin
    from answerable.indexing.ingest import AddReport, Failure
    from answerable.maintenance.statistics import FilterChoices, LibraryStats
    from answerable.maintenance.verification.findings import Finding, VerifyReport
    from answerable.protocols import StoredDocument

Plain = dict[str, Any]

_ADDED = ("added", "changed", "moved", "unchanged", "removed", "kept", "chunks")
_ESTIMATED = ("tokens", "estimated_seconds", "cost")


def answer_json(found: Answer) -> Plain:
    """Return an answer as JSON, with its citations; a model's answer also with its checks and cost."""
    names = (
        "question",
        "answered",
        "verdict",
        "text",
        "reason",
        "confidence",
        "language",
        "citations",
        "timings",
        "why",
    )
    written = ("model", "checks", "usage", "problem", "problem_code") if found.model else ()
    computed = ("figure",) if found.figure else ()
    narrowing = narrowing_json(found.narrowing)
    shown = _pick(found, *names, *computed, *written)
    return {**shown, "narrowing": narrowing, **unavailable_json(found.unavailable, found.waiting)}


def unavailable_json(found: Mapping[str, str], waiting: int = 0) -> Plain:
    """Return JSON members for what couldn't be searched: libraries, and passages by meaning; {} for nothing."""
    listed = [{"library": library, "reason": reason} for library, reason in found.items()]
    return {**({"unavailable": listed} if listed else {}), **({"waiting": waiting} if waiting else {})}


def added_json(report: AddReport, dry_run: bool) -> Plain:
    """Return the report of adding as JSON; for a dry run, with the estimated cost of embedding."""
    return {
        **_pick(report, *_ADDED, *(_ESTIMATED if dry_run else ())),
        "skipped": dict(sorted(report.skipped.items())),
        "passed_over": [_pick(each, "source", "reason") for each in report.passed_over],
        "failed": _failures(report.failures),
        "partly": [{"source": source, "left_out": _plain(found)} for source, found in report.partly.items()],
        "seconds": report.seconds,
    }


def _failures(found: Sequence[Failure]) -> list[dict[str, str]]:
    return [{"source": each.source, "code": error_code(type(each.error)), "error": str(each.error)} for each in found]


def origin_json(origin: Origin) -> Plain:
    """Return a followed folder, file or site as JSON; `visited` is the time of its last sync."""
    return {"origin": origin.name, **_pick(origin, "options", "sources", "documents"), "visited": _plain(origin.seen)}


def verification_json(report: VerifyReport) -> Plain:
    """Return the result of a verification as JSON."""
    checked = {"documents": report.documents, "passages": report.chunks, "sources": report.sources}
    return {
        "clean": report.is_clean,
        "checked": {**checked, "embedded": report.embedded},
        "findings": [_finding_json(finding) for finding in report.findings],
        "repaired": [_finding_json(finding) for finding in report.repaired],
        "unerased": report.unerased,
        "notes": report.notes,
        "seconds": report.seconds,
    }


def _finding_json(finding: Finding) -> Plain:
    from answerable.maintenance.verification.findings import Repair

    return {
        "kind": str(finding.kind),
        "name": finding.name,
        "detail": finding.detail,
        "document": finding.document_id or None,
        "repair": None if finding.repair is Repair.NOTHING else finding.repair.name.lower(),
    }


def described_json(found: Document) -> Plain:
    """Return what a document is as JSON, and what of its file wasn't read, without its text."""
    return {"document_id": found.id, **_pick(found, "source", "title", "type", "language", "left_out")}


def document_json(found: Document, chunks: Sequence[Chunk]) -> Plain:
    """Return a document as JSON, with its text and the spans of its chunks; a chat also with statistics."""
    statistics = statistics_json(found)
    return {
        **described_json(found),
        "metadata": dict(found.metadata),
        **({"statistics": statistics} if statistics else {}),
        "chunks": [{**_pick(chunk, "start", "end"), "location": str(chunk.location)} for chunk in chunks],
        "content": found.content,
    }


def statistics_json(found: Document) -> Plain | None:
    """Return the statistics of a chat as JSON; None for other documents."""
    from answerable.tables.entries import chat_statistics

    statistics = chat_statistics(found)
    return _pick(statistics, *(field.name for field in fields(statistics))) if statistics else None


def part_json(part: Part) -> Plain:
    """Return a part of a document (page, section, message, …) as JSON, without its empty fields."""
    names = ("page", "headings", "anchor", "time", "sender", "body", "symbol", "place", "seconds", "box", "cells")
    known = _pick(part, *names)
    named = {name: value for name, value in known.items() if value not in (None, [])}
    return {**_pick(part, "kind", "start", "end"), **named}


def chunk_json(chunk: Chunk) -> Plain:
    """Return a passage as JSON, with its number in the document and its location."""
    return {"number": chunk.sequence, **_pick(chunk, "start", "end", "content"), **_place(chunk.location)}


def narrowing_json(found: Narrowing | None) -> Plain | None:
    """Return the filter taken from a question as JSON, or None."""
    if found is None:
        return None
    periods = [
        {
            "since": None if start == datetime.min else start.isoformat(),
            "before": None if end == datetime.max else end.isoformat(),
        }
        for start, end in found.periods
    ]
    return {**_pick(found, "senders", "applied"), "periods": periods}


def citation_json(citation: Citation) -> Plain:
    """Return a citation as JSON."""
    names = ("quote", "source", "title", "type", "document_id", "start", "end", "link", "web_address", "answer")
    return {**_pick(citation, *names, "other_places"), **_of(citation.library), **_place(citation.location)}


def _of(library: str) -> Plain:
    """Return the field that names the library, if several are searched; otherwise {}."""
    return {"library": library} if library else {}


def result_json(result: RetrievalResult) -> Plain:
    """Return a search result as JSON: a passage with its score and location."""
    return {
        **_pick(result, "score", "other_places"),
        **_pick(result.document, "source", "title", "type"),
        "document_id": result.document.id,
        **_of(result.document.library),
        **_pick(result.chunk, "content", "start", "end"),
        **_place(result.chunk.location),
    }


def nearest_json(question: str, language: str, result: RetrievalResult) -> Plain:
    """Return as JSON why a passage doesn't answer: its sentence nearest to the question, and the words it lacks."""
    from answerable.answering.sentences import nearest

    found = nearest(question, language, result)
    return {
        **_pick(found, "text", "start", "end", "present", "missing"),
        "language": result.document.language,
        **_place(found.location),
    }


def choices_json(found: FilterChoices) -> Plain:
    """Return the values to filter a library by, as JSON."""
    return {**_pick(found, "types", "languages", "first_day", "last_day"), "people": list(found.people)}


def stored_json(document: StoredDocument) -> Plain:
    """Return a stored document as JSON."""
    names = ("source", "title", "type", "language", "chunks", "characters")
    sent = {"date": day} if (day := day_sent(document)) else {}
    known = _pick(document, *(name for name in ("added", "left_out") if getattr(document, name)))
    return {"document_id": document.id, **_pick(document, *names), **sent, **known, **_of(document.library)}


def stats_json(found: LibraryStats) -> Plain:
    """Return library statistics as JSON."""
    names = ("documents", "chunks", "characters", "languages", "types")
    return {**_pick(found, *names), "embedder": str(found.fingerprint) if found.fingerprint else None}


def _place(location: Location) -> Plain:
    """Return a location as JSON: a text for people, and its known parts for programs."""
    names = ("lines", "pages", "headings", "anchor", "times", "senders", "symbol", "place", "seconds")
    known = {name: value for name, value in _pick(location, *names).items() if value}
    unit = {} if location.unit is PartKind.PAGE else _pick(location, "unit")
    return {"location": str(location), **known, **unit}


def _pick(found: Any, *names: str) -> Plain:
    return {name: _plain(getattr(found, name)) for name in names}


def _plain(value: Any) -> Any:
    """Return the value of a field as a JSON value."""
    if isinstance(value, Citation):
        return citation_json(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value):
        return _pick(value, *(field.name for field in fields(value)))
    if isinstance(value, Mapping):
        return {_plain(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value
