"""Read a question as a computation on one table; a question that doesn't fit the table has no plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from answerable.computing.asking import Asking
from answerable.computing.closeness import Closeness
from answerable.computing.matching import Match, match, within
from answerable.computing.measures import measures, unit_words
from answerable.computing.operations import Asked, Token
from answerable.computing.plan import Condition, Plan
from answerable.computing.quantities import (
    apply_limits,
    is_meant,
    is_money,
    is_of_payment,
    is_quantity,
    measured,
    without_loose_measure,
)
from answerable.computing.source import Source
from answerable.computing.vocabulary import pattern, words_of
from answerable.computing.word_forms import stems, stems_of
from answerable.retrieval.asked_when import NamedTime
from answerable.tables.table import Kind

ENTITY = 0.2
"""The least closeness of the noun for the rows to the title or a column of their table."""
NAMED = 2.0
"""The least strength of a plan for a table that the question names although it has a word that isn't in it."""
WHOLE = 0.5
"""The strength of a plan for the whole of a table of which the question names nothing."""
EMPTY = "∅"
"""The value shown for a cell without text."""
NAMES_TOO = words_of("words", "neutral") - words_of("words", "relations")
_OF = re.compile(r"\s+|\s+(?:of|de|da|do)(?:\s+(?:the|la|los|las))?\s+|\s+(?:del|dos|das)\s+")
_WE = re.compile(r"\w{2}[aei]mos$")
"""What we did: "gastamos", "vendemos"."""
PEOPLE = ("person", "worker", "customer", "who did it")
FIGURES = (Asked.COUNT, Asked.TOTAL, Asked.AVERAGE, Asked.MOST, Asked.LEAST)
_OF_NUMBERS = (Asked.TOTAL, Asked.AVERAGE)
_EXTREMES = (Asked.MOST, Asked.LEAST)
_OF_DATES = words_of("words", "days") | words_of("words", "months") | words_of("words", "years")


def plan_for(asking: Asking, source: Source, closeness: Closeness) -> Plan | None:
    """Return how this table answers the question; None if nothing of the question is in the table.

    A plan that explains less than the whole question (`explained`) isn't to be computed, only to be asked about.
    """
    asking = without_loose_measure(asking, source)
    conditions, spans = [], []
    for time in asking.times(*source.days) if source.days else ():
        conditions.append(in_periods(source, time))
        spans.append((time.start, time.end))
    tokens = within(asking.tokens, spans)
    found = match(asking, source, tokens, closeness)
    found.conditions = conditions + found.conditions
    for column in source.number_columns if asking.operation.asked in FIGURES else ():
        # "The total amount": such a word mostly only helps to ask, but here it is a column.
        if column not in found.named and source.column_stems[column] & stems_of(asking.words & NAMES_TOO):
            found.named[column] = []
    if asking.operation.asks_who:
        found.people = _people(source, closeness)
    _apply_yes_and_no(asking, found)
    limits = list(apply_limits(asking, found))
    plan = _figured(asking, found)
    if plan is None or len(limits) < len(asking.operation.limits):
        return None
    left = [
        token for token in found.unexplained if not (_is_covered(token, asking, plan) or _is_verb(token, asking, found))
    ]
    left = _without_entity(asking, found, left, closeness)
    if found.guessed and plan.asked not in FIGURES:
        # Only a computation of numbers may rest on closeness: a list of rows claims that they are meant.
        return None
    everything = len(tokens) + len(conditions) + len(limits)
    explained = 1.0 if not left else 1 - len(left) / max(everything, 1)
    strength = len(found.conditions) + len(found.titled) + len(found.named) + 0.5 * len(found.near)
    if plan.column >= 0:
        strength += 0.5 * (len(found.unexplained) - len(left))
    assumed = _assumed(asking, found, plan, left, closeness) or _beside(asking, found, plan, left, strength)
    if not strength and (assumed or not left) and (plan.column >= 0 or asking.has_any("rows")):
        # "Which is the cheapest?", "how many rows are there?"
        strength = WHOLE
    is_named = bool(found.conditions or found.titled or found.named or _is_measured(asking, plan))
    if not is_named and found.near and len(left) == len(found.unexplained):
        # Closeness alone would take "clients" for "students".
        return None
    if not strength:
        return None
    is_of_cells = bool(found.conditions or found.named or found.near)
    return replace(plan, explained=explained, strength=strength, is_of_cells=is_of_cells, assumed=assumed)


