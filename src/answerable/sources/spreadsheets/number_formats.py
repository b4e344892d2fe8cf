"""Display a number as a sheet does, by its format code (ECMA-376 part 1, 18.8.31): `#,##0.00 "€"`, `0%`, `dd/mm/yyyy`.

Dates are displayed as ISO dates. All numbers of a workbook use one decimal mark, because a format code doesn't state
it. Numbers too wide for their column are displayed whole. Conditions and colours are ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from itertools import islice

from answerable.tables.table import word_set
from answerable.tables.values import prevailing_mark, split_number
from answerable.text.languages import keyword_language, question_language

_LONGEST = 255  # characters of a format code; Excel's own limit
_LARGEST = 1e15  # larger numbers are displayed without their format, because Excel keeps 15 digits
_TOKEN = re.compile(
    r'(?P<bracket>\[[^\]]*\])|(?P<quoted>"[^"]*"?)|\\(?P<escaped>.)|(?P<skipped>[_*].)|(?P<general>general)'
    r"|(?P<exponent>e[+-])|(?P<digits>[0#?]+)|(?P<mark>[.,%])|(?P<half>am/pm|a/p)|(?P<date>[ymdhs]+)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CURRENCY = re.compile(r"\[\$([^\]-]*)(?:-[0-9A-Fa-f]+)?\]")
_LOCALE = re.compile(r"\[\$[^\]-]*-(?:[0-9A-Fa-f]*?)([0-9A-Fa-f]{3,4})\]")
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
# Windows locale ids, as in format codes: languages by decimal mark, and countries that differ from their language.
_COMMA_LANGUAGES = frozenset({0x07, 0x0A, 0x0C, 0x10, 0x13, 0x15, 0x16, 0x1D, 0x14, 0x06, 0x19, 0x1F, 0x05, 0x0B, 0x08})
_POINT_LANGUAGES = frozenset({0x09, 0x11, 0x04, 0x12})
_POINT_COUNTRIES = frozenset({0x080A, 0x100A, 0x1C0A, 0x4C0A, 0x480A, 0x440A, 0x180A, 0x500A, 0x540A, 0x0807})
BUILT_IN = {
    **{1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "0.##", 13: "0.##"},
    **{14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm"},
    **{21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0", 38: "#,##0", 39: "#,##0.00", 40: "#,##0.00"},
    **{5: "#,##0", 6: "#,##0", 7: "#,##0.00", 8: "#,##0.00", 41: "#,##0", 42: "#,##0", 43: "#,##0.00"},
    **{44: "#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "0.0E+0", 49: "@"},
    **dict.fromkeys((*range(27, 32), 36, *range(50, 59)), "yyyy-mm-dd"),
    **dict.fromkeys(range(32, 36), "h:mm"),
}
"""The format codes that a workbook refers to by number only. Codes with the user's local currency show no currency."""
_SAMPLE = 2_000  # texts that are examined for the decimal mark
_MOST_WORDS = 20_000  # characters that are examined for the language


@dataclass(frozen=True, slots=True)
class _Form:
    """How a number is displayed. `masks` are the runs of digits before the decimal mark, with the text after each."""

    before: str = ""
    after: str = ""
    masks: tuple[tuple[int, str], ...] = ()
    least_digits: int = 0
    decimals: tuple[int, int] = (0, 0)
    scale: int = 0
    percent: bool = False
    grouped: bool = False
    exponent: bool = False
    is_general: bool = False


@dataclass(frozen=True, slots=True)
class _Times:
    """Which parts of a time are displayed: its day, only its month or year, its time of day, or the time elapsed."""

    has_date: bool
    has_day: bool
    has_clock: bool
    has_seconds: bool
    is_elapsed: bool


