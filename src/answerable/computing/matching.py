"""A question with the computation that it asks for, the plan for the computation, and how words match a table.

Words match a table's title, column names and cells. A word in cells of several columns matches none of these columns,
unless the question names the column. The time is linear in the question's length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cache, cached_property

from answerable.computing.asked import Asked, Operation, Token, tokens
from answerable.computing.source import Source
from answerable.computing.vocabulary import spoken, stems, stems_of, words_of
from answerable.datatypes import Span
from answerable.retrieval.times import NamedTime, asked_when
from answerable.sharing import Budget
from answerable.tables.table import meanings
from answerable.text.terms import STOP_WORDS, fold, words

_SHORTEST_MONTH = 4  # letters of a month's name; shorter names are also other words ("mar", "set"); not measured
_INNER = re.compile(r"(?<=\w )\w+")
_NOT = re.compile(r"\w+n['’]t\b")
_IN = {"es": "en", "pt": "em"}


@dataclass(frozen=True)
class Asking:
    """A question that asks for a computation. `folded` is the question's text in lower case without accents."""

    question: str
    folded: str
    language: str
    operation: Operation
    now: datetime

    @cached_property
    def tokens(self) -> list[Token]:
        """The question's words except those of the operation, its limits, and words that only help to ask."""
        return [token for token in self._uncovered if token.word not in words_of("words", "neutral")]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all words of the question."""
        return stems_of(self.words)

    @cached_property
    def helping(self) -> list[Token]:
        """Words that mostly only help to ask, but may also occur in a row ("done"); not articles and pronouns."""
        small = frozenset[str]().union(*STOP_WORDS.values()) | words_of("words", "negations")
        helping = words_of("words", "neutral") - small
        return [token for token in self._uncovered if token.word in helping]

    @cached_property
    def names(self) -> list[Token]:
        """Capitalised small words and letters, except at the beginning: "in IT", "vitamin C"."""
        known = {token.start for token in self.tokens}
        found = (Token(self.folded[slice(*match.span())], *match.span()) for match in _INNER.finditer(self.question))
        return [token for token in found if token.start not in known and self.question[token.start].isupper()]

    @cached_property
    def _uncovered(self) -> list[Token]:
        limits = [limit.span for limit in self.operation.limits]
        return tokens(self.folded, [*self.operation.spans, *limits])

    @cached_property
    def negations(self) -> list[int]:
        """The offsets of negations; Portuguese "no" means "in the" and doesn't count."""
        negations = words_of("words", "negations") - ({"no"} if self.language == "pt" else frozenset())
        found = [token.start for token in tokens(self.folded, ()) if token.word in negations]
        return sorted([*found, *(match.start() for match in _NOT.finditer(self.folded))])

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the question."""
        return frozenset(words(self.folded))

    @cached_property
    def is_negative(self) -> bool:
        """Whether the question asks for what isn't the case ("who hasn't paid")."""
        return bool(self.negations)

    def has_any(self, *names: str) -> bool:
        """Return whether the question has a word in one of these lists of the section `[words]`."""
        return any(not self.words.isdisjoint(words_of("words", name)) for name in names)

    def times(self, first: date, last: date) -> list[NamedTime]:
        """Return the times that the question names; `first` and `last` are the first and last day in the rows."""
        years = first.year, last.year
        if years not in self._times:
            self._times[years] = self._times_of(first, last)
        return self._times[years]

    @cached_property
    def _times(self) -> dict[tuple[int, int], list[NamedTime]]:
        return {}

    def _times_of(self, first: date, last: date) -> list[NamedTime]:
        told = _of_a_month().sub(_IN[self.language], self.folded) if self.language in _IN else self.folded
        return asked_when(told, self.now, (first, last), self.language, is_past=True)


@cache
def _of_a_month() -> re.Pattern[str]:
    """Return the pattern of "de" in "la limpieza de agosto"; before a month it means a time if rows have days."""
    months = (month for month in meanings("values", "months") if len(month) >= _SHORTEST_MONTH)
    return re.compile(rf"(?<!\d\s)\bde(?=\s(?:{'|'.join(months)})\b)")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition and the rows that meet it. `column` is shown with `value`; -1 if it is on several columns.

    `is_time` and `is_limit`: it is on a time, or a limit on numbers. `is_whole`: the cells consist of the value alone.
    `start` is the offset of its words in the question.
    """

    column: int
    value: str
    rows: frozenset[int]
    is_time: bool = False
    is_limit: bool = False
    is_whole: bool = False
    start: int = -1


@dataclass(frozen=True, slots=True)
class Plan:
    """What to compute: the operation `asked`, on the rows that meet all conditions.

    `column` is added up or compared, `group` is the column by whose values figures are grouped ("by person"), `subject`
    the column that is asked for ("which plants"); -1 if there is none. `strength` is how much of the question occurs in
    the table; it ranks the plans, each of which accounts for the whole question.
    """

    source: Source
    asked: Asked
    conditions: tuple[Condition, ...] = ()
    column: int = -1
    group: int = -1
    subject: int = -1
    strength: float = 0.0

    @property
    def rows(self) -> list[int]:
        """The rows that meet all conditions, in order."""
        return self._rows(self.conditions)

    @property
    def is_uncertain(self) -> bool:
        """Whether a row that meets the conditions besides times is a total, or a repeated or cancelled event."""
        others = [condition for condition in self.conditions if not condition.is_time]
        return not self.source.uncertain.isdisjoint(self._rows(others))

    @property
    def lacks_rows_of_its_time(self) -> bool:
        """Whether there are rows that meet all conditions except those on times, but none that meets all."""
        others = [condition for condition in self.conditions if not condition.is_time]
        return len(others) < len(self.conditions) and not self.rows and bool(self._rows(others))

    def _rows(self, conditions: Iterable[Condition]) -> list[int]:
        kept = set(range(len(self.source.table.rows)))
        for condition in conditions:
            kept &= condition.rows
        return sorted(kept)


LONGEST_RUN = 4
"""Words of a question, in a row, that are compared with a single cell."""
LONG_NUMBER = 3
"""A number with at least this many digits may name a row even without the column's name before it."""


