"""Read a cell: a number with its unit or currency, a date with or without a time of day, or text.

Dates are ISO 8601, numbers in any order, or with names of months. The meaning of a cell may depend on other cells, that
of "1.200" on "3.450,00" and that of 3/4 on 14/4: `columns` decides it for a whole column.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from answerable.tables.table import Value, folded, lists, meanings, word_set

_LONGEST_DATE = 60  # characters of a date at most, with the names of the day, month and zone
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2})[:h.](?P<minute>\d\d)(?:[:.](?P<second>\d\d)(?:[.,]\d{1,9})?)? ?(?P<half>[ap]\.? ?m\.?)?"
    r"(?: ?(?:h|hs|hrs|horas|z|utc|gmt|[+-]\d\d:?\d\d))?\.?"
)
_NUMBERS = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})")
_YEAR_AND_MONTH = re.compile(r"(\d{4})[-/](\d{1,2})")
_MONTH_AND_YEAR = re.compile(r"(\d{1,2})[-/.](\d{4})")
_HOUR_ONLY = re.compile(r"(\d{1,2}) ?([ap])\.? ?m\.?")


class DayOrder(str, Enum):
    """Which of the first two numbers is the day, if the year comes last."""

    DAY_FIRST = "day first"
    MONTH_FIRST = "month first"


class Moment(NamedTuple):
    """A time; `is_day`: it is a date without a time of day."""

    time: datetime
    is_day: bool


def read_date(text: str, order: DayOrder) -> Moment | None:
    """Return the time that a text denotes, or None if it isn't a date. A month alone denotes its first day."""
    if len(text) > _LONGEST_DATE or not any(map(str.isdigit, text)):
        return None
    return _read(text, order)


def decide_order(texts: Iterable[str], preferred: DayOrder) -> DayOrder:
    """Return the order in which most of a column's dates are valid; on a tie, that with fewer steps back in time."""
    dates = (_NUMBERS.match(text.strip()) for text in texts)
    pairs = [(int(found[1]), int(found[3]), int(found[4])) for found in dates if found and len(found[1]) <= 2]
    if not pairs:
        return preferred
    day_first, month_first = sum(first > 12 for first, _, _ in pairs), sum(second > 12 for _, second, _ in pairs)
    if day_first != month_first:
        return DayOrder.DAY_FIRST if day_first > month_first else DayOrder.MONTH_FIRST
    by_day = _steps_back([(year, month, day) for day, month, year in pairs])
    by_month = _steps_back([(year, month, day) for month, day, year in pairs])
    if by_day == by_month:
        return preferred
    return DayOrder.DAY_FIRST if by_day < by_month else DayOrder.MONTH_FIRST


def _steps_back(days: list[tuple[int, int, int]]) -> int:
    # A list may run backwards in time: then steps forward are the exceptions.
    back = sum(after < before for before, after in pairwise(days))
    forth = sum(after > before for before, after in pairwise(days))
    return min(back, forth)


@lru_cache(maxsize=4096)
def _read(text: str, order: DayOrder) -> Moment | None:
    text = folded(text)
    date = _NUMBERS.match(text)
    if date:
        day = _by_numbers(date, order)
        return _with_clock(day, text[date.end() :]) if day else None
    if whole := _YEAR_AND_MONTH.fullmatch(text):
        return _month(int(whole[1]), int(whole[2]))
    if whole := _MONTH_AND_YEAR.fullmatch(text):
        return _month(int(whole[2]), int(whole[1]))
    return _by_names(text)


def _month(year: int, month: int) -> Moment | None:
    first = day_of(year, month, 1) if year >= 1000 else None
    return Moment(first, True) if first else None


def _by_numbers(found: re.Match[str], order: DayOrder) -> datetime | None:
    first, second, third = int(found[1]), int(found[3]), int(found[4])
    if len(found[1]) == 4:
        return day_of(first, second, third) if len(found[4]) <= 2 else None
    if len(found[1]) > 2 or len(found[4]) not in (2, 4):
        return None
    day, month = (second, first) if order is DayOrder.MONTH_FIRST else (first, second)
    # A date that is impossible in the column's order can only be meant in the other order.
    if month > 12 >= day:
        day, month = month, day
    return day_of(_full_year(third, len(found[4])), month, day)


