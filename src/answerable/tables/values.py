"""Read a cell: a number with its unit or currency, a date, or text.

What a cell means may depend on others, "1.200" on "3.450,00" and 3/4 on 14/4: `columns` decides it for a whole column.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from answerable.tables.dates import DayOrder, read_date
from answerable.tables.table import Value
from answerable.tables.words import folded, lists, meanings, word_set

__all__ = ["Customs", "DayOrder", "Written", "currency_or_unit", "is_blank", "read_value", "split_number"]

_LONGEST = 40
_LONGEST_BLANK = 8
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
_PHONE_DIGITS = 8
_LETTERS = frozenset("VWLKGM")
_CODE = re.compile(r"\b[A-Z]{3}\b")


@dataclass(frozen=True, slots=True)
class Customs:
    """How a column or a document writes: the decimal mark, the order of dates, and what currency `$` is."""

    decimal: str = "."
    order: DayOrder = DayOrder.DAY_FIRST
    dollar: str = "USD"


class Written(NamedTuple):
    """A number as written: its digits and marks without blanks, and the currency or unit around it.

    `mark` is the decimal mark that the digits show, "" if they show none or could be read both ways.
    """

    digits: str
    mark: str
    is_negative: bool
    unit: str


def read_value(text: str, customs: Customs = Customs()) -> Value:
    """Return a cell's value by these customs; a text that is neither number nor date has only its text."""
    written = split_number(text, customs.dollar)
    if written is not None:
        return number_value(text, written, customs.decimal)
    moment = read_date(text.strip(), customs.order)
    return Value(text, time=moment.time, is_day=moment.is_day) if moment else Value(text)


def is_blank(text: str) -> bool:
    """Whether a cell is empty, or says that its value is missing: "-", "n/a", "s/d"."""
    text = text.strip()
    if not text or len(text) > _LONGEST_BLANK or text[0].isdigit():
        return not text
    return folded(text) in word_set("values", "blank")


def split_number(text: str, dollar: str) -> Written | None:
    """Return a cell's number as written, or None if it has none, names something (007, 1st) or could be a phone's."""
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
    """Return digits without the marks that can only group thousands; "" if the marks are out of place."""
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
        # The other mark is the decimal one, shown by a decimal of one, two or many digits.
        return whole if decimal else whole + _decimal_for(mark)
    return digits


def _decimal_for(mark: str) -> str:
    """Return the ending that records what mark grouped thousands: "1.200.000" → "1200000,"."""
    return {".": ",", ",": "."}.get(mark, "")


def _decimal_mark(digits: str) -> str:
    mark = "." if "." in digits else "," if "," in digits else ""
    if not mark:
        return ""
    whole, _, rest = digits.partition(mark)
    could_be_either = len(rest) == 3 and 1 <= len(whole) <= 3 and whole[0] != "0"
    return "" if could_be_either else mark


def number_value(text: str, written: Written, decimal: str) -> Value:
    """Return the value of a cell that is a number; `decimal` is the decimal mark if its digits don't show one."""
    digits = written.digits
    if not digits.isdigit():
        mark = written.mark or decimal
        digits = digits.replace("," if mark == "." else ".", "").replace(mark, ".")
    number = float(digits)
    return Value(text, -number if written.is_negative and number else number, written.unit)


def _unit(before: str, after: str, dollar: str) -> str | None:
    """Return the currency or unit around a number, "" if there is none, None if what is there is neither."""
    if before and not (currency := currency_of(before, dollar)):
        return None
    if before:
        twin = currency_of(after, dollar) if after else currency
        # "US$ 12 USD", and "$ 12 MXN", where the code is more exact.
        return twin if twin and (twin == currency or "$" in before) else None
    if not after:
        return ""
    if currency := currency_of(after, dollar):
        return currency
    if len(after) == 1 and after.isupper() and after not in _LETTERS:
        # "8C" is a class or a flat.
        return None
    return None if folded(after).strip(".") in word_set("values", "days", "ordinals") else after.rstrip(".")


@cache
def currency_of(text: str, dollar: str) -> str:
    """Return the ISO code of a currency as written, or ""."""
    if text in word_set("values", "codes", "iso"):
        return text
    if text == "$":
        return dollar
    word = folded(text)
    if word in word_set("values", "codes", "peso_words"):
        return dollar if dollar in word_set("values", "codes", "pesos") else ""
    return meanings("values", "currencies").get(word, "")


def currency_or_unit(text: str, dollar: str) -> str:
    """Return the ISO code, or a known unit as written, that a text is; "" if it is neither."""
    text = text.strip(" .")
    if not text or len(text) > _LONGEST:
        return ""
    return currency_of(text, dollar) or (text if unit_form(text) else "")


@cache
def unit_form(unit: str) -> str:
    """Return the first form of a known unit ("días" → "dia"), "" for another."""
    word = folded(unit).rstrip(".")
    if word in word_set("values", "units", "names"):
        return word
    return next((forms.split()[0] for forms in lists("values")["units"]["forms"] if word in forms.split()), "")


def dollar_of(content: str) -> str:
    """Return the currency that `$` is in a document: the one that it names most often beside USD, otherwise USD."""
    if "$" not in content and "peso" not in content:
        return "USD"
    dollars = word_set("values", "codes", "dollars")
    named = Counter(code for code in _CODE.findall(content) if code in dollars and code != "USD")
    return named.most_common(1)[0][0] if named else "USD"


def prevailing_mark(marks: Sequence[str]) -> str:
    """Return the decimal mark that most numbers show, or "" if none does."""
    points, commas = marks.count("."), marks.count(",")
    return "" if points == commas else "." if points > commas else ","
