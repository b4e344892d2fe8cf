"""Read a question as a computation on one table; there is no plan if the table doesn't account for every word."""

from __future__ import annotations

from dataclasses import replace

from answerable.computing.asked import Asked, Token
from answerable.computing.matching import Asking, Condition, Match, Plan, added, is_negation, match, within
from answerable.computing.quantities import (
    WHOLE,
    apply_limits,
    in_periods,
    is_meant,
    is_money,
    is_named,
    is_of_payment,
    is_quantity,
    measured,
    without_loose_measure,
)
from answerable.computing.source import Source
from answerable.computing.vocabulary import measures, spoken, stems, stems_of, unit_words, words_of
from answerable.sharing import Budget
from answerable.tables.table import Kind, Origin
from answerable.text.terms import fold, words

EMPTY = "∅"
"""The value that is shown for an empty cell."""
MOST_LIMITS = 4
"""Limits on numbers; a question with more of them asks for more than one figure."""
MOST_PERIODS = 200
"""Periods of time; more than a month in each year of a long table: each row is compared with each period."""
FIGURES = (Asked.COUNT, Asked.TOTAL, Asked.AVERAGE, Asked.MOST, Asked.LEAST)
_OF_NUMBERS = (Asked.TOTAL, Asked.AVERAGE)
_EXTREMES = (Asked.MOST, Asked.LEAST)
_OF_DATES = words_of("words", "days") | words_of("words", "months") | words_of("words", "years")


def plan_for(asking: Asking, source: Source, budget: Budget) -> Plan | None:
    """Return how this table answers the question; None if it doesn't account for every word of the question.

    Raise OverBudget.
    """
    if source.has_second_header:
        return None
    asking = without_loose_measure(asking, source)
    times = asking.times(*source.days) if source.days else []
    if len(times) > 1 or sum(len(time.periods) for time in times) > MOST_PERIODS:
        return None
    if len(asking.operation.limits) > MOST_LIMITS:
        return None
    states = [token for token in asking.helping if not stems(token.word).isdisjoint(source.states)]
    states += [token for token in asking.names if token not in states and source.columns_with(token.word)]
    # "How many chores are done", if a column is called "done".
    texts = set(source.text_columns)
    states += [
        each for each in asking.helping if each not in states and not texts.isdisjoint(source.columns_called(each.word))
    ]
    spans = [(time.start, time.end) for time in times]
    found = match(
        asking, source, within(sorted([*asking.tokens, *states], key=lambda token: token.start), spans), budget
    )
    _match_people(asking, found)
    _match_parts(found)
    for column in source.quantities if asking.operation.asked in FIGURES else ():
        # "The total amount": "amount" mostly only helps to ask, but in this table it is a column.
        if column not in found.named and source.column_stems[column] & stems_of(
            asking.words & words_of("words", "neutral")
        ):
            found.named[column] = []
    if not _apply_yes_and_no(asking, found):
        return None
    for time in times:
        if (column := _time_column(found)) < 0:
            return None
        found.conditions.insert(0, in_periods(source, time, column))
    limits = list(apply_limits(asking, found))
    plan = _figured(asking, found)
    if plan is None or len(limits) < len(asking.operation.limits) or not _explains(plan, asking, found):
        return None
    strength = (
        len(found.conditions) + len(found.titled) + len(found.named) + 0.5 * len(found.unexplained) * (plan.column >= 0)
    )
    if not strength and (plan.column >= 0 or asking.has_any("rows")):
        # The whole table is meant: "Which is the cheapest?", "how many rows are there?"
        strength = WHOLE
    return replace(plan, strength=strength) if strength else None