def shown(value: float, code: str, mark: str, is_1904: bool = False) -> str:
    """Return a number as a cell with this format code displays it, with this decimal mark."""
    positive, negative, times = _parsed(code[:_LONGEST])
    if times is not None:
        return _time(value, times, is_1904) or general(value, mark)
    form = negative if value < 0 and negative is not None else positive
    if not math.isfinite(value) or form.is_general or not (form.masks or form.decimals[1]) or abs(value) >= _LARGEST:
        body = general(abs(value) if value < 0 and negative is not None else value, mark)
        return _spaced(f"{form.before}{body}{form.after}") if form.is_general else body
    text = _number(abs(value), form, mark)
    is_zero = not any(character in "123456789" for character in text)
    sign = "-" if value < 0 and negative is None and not is_zero and "-" not in form.before else ""
    return _spaced(f"{sign}{form.before}{text}{form.after}")


def general(value: float, mark: str) -> str:
    """Return a number as a cell without a format displays it."""
    if value == int(value) if math.isfinite(value) else False:
        return str(int(value)) if abs(value) < 1e21 else f"{value:g}"
    text = f"{value:.15g}"
    if "e-" in text and abs(value) > 1e-12:
        text = f"{Decimal(text):f}"
    return text.replace(".", mark)


def marks_of(code: str) -> Iterator[str]:
    """Yield the decimal marks of the locales that a format code names."""
    for found in _LOCALE.finditer(code[:_LONGEST]):
        locale = int(found[1], 16)
        if locale in _POINT_COUNTRIES or locale & 0xFF in _POINT_LANGUAGES:
            yield "."
        elif locale & 0xFF in _COMMA_LANGUAGES:
            yield ","


@lru_cache(maxsize=2048)
def _parsed(code: str) -> tuple[_Form, _Form | None, _Times | None]:
    """Return the forms of positive and of negative numbers (None: the former with a sign), or the form of times."""
    sections: list[list[re.Match[str]]] = [[]]
    for token in _TOKEN.finditer(code):
        if token[0] == ";":
            sections.append([])
        else:
            sections[-1].append(token)
    if times := _times(sections[0]):
        return _Form(), None, times
    forms = [_form(section) for section in sections[:2]]
    return forms[0], forms[1] if len(forms) > 1 and sections[1] else None, None


def _times(tokens: list[re.Match[str]]) -> _Times | None:
    letters = "".join(token["date"].lower() for token in tokens if token["date"])
    elapsed = "".join(found[1].lower() for token in tokens if (found := _ELAPSED.fullmatch(token[0])))
    if not (letters or elapsed) or any(token["general"] for token in tokens):
        return None
    has_clock = bool(set("hs") & set(letters)) or bool(elapsed)
    has_day = "d" in letters
    has_date = has_day or "y" in letters or ("m" in letters and not has_clock)
    return _Times(has_date, has_day, has_clock, "s" in letters + elapsed, bool(elapsed))


def _form(tokens: list[re.Match[str]]) -> _Form:
    before, after = "", ""
    masks: list[tuple[int, str]] = []
    whole, decimals = "", ""
    in_decimals = grouped = percent = exponent = False
    scale = 0
    for place, token in enumerate(tokens):
        literal = _literal(token)
        if token["general"]:
            return _Form(before, "".join(map(_literal, tokens[place + 1 :])), is_general=True)
        if token["digits"]:
            scale = 0
            if exponent:
                continue
            if in_decimals:
                decimals += token["digits"]
            else:
                whole += token["digits"]
                masks.append((len(token["digits"]), ""))
        elif token["exponent"]:
            exponent = True
        elif token[0] == "." and not in_decimals:
            in_decimals = True
        elif token[0] == "," and (whole or decimals):
            # A comma between digits groups thousands; each comma after the last digit divides by a thousand.
            scale += 1
            grouped = grouped or any(later["digits"] for later in tokens[place + 1 :])
        elif token[0] == "/" and whole:
            return _Form(before, decimals=(0, 4), masks=((1, ""),), least_digits=1)
        elif token["mark"] == "%":
            percent = True
            after += "%"
        elif whole and not in_decimals and any(later["digits"] for later in tokens[place + 1 :]):
            masks[-1] = (masks[-1][0], masks[-1][1] + literal)
        elif whole or in_decimals:
            after += literal
        else:
            before += literal
    if "(" in before and not before.startswith("("):
        # "$ (1,240.00)" would be read as a number with its sign around the currency: move it to "($ 1,240.00)".
        before = f"({before.replace('(', '', 1).lstrip()}"
    bounds = len(decimals.rstrip("#")), min(len(decimals), 30)
    if not any(text for _, text in masks):
        masks = [(len(whole), "")] if whole else []
    least = whole.count("0")
    return _Form(before, after, tuple(masks), least, bounds, scale, percent, grouped, exponent)


