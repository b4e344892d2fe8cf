"""Print answers, their explanations, places and passages; and show what a model does and writes meanwhile."""

from __future__ import annotations

import re
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, islice, zip_longest

from answerable.answering.citations import link
from answerable.answering.found import said
from answerable.answering.sentences import nearest
from answerable.datatypes import (
    Answer,
    AnswerEvent,
    Citation,
    Document,
    Location,
    Narrowing,
    Reason,
    RetrievalResult,
    Step,
)
from answerable.formats.locate import shown_name, without_marks
from answerable.interfaces.cli import remarks
from answerable.interfaces.cli.printing import (
    clean,
    linked,
    one_line,
    print_address,
    print_error,
    print_json,
    print_rows,
    print_text,
)
from answerable.interfaces.plain import answer_json
from answerable.interfaces.written import signed_pieces
from answerable.text.languages import question_language

LONGEST_QUOTE = 200  # characters: about two lines of a terminal
PLACES = 20
"""Most places to print below an answer; a computed answer may have hundreds."""

# Styles of the sentences that aren't verified; their signs say the same without colours.
_STYLES = {"check": "yellow", "unsupported": "red"}
# Facts with values that `remarks.word` translates.
_NAMED = ("none", "gate", "verdict")
_NEAREST = 5  # passages: about a screen
_WORD = re.compile(r"\w{4,}")


def print_answer(found: Answer, as_json: bool, verbose: bool = False, shown_by: str = "--why") -> None:
    """Print an answer with its citations, or a refusal with what was searched and, if `verbose`, the nearest passages.

    Otherwise a refusal names `shown_by`, the option that shows the nearest passages.
    """
    if as_json:
        print_json(answer_json(found))
        return
    if found.problem:
        print_error(found.problem if found.checks else f"{found.problem} Here are quotes instead.")
    print_narrowing(found.narrowing, found.language)
    print_unavailable(found.unavailable, found.language, found.waiting)
    is_own, is_written = found.reason is Reason.OWN_WORDS, bool(found.checks)
    plain = "" if found.answered else "dim" if is_own else "yellow"
    pieces = ((text, _STYLES.get(mark, plain)) for text, mark in signed_pieces(found))
    print_text(*(pieces if is_written or not found.answered else _emphasised(found)))
    places: dict[tuple[str, tuple[tuple[str, str], ...]], list[int]] = {}
    for number, citation in enumerate(found.citations, 1):
        place = place_of(citation, citation.location, found.language)
        places.setdefault((place, addresses_of(citation, found.language)), []).append(number)
    if places:
        print_text("")
    for (place, addresses), numbers in islice(places.items(), PLACES):
        marks = "".join(f"[{number}]" for number in numbers)
        elsewhere = elsewhere_of(max(found.citations[number - 1].other_places for number in numbers), found.language)
        print_text((f"{marks} ", "bold cyan"), (place, linked("", found.citations[numbers[0] - 1].link)), elsewhere)
        for number in numbers if is_written else ():
            print_text((f"    “{_shortened(quote_of(found, found.citations[number - 1]))}”", "dim"))
        for shown, address in addresses:
            print_address(shown, address)
    if len(places) > PLACES:
        print_text((remarks.counted_remark("more places", found.language, len(places) - PLACES), "dim"))
    if is_own or found.reason is Reason.PARTLY:
        print_text((f"({remarks.why(found.reason, found.language)})", "dim"))
    if remark := remarks.checked(found):
        print_text((f"({remark})", "dim"))
    if not found.answered and not is_own and found.results:
        print_text((f"({remarks.why_refused(found, '' if verbose else shown_by)})", "dim"))
        if verbose:
            print_text("")
            print_nearest(found)


def print_nearest(found: Answer) -> None:
    """Print why a question is refused, and for each of the nearest passages the sentence nearest to the question."""
    print_refused(found)
    print_text((remarks.remark("nearest", found.language), "dim"))
    results = found.results[:_NEAREST]
    texts = [nearest(found.question, found.language, result).text for result in results]
    print_passages(results, texts=texts, language=found.language)


