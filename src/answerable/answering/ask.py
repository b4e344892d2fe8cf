"""Answer a question. Each step is one function that takes and returns plain data, and no other step makes its decision.

With a model: understand → search → write (the model searches on, and decides what it answers) → verify.
Without one, or if it fails: understand → search → compute figures → read → decide → quote.
`Answer.why` has a `Step` for each of them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

from answerable.answering.citations import with_places
from answerable.answering.decide import (
    NOT_FOUND,
    Answering,
    By,
    Decision,
    Parts,
    Writer,
    decide,
    decide_unread,
    refuse,
    say_how_to_ask,
)
from answerable.answering.follow_ups import completed, unsaid
from answerable.answering.found import NO_FIGURE, Asked, Figure, Found, is_note
from answerable.answering.messages import is_small_talk, two_questions
from answerable.answering.quote import quote, quote_nearest
from answerable.answering.reading import read, why_read
from answerable.answering.search import search, understand
from answerable.answering.sentences import Sentence
from answerable.answering.two_questions import together
from answerable.datatypes import Answer, AnswerEvent, Exchange, Reason, Step
from answerable.sharing import Work

if TYPE_CHECKING:
    from answerable.answering.writing.write import Draft


def ask(
    message: str,
    history: Sequence[Exchange],
    where: Mapping[str, Any] | None,
    parts: Parts,
    narrows: bool = True,
    work: Work | None = None,
) -> Generator[AnswerEvent, None, None]:
    """Yield events while a question is answered; the last one has the answer. Closing the generator stops the model.

    Without `narrows`, a person or a time named in the question isn't used as a filter. Another thread may stop `work`.
    """
    work = work or Work()
    asked = understand(message, where, parts, narrows)
    yield AnswerEvent(searched=asked.question)
    if not asked.chunks:
        empty = refuse(search(asked, None, parts), Reason.EMPTY_LIBRARY)
        yield AnswerEvent(answer=_ended(empty, parts, [asked.why]))
        return
    draft: Draft | None = None
    if parts.answering.writer is not None:
        both = [each for each, _ in _ways(asked, history, parts, narrows)]
        draft, written = yield from _written(both, parts.answering.writer, history, parts, work)
        if written is not None:
            yield AnswerEvent(answer=written)
            return
    answer: Answer | None = None
    steps: list[Step] = [*draft.why] if draft else []
    for number, (each, computes) in enumerate(_ways(asked, history, parts, narrows)):
        if number or each is not asked:
            yield AnswerEvent(searched=each.question)
        before = "" if each is asked else history[-1].answer
        found = _unwritten(each, parts, work, computes, before)
        steps += found.why
        # What is only near the question before it isn't near a question on another subject.
        if answer is None or found.answered:
            answer = found
        says_nothing = found.reason is Reason.SMALL_TALK and not is_small_talk(message)
        if not (says_nothing or found.reason in NOT_FOUND):
            break
    assert answer is not None
    if draft:
        answer = draft.signed(answer)
    elif not answer.answered and (in_parts := _in_parts(message, where, parts, narrows, work)):
        answer, steps = in_parts, [*steps, *in_parts.why]
    yield AnswerEvent(answer=replace(answer, why=tuple(steps)))


def _ways(asked: Asked, history: Sequence[Exchange], parts: Parts, narrows: bool) -> Iterator[tuple[Asked, bool]]:
    """Yield the ways to ask a message, and whether figures may be computed: alone, and with the question before it.

    A message that only names another person or time is first asked about what was asked before, under the filter that
    the whole names; otherwise the names and times of the previous question are no filter.
    """
    whole = completed(asked.message, history, parts.now())
    is_about_another = whole is not None and whole.is_about_another
    if not is_about_another:
        yield asked, True
    if whole is not None:
        narrows = narrows and is_about_another
        yield understand(asked.message, asked.where, parts, narrows, whole.question), is_about_another
    if is_about_another:
        yield asked, True


def _in_parts(message: str, where: Mapping[str, Any] | None, parts: Parts, narrows: bool, work: Work) -> Answer | None:
    """Return the answers to the two questions of a message; None if it has one, or if neither is answered.

    Only asked where the whole isn't answered: asking all such messages apart gave 15 of 20 by a stranger both quotes,
    not 9, but took the right quotes from two on other files, where one question needs the words of the other.
    """
    if (both := two_questions(message)) is None:
        return None
    first = last_of(ask(both[0], (), where, parts, narrows, work))
    second = last_of(ask(both[1], [Exchange(both[0], both[0], "")], where, parts, narrows, work))
    said = together(message, both, first, second)
    return replace(said, timings=parts.clock.timings()) if said else None


def _unwritten(asked: Asked, parts: Parts, work: Work, computes: bool, before: str = "") -> Answer:
    """Return the answer without a model; figures only if the question `computes`. Raise Stopped.

    `before` is the answer to the question with which this one was completed.
    """
    steps: list[Step] = [asked.why]
    figure: Figure | None = None if computes else NO_FIGURE
    # Search with the filter that the question names; if nothing found with it answers, search without it.
    for narrowed in asked.attempts:
        found = search(asked, narrowed, parts)
        steps.append(found.why)
        if figure is None:
            figure = parts.figures().figure(found, parts.answering.tables, work)
            steps.append(figure.why)
        work.check()
        if figure.answer:
            parts.clock.lap("computing")
        answer = quote_from(found, parts.answering, figure, before)
        parts.clock.lap("answering")
        steps += answer.why
        if narrowed is None or answer.reason not in NOT_FOUND:
            break
    assert figure is not None
    return _finished(answer, found, figure, parts, steps)


def quote_from(found: Found, answering: Answering, figure: Figure = NO_FIGURE, before: str = "") -> Answer:
    """Return a figure, quotes of the passages, or a refusal; the answer's `why` has this function's steps."""
    decision, ranked = decide_unread(found, figure, answering), list[Sentence]()
    steps: list[Step] = []
    if decision is None:
        ranked = unsaid(read(found, answering.reader), found.asked, before)
        decision, ranked = _decided(found, figure, ranked, answering)
        steps.append(why_read(found, ranked))
    steps.append(decision.why(found))
    answer = _quoted(found, figure, ranked, decision, answering.quotes)
    return replace(answer, why=(*steps, *answer.why))


def _decided(
    found: Found, figure: Figure, ranked: Sequence[Sentence], answering: Answering
) -> tuple[Decision, list[Sentence]]:
    """Return what answers, and the sentences it may quote: those of notes only if their sources don't answer."""
    others = [each for each in ranked if not is_note(each.result.document)]
    decision = decide(found, figure, others, answering)
    if decision.by is By.REFUSAL and len(others) < len(ranked):
        with_notes = decide(found, figure, ranked, answering)
        if with_notes.by is By.QUOTES:
            return with_notes, list(ranked)
    return decision, others