def _full_year(year: int, digits: int) -> int:
    return year if digits == 4 else year + (2000 if year < 70 else 1900)


def day_of(year: int, month: int, day: int) -> datetime | None:
    """Return the midnight at which a day begins; None if there is no such day."""
    try:
        return datetime(year, month, day)
    except ValueError:
        return None


def _with_clock(day: datetime, rest: str) -> Moment | None:
    """Return the day with the time of day in `rest`, the text after the date; None if `rest` is something else."""
    rest = rest.strip(" ,;-()")
    if rest.startswith("t") and rest[1:2].isdigit():
        rest = rest[1:]
    while rest and not rest[0].isdigit():
        word, _, after = rest.partition(" ")
        if word.strip(",.") not in word_set("values", "days", "joints") | word_set("values", "days", "names"):
            return None
        rest = after.lstrip(" ,")
    if not rest:
        return Moment(day, True)
    clock = _CLOCK.fullmatch(rest)
    if clock is None:
        alone = _HOUR_ONLY.fullmatch(rest)
        return _at(day, int(alone[1]), 0, 0, alone[2]) if alone else None
    return _at(day, int(clock["hour"]), int(clock["minute"]), int(clock["second"] or 0), (clock["half"] or "")[:1])


def _at(day: datetime, hour: int, minute: int, second: int, half: str) -> Moment | None:
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return Moment(day.replace(hour=hour, minute=minute, second=second), False)


def _by_names(text: str) -> Moment | None:
    """Parse a date like "5 de marzo de 2024", "Tuesday, March 5th, 2024 10:30", "05-mar-24" or "mar 2024"."""
    for pattern in _with_names():
        if found := pattern.match(text):
            month = meanings("values", "months").get(found["month"])
            number = found["year"]
            parts = found.groupdict()
            day = month and day_of(_full_year(int(number), len(number)), int(month), int(parts.get("day") or 1))
            if day and (moment := _with_clock(day, text[found.end() :])):
                return moment
    return None


@cache
def _with_names() -> tuple[re.Pattern[str], ...]:
    joint = _one_of("joints")
    weekday = rf"(?:{_one_of('names')}\.?,? (?:{joint} ){{0,2}})?"
    day = rf"(?P<day>\d{{1,2}})(?:\.? ?{_one_of('ordinals')}\b)?"
    month = r"(?P<month>[a-z]{3,10})\b\.?"
    between = rf"(?:[ ./-]|,){{0,3}}(?:\b{joint}[ .]){{0,2}}"
    year = r"(?P<year>\d{4}|\d\d)(?![\d:])"
    month_alone = rf"{month}{between}(?P<year>\d{{4}})(?!\d)"
    orders = (f"{weekday}{day}{between}{month}{between}{year}", f"{weekday}{month}{between}{day}{between}{year}")
    return tuple(map(re.compile, (month_alone, *orders)))


def _one_of(name: str) -> str:
    return f"(?:{'|'.join(sorted(map(re.escape, word_set('values', 'days', name)), key=len, reverse=True))})"