def _assumed(asking: Asking, found: Match, plan: Plan, left: Sequence[Token], closeness: Closeness) -> str:
    """Return the only word that is left if it stands where the rows are named: "how many tests in May"; "" without."""
    if len(left) != 1 or not _is_noun(left[0], asking):
        return ""
    is_of_years = plan.source.time_column in plan.source.year_columns and not (found.titled or found.named)
    if is_of_years and closeness.to_table(left[0].word, asking.language, found.source) < ENTITY:
        # Any table may have years: "how many wines are from after 2016" isn't asked of the trees.
        return ""
    if plan.asked in _EXTREMES:
        return left[0].word if asking.operation.measure or plan.group >= 0 > plan.column else ""
    is_quantity_of_rows = plan.asked is Asked.TOTAL and plan.column >= 0 and is_quantity(plan.source, plan.column)
    return left[0].word if (plan.asked is Asked.COUNT or is_quantity_of_rows) and found.conditions else ""


def _without_entity(asking: Asking, found: Match, left: list[Token], closeness: Closeness) -> list[Token]:
    """Return the words left without the noun for the rows ("which invoices are from …") if it is close to the table."""
    conditions = [each for each in found.conditions if each.column in found.source.text_columns]
    is_noun = [token.word for token in left] == [asking.operation.noun]
    if asking.operation.asked is not Asked.LIST or not is_noun or not conditions or found.guessed:
        return left
    return [] if closeness.to_table(left[0].word, asking.language, found.source) >= ENTITY else left


def _beside(asking: Asking, found: Match, plan: Plan, left: Sequence[Token], strength: float) -> str:
    """Return the only word that is left if it belongs to one that names the table or rows of it; "" without.

    "How much did the community of owners spend on repairs": the table is that of the community's expenses.
    """
    is_figure = plan.asked in (*_OF_NUMBERS, Asked.AMOUNT, Asked.COUNT)
    if len(left) != 1 or not found.conditions or not is_figure or strength < NAMED or found.guessed:
        return ""
    [token] = left
    if token.word.isdigit() or token.word in asking.names or token.word in words_of("words", "negations"):
        return ""
    known = [*found.titled, *found.valued, *(each for tokens in found.named.values() for each in tokens)]
    between = (asking.folded[min(token.end, each.end) : max(token.start, each.start)] for each in known)
    return token.word if any(_OF.fullmatch(text) for text in between) else ""


def _sometimes_empty(asking: Asking, found: Match) -> int:
    """Return the column of dates that some cells leave empty and that the question names; -1 without.

    It needs no name if it is the only one and something is still to happen ("haven't come back yet").
    """
    empty = [column for column in found.source.date_columns if "" in found.source.texts(column)]
    named = [column for column in found.columns if column in empty]
    return next(iter(named or (empty if len(empty) == 1 and asking.has_any("pending") else [])), -1)


def in_periods(source: Source, time: NamedTime) -> Condition:
    """Return the condition that the first column of dates or years lies within the periods of a time."""
    column = source.time_column
    rows = frozenset(
        number
        for number, row in enumerate(source.table.rows)
        if (when := source.time(row, column)) is not None and any(start <= when < end for start, end in time.periods)
    )
    return Condition(column, ", ".join(dict.fromkeys(_period(*period) for period in time.periods)), rows, is_time=True)


def _period(start: datetime, end: datetime) -> str:
    if end == datetime.max:
        return f"≥ {_beginning(start)}"
    if start == datetime.min:
        return f"< {_beginning(end)}"
    days = (end - start).days
    if days == 1:
        return f"{start:%Y-%m-%d}"
    if start.day == end.day == 1 and days <= 31:
        return f"{start:%Y-%m}"
    if (start.month, start.day, end.month, end.day) == (1, 1, 1, 1):
        return f"{start:%Y}"
    last = datetime.fromordinal(end.toordinal() - 1)
    return f"{start:%Y-%m-%d} – {last:%Y-%m-%d}"


def _beginning(day: datetime) -> str:
    return f"{day:%Y}" if (day.month, day.day) == (1, 1) else f"{day:%Y-%m-%d}"


def _apply_yes_and_no(asking: Asking, found: Match) -> None:
    """Make conditions of columns of yes and no that the question names, and of values that it denies."""
    source, yes, no = found.source, words_of("words", "yes"), words_of("words", "no")
    if asking.is_negative and (column := _sometimes_empty(asking, found)) >= 0:
        empty = frozenset(number for number, text in enumerate(source.texts(column)) if not text)
        found.conditions.append(Condition(column, EMPTY, empty))
        return
    named = [column for column in found.columns if asking.is_negative or not is_of_payment(asking, found, column)]
    for column in named:
        values = set(source.distinct(column)) if column in source.text_columns else set()
        if values and values <= yes | no:
            wanted = no if asking.is_negative else yes
            texts = source.texts(column)
            rows = frozenset(number for number, text in enumerate(texts) if text in wanted)
            shown = next((source.table.rows[row].values[column].text for row in sorted(rows)), "")
            found.conditions.append(Condition(column, shown, rows))
            return
    if asking.is_negative:
        for index, condition in enumerate(found.conditions):
            if condition.column in source.text_columns and len(source.distinct(condition.column)) <= 6:
                others = frozenset(range(len(source.table.rows))) - condition.rows
                found.conditions[index] = Condition(condition.column, f"≠ {condition.value}", others)
                return


