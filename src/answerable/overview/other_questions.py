"""Questions to ask instead of one that was refused: drafted from the passages nearest to it, and answered by quotes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, zip_longest

from answerable.answering.nearest import Nearest, nearest
from answerable.datatypes import RetrievalResult
from answerable.evaluation.draft_rules import heading_question, questions_of
from answerable.library import Library, Where
from answerable.overview.drafts import said_question
from answerable.text.languages import question_language
from answerable.text.sentences import is_furniture, sentence_spans
from answerable.text.word_lists import LANGUAGES

_PASSAGES = 6
_OFFERED = 3
# Each one tried is a search.
_TRIED = 8
_LONGEST = 300
_LONGEST_HEADING = 60


def other_questions(library: Library, question: str, where: Where = None) -> list[str]:
    """Return at most three questions that quotes answer, on passages that share words with a refused question."""
    results = library.search(question, _PASSAGES, where, narrows=False)
    language = question_language(question, {result.document.language for result in results})
    near = [(result, nearest(question, language, result)) for result in results]
    drafts = (_drafts(result, found) for result, found in near if _is_near(found))
    # One of each passage before a second of any.
    in_turn = filter(None, chain.from_iterable(zip_longest(*drafts)))
    others = (each for each in dict.fromkeys(in_turn) if each.casefold() != question.casefold())
    answered = (each for each in islice(others, _TRIED) if library.quote(each, where).answered)
    return list(islice(answered, _OFFERED))


def _is_near(found: Nearest) -> bool:
    """Return whether a passage has at least a quarter of the question's words."""
    return len(found.present) * 4 >= len(found.present) + len(found.missing) > 0


def _drafts(result: RetrievalResult, near: Nearest) -> Iterator[str]:
    """Yield the questions that a passage's sentences answer, then one about its section or the nearest message."""
    document, content = result.document, result.chunk.content
    language = document.language
    if language not in LANGUAGES:
        return
    for start, end in sentence_spans(content, language):
        if end - start <= _LONGEST and not is_furniture(content, start, end):
            for asking in questions_of(content[start:end].replace("\n", " "), language):
                yield asking.question
    headings = result.chunk.location.headings
    if len(headings) > 1 and document.title and len(headings[-1]) <= _LONGEST_HEADING:
        yield heading_question(language, document.title, headings[-1])
    senders = (part.sender for part in result.chunk.parts if part.start <= near.start < part.end)
    if sender := next(senders, None):
        yield said_question(language, sender, f"“{near.present[-1]}”")