def _explains(plan: Plan, asking: Asking, found: Match) -> bool:
    """Return whether a plan accounts for every word that matches nothing, and uses every column that is named."""
    source = plan.source
    roles = {plan.column, plan.group, plan.subject, *(each.column for each in plan.conditions)}
    # "The average price of the rooms": each row is a room. "How many books were lent": each row has its day.
    roles |= {0} if source.is_key(0) or 0 not in source.text_columns else set()
    roles |= {column for column in source.date_columns if "" not in source.texts(column)}
    tokens: dict[Token, set[int]] = {}
    for column, named in found.named.items():
        for token in named:
            # "Is there any invoice": each row is an invoice, identified by its number.
            is_row = _is_noun(token, asking) and source.is_key(column)
            tokens.setdefault(token, set()).add(plan.column if is_row else column)
    idle = [token for token, columns in tokens.items() if columns.isdisjoint(roles) and token not in found.titled]
    return not idle and all(_is_covered(token, asking, plan) for token in found.unexplained)


def _match_people(asking: Asking, found: Match) -> None:
    """Let "people" in the question name the column of persons, if the table has one."""
    asked = [token for token in found.unexplained if token.word in words_of("words", "persons")]
    column = _person_column(found)
    if asked and column >= 0:
        found.named.setdefault(column, []).extend(asked)
        found.unexplained = [token for token in found.unexplained if token not in asked]


def _match_parts(found: Match) -> None:
    """Make conditions of words in the titles of some of the joined tables, such as sheets with names of months."""
    source, left = found.source, []
    for token in found.unexplained:
        own = stems(token.word)
        ends = [*source.starts[1:], len(source.table.rows)]
        rows = [
            row
            for part, start, end in zip(source.parts, source.starts, ends, strict=False)
            if not own.isdisjoint(part.title_stems)
            for row in range(start, end)
        ]
        if rows:
            found.conditions = added(found.conditions, Condition(-1, token.word, frozenset(rows), start=token.start))
        else:
            left.append(token)
    found.unexplained = left


def _time_column(found: Match) -> int:
    """Return the column of the times in the question: the only one, or the one the question names; -1 if unclear."""
    source = found.source
    named = [column for column in found.columns if column in source.date_columns]
    if len(named) == 1:
        return named[0]
    # In calendars and chats, the first column of dates says when something takes place.
    is_clear = len(source.date_columns) < 2 or source.table.origin is Origin.CALENDAR
    return source.time_column if is_clear and not named else -1


def _apply_yes_and_no(asking: Asking, found: Match) -> bool:
    """Make conditions of the yes/no columns that the question names; return whether it is clear what is negated.

    A negation applies to what follows it: a yes/no column, or a value of a column with only one other value. If a third
    value is neither, it isn't clear.
    """
    source = found.source
    columns = [column for column in found.columns if source.yes_rows(column) is not None]
    if not asking.is_negative:
        for column in columns:
            if not is_of_payment(asking, found, column):
                _apply(found, column, source.yes_rows(column) or frozenset())
        return True
    if (column := _sometimes_empty(asking, found)) >= 0:
        empty = frozenset(number for number, text in enumerate(source.texts(column)) if not text)
        found.conditions.append(Condition(column, EMPTY, empty))
        return True
    if len(asking.negations) != 1:
        return False
    [denied] = asking.negations
    places: list[tuple[int, int]] = [(token.start, -1 - column) for column in columns for token in found.named[column]]
    places += [(condition.start, index) for index, condition in enumerate(found.conditions)]
    _, what = min((each for each in places if each[0] > denied), default=(0, None))
    everything = frozenset(range(len(source.table.rows)))
    if what is None:
        return False
    if what < 0:
        _apply(found, -1 - what, everything - (source.yes_rows(-1 - what) or frozenset()))
        return len(columns) == 1
    old = found.conditions[what]
    if not old.is_whole or not source.has_two_states(old.column):
        return False
    found.conditions[what] = Condition(old.column, f"≠ {old.value}", everything - old.rows)
    return True


def _apply(found: Match, column: int, rows: frozenset[int]) -> None:
    shown = next((found.source.table.rows[row].values[column].text for row in sorted(rows)), "")
    found.conditions.append(Condition(column, shown or EMPTY, rows))


def _sometimes_empty(asking: Asking, found: Match) -> int:
    """Return the column of dates that is empty in some cells and that the question names; -1 without one.

    The question needn't name it if it is the only one and something is pending ("haven't come back yet").
    """
    empty = [column for column in found.source.date_columns if "" in found.source.texts(column)]
    named = [column for column in found.columns if column in empty]
    return next(iter(named or (empty if len(empty) == 1 and asking.has_any("pending") else [])), -1)


