"""Match the words of a question with a table: its title, column names and cells.

A word that cells of several columns have matches none of them, unless the question names the column. The work is linear
in the question's length.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from answerable.computing.asking import Asking
from answerable.computing.operations import Token
from answerable.computing.plan import Condition
from answerable.computing.source import Source
from answerable.computing.vocabulary import words_of
from answerable.computing.word_forms import spoken, stems
from answerable.datatypes import Span
from answerable.stopping import Budget
from answerable.text.terms import fold, words

LONGEST_RUN = 4
"""The most words of a question that one cell is compared with."""
LONG_NUMBER = 3
"""A number of so many digits may be the name of a row without the name of its column before it."""


@dataclass
class Match:
    """What the words of a question are in a table.

    `named` maps each column to the words that name it. `titled` are in the title, `unexplained` match nothing.
    `noun` is what is asked for, which no cell only contains.
    """

    source: Source
    named: dict[int, list[Token]] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    noun: str = ""
    titled: list[Token] = field(default_factory=list)
    unexplained: list[Token] = field(default_factory=list)

    @property
    def columns(self) -> list[int]:
        """The columns that the question names."""
        return list(self.named)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Words of a question, in place, that cells of a column have; `score` is how well."""

    score: tuple[int, bool, bool]
    first: int
    run: tuple[Token, ...]
    condition: Condition


def match(asking: Asking, source: Source, tokens: Sequence[Token], budget: Budget) -> Match:
    """Match these words of a question with a table. Raise OverBudget."""
    found = Match(source, noun=asking.operation.noun)
    left = _match_whole_names(found, [token for token in tokens if not is_negation(token, asking)])
    called = {column for token in left for column in source.columns_called(token.word)} | set(found.named)
    left = _match_values(found, left, called, budget)
    found.unexplained = _match_names(found, left)
    return found


def is_negation(token: Token, asking: Asking) -> bool:
    """Return whether a word denies: what it denies is found out from the whole question."""
    return token.start in asking.negations


def _match_whole_names(found: Match, tokens: Sequence[Token]) -> list[Token]:
    """Find columns whose name of several words stands in the question ("test 2"); return the other words."""
    used: set[int] = set()
    places: dict[str, list[int]] = {}
    for place, token in enumerate(tokens):
        for stem in stems(token.word) if len(places.get(token.word, ())) <= LONGEST_RUN else ():
            places.setdefault(stem, []).append(place)
    for column, each in enumerate(found.source.table.columns):
        names = [word for word in words(fold(spoken(each.name).lower())) if word not in words_of("words", "neutral")]
        firsts = sorted({place for stem in stems(names[0]) for place in places.get(stem, ())}) if len(names) > 1 else ()
        for first in firsts:
            run = range(first, first + len(names))
            if (
                run.stop <= len(tokens)
                and used.isdisjoint(run)
                and all(
                    not stems(tokens[place].word).isdisjoint(stems(name))
                    for place, name in zip(run, names, strict=True)
                )
            ):
                found.named.setdefault(column, []).extend(tokens[place] for place in run)
                used.update(run)
                break
    return [token for place, token in enumerate(tokens) if place not in used]


def _match_values(found: Match, tokens: list[Token], called: set[int], budget: Budget) -> list[Token]:
    """Turn words that cells have into conditions; return the other words."""
    known: dict[tuple[str, ...], Condition | None] = {}
    candidates: list[_Candidate] = []
    for first in range(len(tokens)):
        budget.check()
        columns = found.source.columns_with(tokens[first].word)
        for length in range(1, min(LONGEST_RUN, len(tokens) - first) + 1 if columns else 1):
            run = tuple(tokens[first : first + length])
            key = tuple(token.word for token in run)
            columns &= found.source.columns_with(key[-1])
            if not columns:
                break
            if key not in known:
                known[key] = _condition(found, columns, key, called)
            if (condition := known[key]) is not None:
                score = length, condition.is_whole, condition.column in called
                candidates.append(_Candidate(score, first, run, condition))
    used: set[int] = set()
    for each in sorted(candidates, key=lambda each: (*(-int(part) for part in each.score), each.first)):
        places = range(each.first, each.first + len(each.run))
        if used.isdisjoint(places):
            used.update(places)
            found.conditions = added(found.conditions, replace(each.condition, start=each.run[0].start))
            budget.check()
    return [token for place, token in enumerate(tokens) if place not in used]