def _literal(token: re.Match[str]) -> str:
    if token["bracket"]:
        currency = _CURRENCY.fullmatch(token[0])
        return currency[1] if currency else ""
    if token["quoted"]:
        return token[0].strip('"')
    if token["skipped"]:
        return " "
    return token["escaped"] or (token["other"] if token["other"] and token["other"] != "@" else "") or ""


def _number(value: float, form: _Form, mark: str) -> str:
    least, most = form.decimals
    if form.exponent:
        return general(value, mark)
    exact = Decimal(repr(value)) * 100 if form.percent else Decimal(repr(value))
    exact = exact.scaleb(-3 * form.scale).quantize(Decimal(1).scaleb(-most), ROUND_HALF_UP)
    whole, _, decimals = f"{exact:f}".partition(".")
    while len(decimals) > least and decimals.endswith("0"):
        decimals = decimals[:-1]
    whole = whole.lstrip("0").rjust(form.least_digits, "0") if whole.strip("0") or form.least_digits else ""
    if not whole and not decimals:
        whole = "0"
    if form.grouped:
        whole = f"{int(whole or 0):,}".rjust(form.least_digits, "0").replace(",", "," if mark == "." else ".")
    elif len(form.masks) > 1:
        whole = _masked(whole, form.masks)
    return f"{whole or '0'}{mark}{decimals}" if decimals else whole


def _masked(digits: str, masks: tuple[tuple[int, str], ...]) -> str:
    """Return the digits with the texts of a format such as `(00) 0000-0000` between them, filled from the right."""
    pieces: list[str] = []
    for place, (length, text) in reversed(list(enumerate(masks))):
        taken = digits if place == 0 else digits[-length:]
        digits = digits[: len(digits) - len(taken)]
        pieces.append(taken + (text if taken or place else ""))
    return "".join(reversed(pieces))


def _time(value: float, times: _Times, is_1904: bool) -> str:
    """Return an Excel time (days since the end of 1899) as an ISO date, a time of day, or the hours elapsed."""
    if not math.isfinite(value) or not 0 <= value < 2_958_466:
        return ""
    if times.is_elapsed:
        seconds = round(value * 86_400)
        clock = f"{seconds // 3600}:{seconds % 3600 // 60:02}"
        return f"{clock}:{seconds % 60:02}" if times.has_seconds else clock
    # Excel treats 1900 as a leap year.
    days = value + 1462 if is_1904 else value + 1 if value < 60 else value
    try:
        moment = datetime(1899, 12, 30) + timedelta(seconds=round(days * 86_400))
    except OverflowError:
        return ""
    clock = f"{moment:%H:%M:%S}" if times.has_seconds and moment.second else f"{moment:%H:%M}"
    if not times.has_date or (value < 1 and times.has_clock):
        return clock
    day = f"{moment:%Y-%m-%d}" if times.has_day or times.has_clock else f"{moment:%Y-%m}"
    return f"{day} {clock}" if times.has_clock else day


def _spaced(text: str) -> str:
    return " ".join(text.split())


def decimal_mark(texts: Iterable[str], codes: Iterable[str] = ()) -> str:
    """Return the mark in numbers written as text, else that of the countries in the format codes or of the language."""
    sample = list(islice(filter(None, texts), _SAMPLE))
    numbers = (split_number(text, "USD") for text in sample if len(text) < 40 and text[-1:].isprintable())
    if mark := prevailing_mark([number.mark for number in numbers if number]):
        return mark
    if mark := prevailing_mark([mark for code in codes for mark in marks_of(code)]):
        return mark
    words = ". ".join(sample)[:_MOST_WORDS]
    # Names and headers are keywords rather than sentences, so the keyword detector is tried first.
    language = keyword_language(words) or question_language(words)
    return "," if language in word_set("values", "codes", "comma_languages") else "."
