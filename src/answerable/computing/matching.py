"""Match the words of a question with a table: its title, column names and cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from answerable.computing.asking import Asking
from answerable.computing.closeness import Closeness
from answerable.computing.operations import Token
from answerable.computing.plan import Condition
from answerable.computing.source import Source
from answerable.computing.vocabulary import words_of
from answerable.computing.word_forms import spoken, stems
from answerable.datatypes import Span
from answerable.text.terms import fold, words

NEAR = 0.3
"""The least closeness of a word to a column name or value that it is taken for."""
SAME = 0.5
"""The least closeness of a word to a value that counts as the same word, as in a related language."""
AHEAD = 0.06
"""By how much the closest must be closer than the next."""
MOST_VALUES = 80
"""A column with more different cells is compared by its words only."""


@dataclass
class Match:
    """What the words of a question are in a table.

    `named` maps each column to the words that name it; `near` those found by closeness. `titled` are in the title,
    `valued` in cells; `unexplained` match nothing. `people` are columns of persons, for "who". `guessed` is whether the
    title rests on closeness.
    """

    source: Source
    named: dict[int, list[Token]] = field(default_factory=dict)
    near: dict[int, list[Token]] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    titled: list[Token] = field(default_factory=list)
    unexplained: list[Token] = field(default_factory=list)
    valued: list[Token] = field(default_factory=list)
    people: list[int] = field(default_factory=list)
    guessed: bool = False

    @property
    def columns(self) -> list[int]:
        """The columns that the question names, those named by a word of their own first."""
        return list(dict.fromkeys([*self.named, *self.near]))


def match(asking: Asking, source: Source, tokens: Sequence[Token], closeness: Closeness) -> Match:
    """Match these words of a question with a table."""
    found = Match(source)
    left = _match_whole_names(found, list(tokens))
    left = _match_values(asking, found, left)
    left = _match_names(found, left)
    left = _match_near(asking, found, left, closeness)
    found.unexplained = left
    return found


def _match_whole_names(found: Match, tokens: Sequence[Token]) -> list[Token]:
    """Find columns whose name of several words stands in the question ("test 2"); return the other words."""
    left = list(tokens)
    for column, each in enumerate(found.source.table.columns):
        names = [word for word in words(fold(spoken(each.name).lower())) if word not in words_of("words", "neutral")]
        for first in range(len(left) - len(names) + 1 if len(names) > 1 else 0):
            run = left[first : first + len(names)]
            if all(not stems(token.word).isdisjoint(stems(name)) for token, name in zip(run, names, strict=True)):
                found.named.setdefault(column, []).extend(run)
                del left[first : first + len(names)]
                break
    return left


def _match_values(asking: Asking, found: Match, tokens: list[Token]) -> list[Token]:
    """Turn words that cells have into conditions; return the other words."""
    source = found.source
    everything = len(source.table.rows)
    left = list(tokens)
    while left:
        candidates = [
            candidate
            for column in _searched(source)
            for run in _runs(left)
            if (candidate := _candidate(asking, source, column, run, everything)) is not None
        ]
        if not candidates:
            break
        _, run, condition = max(candidates, key=lambda each: each[0])
        found.conditions = _joined(found.conditions, condition)
        found.valued.extend(run)
        left = [token for token in left if token not in run]
    return left


def _searched(source: Source) -> Iterator[int]:
    yield from source.text_columns
    # "Apartment 12", "grade 8": numbers that are names.
    yield from (column for column in source.number_columns if not source.table.columns[column].unit)


def _runs(tokens: Sequence[Token]) -> Iterator[tuple[Token, ...]]:
    for length in range(min(4, len(tokens)), 0, -1):
        for first in range(len(tokens) - length + 1):
            yield tuple(tokens[first : first + length])


def _candidate(
    asking: Asking, source: Source, column: int, run: tuple[Token, ...], everything: int
) -> tuple[tuple[float, ...], tuple[Token, ...], Condition] | None:
    """Return how well a run of words matches cells of a column, with the condition; None if it doesn't."""
    is_number = column in source.number_columns
    if is_number and (len(run) > 1 or not run[0].word.isdigit()):
        return None
    rows = frozenset(range(everything))
    for token in run:
        rows &= source.rows_with(column, token.word)
        if not rows:
            return None
    texts = source.texts(column)
    own = frozenset[str]().union(*(stems(token.word) for token in run))
    is_name = bool(own & source.column_stems[column]) or asking.operation.noun in {token.word for token in run}
    is_titled = all(not stems(token.word).isdisjoint(source.title_stems) for token in run)
    if len(rows) == everything or ((is_name or is_titled) and len(run) == 1 and not _is_whole(run, texts, rows)):
        return None
    if is_titled and len(rows) * 2 > everything:
        return None
    exact = _is_whole(run, texts, rows)
    if not exact and len(run) == 1 and run[0].word in words_of("words", "relations"):
        # "Siguen sin pagar" doesn't ask for a row that happens to say "sigue".
        return None
    if exact:
        wanted = " ".join(token.word for token in run)
        whole = frozenset(row for row in rows if _same(texts[row], wanted))
        rows = whole or rows
    different = {texts[row] for row in rows}
    words = " ".join(token.word for token in run)
    shown = (
        source.table.rows[min(rows)].values[column].text
        if len(different) == 1 and not source.is_prose(column)
        else words
    )
    score = (len(run), exact, not source.is_prose(column), not is_number, -column)
    return score, run, Condition(column, shown, rows)