_LONGEST = 40  # characters of a number at most: longer text is not a number
_LONGEST_BLANK = 8  # characters of a word for a missing value at most: the longest listed word has four
_MINUS = "−–-"
_UNIT = r"[^\W\d_](?:[^\W\d_]|[²³.·/µ]){0,14}|[ckdm]?m[23]|°[CF]?|[%‰]"
_DIGITS = r"\d(?:[\d.,'’ \u00a0\u202f\u2009]{0,30}\d)?|[.,]\d{1,15}"
_SYMBOL = r"[^\W\d_]{0,3}[$€£¥₹₩][^\W\d_]?|[^\W\d_]{1,3}/\.?|[A-Za-z]{2,4}"
_GAP = r"[ \u00a0\u202f]{0,2}"
_NUMBER = re.compile(
    rf"(?P<open>\()?{_GAP}(?P<sign>[+{_MINUS}])?{_GAP}(?:(?P<before>{_SYMBOL})\.?{_GAP})?(?P<inner>[+{_MINUS}])?"
    rf"(?P<digits>{_DIGITS})(?:[.,][-–—]{{1,2}})?"
    rf"{_GAP}(?:(?P<after>{_SYMBOL}|{_UNIT})(?P<per>/[^\W\d_]{{1,8}})?)?\.?{_GAP}(?P<close>\))?"
)
_GROUPED = re.compile(r"\d{1,3}(?P<mark>[.,'’ ])\d{3}(?:(?P=mark)\d{3})*(?:(?P<decimal>[.,])\d+)?")
_INDIAN = re.compile(r"\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d+)?")
_PLAIN = re.compile(r"\d*(?:(?P<decimal>[.,])\d+)?")
_BLANKS = re.compile("[\u00a0\u202f\u2009]")
_PHONE_DIGITS = 8  # digits; with a plus sign, a number with more digits is a phone number
_LETTERS = frozenset("VWLKGM")
_CODE = re.compile(r"\b[A-Z]{3}\b")


@dataclass(frozen=True, slots=True)
class Customs:
    """How a column or a document writes: its decimal mark, the order of dates, and the currency that `$` means."""

    decimal: str = "."
    order: DayOrder = DayOrder.DAY_FIRST
    dollar: str = "USD"


class Written(NamedTuple):
    """A number as written: its digits and marks without blanks, and the currency or unit around it.

    `mark` is the decimal mark that the digits show; "" if they show none or can be read in two ways.
    """

    digits: str
    mark: str
    is_negative: bool
    unit: str


def read_value(text: str, customs: Customs = Customs()) -> Value:
    """Return a cell's value by these customs; for a text that is neither number nor date, only its text is set."""
    written = split_number(text, customs.dollar)
    if written is not None:
        return number_value(text, written, customs.decimal)
    moment = read_date(text.strip(), customs.order)
    return Value(text, time=moment.time, is_day=moment.is_day) if moment else Value(text)


def is_blank(text: str) -> bool:
    """Whether a cell is empty, or states that its value is missing: "-", "n/a", "s/d"."""
    text = text.strip()
    if not text or len(text) > _LONGEST_BLANK or text[0].isdigit():
        return not text
    return folded(text) in word_set("values", "blank")


def split_number(text: str, dollar: str) -> Written | None:
    """Return a cell's number as written; None if there is none, or it is a name (007, 1st) or may be a phone's."""
    text = text.strip()
    if len(text) > _LONGEST or not any(map(str.isdigit, text)):
        return None
    found = _NUMBER.fullmatch(text)
    if found is None or (found["open"] is None) != (found["close"] is None) or (found["sign"] and found["inner"]):
        return None
    unit = _unit(found["before"] or "", found["after"] or "", dollar)
    if unit is None:
        return None
    unit += found["per"] or ""
    digits = _BLANKS.sub(" ", found["digits"]).replace("’", "'")
    count = sum(map(str.isdigit, digits))
    sign = found["sign"] or found["inner"] or ""
    if (digits[0] == "0" and digits[1:2].isdigit()) or (sign == "+" and count > _PHONE_DIGITS):
        return None
    is_negative = found["open"] is not None or (sign != "" and sign in _MINUS)
    shape = _shape(digits)
    return Written(shape, _decimal_mark(shape), is_negative, unit) if shape else None


def _shape(digits: str) -> str:
    """Return the digits without marks that can only group thousands; "" if the marks are in invalid places."""
    if _INDIAN.fullmatch(digits):
        return digits.replace(",", "")
    grouped = _GROUPED.fullmatch(digits)
    if grouped is None:
        return digits if _PLAIN.fullmatch(digits) else ""
    mark, decimal = grouped["mark"], grouped["decimal"]
    if decimal == mark:
        return ""
    if mark in "' " or decimal or digits.count(mark) > 1:
        whole = digits.replace(mark, "")
        # The other mark is then the decimal mark: decimals show that, else an ending records it, "1200000,".
        return whole if decimal else whole + {".": ",", ",": "."}.get(mark, "")
    return digits


