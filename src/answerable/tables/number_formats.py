"""Display a number as a sheet does, by its format code (ECMA-376 part 1, 18.8.31): `#,##0.00 "€"`, `0%`, `dd/mm/yyyy`.

Dates are displayed as ISO dates. All numbers of a workbook use one decimal mark, because a format code doesn't state
it. Numbers too wide for their column are displayed whole. Conditions and colours are ignored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
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
    r'(?P<bracket>\[[^\]]*\])|"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|(?P<skipped>[_*].)|(?P<general>general)'
    r"|(?P<picture>[0#?.,%/;]|e[+-])|(?P<half>am/pm|a/p)|(?P<date>[ymdhs]+)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
# Characters with a meaning in a format code, as they are hidden in its literal text.
_HIDDEN = {ord(each): 0xF0000 + ord(each) for each in "0#?.,%/;"}
_SHOWN = {hidden: each for each, hidden in _HIDDEN.items()}
_GENERAL = "\U000f0000"  # written in the place of the token General
_PICTURE = re.compile(
    r"(?P<before>[^0#?.]*)(?P<whole>(?:[0#?][^.]*?)?)(?P<scale>,*)"
    r"(?:\.(?P<decimals>[0#?]*)(?P<scale_after>,*))?(?P<after>[^0#?.]*)",
    re.DOTALL,
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


def shown(value: float, code: str, mark: str, is_1904: bool = False) -> str:
    """Return a number as a cell with this format code displays it, with this decimal mark."""
    positive, negative, times = _parsed(code[:_LONGEST])
    if times:
        return _time(value, times, is_1904) or general(value, mark)
    is_signed = value < 0 and not negative
    before, is_general, after = (negative if value < 0 and negative else positive).partition(_GENERAL)
    text = general(value if is_signed else abs(value), mark)
    if not is_general:
        form = _PICTURE.fullmatch(before)
        if form is None or not (form["whole"] or form["decimals"]) or not abs(value) < _LARGEST:
            return text
        text, before, after = _number(abs(value), form, mark), form["before"], form["after"]
        if "(" in before:
            # "$ (1,240.00)" would be read as a number with its sign around the currency: move it to "($ 1,240.00)".
            before = f"({before.replace('(', '', 1).lstrip()}"
        if is_signed and "-" not in before and any(map(text.__contains__, "123456789")):
            before = f"-{before}"
    return " ".join(f"{before}{text}{after}".translate(_SHOWN).split())


def general(value: float, mark: str) -> str:
    """Return a number as a cell without a format displays it."""
    if value == int(value) if math.isfinite(value) else False:
        return str(int(value)) if abs(value) < 1e21 else f"{value:g}"
    text = f"{value:.15g}"
    if "e-" in text and abs(value) > 1e-12:
        text = f"{Decimal(text):f}"
    return text.replace(".", mark)


def _marks_of(code: str) -> Iterator[str]:
    """Yield the decimal marks of the locales that a format code names."""
    for found in _LOCALE.finditer(code[:_LONGEST]):
        locale = int(found[1], 16)
        if locale in _POINT_COUNTRIES or locale & 0xFF in _POINT_LANGUAGES:
            yield "."
        elif locale & 0xFF in _COMMA_LANGUAGES:
            yield ","


@lru_cache(maxsize=2048)
def _parsed(code: str) -> tuple[str, str, str]:
    """Return the sections for positive and for negative numbers ("": as the former), and the letters of times.

    A `[` is among the letters of a time that has elapsed.
    """
    tokens = list(_TOKEN.finditer(code))
    sections = [*"".join(map(_picture, tokens)).split(";"), ""]
    letters = (token["date"] or (_ELAPSED.fullmatch(token[0]) and token[0]) or "" for token in tokens)
    return sections[0], sections[1], "" if _GENERAL in sections[0] else "".join(letters).lower()


def _picture(token: re.Match[str]) -> str:
    """Return a token of a number's format as a picture, in which literal text has no characters with a meaning."""
    if token["picture"] or token["general"]:
        return token["picture"] or _GENERAL
    currency = _CURRENCY.fullmatch(token[0])
    text = currency[1] if currency else " " if token["skipped"] else token["quoted"] or token["escaped"]
    return (text or (token["other"] or "").replace("@", "")).translate(_HIDDEN)


def _number(value: float, form: re.Match[str], mark: str) -> str:
    # A fraction is displayed with decimals.
    whole, places = ("0", "####") if "/" in form["whole"] else (form["whole"], form["decimals"] or "")
    scale = 2 * ("%" in form[0]) - 3 * len(form["scale"] + (form["scale_after"] or ""))
    exact = Decimal(repr(value)).scaleb(scale).quantize(Decimal(1).scaleb(-min(len(places), 30)), ROUND_HALF_UP)
    digits, _, decimals = f"{exact:f}".partition(".")
    least = len(places.rstrip("#"))
    decimals = decimals[:least] + decimals[least:].rstrip("0")
    digits = digits.lstrip("0").rjust(max(whole.count("0"), 1), "0")
    if "," in whole:
        digits = f"{int(digits):,}".rjust(whole.count("0"), "0").replace(",", "," if mark == "." else ".")
    else:
        digits = _filled(whole, digits)
    return f"{digits}{mark}{decimals}" if decimals else digits


def _filled(picture: str, digits: str) -> str:
    """Return the digits with the texts of a picture such as `00) 0000-0000` between them, filled from the right."""
    left = list(digits)
    filled = [left.pop() if each in "0#?" else each for each in reversed(picture) if left]
    return "".join([*left, *reversed(filled)])


def _time(value: float, letters: str, is_1904: bool) -> str:
    """Return an Excel time (days since the end of 1899) as an ISO date, a time of day, or the hours elapsed."""
    if not math.isfinite(value) or not 0 <= value < 2_958_466:
        return ""
    if "[" in letters:
        seconds = round(value * 86_400)
        clock = f"{seconds // 3600}:{seconds % 3600 // 60:02}"
        return f"{clock}:{seconds % 60:02}" if "s" in letters else clock
    # Excel treats 1900 as a leap year.
    days = value + 1462 if is_1904 else value + 1 if value < 60 else value
    try:
        moment = datetime(1899, 12, 30) + timedelta(seconds=round(days * 86_400))
    except OverflowError:
        return ""
    has_clock = "h" in letters or "s" in letters
    clock = f"{moment:%H:%M:%S}" if "s" in letters and moment.second else f"{moment:%H:%M}"
    if has_clock and (value < 1 or not ("d" in letters or "y" in letters)):
        return clock
    day = f"{moment:%Y-%m-%d}" if "d" in letters or has_clock else f"{moment:%Y-%m}"
    return f"{day} {clock}" if has_clock else day


def decimal_mark(texts: Iterable[str], codes: Iterable[str] = ()) -> str:
    """Return the mark in numbers written as text, else that of the countries in the format codes or of the language."""
    sample = list(islice(filter(None, texts), _SAMPLE))
    numbers = (split_number(text, "USD") for text in sample if len(text) < 40 and text[-1:].isprintable())
    if mark := prevailing_mark([number.mark for number in numbers if number]):
        return mark
    if mark := prevailing_mark([mark for code in codes for mark in _marks_of(code)]):
        return mark
    words = ". ".join(sample)[:_MOST_WORDS]
    # Names and headers are keywords rather than sentences, so the keyword detector is tried first.
    language = keyword_language(words) or question_language(words)
    return "," if language in word_set("values", "codes", "comma_languages") else "."
