"""What the commands print: text for people, one JSON object for programs.

Whatever comes from a document is data: nothing of it is taken as markup, and no control character of it reaches the
terminal.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from answerable.datatypes import Answer, Chunk, Citation, Document, Location, RetrievalResult, Usage
from answerable.ingestion import AddReport
from answerable.protocols import StoredDocument

if TYPE_CHECKING:
    # Loaded where something is printed: `--help` and `--json` do without.
    from rich.console import Console
    from rich.table import Table

    from answerable.evaluation.calibration import Calibration

SNIPPET = 300

# Tabs and line ends stay; marks that turn the direction of what follows them vanish.
_CONTROLS = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {9, 10}, "\N{REPLACEMENT CHARACTER}")
_DIRECTIONS = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)))
_HARMLESS: dict[int, str | None] = {**_CONTROLS, **_DIRECTIONS}
# JSON itself escapes the others.
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """The text without anything that a terminal would obey."""
    return text.translate(_HARMLESS)


def error(message: str) -> None:
    """One line on the error stream, beginning with a capital unless it begins with a name."""
    line = _one_line(message)
    if re.match(r"[a-z]+ ", line):
        line = line[0].upper() + line[1:]
    _print(("error: ", "bold red"), line, stderr=True)


def added(report: AddReport, dry_run: bool, as_json: bool) -> None:
    """The summary of an `add`, then what was passed over and what failed."""
    if as_json:
        failures = [{"source": failure.source, "error": str(failure.error)} for failure in report.failures]
        counts = {name: getattr(report, name) for name in ("added", "changed", "unchanged", "chunks")}
        estimate = {"tokens": report.tokens, "estimated_seconds": report.estimated_seconds} if dry_run else {}
        skipped = dict(sorted(report.skipped.items()))
        _print_json({**counts, **estimate, "skipped": skipped, "failed": failures, "seconds": report.seconds})
        return
    counts = {
        "would change" if dry_run else "changed": report.changed,
        "unchanged": report.unchanged,
        "passages": report.chunks,
        "tokens": report.tokens,
        "failed": len(report.failures),
    }
    rows = [("would add" if dry_run else "added", f"{report.added:,}")]
    rows += [(name, f"{count:,}") for name, count in counts.items() if count]
    width = max(len(number) for _, number in rows)
    for name, number in rows:
        _print(f"{name:<12}  {number:>{width}}")
    if report.tokens:
        _print(f"It would take {_duration(report.estimated_seconds)} to embed them, less what the cache has.")
    if report.skipped:
        _print("skipped: ", ", ".join(f"{count} {reason}" for reason, count in sorted(report.skipped.items())))
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
                **(_written(found) if found.model else {}),
            }
        )
        return
    if found.problem:
        error(f"{found.problem} Here are quotes instead.")
    _print((found.text, "" if found.answered else "yellow"))
    places: dict[tuple[str, str], list[int]] = {}
    for number, citation in enumerate(found.citations, 1):
        place = _where(citation.source, citation.title, citation.location)
        places.setdefault((place, citation.link), []).append(number)
    if places:
        _print("")
    for (place, link), numbers in places.items():
        marks = "".join(f"[{number}]" for number in numbers)
        _print((f"{marks} ", "bold cyan"), place)
        if link:
            _print((f"    {link}", "dim"), wrap=False)
    left_out = sum(check.support == "unsupported" for check in found.checks)
    if left_out and found.answered:
        sentences = "1 sentence" if left_out == 1 else f"{left_out} sentences"
        _print((f"({sentences} of the model left out or marked: not in the passages)", "dim"))
    if not found.answered and found.results:
        _print((f"({found.reason}; looked at {len(found.results)} passages)", "dim"))


def results(found: Sequence[RetrievalResult], as_json: bool) -> None:
    """Passages with their scores and places."""
    if as_json:
        _print_json({"results": [_result(result) for result in found]})
        return
    if not found:
        _print(("nothing found", "yellow"))
    for number, result in enumerate(found, 1):
        if number > 1:
            _print("")
        place = _where(result.document.source, result.document.title, result.chunk.location)
        _print((f"{number}. ", "bold cyan"), place, (f"  {result.score:.3f}", "dim"))
        text = _one_line(result.chunk.content)
        _print(text if len(text) <= SNIPPET else f"{text[:SNIPPET]}…")


def calibration(found: Calibration, kept_at: str, as_json: bool) -> None:
    """What a fitted gate does to questions that it wasn't fitted on, and where it is kept."""
    target = found.gate.wrong_answers
    if as_json:
        rows = [
            {
                "set": one.corpus,
                "questions": one.questions,
                "area_under_curve": one.area,
                "area_under_curve_of_plain_cosine": one.cosine_area,
                "refused": {kind.name.lower(): share for kind, share in one.refused.items()},
            }
            for one in found.figures
        ]
        _print_json({"wrong_answers": target, "sets": rows, "gate": found.gate.to_json(), "kept_at": kept_at})
        return
    for one in found.figures:
        _print((one.corpus, "bold"), f": {one.questions} questions it wasn't fitted on")
        _print(f"  area under the curve, document removed: {one.area:.3f} (plain cosine: {one.cosine_area:.3f})")
        for kind, share in one.refused.items():
            _print(f"  refused, {kind.value}: {100 * share:.1f} %")
    _print(f"Refusals above are at the target of {target:g} % wrong answers (the setting wrong_answers).")
    if kept_at:
        _print(f"Kept in {kept_at}. Delete that file to go back to what comes with the package.")


