"""Read a question as a computation on the messages of a chat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from answerable.computing.asked import Asked, Token
from answerable.computing.matching import Asking, Condition, Plan, within
from answerable.computing.quantities import WHOLE, in_periods
from answerable.computing.source import Source
from answerable.computing.vocabulary import is_currency, stems, stems_of, word_lists, words_of
from answerable.tables.table import Column, Kind, Row, Value
from answerable.tables.values import read_value
from answerable.text.terms import fold, words

SENDER, TIME, TEXT, ATTACHMENT, AMOUNT = range(5)
"""The numbers of the columns of a chat's table; `with_amounts` adds AMOUNT."""

_OF_AMOUNTS = (Asked.AMOUNT, Asked.TOTAL, Asked.AVERAGE, Asked.MOST, Asked.LEAST)
_OF_MESSAGES = (Asked.COUNT, Asked.MOST, Asked.LEAST, Asked.FIRST, Asked.LAST, Asked.ANY, Asked.TOTAL, Asked.LIST)


def plan_for_chat(asking: Asking, source: Source) -> Plan | None:
    """Return what to compute from a chat's messages; None if the question isn't about messages."""
    asked = asking.operation.asked
    if source.days is None:
        return None
    if plan := _paid(asking, source):
        return plan
    if asked not in _OF_MESSAGES:
        return None
    times = asking.times(*source.days)
    tokens = within(asking.tokens, [(time.start, time.end) for time in times])
    kinds = {name: words_of("chat.attachments", name) for name in word_lists("operations")["chat"]["attachments"]}
    kind = next((name for name, words in kinds.items() if any(token.word in words for token in tokens)), "")
    about_messages = asking.words & (words_of("chat", "messages") | words_of("chat", "mentions"))
    if not kind and not about_messages and asking.operation.measure != "talk":
        return None
    conditions = [in_periods(source, time, TIME) for time in times]
    people, tokens = _people(source, tokens)
    conditions += people
    if kind:
        conditions.append(_attached(source, kind))
    covered = words_of("chat", "messages") | words_of("chat", "mentions") | kinds.get(kind, frozenset())
    covered |= words_of("words", "rows") | {asking.operation.noun, asking.operation.each}
    topic = [
        token for token in tokens if token.word not in covered and stems(token.word).isdisjoint(source.title_stems)
    ]
    if topic:
        says = Condition(TEXT, " ".join(token.word for token in topic), _saying(source, topic))
        conditions.append(says)
        # "How many people come to the party?" doesn't ask how many messages contain these words.
        is_said = asking.words & words_of("chat", "mentions") or asked in (Asked.FIRST, Asked.LAST, Asked.ANY)
        if not (is_said and says.rows):
            return None
    if asked in (Asked.ANY, Asked.LIST) and not conditions:
        return None
    group = _group(asking) if asked in (Asked.MOST, Asked.LEAST) or asking.operation.each else -1
    if asked in (Asked.MOST, Asked.LEAST) and group < 0:
        return None
    named = sum(not stems(token.word).isdisjoint(source.title_stems) for token in tokens)
    return Plan(
        source,
        Asked.COUNT if asked is Asked.TOTAL else asked,
        tuple(conditions),
        column=TIME if asked in (Asked.FIRST, Asked.LAST) else -1,
        group=group,
        strength=1 + len(conditions) + named,
    )