@dataclass
class Match:
    """What the words of a question match in a table.

    `named` maps each column to the words that name it. `titled` are words in the title; `unexplained` match nothing.
    `noun` is the noun that is asked for; a cell that merely contains it doesn't match.
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
    """Consecutive words of a question that are in cells of a column; `score` is how well they match."""

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
    """Return whether a word is a negation; what it negates is determined from the whole question."""
    return token.start in asking.negations


def _match_whole_names(found: Match, tokens: Sequence[Token]) -> list[Token]:
    """Find columns whose name of several words is in the question ("test 2"); return the remaining words."""
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
    """Turn words that occur in cells into conditions; return the remaining words."""
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
    """Return the condition that cells are or contain these words; None if cells of several columns do."""
    made = [each for column in sorted(columns) if (each := _of_column(found, column, run, column in called))]
    for is_better in (lambda each: each.is_whole, lambda each: each.column in called):
        made = [each for each in made if is_better(each)] or made
    return made[0] if made and all(each.rows == made[0].rows for each in made) else None


def _of_column(found: Match, column: int, run: tuple[str, ...], is_called: bool) -> Condition | None:
    source = found.source
    if column in source.number_columns:
        # A number names a row if the question names its column ("apartment 12") or if it is long (102 may be a room).
        is_name = is_called or (column not in source.quantities and len(run[0]) >= LONG_NUMBER)
        if not is_name or source.table.columns[column].unit or len(run) > 1 or not run[0].isdigit():
            return None
    elif column not in source.text_columns or source.is_prose(column):
        return None
    having = frozenset.intersection(*(source.rows_with(column, word) for word in run))
    texts = source.texts(column)
    # A cell "not done" doesn't match "done".
    having = frozenset(row for row in having if not source.has_negation(column, row))
    same = {text for text in {texts[row] for row in having} if _same(text, run)}
    rows = frozenset(row for row in having if texts[row] in same) or having
    if not rows or not (_may_be_whole(source, column, run) if same else _may_be_part(found, rows, run)):
        return None
    different = {texts[row] for row in rows}
    shown = source.table.rows[min(rows)].values[column].text if len(different) == 1 else " ".join(run)
    return Condition(column, shown, rows, is_whole=bool(same))


def _may_be_whole(source: Source, column: int, run: tuple[str, ...]) -> bool:
    """Return whether a cell with only these words can be meant: "spicy" may also be a column of degrees."""
    is_name = len(run) == 1 and not source.column_stems[column].isdisjoint(stems(run[0]))
    return not is_name or source.has_two_states(column)


def _may_be_part(found: Match, rows: frozenset[int], run: tuple[str, ...]) -> bool:
    """Return whether a cell with these and more words is meant, rather than one that happens to contain them."""
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
    """Return whether a cell consists of these words, regardless of inflection and small words."""
    if text == " ".join(run):
        return True
    small = words_of("words", "neutral")
    mine = [word for word in words(text) if word not in small] or list(words(text))
    return len(mine) == len(run) and all(
        not stems(one).isdisjoint(stems(other)) for one, other in zip(mine, run, strict=True)
    )


def added(conditions: Sequence[Condition], new: Condition) -> list[Condition]:
    """Add a condition; two values of one column that no row has together mean "either of them"."""
    for index, old in enumerate(conditions):
        if old.column == new.column and not old.rows & new.rows:
            either = replace(old, value=f"{old.value}, {new.value}", rows=old.rows | new.rows, is_whole=False)
            return [*conditions[:index], either, *conditions[index + 1 :]]
    return [*conditions, new]


def _match_names(found: Match, tokens: Sequence[Token]) -> list[Token]:
    """Find the words that name columns or the table; return the remaining words."""
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
    """Return the tokens that aren't in any of these spans."""
    return [token for token in tokens if not any(start <= token.start < end for start, end in spans)]
