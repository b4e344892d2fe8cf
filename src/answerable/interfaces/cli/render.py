"""What the commands print: text for people, one JSON object for programs."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from answerable.datatypes import Answer, Chunk, Document, Location, Narrowing, RetrievalResult, Usage
from answerable.interfaces.cli.chat_statistics import print_statistics
from answerable.interfaces.cli.printing import (
    clean,
    console,
    one_line,
    print_json,
    print_rows,
    print_text,
)
from answerable.interfaces.plain import answer_json, document_json, narrowing_json, result_json, stored_json
from answerable.protocols import StoredDocument
from answerable.text.chats import chat_statistics

if TYPE_CHECKING:
    # Loaded where something is printed: `--help` and `--json` do without.
    from rich.table import Table

    from answerable.evaluation.calibration import Calibration

SNIPPET = 300


def error(message: str) -> None:
    """One line on the error stream, beginning with a capital unless it begins with a name."""
    line = one_line(message)
    if re.match(r"[a-z]+ ", line):
        line = line[0].upper() + line[1:]
    print_text(("error: ", "bold red"), line, stderr=True)


def answer(found: Answer, as_json: bool) -> None:
    """An answer with its citations, or the refusal with what was looked at."""
    if as_json:
        print_json(answer_json(found))
        return
    if found.problem:
        error(found.problem if found.checks else f"{found.problem} Here are quotes instead.")
    narrowed(found.narrowing)
    print_text((found.text, "" if found.answered else "yellow"))
    places: dict[tuple[str, str], list[int]] = {}
    for number, citation in enumerate(found.citations, 1):
        place = place_of(citation.source, citation.title, citation.location)
        places.setdefault((place, citation.link), []).append(number)
    if places:
        print_text("")
    for (place, link), numbers in places.items():
        marks = "".join(f"[{number}]" for number in numbers)
        print_text((f"{marks} ", "bold cyan"), place)
        if link:
            print_text((f"    {link}", "dim"), wrap=False)
    left_out = sum(check.support == "unsupported" for check in found.checks)
    if left_out and found.answered:
        sentences = "1 sentence" if left_out == 1 else f"{left_out} sentences"
        print_text((f"({sentences} of the model left out or marked: not in the passages)", "dim"))
    if not found.answered and found.results:
        print_text((f"({found.reason}; looked at {len(found.results)} passages)", "dim"))


def narrowed(found: Narrowing | None) -> None:
    """The filter that a question asked for, where it did."""
    if found and found.applied:
        print_text((f"(messages only: {found})", "dim"))
    elif found:
        print_text((f"(nothing on it under: {found}; searched everything)", "dim"))


def results(found: Sequence[RetrievalResult], narrowing: Narrowing | None, as_json: bool) -> None:
    """Passages with their scores and places."""
    if as_json:
        print_json({"narrowing": narrowing_json(narrowing), "results": [result_json(result) for result in found]})
        return
    narrowed(narrowing)
    if not found:
        print_text(("nothing found", "yellow"))
    for number, result in enumerate(found, 1):
        if number > 1:
            print_text("")
        place = place_of(result.document.source, result.document.title, result.chunk.location)
        print_text((f"{number}. ", "bold cyan"), place, (f"  {result.score:.3f}", "dim"))
        if _is_address(result.document.source):
            print_text((f"    {one_line(result.document.source)}", "dim"), wrap=False)
        text = one_line(result.chunk.content)
        print_text(text if len(text) <= SNIPPET else f"{text[:SNIPPET]}…")


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
        print_json({"wrong_answers": target, "sets": rows, "gate": found.gate.to_json(), "kept_at": kept_at})
        return
    for one in found.figures:
        print_text((one.corpus, "bold"), f": {one.questions} questions it wasn't fitted on")
        print_text(f"  area under the curve, document removed: {one.area:.3f} (plain cosine: {one.cosine_area:.3f})")
        for kind, share in one.refused.items():
            print_text(f"  refused, {kind.value}: {100 * share:.1f} %")
    print_text(f"Refusals above are at the target of {target:g} % wrong answers (the setting wrong_answers).")
    if kept_at:
        print_text(f"Kept in {kept_at}. Delete that file to go back to what comes with the package.")


def searching(searched: str) -> None:
    """What a question is taken for, where that isn't what was typed."""
    print_text((f"searching: {one_line(searched)}", "dim"))


def sources(found: Answer) -> None:
    """The quotes of an answer with their places and links."""
    if not found.citations:
        print_text(("the last answer quotes nothing", "yellow"))
    for number, citation in enumerate(found.citations, 1):
        print_text((f"[{number}] ", "bold cyan"), place_of(citation.source, citation.title, citation.location))
        print_text(f"    “{one_line(citation.quote)}”")
        if citation.link:
            print_text((f"    {citation.link}", "dim"), wrap=False)