def _condition(found: Match, columns: Iterable[int], run: tuple[str, ...], called: set[int]) -> Condition | None:
    """Return the condition that cells are or contain these words; None if several columns have such cells."""
    made = [each for column in sorted(columns) if (each := _of_column(found, column, run, column in called))]
    for is_better in (lambda each: each.is_whole, lambda each: each.column in called):
        made = [each for each in made if is_better(each)] or made
    return made[0] if made and all(each.rows == made[0].rows for each in made) else None


def _of_column(found: Match, column: int, run: tuple[str, ...], is_called: bool) -> Condition | None:
    source = found.source
    if column in source.number_columns:
        # "Apartment 12" is named, 102 is a room; other numbers are no names.
        is_name = is_called or (column not in source.quantities and len(run[0]) >= LONG_NUMBER)
        if not is_name or source.table.columns[column].unit or len(run) > 1 or not run[0].isdigit():
            return None
    elif column not in source.text_columns or source.is_prose(column):
        return None
    having = frozenset.intersection(*(source.rows_with(column, word) for word in run))
    texts = source.texts(column)
    # "Not done" isn't done.
    having = frozenset(row for row in having if not source.has_negation(column, row))
    same = {text for text in {texts[row] for row in having} if _same(text, run)}
    rows = frozenset(row for row in having if texts[row] in same) or having
    if not rows or not (_may_be_whole(source, column, run) if same else _may_be_part(found, rows, run)):
        return None
    different = {texts[row] for row in rows}
    shown = source.table.rows[min(rows)].values[column].text if len(different) == 1 else " ".join(run)
    return Condition(column, shown, rows, is_whole=bool(same))


def _may_be_whole(source: Source, column: int, run: tuple[str, ...]) -> bool:
    """Return whether a cell that says just this is what is meant: "spicy" may be a column of degrees, too."""
    is_name = len(run) == 1 and not source.column_stems[column].isdisjoint(stems(run[0]))
    return not is_name or source.has_two_states(column)


def _may_be_part(found: Match, rows: frozenset[int], run: tuple[str, ...]) -> bool:
    """Return whether a cell that says this and more is what is meant, not one that happens to have these words."""
    source = found.source
    if len(rows) == len(source.table.rows):
        return False
    own = frozenset[str]().union(*(stems(word) for word in run))
    is_titled = all(not stems(word).isdisjoint(source.title_stems) for word in run)
    if len(run) > 1:
        return not is_titled or len(rows) * 2 <= len(source.table.rows)
    is_name = any(own & names for names in source.column_stems) or found.noun == run[0]
    return not (is_name or is_titled or run[0] in words_of("words", "relations") or own & source.states)


def _same(text: str, run: Sequence[str]) -> bool:
    """Return whether a cell is these words, forms and small words aside."""
    if text == " ".join(run):
        return True
    small = words_of("words", "neutral")
    mine = [word for word in words(text) if word not in small] or list(words(text))
    return len(mine) == len(run) and all(
        not stems(one).isdisjoint(stems(other)) for one, other in zip(mine, run, strict=True)
    )


def added(conditions: Sequence[Condition], new: Condition) -> list[Condition]:
    """Add a condition: two values of one column that no row has both mean either of them."""
    for index, old in enumerate(conditions):
        if old.column == new.column and not old.rows & new.rows:
            either = replace(old, value=f"{old.value}, {new.value}", rows=old.rows | new.rows, is_whole=False)
            return [*conditions[:index], either, *conditions[index + 1 :]]
    return [*conditions, new]


def _match_names(found: Match, tokens: Sequence[Token]) -> list[Token]:
    """Find the words that name columns or the table; return the others."""
    left = []
    for token in tokens:
        columns = found.source.columns_called(token.word)
        for column in columns:
            found.named.setdefault(column, []).append(token)
        if not stems(token.word).isdisjoint(found.source.title_stems):
            found.titled.append(token)
        elif not columns:
            left.append(token)
    return left


def within(tokens: Iterable[Token], spans: Sequence[Span]) -> list[Token]:
    """Return the tokens that none of these spans covers."""
    return [token for token in tokens if not any(start <= token.start < end for start, end in spans)]
