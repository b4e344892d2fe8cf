"""Find statements that take one person's message, or one row's figure, for another's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from answerable.answering.checking.passage_text import Sentence, Window
from answerable.text.claims import Kind, values_of
from answerable.text.negation import folded_words
from answerable.text.wording import Wording


def of_another(statement: Wording, window: Window) -> str:
    """Return which sender or figure the statement takes for another's, or ""."""
    best = window.best(statement)
    if best.message is not None:
        named = {sender for sender in best.passage.senders if _first_name(sender) in statement.words}
        is_named = any(_first_name(sender) in best.wording.words for sender in named)
        if named and best.message.sender not in named and not is_named:
            return f"{min(named)} didn't write that"
    if best.is_row:
        return _in_another_row(statement, [sentence for sentence in window.sentences if sentence.is_row])
    return ""


def _in_another_row(statement: Wording, rows: Sequence[Sentence]) -> str:
    """Return the reason if a number of the statement is only in rows of which it names nothing."""
    numbers = [claim for claim in statement.claims if claim.is_sure and claim.kind is not Kind.NAME]
    wanted = statement.compared - values_of(numbers)
    shared = Counter(term for row in rows for term in row.compared)
    meant = [row for row in rows if any(shared[term] == 1 for term in wanted & row.compared)]
    own, elsewhere = (
        frozenset().union(*(row.wording.values for row in rows if (row in meant) is is_own)) for is_own in (True, False)
    )
    for number in numbers:
        if meant and number.values.isdisjoint(own) and not number.values.isdisjoint(elsewhere):
            return f"the {number.kind} {statement.text[number.start : number.end]} is in another row"
    return ""


def _first_name(sender: str) -> str:
    return next((word for word, _, _ in folded_words(sender)), "")