def why(found: Answer, conditions: str) -> None:
    """What an answer rests on: the words and the filter, the passages with their ranks, the check, cost and time."""
    timings = ", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in found.timings.items())
    rows = {
        "searched": found.question,
        "filter": conditions or "none",
        "narrowed to": _narrowed_to(found.narrowing),
        "outcome": str(found.reason),
        "confidence": f"{found.confidence:.2f}",
        "model": found.model,
        "tokens": _spent(found.usage) if found.usage else "",
        "problem": found.problem,
        "timings": timings,
        "passages": str(len(found.results)),
    }
    print_rows((name, value) for name, value in rows.items() if value)
    for number, result in enumerate(found.results, 1):
        place = place_of(result.document.source, result.document.title, result.chunk.location)
        ranks = ", ".join(
            f"{name} {rank or '-'}" for name, rank in (("meaning", result.meaning_rank), ("words", result.keyword_rank))
        )
        print_text((f"{number:>3}. ", "bold cyan"), place, (f"  {result.score:.3f} ({ranks})", "dim"))
    for check in found.checks:
        print_text(
            (f"{check.support} ({check.how}): " if check.how else f"{check.support}: ", "bold"), one_line(check.text)
        )


def _narrowed_to(found: Narrowing | None) -> str:
    if found is None:
        return ""
    return str(found) if found.applied else f"{found} (nothing on it there: searched everything)"


def _spent(usage: Usage) -> str:
    cost = "" if usage.cost is None else f", ${usage.cost:.5f}"
    return f"{usage.input_tokens:,} read, {usage.output_tokens:,} written{cost}"


def working(message: str) -> None:
    """A line on the error stream on what is under way."""
    print_text((one_line(message), "dim"), stderr=True)


def note(text: str, is_warning: bool = False) -> None:
    """A remark of the command itself."""
    print_text((text, "yellow" if is_warning else ""))


def documents(found: Sequence[StoredDocument], as_json: bool) -> None:
    """A table of documents, or a few lines for each where a table would be too wide."""
    if as_json:
        print_json({"documents": [stored_json(document) for document in found]})
        return
    if not found:
        print_text(("The library is empty. Fill it with: answerable add PATH", "yellow"))
        return
    from rich.measure import Measurement

    screen = console()
    table = _documents_table(found)
    # As wide as it would like to be, not as wide as it can be here.
    wanted = Measurement.get(screen, screen.options.update(max_width=100_000), table).maximum
    if wanted <= screen.width:
        screen.print(table)
        return
    for document in found:
        print_text((document.id[:8], "cyan"), "  ", one_line(document.title or document.source))
        about = (document.type, document.language, f"{document.chunks} passages")
        print_text(f"    {', '.join(filter(None, about))}")
        print_text((f"    {one_line(document.source)}", "dim"), wrap=False)


def document(found: Document, chunks: Sequence[Chunk], as_json: bool) -> None:
    """A document with its text; a chat with its statistics."""
    if as_json:
        print_json(document_json(found, chunks))
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
    print_rows((name, value) for name, value in rows.items() if value)
    print_text("")
    if statistics := chat_statistics(found):
        print_statistics(statistics)
        print_text("")
    sys.stdout.write(clean(found.content.replace("\f", "\n\n").rstrip("\n")) + "\n")
    sys.stdout.flush()


def removed(found: Document, as_json: bool) -> None:
    """Which document is gone."""
    if as_json:
        print_json({"removed": found.id})
    else:
        print_text(f"removed {found.id[:8]}  ", one_line(found.source or found.title), wrap=False)


def diagnosis(found: Mapping[str, Any], as_json: bool) -> None:
    """What `doctor` saw, a line each."""
    if as_json:
        print_json(found)
        return
    print_rows((name.replace("_", " "), str(value)) for name, value in found.items() if value)


def _documents_table(found: Sequence[StoredDocument]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("id", "type", "lang", "passages", "title", "source"):
        justify = "right" if heading == "passages" else "left"
        table.add_column(heading, no_wrap=True, justify=justify)  # type: ignore[arg-type]
    for document in found:
        cells = (document.type, document.language, str(document.chunks), document.title, document.source)
        table.add_row(Text(document.id[:8], "cyan"), *(Text(one_line(cell)) for cell in cells))
    return table


def place_of(source: str, title: str, location: Location) -> str:
    """Where something stands, on one line: what people call its source, and the place there."""
    name, place = _name(source, title), str(location)
    if location.headings[:1] == (name,) and place.startswith(name):
        return one_line(place)
    return one_line(", ".join(step for step in (name, place) if step))


def _name(source: str, title: str) -> str:
    """What people call a source: its file's name, or its title, since an address has a line of its own."""
    if _is_address(source) or not source:
        return title or source or "untitled"
    return source.rsplit("/", 1)[-1]


def _is_address(source: str) -> bool:
    return "://" in source
