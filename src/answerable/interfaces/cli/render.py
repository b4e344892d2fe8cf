"""Print answers, places and passages, for several commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest

from answerable.answering.citations import link
from answerable.answering.nearest import nearest
from answerable.datatypes import Answer, Citation, Document, Location, Narrowing, Reason, RetrievalResult
from answerable.interfaces.cli import remarks
from answerable.interfaces.cli.printing import linked, one_line, print_address, print_error, print_json, print_text
from answerable.interfaces.plain import answer_json
from answerable.text.markdown_marks import without_marks
from answerable.text.shown_names import shown_name

LONGEST_QUOTE = 200
PLACES = 20
"""How many places are printed below an answer; a computed one may have hundreds."""

_NEAREST = 5
_WORD = re.compile(r"\w{4,}")


def print_answer(found: Answer, as_json: bool, verbose: bool = False, shown_by: str = "-v") -> None:
    """Print an answer with its citations, or the refusal with what was searched, and if `verbose` what was nearest.

    `shown_by` is what shows the nearest passages otherwise.
    """
    if as_json:
        print_json(answer_json(found))
        return
    if found.problem:
        print_error(found.problem if found.checks else f"{found.problem} Here are quotes instead.")
    print_narrowing(found.narrowing, found.language)
    print_unavailable(found.unavailable, found.language)
    is_own = found.reason is Reason.OWN_WORDS
    print_text(*(_marked(found) if found.answered else [(found.text, "dim" if is_own else "yellow")]))
    places: dict[tuple[str, tuple[tuple[str, str], ...]], list[int]] = {}
    for number, citation in enumerate(found.citations, 1):
        place = place_of(citation, citation.location, found.language)
        places.setdefault((place, addresses_of(citation, found.language)), []).append(number)
    if places:
        print_text("")
    is_written = bool(found.checks)
    for (place, addresses), numbers in islice(places.items(), PLACES):
        marks = "".join(f"[{number}]" for number in numbers)
        elsewhere = elsewhere_of(max(found.citations[number - 1].other_places for number in numbers), found.language)
        print_text((f"{marks} ", "bold cyan"), (place, linked("", found.citations[numbers[0] - 1].link)), elsewhere)
        for number in numbers if is_written else ():
            print_text((f"    “{_shortened(quote_of(found, found.citations[number - 1]))}”", "dim"))
        for shown, address in addresses:
            print_address(shown, address)
    if len(places) > PLACES:
        print_text((remarks.more_places(len(places) - PLACES, found.language), "dim"))
    if found.reason is Reason.OWN_WORDS:
        print_text((f"({remarks.why(found.reason, found.language)})", "dim"))
    elif remark := remarks.unsupported(found):
        print_text((f"({remark})", "dim"))
    if not found.answered and found.reason is not Reason.OWN_WORDS and found.results:
        print_text((f"({remarks.why_refused(found, '' if verbose else shown_by)})", "dim"))
        if verbose:
            print_text("")
            print_nearest(found)


def print_nearest(found: Answer) -> None:
    """Print the passages nearest to a refused question, each by its nearest sentence, and why they don't do."""
    print_text((remarks.nearest(found), "dim"))
    results = found.results[:_NEAREST]
    texts = [nearest(found.question, found.language, result).text for result in results]
    print_passages(results, texts=texts, language=found.language)


def print_passages(
    results: Sequence[RetrievalResult],
    longest: int = LONGEST_QUOTE,
    texts: Sequence[str] = (),
    language: str = "en",
) -> None:
    """Print passages with their places and scores, each by its beginning or by one of `texts`."""
    for number, (result, text) in enumerate(zip_longest(results, texts), 1):
        if number > 1:
            print_text("")
        document, chunk = result.document, result.chunk
        place = place_of(document, chunk.location, language)
        address = link(document, chunk.location, chunk.content)
        elsewhere = elsewhere_of(result.other_places, language)
        score = (f"  {result.score:.3f}", "dim")
        print_text((f"{number}. ", "bold cyan"), (place, linked("", address)), elsewhere, score)
        if "://" in document.source:
            print_address(one_line(document.source))
        text = one_line(text or without_marks(document, chunk.start, chunk.end))
        print_text(text if len(text) <= longest else f"{text[:longest]}…")


def quote_of(found: Answer, citation: Citation) -> str:
    """Return a quote as it is shown: without the marks of Markdown if its document is at hand."""
    document = _documents(found).get(citation.document_id)
    return without_marks(document, citation.start, citation.end) if document else citation.quote


def _documents(found: Answer) -> dict[str, Document]:
    return {result.document.id: result.document for result in found.results}


def addresses_of(citation: Citation, language: str) -> tuple[tuple[str, str], ...]:
    """Return what is printed below a place, with where it leads: the link and, of a saved page, its old address."""
    web = citation.web_address
    is_elsewhere = web and not citation.link.startswith(web.partition("#")[0])
    saved = [(remarks.saved_from(web, language), web)] if is_elsewhere else []
    return tuple(([(citation.link, citation.link)] if citation.link else []) + saved)


def _shortened(quote: str) -> str:
    """Return the beginning of a quote, on one line."""
    line = one_line(quote)
    return line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1].rstrip()}…"


def _marked(found: Answer) -> Iterator[tuple[str, str]]:
    """Yield the text of an answer in (text, style) pairs, with the words that answer in bold."""
    done = 0
    documents = _documents(found)
    for citation in found.citations:
        document = documents.get(citation.document_id)
        if citation.answer is None or document is None:
            continue
        first, _ = citation.answer
        # Quotes are on one line in the text.
        quote, words = (
            " ".join(without_marks(document, *span).split())
            for span in ((citation.start, citation.end), citation.answer)
        )
        before = len(" ".join(f"{without_marks(document, citation.start, first)}|".split())) - 1
        start = found.text.find(quote, done) + before
        if start >= done + before and found.text.startswith(words, start):
            yield found.text[done:start], ""
            yield words, "bold"
            done = start + len(words)
    yield found.text[done:], ""


def print_unavailable(found: Mapping[str, str], language: str = "en") -> None:
    """Print which libraries couldn't be asked, and why."""
    for library, reason in found.items():
        print_text((one_line(remarks.unavailable(library, reason, language)), "yellow"))


def print_narrowing(found: Narrowing | None, language: str = "en") -> None:
    """Print the filter taken from a question, if any."""
    if found:
        print_text((f"({remarks.narrowed(found, language)})", "dim"))


def place_of(found: Citation | Document, location: Location, language: str = "en") -> str:
    """Return one line that names a source, as people call it, and a place in it.

    Where several libraries are asked, the source's comes first.
    """
    place = _place(shown_name(found), location, language)
    return f"{one_line(found.library)}: {place}" if found.library else place


def elsewhere_of(other_places: int, language: str = "en") -> tuple[str, str]:
    """Return what is printed after a place if other places have the same text, and its style."""
    said = remarks.other_places(other_places, language)
    return (f", {said}" if said else ""), "dim"


def _place(name: str, location: Location, language: str) -> str:
    place = remarks.place(location, language)
    if location.headings[:1] == (name,) and place.startswith(name):
        return one_line(place)
    return one_line(", ".join(step for step in (name, place) if step))