def searching(searched: str) -> None:
    """What a question is taken for, where that isn't what was typed."""
    _print((f"searching: {_one_line(searched)}", "dim"))


def sources(found: Answer) -> None:
    """The quotes of an answer with their places and links."""
    if not found.citations:
        _print(("the last answer quotes nothing", "yellow"))
    for number, citation in enumerate(found.citations, 1):
        _print((f"[{number}] ", "bold cyan"), _where(citation.source, citation.title, citation.location))
        _print(f"    “{_one_line(citation.quote)}”")
        if citation.link:
            _print((f"    {citation.link}", "dim"), wrap=False)


def why(found: Answer, conditions: str) -> None:
    """What an answer rests on: the words and the filter, the passages with their ranks, the check, cost and time."""
    timings = ", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in found.timings.items())
    rows = {
        "searched": found.question,
        "filter": conditions or "none",
        "outcome": str(found.reason),
        "confidence": f"{found.confidence:.2f}",
        "model": found.model,
        "tokens": _spent(found.usage) if found.usage else "",
        "problem": found.problem,
        "timings": timings,
        "passages": str(len(found.results)),
    }
    _print_rows((name, value) for name, value in rows.items() if value)
    for number, result in enumerate(found.results, 1):
        place = _where(result.document.source, result.document.title, result.chunk.location)
        ranks = ", ".join(
            f"{name} {rank or '-'}" for name, rank in (("meaning", result.meaning_rank), ("words", result.keyword_rank))
        )
        _print((f"{number:>3}. ", "bold cyan"), place, (f"  {result.score:.3f} ({ranks})", "dim"))
    for check in found.checks:
        _print(
            (f"{check.support} ({check.how}): " if check.how else f"{check.support}: ", "bold"), _one_line(check.text)
        )


def _spent(usage: Usage) -> str:
    cost = "" if usage.cost is None else f", ${usage.cost:.5f}"
    return f"{usage.input_tokens:,} read, {usage.output_tokens:,} written{cost}"


def _written(found: Answer) -> dict[str, Any]:
    """What programs are told of an answer that a model wrote."""
    return {
        "model": found.model,
        "draft": found.draft,
        "checks": [{"text": check.text, "support": check.support, "how": check.how} for check in found.checks],
        "usage": asdict(found.usage) if found.usage else None,
        "problem": found.problem,
    }


def working(message: str) -> None:
    """A line on the error stream on what is under way."""
    _print((_one_line(message), "dim"), stderr=True)


def note(text: str, is_warning: bool = False) -> None:
    """A remark of the command itself."""
    _print((text, "yellow" if is_warning else ""))