def print_refused(found: Answer) -> None:
    """Print why the best sentence doesn't answer a refused question; print nothing if there is none."""
    if refused := remarks.refused(found):
        print_text((one_line(refused), "yellow"))


def print_passages(
    results: Sequence[RetrievalResult],
    longest: int = LONGEST_QUOTE,
    texts: Sequence[str] = (),
    language: str = "en",
) -> None:
    """Print passages with their places and scores, each with its beginning or with the text for it in `texts`."""
    for number, (result, text) in enumerate(zip_longest(results, texts), 1):
        if number > 1:
            print_text("")
        document, chunk = result.document, result.chunk
        place = place_of(document, chunk.location, language)
        address = link(document, chunk.location, chunk.content)
        elsewhere = elsewhere_of(result.other_places, language)
        score = (f"  {remarks.score(result.score)}", "dim")
        print_text((f"{number}. ", "bold cyan"), (place, linked("", address)), elsewhere, score)
        if "://" in document.source:
            print_address(one_line(document.source))
        text = one_line(text or without_marks(document, chunk.start, chunk.end))
        print_text(text if len(text) <= longest else f"{text[:longest]}…")


def print_why(found: Answer, where: str = "") -> None:
    """Print the steps of an answer in its language, the passages with their ranks, and the checks of its sentences.

    `where` is the question's filter in words.
    """
    language = found.language
    rows = [(remarks.word("where", language), where)] if where else []
    told: Mapping[str, str | float] = {}
    for step in found.why:
        rows.append((remarks.word(step.name, language).capitalize(), "; ".join(_facts(step, language, told))))
        told = step.chose
    print_rows([*rows, (remarks.word("time", language), f"{found.timings.get('total', 0.0):.2f} s")], wrap=True)
    for number, result in enumerate(found.results, 1):
        ranks = f"{result.meaning_rank or '-'}, {result.keyword_rank or '-'}"
        score = (f"  {remarks.score(result.score)} ({ranks})", "dim")
        place = place_of(result.document, result.chunk.location, language)
        print_text((f"{number:>3}. ", "bold cyan"), place, elsewhere_of(result.other_places, language), score)
    for check in found.checks:
        how = f" ({check.how})" if check.how else ""
        print_text((f"{remarks.word(check.support, language)}{how}: ", "bold"), one_line(check.text))


def _facts(step: Step, language: str, told: Mapping[str, str | float]) -> Iterator[str]:
    """Yield a step's inputs, choices and values, except texts that `told`, the choices of the step before, has too."""
    facts = {**step.given, **step.chose, **step.values}
    if facts.get("message") == facts.get("question"):
        facts.pop("message", None)
    threshold = facts.pop("threshold", None)
    for name, value in facts.items():
        if isinstance(value, str) and told.get(name) == value:
            continue
        text = remarks.score(value) if isinstance(value, float) else str(value)
        if name == "confidence":
            least = f" ({remarks.word('at least', language)} {remarks.percent(float(threshold))})" if threshold else ""
            text = f"{remarks.percent(float(value))}{least}"
        elif name in _NAMED:
            text = ", ".join(remarks.word(each, language) for each in text.split(", "))
        elif name == "by":
            text = remarks.word(f"by {text}", language)
        elif name == "reason":
            text = remarks.why(Reason(text), language)
        label = "score of the search" if step.name == "decide" and name == "score" else name
        yield f"{remarks.word(label, language)}: {text}"


def quote_of(found: Answer, citation: Citation) -> str:
    """Return a quote to print: without Markdown's formatting characters if `found` has its document."""
    document = _documents(found).get(citation.document_id)
    return without_marks(document, citation.start, citation.end) if document else citation.quote


def _documents(found: Answer) -> dict[str, Document]:
    return {result.document.id: result.document for result in found.results}


