"""Tell whether a number of a sentence follows from the numbers of its evidence: as a sum, difference, product, share,
quotient, count or rounded value.

Whoever tries enough sums finds any number. So units must agree, few numbers are combined, and a factor must be said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import combinations, pairwise, product

from answerable.text.claims import Claim, Kind
from answerable.text.measures import decimals, unit_of
from answerable.text.terms import claim_words, folded_words

MOST_OPERANDS = 2
"""Numbers of one unit in a piece of evidence whose sum, difference or product counts without being written out. Sums of
three hit wrong numbers too often; with two, 23 of 540 sentences with a number changed at random are verified."""
MOST_PIECES, MOST_CHOSEN = 3, 4
"""Pieces of evidence whose numbers are added across, and numbers of one unit in each of them. Guesses, not measured."""
MOST_COUNTED = 20
"""The highest number that may count rows or the items of a list, or be a factor. A guess, not measured."""
ROUNDED = Decimal("0.05")
"""The part of a value by which "about" may be off. A guess, not measured."""
WORDS_BEFORE = 3
"""Words before a number among which "about" or "almost" is looked for ("just under", "más de", "cerca de los"). A
guess, not measured."""
MOST_SHOWN = 8
"""Numbers of a sum that a sentence writes out, which bounds the readings that are tried. A guess, not measured."""
CLOCK = "clock"
"""The unit of a time of the day, in seconds."""

Amount = tuple[Decimal, str]
"""A number and its unit, "" if none is named."""

_OPERATOR = re.compile(
    r"\s?(?:[%€$£]|[^\W\d_]{1,12}\.?(?:\s[^\W\d_]{1,12})?)?\s?([-+−–—×x*·÷/=])\s?(?:[^\W\d_]{0,3}[€$£]\s?)?",
    re.IGNORECASE,
)
_LIST = re.compile(r"\w(?:[,;](?:\s[\w'’-]+){1,4})+[,;]?\s(?:and|or|y|e|o|ou)\s\w", re.IGNORECASE)
_COMMAS = re.compile(r"[,;](?:\s(?:and|or|y|o|e|ou))?\s|\s(?:and|or|y|o|e|ou)\s")
_TO = re.compile(r"\s?(?:to|through|until|till|a|até|hasta|[-–—])\s?", re.IGNORECASE)


def amounts(text: str, claim: Claim) -> frozenset[Amount]:
    """Return the readings of a number of a text, with its unit and in basic units."""
    pairs = [value.split("=") for value in claim.values if "=" in value]
    times = [value.removeprefix("time:") for value in claim.values if value.startswith("time:")]
    found = {(Decimal(number), unit) for unit, number in pairs} | {(60 * Decimal(time), CLOCK) for time in times}
    span = text[claim.start : claim.end]
    if times and not (span.isalpha() or span.isdecimal()):
        # The 8 of 08:00 is no number to add.
        return frozenset(found)
    return frozenset(found | {(number, unit) for number in decimals(claim) for unit in unit_of(text, claim) or ("",)})


def is_computed(
    wanted: Iterable[Amount],
    shown: Sequence[frozenset[Amount]],
    pieces: Sequence[Sequence[frozenset[Amount]]],
    is_announced: bool,
) -> bool:
    """Return whether an amount follows from the amounts of pieces of evidence.

    `shown` is what the sentence says besides: operands that it shows, and factors ("three nights cost 114 euros").
    Where nothing announces arithmetic, like "more" or the row of a table, units must be named and agree, and a single
    piece gives no sums of its own.
    """
    flat = [[one for readings in piece for one in readings if one[1] != CLOCK] for piece in pieces]
    said = [one for readings in shown for one in readings if one[1] != CLOCK]
    units = {unit for row in flat for _, unit in row}
    return any(
        _follows(number, unit, fits, said, flat, is_announced)
        for number, unit in wanted
        for fits in ([{unit}] if not is_announced else [{unit, ""}] if unit else [{each} for each in units])
    ) or any(number in _durations(piece) for number, unit in wanted if unit == "s" for piece in pieces)


def _follows(
    number: Decimal, unit: str, fits: set[str], said: list[Amount], flat: list[list[Amount]], is_announced: bool
) -> bool:
    """Return whether a number follows from those whose unit is in `fits`."""
    rows = [list(dict.fromkeys(other for other, its in row if its in fits)) for row in flat]
    known = {other for row in rows for other in row}
    if number in _sums(rows, [other for other, its in said if its in fits and other in known], is_announced):
        return True
    if not unit and not is_announced:
        return _is_factor(number, said, flat)
    few = [one for row in flat for one in row if one[1] not in (unit, "%") and is_announced]
    factors = [one for one in (*said, *few) if one[1] != unit or is_announced]
    return _is_product(number, known, factors, [one for row in flat for one in row]) or _is_factor(number, said, flat)


def _is_factor(number: Decimal, said: list[Amount], flat: list[list[Amount]]) -> bool:
    """Return whether the sentence shows a product by this number: in "two days cost 83.20", the two is a factor."""
    given = {each for row in flat for each, _ in row}
    results = {(number * each, unit) for row in flat for each, unit in row if unit}
    return number in range(2, MOST_COUNTED + 1) and any(one in results and one[0] not in given for one in said)


def is_rounded(text: str, claim: Claim, language: str, pieces: Sequence[Sequence[frozenset[Amount]]]) -> bool:
    """Return whether a number is a round one near a number of the evidence, and says so ("just under forty")."""
    known, words = claim_words(language), [word for word, _, _ in folded_words(text[: claim.start])][-WORDS_BEFORE:]
    is_above, is_below, is_near = (not each.isdisjoint(words) for each in (known.above, known.below, known.near))
    return any(
        (unit == its or not (unit and its))
        and _digits(number) < _digits(other)
        and abs(number - other) <= ROUNDED * other
        and (is_near or (is_above and other > number) or (is_below and other < number))
        for number, unit in amounts(text, claim)
        for piece in pieces
        for readings in piece
        for other, its in readings
        if CLOCK not in (unit, its)
    )


def shown_results(text: str, claims: Sequence[Claim]) -> set[Decimal]:
    """Return the results of the sums that a text writes out and that are right: 480 for "3,420 − 2,940 = 480".

    Whether the other numbers are in the evidence is not asked here.
    """
    results: set[Decimal] = set()
    run: list[Claim] = []
    signs = ""
    for claim in (*(each for each in claims if each.kind is Kind.NUMBER), None):
        sign = _OPERATOR.fullmatch(text, run[-1].end, claim.start) if run and claim else None
        if claim and sign:
            run.append(claim)
            signs += sign[1]
            continue
        if signs.count("=") == 1 and signs.endswith("=") and 2 < len(run) <= MOST_SHOWN:
            for *operands, result in product(*(decimals(each)[:2] for each in run)):
                if _evaluated(operands, signs[:-1]) == round(result, 2):
                    results.add(result)
        run, signs = [claim] if claim else [], ""
    return results


def _evaluated(numbers: Sequence[Decimal], signs: str) -> Decimal | None:
    """Return the value of `1 + 2 * 3`, rounded to cents; None for a division by zero."""
    terms = [numbers[0]]
    for operator, number in zip(signs, numbers[1:], strict=True):
        if operator in "×x*·X":
            terms[-1] *= number
        elif operator in "÷/":
            if not number:
                return None
            terms[-1] /= number
        else:
            terms.append(number if operator == "+" else -number)
    return round(sum(terms, Decimal()), 2)


def counts(text: str, claims: Sequence[Claim]) -> Iterator[int]:
    """Yield how many items a list of the text has, and how many weekdays it names or spans."""
    for found in _LIST.finditer(text):
        yield len(_COMMAS.findall(found[0])) + 1
    named = [claim for claim in claims if claim.kind is Kind.WEEKDAY]
    days = [int(value[8:]) for claim in named for value in claim.values if value.startswith("weekday:")]
    spans = [
        (last - first) % 7 + 1
        for (one, first), (other, last) in pairwise(zip(named, days, strict=True))
        if _TO.fullmatch(text, one.end, other.start)
    ]
    yield from spans or [len(set(days))]


def _sums(rows: Sequence[Sequence[Decimal]], shown: Sequence[Decimal], is_announced: bool) -> set[Decimal]:
    """Return the sums and differences of numbers that are shown, few, in the same place of each row, or across rows."""
    groups: list[Sequence[Decimal]] = [shown]
    if is_announced:
        groups += [row for row in rows if len(row) <= MOST_OPERANDS]
        groups += [[one, other] for one in shown for row in rows for other in row if one != other]
    if len(rows) > 1 and len(set(map(len, rows))) == 1:
        groups += [[row[place] for row in rows] for place in range(len(rows[0]))]
    if len(rows) <= MOST_PIECES:
        chosen = [row for row in rows if len(row) <= MOST_CHOSEN]
        groups += [list(one) for size in (2, 3) for some in combinations(chosen, size) for one in product(*some)]
    results = {sum(row, Decimal()) for row in rows if is_announced and len(row) > 1}
    for group in groups:
        if len(group) > 1:
            results.add(sum(group, Decimal()))
            pairs = list(combinations(group[:MOST_COUNTED], 2))
            results.update(*((one + other, abs(one - other)) for one, other in pairs))
    return results


def _is_product(
    number: Decimal, known: Iterable[Decimal], factors: Sequence[Amount], everything: Sequence[Amount]
) -> bool:
    """Return whether a number is a known one times or by a factor, or a percentage of it, to the cent."""
    times = {each for each, unit in factors if each == int(each) and each > 1 and unit not in (CLOCK, "%")}
    shares = [each / 100 for each, unit in (*factors, *everything) if unit == "%" and each]
    shares += [share for part in shares for share in (1 + part, 1 - part) if share]
    shares += [1 / factor for factor in times if factor <= MOST_COUNTED]
    return any(number in (each * factor, each / factor) for each in known for factor in times if each != factor) or any(
        number == round(each * share, 2) for each in known for share in shares if 1 / share != each
    )


def _durations(piece: Sequence[frozenset[Amount]]) -> set[Decimal]:
    """Return the seconds between each two neighbouring times."""
    clocks = [[number for number, unit in readings if unit == CLOCK] for readings in piece]
    return {after - before for one, other in pairwise(filter(None, clocks)) for before in one for after in other}


def _digits(number: Decimal) -> int:
    return len(number.normalize().as_tuple().digits)