def _written(
    ways: Sequence[Asked], writer: Writer, history: Sequence[Exchange], parts: Parts, work: Work
) -> Generator[AnswerEvent, None, tuple[Draft, Answer | None]]:
    """Yield what a model writes; return its draft and the answer, or None if it failed before the answer's end."""
    from answerable.answering.writing.verify import verify
    from answerable.answering.writing.write import write

    found = _first_search(ways, parts)
    draft = yield from write(writer, found, history, parts, work)
    parts.clock.lap("writing")
    if draft.has_failed:
        return draft, None
    answer = verify(draft, found, writer, parts, work)
    parts.clock.lap("verifying")
    steps = [found.asked.why, found.why, *draft.why, *answer.why]
    return draft, _finished(draft.signed(answer), found, NO_FIGURE, parts, steps)


def _first_search(ways: Sequence[Asked], parts: Parts) -> Found:
    """Return what the ways to ask find in turn, each first under the filter that it names, then without."""
    searched = [search(each, narrowed, parts) for each in ways for narrowed in dict.fromkeys((each.narrowed, None))]
    pairs = (zip(each.results, each.chunks, strict=True) for each in searched)
    kept = {pair[0].chunk.id: pair for pair in filter(None, chain.from_iterable(zip_longest(*pairs)))}
    best = sorted(kept.values(), key=lambda pair: is_note(pair[0].document))[: parts.passages]
    results, chunks = zip(*best, strict=True) if best else ((), ())
    return replace(searched[-1], results=results, chunks=chunks)


def last_of(events: Iterable[AnswerEvent]) -> Answer:
    """Return the answer of the last event."""
    (*_, last) = events
    assert last.answer is not None
    return last.answer


def _quoted(found: Found, figure: Figure, ranked: Sequence[Sentence], decision: Decision, most: int) -> Answer:
    if decision.by is By.FIGURES and figure.answer:
        return replace(figure.answer, results=found.results)
    if decision.by is By.SMALL_TALK:
        return say_how_to_ask(found, decision.language)
    if decision.by is By.QUOTES:
        return quote(found, ranked, decision.confidence, most)
    if decision.by is By.NEAR:
        return quote_nearest(found, ranked, decision.confidence, decision.differs)
    return refuse(found, decision.reason, decision.confidence)


def _finished(answer: Answer, found: Found, figure: Figure, parts: Parts, steps: Sequence[Step]) -> Answer:
    """Return the answer with the number of its quotes' other places, the question's filter, times and steps."""
    asked = found.asked
    # Quotes need no check: they are verbatim. The other places of a figure's quotes were counted when it was computed.
    if not (figure.answer and answer.citations == figure.answer.citations):
        answer = replace(answer, citations=with_places(parts.store, answer.citations, found.results, found.where))
    if answer.citations and not answer.checks:
        elsewhere = sum(citation.other_places for citation in answer.citations)
        steps = [*steps, Step.of("verify", {"quotes": len(answer.citations)}, {"other places": elsewhere})]
    # A model isn't bound to the question's filter, nor are rows.
    shown = None if answer.checks or figure.is_of_rows(answer) else asked.narrowed
    narrowing = replace(shown.narrowing, applied=found.narrowed is not None) if shown else None
    return _ended(replace(answer, narrowing=narrowing), parts, steps)


def _ended(answer: Answer, parts: Parts, steps: Sequence[Step]) -> Answer:
    unavailable, waiting = parts.unavailable, len(parts.store.waiting())
    timings = parts.clock.timings()
    return replace(answer, timings=timings, unavailable=unavailable, waiting=waiting, why=tuple(steps))
