"""Print errors, remarks, answers and places, for several commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from answerable.datatypes import Answer, Citation, Location, Narrowing, Reason
from answerable.interfaces.cli.printing import one_line, print_json, print_text
from answerable.interfaces.plain import answer_json

LONGEST_QUOTE = 200
PLACES = 20
"""How many places are printed below an answer; a computed one may have hundreds."""


def print_error(message: str) -> None:
    """Print one line on the error stream, capitalized unless it starts with a name."""
    line = one_line(message)
    if re.match(r"[a-z]+ ", line):
        line = line[0].upper() + line[1:]
    print_text(("error: ", "bold red"), line, stderr=True)


def print_progress(message: str) -> None:
    """Print a line on the error stream about what the command is doing now."""
    print_text((one_line(message), "dim"), stderr=True)


def print_answer(found: Answer, as_json: bool) -> None:
    """Print an answer with its citations, or the refusal with what was searched."""
    if as_json:
        print_json(answer_json(found))
        return
    if found.problem:
        print_error(found.problem if found.checks else f"{found.problem} Here are quotes instead.")
    print_narrowing(found.narrowing)
    is_own = found.reason is Reason.OWN_WORDS
    print_text(*(_marked(found) if found.answered else [(found.text, "dim" if is_own else "yellow")]))
    places: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for number, citation in enumerate(found.citations, 1):
        place = place_of(citation.source, citation.title, citation.location)
        places.setdefault((place, addresses_of(citation)), []).append(number)
    if places:
        print_text("")
    is_written = bool(found.checks) and found.reason is Reason.ANSWERED
    for (place, addresses), numbers in islice(places.items(), PLACES):
        marks = "".join(f"[{number}]" for number in numbers)
        print_text((f"{marks} ", "bold cyan"), place)
        for number in numbers if is_written else ():
            print_text((f"    “{_shortened(found.citations[number - 1].quote)}”", "dim"))
        for address in addresses:
            print_text((f"    {address}", "dim"), wrap=False)
    if len(places) > PLACES:
        print_text((f"… and {len(places) - PLACES} more places: --json shows them", "dim"))
    if found.reason in (Reason.QUOTED, Reason.OWN_WORDS):
        print_text((f"({found.reason})", "dim"))
    elif found.answered and (remark := _remark_on_unsupported(found)):
        print_text((f"({remark})", "dim"))
    elif not found.answered and found.results:
        print_text((f"({found.reason}; checked {len(found.results)} passages)", "dim"))


def addresses_of(citation: Citation) -> tuple[str, ...]:
    """Return what is printed below a place: the link and, of a saved page, the address that it was saved from."""
    web = citation.web_address
    beside = f"saved from {web}" if web and not citation.link.startswith(web.partition("#")[0]) else ""
    return tuple(filter(None, (citation.link, beside)))


def _remark_on_unsupported(found: Answer) -> str:
    """Say how many of the model's sentences the passages don't support, and what became of them; "" if none."""
    unsupported = [check.text for check in found.checks if check.support == "unsupported"]
    if not unsupported:
        return ""
    what, them = ("1 sentence", "it") if len(unsupported) == 1 else (f"{len(unsupported)} sentences", "them")
    is_kept = all(text in found.text for text in unsupported)
    return f"{what} of the model {'marked' if is_kept else 'left out'}: the passages don't support {them}"


def _shortened(quote: str) -> str:
    """Return the beginning of a quote, on one line."""
    line = one_line(quote)
    return line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1].rstrip()}…"


def _marked(found: Answer) -> Iterator[tuple[str, str]]:
    """Yield the text of an answer in (text, style) pairs, with the words that answer in bold."""
    done = 0
    for citation in found.citations:
        if citation.answer is None:
            continue
        first, last = (place - citation.start for place in citation.answer)
        # Quotes are on one line in the text.
        quote, words = (" ".join(text.split()) for text in (citation.quote, citation.quote[first:last]))
        before = len(" ".join(f"{citation.quote[:first]}|".split())) - 1
        start = found.text.find(quote, done) + before
        if start >= done + before and found.text.startswith(words, start):
            yield found.text[done:start], ""
            yield words, "bold"
            done = start + len(words)
    yield found.text[done:], ""


def print_narrowing(found: Narrowing | None) -> None:
    """Print the filter taken from a question, if any."""
    if found and found.applied:
        print_text((f"(messages only: {found})", "dim"))
    elif found:
        print_text((f"(nothing relevant under: {found}; searched everything)", "dim"))


def place_of(source: str, title: str, location: Location) -> str:
    """Return one line that names a source (by a file's name or a page's title) and a place in it."""
    is_address = "://" in source or not source
    name = title or source or "untitled" if is_address else source.rsplit("/", 1)[-1]
    place = str(location)
    if location.headings[:1] == (name,) and place.startswith(name):
        return one_line(place)
    return one_line(", ".join(step for step in (name, place) if step))