def _is_whole(run: Sequence[Token], texts: Sequence[str], rows: Iterable[int]) -> bool:
    wanted = " ".join(token.word for token in run)
    return any(_same(texts[row], wanted) for row in rows)


def _same(text: str, wanted: str) -> bool:
    """Return whether a cell is these words, forms and small words aside."""
    if text == wanted:
        return True
    small = words_of("words", "neutral")
    mine = [word for word in text.split() if word not in small]
    others = wanted.split()
    return len(mine) == len(others) and all(
        not stems(one).isdisjoint(stems(other)) for one, other in zip(mine, others, strict=True)
    )


def _joined(conditions: Sequence[Condition], new: Condition) -> list[Condition]:
    """Add a condition: two values of one column that no row has both mean either of them."""
    for index, old in enumerate(conditions):
        if old.column == new.column and not old.rows & new.rows:
            either = Condition(old.column, f"{old.value}, {new.value}", old.rows | new.rows)
            return [*conditions[:index], either, *conditions[index + 1 :]]
    return [*conditions, new]


def _match_names(found: Match, tokens: Sequence[Token]) -> list[Token]:
    """Find the words that name columns or the table; return the others."""
    left = []
    for token in tokens:
        own = stems(token.word)
        columns = [number for number, names in enumerate(found.source.column_stems) if own & names]
        for column in columns:
            found.named.setdefault(column, []).append(token)
        if own & found.source.title_stems:
            found.titled.append(token)
        elif not columns:
            left.append(token)
    return left


def _match_near(asking: Asking, found: Match, tokens: Sequence[Token], closeness: Closeness) -> list[Token]:
    """Match words with the column names and values that are closest in meaning; return the words without any."""
    source = found.source
    rest = [token for token in tokens if not token.word.isdigit()]
    names = [(column, "", spoken(each.name)) for column, each in enumerate(source.table.columns) if each.name]
    for column in source.text_columns:
        values = source.distinct(column)
        if len(values) <= MOST_VALUES and len(values) * 2 <= len(source.table.rows) + 2 and not source.is_prose(column):
            names += [(column, value, value) for value in values if not value.isdigit()]
    names.append((-1, "", source.table.title or source.document.title))
    cosines = closeness.of(
        [token.word for token in rest], asking.language, [name for _, _, name in names], source.document.language
    )
    left = [token for token in tokens if token.word.isdigit()]
    for token, row in zip(rest, cosines, strict=True):
        order = row.argsort()[::-1]
        best = int(order[0])
        column, value, _ = names[best]
        rivals = [float(row[other]) for other in order[1:] if names[int(other)][:1] != (column,) or value]
        least = SAME if value else NEAR
        is_verb = bool(value) and token.word in words_of("words", "relations")
        if is_verb or row[best] < least or (rivals and row[best] < rivals[0] + AHEAD):
            left.append(token)
        elif value:
            texts = source.texts(column)
            rows = frozenset(number for number, text in enumerate(texts) if text == value)
            shown = source.table.rows[min(rows)].values[column].text
            found.conditions = _joined(found.conditions, Condition(column, shown, rows))
        elif column < 0:
            found.titled.append(token)
            found.guessed = True
        else:
            found.near.setdefault(column, []).append(token)
    return sorted(left, key=lambda token: token.start)


def within(tokens: Iterable[Token], spans: Sequence[Span]) -> list[Token]:
    """Return the tokens that none of these spans covers."""
    return [token for token in tokens if not any(start <= token.start < end for start, end in spans)]