def _figured(asking: Asking, found: Match) -> Plan | None:
    """Return the plan for what the operation asks of the matching rows."""
    source, asked = found.source, asking.operation.asked
    conditions = tuple(found.conditions)
    plan = Plan(source, asked, conditions, group=_group(asking, found), subject=_subject(asking, found))
    if asked in _OF_NUMBERS:
        column = measured(asking, found)
        is_count = asking.operation.counts or not any(
            source.table.columns[number].is_quantity for number in source.number_columns
        )
        if column is None and asked is Asked.TOTAL and is_count:
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
        return _first_or_last(plan, asked)
    # A question with "any" or "which" is a computation only if it says which rows it means.
    return plan if conditions or found.titled or asking.operation.limits else None


def _counted(asking: Asking, found: Match, plan: Plan) -> Plan | None:
    """Count rows, or add up the column of numbers that the counted thing names ("how many bottles")."""
    source = found.source
    for column in found.columns:
        if (
            column in source.number_columns
            and source.table.columns[column].is_quantity
            and not is_money(source, column)
        ):
            return replace(plan, asked=Asked.TOTAL, column=column)
    units = [column for column in source.number_columns if unit_words(source.table.columns[column].unit) & asking.words]
    if units:
        return replace(plan, asked=Asked.TOTAL, column=units[0])
    is_noun_left = any(_is_noun(token, asking) for token in found.unexplained)
    is_value = plan.conditions and not (found.titled or found.named or is_noun_left)
    if is_value or asking.has_any("quantities"):
        # "How many atlases" of a row that says how many there are.
        counts = [column for column in source.number_columns if is_quantity(source, column)]
        if counts:
            return replace(plan, asked=Asked.TOTAL, column=counts[0]) if len(counts) == 1 else None
    subject = next((column for column in found.named if column in source.text_columns), -1)
    return replace(plan, subject=subject)


def _amount(asking: Asking, found: Match, plan: Plan) -> Plan | None:
    """Add up the rows that "how much" means; of prices, list them."""
    column = measured(asking, found)
    if column is None or not (
        plan.conditions or found.titled or asking.operation.measure or asking.has_any("everything")
    ):
        return None
    return replace(plan, asked=Asked.AMOUNT, column=column)


def _extreme(asking: Asking, found: Match, plan: Plan) -> Plan | None:
    """Find the row with the highest or lowest number, or the group with the highest total or count."""
    column = measured(asking, found)
    if asking.operation.measure:
        # "Who is the oldest" compares rows.
        return replace(plan, column=column, group=-1) if column is not None else _oldest(asking, found, plan)
    group = plan.group if plan.group >= 0 else plan.subject
    if (column is None and group < 0) or (asking.operation.asks_who and group < 0):
        return None
    if group >= 0 and column is not None and not is_meant(asking, found, column):
        # "Who made the most trips" counts trips, whatever else the table has numbers of.
        column = None
    return replace(plan, column=-1 if column is None else column, group=group)


def _oldest(asking: Asking, found: Match, plan: Plan) -> Plan | None:
    """Find the first or last row by date where ages are asked for and the table only has dates."""
    if asking.operation.measure != "age":
        return None
    return _first_or_last(replace(plan, group=-1), Asked.FIRST if plan.asked is Asked.MOST else Asked.LAST)


def _first_or_last(plan: Plan, asked: Asked) -> Plan | None:
    """Find the first or last row by the column of dates, or else of years."""
    column = plan.source.time_column
    if column in plan.source.year_columns:
        asked = Asked.LEAST if asked is Asked.FIRST else Asked.MOST
    return replace(plan, asked=asked, column=column) if column >= 0 else None


def _group(asking: Asking, found: Match) -> int:
    """Return the column that the figure is asked for each value of; -1 without."""
    column = _column_called(asking.operation.each, found) if asking.operation.each else -1
    texts = found.source.texts(column) if column >= 0 else []
    # The average per receipt, where each row is a receipt, is that of all rows.
    is_of_rows = asking.operation.asked in _OF_NUMBERS and len(texts) > 1 and len(set(texts)) == len(texts)
    return -1 if is_of_rows else column