def _paid(asking: Asking, source: Source) -> Plan | None:
    """Return what to compute from the amounts that people say they paid; None if the question isn't about them."""
    asked = asking.operation.asked
    if asked not in _OF_AMOUNTS or not asking.has_any("money"):
        return None
    times = asking.times(*source.days) if source.days else []
    people, tokens = _people(source, within(asking.tokens, [(time.start, time.end) for time in times]))
    covered = words_of("words", "money") | words_of("words", "everything") | words_of("words", "relations")
    covered |= words_of("chat", "messages") | source.title_stems
    topic = [token for token in tokens if token.word not in covered]
    priced = with_amounts(source)
    paid = frozenset(row for row in range(len(source.table.rows)) if priced.table.rows[row].values[AMOUNT].text)
    conditions = [Condition(AMOUNT, "", paid), *(in_periods(source, time, TIME) for time in times), *people]
    if topic:
        conditions.append(Condition(TEXT, " ".join(token.word for token in topic), _saying(source, topic)))
    group = SENDER if asked in (Asked.MOST, Asked.LEAST) and asking.operation.asks_who else -1
    # A question that names nothing in the chat may just as well be about a table of expenses.
    strength = float(len(conditions)) if len(conditions) > 1 or group >= 0 else WHOLE
    plan = Plan(priced, asked, tuple(conditions), column=AMOUNT, group=group, strength=strength)
    return plan if plan.rows else None


def with_amounts(source: Source) -> Source:
    """Return a chat with an added column: the amount that the sender of a message says they paid."""
    senders = stems_of({row.values[SENDER].text for row in source.table.rows})
    values = [_amount(row, senders) for row in source.table.rows]
    units = Counter(value.unit for value in values if value.number is not None)
    column = Column("amount", Kind.NUMBER, units.most_common(1)[0][0] if units else "")
    rows = tuple(
        replace(row, values=(*row.values, value)) for row, value in zip(source.table.rows, values, strict=True)
    )
    return replace(source, table=replace(source.table, columns=(*source.table.columns, column), rows=rows))


def _amount(row: Row, senders: frozenset[str]) -> Value:
    """Return what a message's sender says they paid: its only amount, if it has a word for paying."""
    text = row.values[TEXT].text
    said = set(words(fold(text.lower())))
    if text.rstrip().endswith("?") or said.isdisjoint(words_of("chat", "paid")):
        return Value("")
    others = stems_of(said) & senders - stems_of((row.values[SENDER].text,))
    amounts = [value for match in _MONEY.finditer(text) if is_currency((value := read_value(match[0].strip())).unit)]
    return amounts[0] if len(amounts) == 1 and not others else Value("")


_MONEY = re.compile(
    r"(?<![\w.,])(?:[A-Z]{0,3}[$€£]\s?\d(?:[\d.,]*\d)?|\d(?:[\d.,]*\d)?\s?(?:[€£$]|(?:euros?|reais|pesos)\b))"
)


def _people(source: Source, tokens: Sequence[Token]) -> tuple[list[Condition], list[Token]]:
    """Return the condition that a named person sent the message, and the words that aren't part of names."""
    rows: set[int] = set()
    shown, left = [], []
    for token in tokens:
        sent = source.rows_with(SENDER, token.word)
        if sent and len(token.word) > 1:
            rows |= sent
            shown += sorted({source.table.rows[row].values[SENDER].text for row in sent})
        else:
            left.append(token)
    if not rows:
        return [], left
    return [Condition(SENDER, ", ".join(dict.fromkeys(shown)), frozenset(rows))], left


def _attached(source: Source, kind: str) -> Condition:
    texts = source.texts(ATTACHMENT)
    rows = frozenset(number for number, text in enumerate(texts) if text and (kind == "any" or text in (kind, "media")))
    return Condition(ATTACHMENT, "" if kind == "any" else kind, rows)


def _saying(source: Source, topic: Sequence[Token]) -> frozenset[int]:
    """Return the messages that contain all of these words."""
    rows = frozenset(range(len(source.table.rows)))
    for token in topic:
        rows &= source.rows_with(TEXT, token.word)
    return rows


def _group(asking: Asking) -> int:
    """Return the column by which messages are counted, sender or time; -1 if the question asks for neither."""
    noun = fold(asking.operation.each or asking.operation.noun)
    if any(noun in words_of("words", period) for period in ("days", "months", "years")):
        return TIME
    return (
        SENDER if asking.operation.asks_who or noun in words_of("words", "rows") | words_of("person", "columns") else -1
    )