def addresses_of(citation: Citation, language: str) -> tuple[tuple[str, str], ...]:
    """Return the lines to print below a place, each with its link: the place and, for a saved page, its URL."""
    web = citation.web_address
    is_elsewhere = web and not citation.link.startswith(web.partition("#")[0])
    saved = [(remarks.remark("saved from", language, web=web), web)] if is_elsewhere else []
    return tuple(([(citation.link, citation.link)] if citation.link else []) + saved)


def _shortened(quote: str) -> str:
    """Return the beginning of a quote, on one line."""
    line = one_line(quote)
    return line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1].rstrip()}…"


def _emphasised(found: Answer) -> Iterator[tuple[str, str]]:
    """Yield the text of quotes in (text, style) pairs, with the answering words in bold."""
    done = 0
    documents = _documents(found)
    for citation in found.citations:
        document = documents.get(citation.document_id)
        if citation.answer is None or document is None:
            continue
        first, _ = citation.answer
        # The answer's text has quotes on one line.
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


def print_unavailable(found: Mapping[str, str], language: str = "en", waiting: int = 0) -> None:
    """Print which libraries couldn't be searched, and why, and how many passages only by their words."""
    for library, reason in found.items():
        print_text((one_line(remarks.remark("unavailable", language, library=library, reason=reason)), "yellow"))
    if waiting:
        print_text((remarks.remark("waiting", language, count=str(waiting)), "yellow"))


def print_narrowing(found: Narrowing | None, language: str = "en") -> None:
    """Print the filter taken from a question, if any."""
    if found:
        print_text((f"({remarks.narrowed(found, language)})", "dim"))


def place_of(found: Citation | Document, location: Location, language: str = "en") -> str:
    """Return a line with the name of a source, in the form that people use, and a place in it.

    If several libraries are searched, the name of the source's library comes first.
    """
    name, place = shown_name(found), said(location, language)
    if location.headings[:1] != (name,) or not place.startswith(name):
        place = ", ".join(filter(None, (name, place)))
    place = one_line(place)
    return f"{one_line(found.library)}: {place}" if found.library else place


def elsewhere_of(other_places: int, language: str = "en") -> tuple[str, str]:
    """Return the text, and its style, to print after a place if other places have the same text."""
    others = remarks.other_places(other_places, language)
    return (f", {others}" if others else ""), "dim"


def follow(events: Generator[AnswerEvent, None, None], asked: str) -> Answer:
    """Show the events of an answer, and return the answer, which is the last event. Leaving early stops the model."""
    with closing(events):
        for event in events:
            if event.searched and event.searched != asked:
                print_text((f"searching: {one_line(event.searched)}", "dim"))
            if event.answer is not None:
                return event.answer
            if event.step or event.text:
                return _watch(event, events, question_language(asked))
    raise AssertionError("events end with an answer")


def _watch(first: AnswerEvent, events: Generator[AnswerEvent, None, None], language: str) -> Answer:
    """Draw what the model does, its growing text and the places that it cites; return the answer.

    Only a terminal shows them; elsewhere a line says from time to time that the model writes.
    """
    from rich.console import Console
    from rich.text import Text

    from answerable.interfaces.cli.progress import live, working

    console = Console(highlight=False)
    if not sys.stdout.isatty() or console.is_dumb_terminal:
        with working("waiting for the model", enabled=True):
            return next(event.answer for event in events if event.answer is not None)
    text, doing = "", ""
    places: dict[int, str] = {}

    def written() -> Text:
        resolved = "".join(f"\n[{number}] {place}" for number, place in sorted(places.items()))
        below = "\n".join(filter(None, (resolved, doing)))
        return Text.assemble(clean(text), ("\n" if text and below else "", ""), (below, "dim"))

    with live(console, written):
        for event in chain([first], events):
            if event.answer is not None:
                return event.answer
            text += event.text
            doing = remarks.doing(event.step, language) if event.step else "" if event.text else doing
            if event.mark:
                number, found = event.mark
                places = {**places, number: place_of(found, found.location, language)}
    raise AssertionError("events end with an answer")