def _figured(asking: Asking, found: Match) -> Plan | None:
    """Return the plan for what the operation asks of the matching rows."""
    source, asked = found.source, asking.operation.asked
    conditions = tuple(found.conditions)
    plan = Plan(source, asked, conditions, group=_group(asking, found), subject=_subject(asking, found))
    if asked in _OF_NUMBERS:
        column = measured(asking, found)
        if column is None and asked is Asked.TOTAL and (asking.operation.counts or not source.quantities):
            return _counted(asking, found, replace(plan, asked=Asked.COUNT))
        return None if column is None else replace(plan, column=column)
    if asking.operation.measure and asking.operation.asks_amount:
        return _amount(asking, found, plan)
    if asked is Asked.COUNT:
        return _counted(asking, found, plan)
    if asked is Asked.AMOUNT:
        return _amount(asking, found, plan)
    if asked in _EXTREMES:
        return _extreme(asking, found, plan)
    if asked in (Asked.FIRST, Asked.LAST):
        return _first_or_last(plan, asked, _time_column(found))
    # A question with "any" or "which" asks for a computation only if it says which rows it is about.
    return plan if conditions or found.titled or asking.operation.limits else None


def _counted(asking: Asking, found: Match, plan: Plan) -> Plan | None:
    """Count rows, or add up the column of numbers that the counted noun names ("how many bottles")."""
    source = found.source
    limited = {each.column for each in plan.conditions}
    free = [column for column in source.quantities if column not in limited]
    numbers = [column for column in free if column in found.named and not is_money(source, column)]
    nouns = [column for column, named in found.named.items() if any(_is_noun(token, asking) for token in named)]
    if numbers and numbers[0] not in nouns:
        # "How many employees worked overtime" counts employees, "how many bottles" adds up a column.
        return None
    numbers += [column for column in free if unit_words(source.table.columns[column].unit) & asking.words]
    if numbers:
        return replace(plan, asked=Asked.TOTAL, column=numbers[0]) if len(set(numbers)) == 1 else None
    is_noun_left = any(_is_noun(token, asking) for token in found.unexplained)
    is_value = plan.conditions and not (found.titled or found.named or is_noun_left)
    if is_value or any(token.word in words_of("words", "quantities") for token in found.unexplained):
        # "How many atlases", if a row for atlases says how many there are.
        counts = [column for column in source.quantities if is_quantity(source, column)]
        if counts:
            return replace(plan, asked=Asked.TOTAL, column=counts[0]) if len(counts) == 1 else None
    return replace(plan, subject=next((column for column in nouns if column not in source.date_columns), -1))


def _amount(asking: Asking, found: Match, plan: Plan) -> Plan | None:
    """Add up the column that "how much" refers to; if the column has prices, list the rows."""
    column = measured(asking, found)
    if column is None or not (
        plan.conditions or found.titled or asking.operation.measure or asking.has_any("everything")
    ):
        return None
    return replace(plan, asked=Asked.AMOUNT, column=column)


def _extreme(asking: Asking, found: Match, plan: Plan) -> Plan | None:
    """Find the row with the highest or lowest number, or the group with the highest or lowest total or count."""
    source, column = found.source, measured(asking, found)
    if asking.operation.measure:
        # "Who is the oldest" compares single rows.
        return replace(plan, column=column, group=-1) if column is not None else _oldest(asking, found, plan)
    group = plan.group if plan.group >= 0 else plan.subject
    if (column is None and group < 0) or (asking.operation.asks_who and group < 0):
        return None
    if column is not None and asking.operation.is_of_one and not is_named(asking, found, column):
        # "The highest tram" doesn't say which of a tram's numbers is high.
        return None
    if group >= 0 and column is not None and not is_meant(asking, found, column):
        # "Who made the most trips" counts trips, whatever other numbers the table has.
        column = None
    has_repeats = group >= 0 and source.has_repeats(group, plan.rows)
    if group >= 0 and (has_repeats and asking.operation.is_of_one if column is not None else not has_repeats):
        # "The highest price" of rooms with several rows: of one row, or in total? And with a row each, none has most.
        return None
    return replace(plan, column=-1 if column is None else column, group=group)