def _decimal_mark(digits: str) -> str:
    mark = "." if "." in digits else "," if "," in digits else ""
    if not mark:
        return ""
    whole, _, rest = digits.partition(mark)
    could_be_either = len(rest) == 3 and 1 <= len(whole) <= 3 and whole[0] != "0"
    return "" if could_be_either else mark


def number_value(text: str, written: Written, decimal: str) -> Value:
    """Return the value of a cell with a number; `decimal` is the decimal mark if the digits don't show theirs."""
    digits = written.digits
    if not digits.isdigit():
        mark = written.mark or decimal
        digits = digits.replace("," if mark == "." else ".", "").replace(mark, ".")
    number = float(digits)
    return Value(text, -number if written.is_negative and number else number, written.unit)


def _unit(before: str, after: str, dollar: str) -> str | None:
    """Return the currency or unit around a number; "" if there is none; None if the text there is something else."""
    if before and not (currency := currency_of(before, dollar)):
        return None
    if before:
        twin = currency_of(after, dollar) if after else currency
        # In "$ 12 MXN" the code is more exact than the symbol; "US$ 12 USD" has the same currency twice.
        return twin if twin and (twin == currency or "$" in before) else None
    if not after:
        return ""
    if currency := currency_of(after, dollar):
        return currency
    if len(after) == 1 and after.isupper() and after not in _LETTERS:
        # "8C" is a school class or a flat.
        return None
    return None if folded(after).strip(".") in word_set("values", "days", "ordinals") else after.rstrip(".")


@cache
def currency_of(text: str, dollar: str) -> str:
    """Return the ISO code of a currency as it is written in a text, or ""."""
    if text in word_set("values", "codes", "iso"):
        return text
    if text == "$":
        return dollar
    word = folded(text)
    if word in word_set("values", "codes", "peso_words"):
        return dollar if dollar in word_set("values", "codes", "pesos") else ""
    return meanings("values", "currencies").get(word, "")


def currency_or_unit(text: str, dollar: str) -> str:
    """Return the ISO code of a currency, or a known unit as written, if the text is one; "" if it is neither."""
    text = text.strip(" .")
    if not text or len(text) > _LONGEST:
        return ""
    return currency_of(text, dollar) or (text if unit_form(text) else "")


@cache
def unit_form(unit: str) -> str:
    """Return the first listed form of a known unit ("días" → "dia"), "" for an unknown one."""
    word = folded(unit).rstrip(".")
    if word in word_set("values", "units", "names"):
        return word
    return next((forms.split()[0] for forms in lists("values")["units"]["forms"] if word in forms.split()), "")


def dollar_of(content: str) -> str:
    """Return the currency that `$` means in a document: the one that it names most often besides USD, otherwise USD."""
    if "$" not in content and "peso" not in content:
        return "USD"
    dollars = word_set("values", "codes", "dollars")
    named = Counter(code for code in _CODE.findall(content) if code in dollars and code != "USD")
    return named.most_common(1)[0][0] if named else "USD"


def prevailing_mark(marks: Sequence[str]) -> str:
    """Return the decimal mark that most numbers show, or "" if none does."""
    points, commas = marks.count("."), marks.count(",")
    return "" if points == commas else "." if points > commas else ","


TYPED = re.compile(
    r"[^\w\s]{0,3}\s?[+-]?\d[\d.,' \u00a0/:%TZ-]*(?:[a-zA-Z%€$£]{0,3})|true|false|yes|no|sí|si|sim|não|nao",
    re.IGNORECASE,
)
"""A number, a date, a time, or a word for yes or no."""


def shape_of(text: str) -> str:
    """Return "figure" or "answer", if a text is a figure or a word for yes or no, else ""."""
    return "" if not TYPED.fullmatch(text) else "figure" if any(map(str.isdigit, text)) else "answer"