def _subject(asking: Asking, found: Match) -> int:
    """Return the column that the question asks for: that of persons, or that of the noun after "which"."""
    if asking.operation.noun and (column := _column_called(asking.operation.noun, found)) >= 0:
        return column
    if not asking.operation.asks_who:
        return -1
    people = stems_of(words_of("person", "columns"))
    columns = found.source.text_columns
    named = [column for column in columns if found.source.column_stems[column] & people]
    used = {condition.column for condition in found.conditions}
    return next((column for column in [*named, *found.people] if column not in used), -1)


def _people(source: Source, closeness: Closeness) -> list[int]:
    """Return the columns of short names whose own name is close to words for people, closest first."""
    columns = [
        column
        for column in source.text_columns
        if source.table.columns[column].name
        and all(row.values[column].text[:1].isupper() for row in source.table.rows if row.values[column].text)
        and not source.is_prose(column)
    ]
    names = [source.table.columns[column].name for column in columns]
    cosines = closeness.of(PEOPLE, "en", names, source.document.language)
    scores = {column: float(cosines[:, place].mean()) for place, column in enumerate(columns)}
    return sorted(scores, key=lambda column: -scores[column])[:1]


def _column_called(noun: str, found: Match) -> int:
    own = stems(noun)
    named = [column for column, names in enumerate(found.source.column_stems) if own & names]
    near = [column for column, tokens in found.near.items() if noun in {token.word for token in tokens}]
    return next(iter([*named, *near]), -1)


def _measure_words(asking: Asking) -> frozenset[str]:
    return measures()[asking.operation.measure].columns if asking.operation.measure else frozenset()


def _is_covered(token: Token, asking: Asking, plan: Plan) -> bool:
    """Return whether the plan accounts for a word that names no column, value or title."""
    columns = plan.source.table.columns
    if any(token.word in words_of("words", name) for name in ("rows", "negations", "relations")):
        return True
    if plan.column >= 0 and (token.word in words_of("words", "spent") or stems(token.word) & _measure_words(asking)):
        return True
    if token.word in words_of("words", "money") and plan.column >= 0:
        return is_money(plan.source, plan.column)
    if plan.asked in (Asked.FIRST, Asked.LAST) and token.word in words_of("words", "moments"):
        return True
    if token.word in words_of("words", "quantities") and plan.column >= 0:
        return is_quantity(plan.source, plan.column)
    if token.word in words_of("words", "pending") and any(each.value == EMPTY for each in plan.conditions):
        return True
    if token.word in _OF_DATES and any(columns[each.column].kind is Kind.DATE for each in plan.conditions):
        return True
    if token.word in words_of("words", "currencies"):
        return plan.column >= 0 or any(columns[each.column].kind is Kind.NUMBER for each in plan.conditions)
    return plan.column >= 0 and token.word in unit_words(columns[plan.column].unit)


def _is_counted(token: Token, asking: Asking) -> bool:
    """Return whether a word stands right after those of the operation: "how many tests"."""
    return any(not asking.folded[end : token.start].strip() for _, end in asking.operation.spans if end <= token.start)


def _is_noun(token: Token, asking: Asking) -> bool:
    """Return whether a word stands where the rows are named: "how many tests", "which test"."""
    return token.word == asking.operation.noun or _is_counted(token, asking)


def _is_measured(asking: Asking, plan: Plan) -> bool:
    """Return whether the question says what numbers it means, without naming their column."""
    if plan.column < 0:
        return False
    unit = plan.source.table.columns[plan.column].unit
    return bool(asking.operation.measure or asking.has_any("money") or unit_words(unit) & asking.words)


def _is_verb(token: Token, asking: Asking, found: Match) -> bool:
    """Return whether a word is probably what somebody named or asked for did: "cuántos litros echó Ana", "who sang".

    It stands beside a value, or right after "who"; the word after "how many" is what is counted.
    """
    if asking.operation.asked not in (*FIGURES, Asked.AMOUNT) or token.word in asking.names:
        return False
    if _WE.search(token.word):
        return True
    who = pattern("asked", "who").search(asking.folded)
    if who and who.end() <= token.start and not asking.folded[who.end() : token.start].strip():
        return True
    if asking.operation.asked is not Asked.AMOUNT and _is_counted(token, asking):
        return False
    return any(
        not each.word.isdigit() and not asking.folded[min(token.end, each.end) : max(token.start, each.start)].strip()
        for each in found.valued
    )