def _oldest(asking: Asking, found: Match, plan: Plan) -> Plan | None:
    """Find the first or last row by date, if ages are asked for and the table only has dates."""
    if asking.operation.measure != "age":
        return None
    asked = Asked.FIRST if plan.asked is Asked.MOST else Asked.LAST
    return _first_or_last(replace(plan, group=-1), asked, _time_column(found))


def _first_or_last(plan: Plan, asked: Asked, column: int) -> Plan | None:
    """Find the first or last row by a column of dates, or else by a column of years."""
    if column in plan.source.year_columns:
        asked = Asked.LEAST if asked is Asked.FIRST else Asked.MOST
    return replace(plan, asked=asked, column=column) if column >= 0 else None


def _group(asking: Asking, found: Match) -> int:
    """Return the column for whose values the question asks figures; -1 without one."""
    column = _first_called(asking.operation.each, found) if asking.operation.each else -1
    # "The average per receipt", if each row is a receipt, is the average of all rows.
    is_of_rows = asking.operation.asked in _OF_NUMBERS and column >= 0 and found.source.is_key(column)
    return -1 if is_of_rows else column


def _subject(asking: Asking, found: Match) -> int:
    """Return the column that the question asks for: that of the noun after "which", or that of persons; -1 without."""
    if asking.operation.noun and (column := _first_called(asking.operation.noun, found)) >= 0:
        return column
    used = {condition.column for condition in found.conditions}
    column = _person_column(found)
    return column if asking.operation.asks_who and column not in used else -1


def _person_column(found: Match) -> int:
    """Return the column of persons, recognised by its name; -1 without one."""
    people = words_of("person", "columns")
    names = (
        (each, words(fold(spoken(found.source.table.columns[each].name).lower()))) for each in found.source.text_columns
    )
    # Don't compare stems, which "done" and "dona" share.
    return next((each for each, name in names if any({word, word.removesuffix("s")} & people for word in name)), -1)


def _first_called(noun: str, found: Match) -> int:
    return next(iter(found.source.columns_called(noun)), -1)


def _is_covered(token: Token, asking: Asking, plan: Plan) -> bool:
    """Return whether the plan accounts for a word that matches no column name, value or title."""
    columns = plan.source.table.columns
    if not stems(token.word).isdisjoint(plan.source.states):
        # "Which tasks are started", if a cell says "not started".
        return False
    if any(token.word in words_of("words", name) for name in ("rows", "relations")) or is_negation(token, asking):
        return True
    is_measure = asking.operation.measure and stems(token.word) & measures()[asking.operation.measure].columns
    if plan.column >= 0 and (token.word in words_of("words", "spent") or is_measure):
        return True
    if token.word in words_of("words", "money"):
        # "Pay more than 45 euros" refers to a fee.
        measuring = [plan.column, *(each.column for each in plan.conditions if each.is_limit)]
        return any(column >= 0 and is_money(plan.source, column) for column in measuring)
    if plan.asked in (Asked.FIRST, Asked.LAST) and token.word in words_of("words", "moments"):
        return True
    if token.word in words_of("words", "quantities") and plan.column >= 0:
        return is_quantity(plan.source, plan.column)
    if token.word in words_of("words", "pending") and any(each.value == EMPTY for each in plan.conditions):
        return True
    if token.word in _OF_DATES and any(each.is_time for each in plan.conditions):
        return True
    if token.word in words_of("words", "currencies"):
        return plan.column >= 0 or any(columns[each.column].kind is Kind.NUMBER for each in plan.conditions)
    return plan.column >= 0 and token.word in unit_words(columns[plan.column].unit)


def _is_noun(token: Token, asking: Asking) -> bool:
    """Return whether a word is the noun for the rows: "how many tests", "which test"."""
    if token.word == asking.operation.noun:
        return True
    return any(not asking.folded[end : token.start].strip() for _, end in asking.operation.spans if end <= token.start)