def documents(found: Sequence[StoredDocument], as_json: bool) -> None:
    """A table of documents, or a few lines for each where a table would be too wide."""
    if as_json:
        _print_json({"documents": [_stored(document) for document in found]})
        return
    if not found:
        _print(("The library is empty. Fill it with: answerable add PATH", "yellow"))
        return
    from rich.measure import Measurement

    console = _console()
    table = _documents_table(found)
    # As wide as it would like to be, not as wide as it can be here.
    wanted = Measurement.get(console, console.options.update(max_width=100_000), table).maximum
    if wanted <= console.width:
        console.print(table)
        return
    for document in found:
        _print((document.id[:8], "cyan"), "  ", _one_line(document.title or document.source))
        about = (document.type, document.language, f"{document.chunks} passages")
        _print(f"    {', '.join(filter(None, about))}")
        _print((f"    {_one_line(document.source)}", "dim"), wrap=False)


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
    rows = {
        "id": found.id,
        "title": found.title,
        "source": found.source,
        "type": str(found.type),
        "language": found.language,
        "passages": str(len(chunks)),
        "metadata": ", ".join(f"{key}: {value}" for key, value in found.metadata.items()),
    }
    _print_rows((name, value) for name, value in rows.items() if value)
    _print("")
    sys.stdout.write(clean(found.content.replace("\f", "\n\n").rstrip("\n")) + "\n")
    sys.stdout.flush()


def removed(found: Document, as_json: bool) -> None:
    """Which document is gone."""
    if as_json:
        _print_json({"removed": found.id})
    else:
        _print(f"removed {found.id[:8]}  ", _one_line(found.source or found.title))


def diagnosis(found: Mapping[str, Any], as_json: bool) -> None:
    """What `doctor` saw, a line each."""
    if as_json:
        _print_json(found)
        return
    _print_rows((name.replace("_", " "), str(value)) for name, value in found.items() if value)


def _console(stderr: bool = False) -> Console:
    from rich.console import Console

    # A pipe has no width: whatever reads it wants whole lines.
    is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
    return Console(stderr=stderr, highlight=False, width=None if is_terminal else 10_000)


def _print(*pieces: str | tuple[str, str], stderr: bool = False, wrap: bool = True) -> None:
    """A paragraph of pieces, each a text or a text and its style."""
    from rich.text import Text

    styled = ((piece, "") if isinstance(piece, str) else piece for piece in pieces)
    text = Text.assemble(*((clean(piece), style) for piece, style in styled), overflow="fold")
    _console(stderr).print(text, soft_wrap=stderr or not wrap)


def _print_rows(rows: Iterable[tuple[str, str]]) -> None:
    named = list(rows)
    width = max(len(name) for name, _ in named)
    for name, value in named:
        _print((f"{name:<{width}}", "bold"), "  ", _one_line(value), wrap=False)


def _documents_table(found: Sequence[StoredDocument]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("id", "type", "lang", "passages", "title", "source"):
        justify = "right" if heading == "passages" else "left"
        table.add_column(heading, no_wrap=True, justify=justify)  # type: ignore[arg-type]
    for document in found:
        cells = (document.type, document.language, str(document.chunks), document.title, document.source)
        table.add_row(Text(document.id[:8], "cyan"), *(Text(_one_line(cell)) for cell in cells))
    return table


def _print_json(value: Any) -> None:
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    text = json.dumps(value, ensure_ascii=not is_unicode, indent=2, default=str)
    sys.stdout.write(_UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    # A reader that has gone away is noticed here, not when Python ends.
    sys.stdout.flush()


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


def _where(source: str, title: str, location: Location) -> str:
    return _one_line(", ".join(step for step in (_name(source, title), str(location)) if step))


def _name(source: str, title: str) -> str:
    """What people call a source: its file's name, its address, or its title."""
    if "://" in source or not source:
        return source or title or "untitled"
    return source.rsplit("/", 1)[-1]


def _one_line(text: str) -> str:
    return clean(" ".join(text.split()))


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(round(seconds), 1)} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
