"""Find the claims of a sentence that can be compared exactly: numbers, dates, times, names and addresses.

Different spellings of a value compare equal: `1,234.5`, `1.234,5`, `1 234.5`; `5 %` and `five per cent`; `3rd` and
`third`; `mil novecientos` and `1900`; `5 March 2024` and `2024-03-05`; `2:30 pm`, `14h30` and
`half past two`. An ambiguous spelling (`1.234`) has several possible values; two claims agree if they share a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from answerable.datatypes import Name
from answerable.text.terms import (
    PERCENT,
    STOP_WORDS,
    claim_words,
    fold,
    months,
    shared_words,
    unit_sizes,
    units,
    weekdays,
)

LONGEST_NUMBER = 30  # characters of a number; more digits are an identifier
LONGEST_ROMAN = 9  # letters of a Roman numeral; longer words are mostly names, although MMMDCCCLXXXVIII has 15 letters
LONGEST_SHORT_DAY = 4  # letters of a weekday's abbreviation ("Sun", "thur"), which may be another word


class Kind(Name):
    """The kind of a claim."""

    NUMBER = "number"
    MONTH = "month"
    WEEKDAY = "weekday"
    NAME = "name"
    LINK = "address"


@dataclass(frozen=True, slots=True)
class Claim:
    """A span of a text that states a value, with its possible values in a canonical form.

    `is_sure` is False for a span that may not be a claim (`one`, a capital at the start of a sentence): such a span can
    support a claim of another text, but needs no support itself.
    """

    kind: Kind
    start: int
    end: int
    values: frozenset[str]
    is_sure: bool = True


_LINK = re.compile(
    r"(?:https?|ftp|file|javascript|data|mailto):[^\s<>\"'”’»]+|\bwww\.[^\s<>\"'”’»]+|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+|(?<=\]\()[^\s()]+"
)
_DATE = re.compile(
    r"(?<![\w.,/-])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?![\w/-])|(?<![\w.,/-])(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})(?![\w/-])"
)
_TIME = re.compile(
    r"(?<![\w.,:])(\d{1,2})(?:[:h](\d{2})(?::\d{2})?(?![\d:])(?:\s?([ap])\.?\s?m\b\.?)?|\s?([ap])\.?m\b\.?|\s?h(?:rs?|oras?)?\b)",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"\b(?:(?P<past>half|quarter|five|ten|twenty) (?P<way>past|to) (?P<later>\w+)"
    r"|(?:(?P<at>a las|las|la|às|as|das) )?(?P<hour>\w+)(?:[:h.](?P<minute>\d\d)\b)?"
    r"(?: (?P<joint>y|e|menos) (?P<part>media|meia|(?:um )?(?:cuarto|quarto)|(?!(?:las?|[aà]s?|das)\b)\w+"
    r"(?: [ye] (?:um|uno|d(?:oi|o)s|tr[eê]s|cuatro|quatro|cinco|seis|siete|sete|ocho|oito|nueve|nove))?)\b)?"
    r"(?P<late> (?:de la (?:tarde|noche)|da (?:tarde|noite)|in the (?:afternoon|evening)|at night)\b)?"
    r"(?P<clock> (?:o['’]clock|e[nm] p[ou]nto|horas)\b)?)",
    re.IGNORECASE,
)
_PARTS = {"half": 30, "media": 30, "meia": 30, "quarter": 15, "cuarto": 15, "quarto": 15}
_NOON = re.compile(r"\b(?:(?P<noon>noon|meio-dia|mediod[ií]a)|midnight|medianoche|meia-noite)\b", re.IGNORECASE)
_A_HALF = r"(?P<half>half|medi[oa]|mei[oa])"
_QUARTERS = r"(?:(?P<three>three|tr[eê]s) |an? |um )?(?:quarter|cuarto|quarto)s?"
_FRACTIONS = tuple(
    (whole, re.compile(rf"(?<![\w.,]){pattern}\b", re.IGNORECASE))
    for whole, pattern in (
        (0, rf"(?P<count>\w+) (?:and a|y|e) {_A_HALF} (?P<unit>[^\W\d_]+)"),
        (0, rf"{_A_HALF}[ -](?:an? )?(?P<unit>[^\W\d_]+)"),
        (0, rf"{_QUARTERS} (?:of an?|de) (?P<unit>[^\W\d_]+)"),
        (1, rf"(?:(?P<count>\w+) )?(?P<unit>[^\W\d_]+) (?:and|y|e) (?:(?:an? |um )?{_A_HALF}|{_QUARTERS})"),
    )
)
_NUMBER = re.compile(
    r"(?<![^\W\d_])(?<!\w_)(?P<sign>(?<![\w)\]%])[-−](?=\d))?"
    r"(?P<digits>\d{1,3}(?:[\u00a0\u202f\u2009 ]\d{3})+(?![\d.,]?\d)|\d+(?:[.,]\d+)*)"
)
_PERCENT = re.compile(rf"\s?(?:{PERCENT})", re.IGNORECASE)
_PERCENT_LATER = re.compile(rf"\s?(?:-|–|—|to|and|or|a|y|e|o|ou|e)\s?\d[\d.,]*\s?(?:{PERCENT})", re.IGNORECASE)
_SECOND_YEAR = re.compile(r"\s?[-–—/]\s?(\d{2})(?!\d)")
_WORD = re.compile(r"[^\W\d_][^\W_]*(?:['’][^\W\d_]+)?")
_ROMAN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_POSSESSIVE = re.compile(r"['’]s?$")
_BETWEEN_WORDS = re.compile(r"[\s-]{1,3}")
_OPENING = re.compile(r"(?:^|[.!?:;…¿¡\"“«‘(\[|•>—–]|\n)[\s\"'“«‘(\[*_¿¡#>|-]*$")


def find_claims(text: str, language: str) -> list[Claim]:
    """Return all claims of a text, in text order."""
    claims: list[Claim] = []
    taken = bytearray(len(text))
    for source in (_links, _dates, _fractions, _spoken_times, _times, _numbers):
        for claim in source(text, language):
            if not any(taken[claim.start : claim.end]):
                taken[claim.start : claim.end] = b"\x01" * (claim.end - claim.start)
                claims.append(claim)
    claims += [claim for claim in _of_words(text, language) if not taken[claim.start]]
    return sorted(claims, key=lambda claim: (claim.start, claim.end))


def number_value(text: str) -> str:
    """Return the canonical form of digits without separators: `007` → `7`, `1.50` → `1.5`."""
    whole, _, decimals = text.partition(".")
    decimals = decimals.rstrip("0")
    whole = whole.lstrip("0") or "0"
    return f"{whole}.{decimals}" if decimals else whole


def _links(text: str, _: str) -> Iterator[Claim]:
    for match in _LINK.finditer(text):
        link = match[0].rstrip(".,;:!?)]}*_").lower()
        if link:
            yield Claim(Kind.LINK, match.start(), match.start() + len(link), frozenset({f"link:{link}"}))


def _dates(text: str, _: str) -> Iterator[Claim]:
    for match in _DATE.finditer(text):
        for group in range(1, 7):
            if match[group] is not None:
                number = int(match[group])
                values = {str(number)}
                if group in (2, 4, 5) and 1 <= number <= 12:
                    values.add(f"month:{number}")
                if group == 6 and number < 100:
                    values |= {str(1900 + number), str(2000 + number)}
                yield Claim(Kind.NUMBER, *match.span(group), frozenset(values))


def _times(text: str, _: str) -> Iterator[Claim]:
    for match in _TIME.finditer(text):
        hour, minute = int(match[1]), int(match[2] or 0)
        half = (match[3] or match[4] or "").lower()
        if hour > 24 or minute > 59:
            continue
        # 7:30 may be in the evening, 07:30 is not.
        either = {hour, hour + 12} if match[2] and hour < 12 and match[1][0] != "0" else {hour}
        hours = {hour % 12 + 12 * (half == "p")} if half else either
        values = {f"time:{60 * each + minute}" for each in hours} | (set() if minute else {str(hour)})
        # "12 horas" may last as long.
        values |= {f"s={3600 * hour}"} if not (match[2] or half) else set()
        yield Claim(Kind.NUMBER, *match.span(), frozenset(values))


def _spoken_times(text: str, language: str) -> Iterator[Claim]:
    """Yield times with words, with both readings: "half past two", "las dos y media", "3 in the afternoon"."""
    for match in _NOON.finditer(text):
        values = {"time:720"} if match["noon"] else {"time:0", "time:1440"}
        # "Al mediodía" may be an hour or two later.
        yield Claim(Kind.NUMBER, *match.span(), frozenset(values), not match[0].lower().startswith("mediod"))
    for match in _SPOKEN.finditer(text):
        part = (match["past"] or match["part"] or "").lower().removeprefix("um ")
        way, hour = (match["way"] or match["joint"] or "").lower(), _small(match["hour"] or match["later"], language)
        minutes = _PARTS.get(part) or sum(_small(word, language) for word in re.split(" [ye] ", part))
        clock = (match["clock"] or "").strip()
        if not (part or match["late"] or (clock and (match["at"] or clock != "horas"))) or not 0 < hour <= 12:
            continue
        if part and part not in _PARTS and not (minutes and (match["at"] or way == "past")):
            # "Ten to twelve", "ocho y diez" are two numbers.
            continue
        hours = {hour, hour + 12} if not match["late"] or hour == 12 else {hour + 12}
        minute = minutes if part else int(match["minute"] or 0)
        values = {f"time:{60 * each + (-minute if way in ('to', 'menos') else minute)}" for each in hours}
        # "dos y media" may be two and a half.
        is_half = match["joint"] and minute == 30
        values |= {str(each) for each in hours} if not minute else {f"{hour}.5"} if is_half else set()
        values |= {f"s={3600 * hour}"} if clock == "horas" else set()
        yield Claim(Kind.NUMBER, match.start("hour" if match["hour"] else "past"), match.end(), frozenset(values))


def _fractions(text: str, language: str) -> Iterator[Claim]:
    """Yield "an hour and a half", "two and a half years", "media hora" and "a quarter of an hour", with their sizes."""
    for whole, pattern in _FRACTIONS:
        for match in pattern.finditer(text):
            given = match.groupdict()
            count = _small(given.get("count") or "", language)
            part = "0.5" if given.get("half") else "0.75" if given.get("three") else "0.25"
            number = (count or whole) + Decimal(part)
            unit = units().get(fold(match["unit"].lower()), frozenset())
            sizes = {f"{basic}={_plain(number * size)}" for each in unit for basic, size in unit_sizes().get(each, ())}
            if sizes and (count or whole or "count" not in given):
                start = match.start("count" if count else "unit" if whole else 0)
                # Half a day or month may be a part of another thing.
                is_sure = number > 1 or "h" in unit
                yield Claim(Kind.NUMBER, start, match.end(), frozenset({_plain(number), *sizes}), is_sure)


def _small(word: str, language: str) -> int:
    """Return the number below a hundred that a word or digits mean; 0 if none."""
    known = claim_words(language)
    folded = fold(word.lower())
    return int(word) if word.isdecimal() and len(word) < 3 else known.units.get(folded) or known.tens.get(folded, 0)


def _plain(number: Decimal) -> str:
    return number_value(format(number, "f"))


def _numbers(text: str, language: str) -> Iterator[Claim]:
    scales = claim_words(language).scales
    for match in _NUMBER.finditer(text):
        values, end = _readings(match["digits"]), match.end()
        factor, end = _scale(text, end, scales)
        values = {_scaled(value, factor) for value in values}
        if match["sign"]:
            values = {f"-{value}" for value in values}
        percent = _PERCENT.match(text, end)
        if percent or _PERCENT_LATER.match(text, end):
            values = {f"{value}%" for value in values}
            end = percent.end() if percent else end
        yield Claim(Kind.NUMBER, match.start(), end, frozenset(values))
        later = _SECOND_YEAR.match(text, match.end())
        if later and len(match["digits"]) == 4:
            yield Claim(Kind.NUMBER, *later.span(1), frozenset({later[1], match["digits"][:2] + later[1]}))


def _readings(digits: str) -> set[str]:
    """Return the possible values of digits with separators: `1.234` may be 1234 or a decimal number."""
    plain = re.sub(r"[\u00a0\u202f\u2009 ]", "", digits)
    plain = "".join(str(int(one)) if one.isdigit() else one for one in plain)
    if len(plain) > LONGEST_NUMBER:
        return {plain}
    separators = [one for one in plain if not one.isdigit()]
    groups = re.split("[.,]", plain)
    is_grouped = all(len(group) == 3 for group in groups[1:]) and 0 < len(groups[0]) <= 3 and groups[0] != "0"
    if not separators:
        return {number_value(plain)}
    if len(set(separators)) == 2:
        whole = "".join(groups[:-1])
        regular = separators[:-1] == [separators[0]] * (len(separators) - 1)
        return {number_value(f"{whole}.{groups[-1]}")} if regular else {plain}
    if len(separators) > 1:
        return {number_value("".join(groups))} if is_grouped else {plain}
    decimal = number_value(".".join(groups))
    return {decimal, number_value("".join(groups))} if is_grouped else {decimal}


def _scale(text: str, position: int, scales: Mapping[str, int]) -> tuple[int, int]:
    """Return the factor of the scale words ("million") after a number, and the position where these words end."""
    factor = 1
    while gap := _BETWEEN_WORDS.match(text, position):
        word = _WORD.match(text, gap.end())
        value = scales.get(fold(word[0].lower())) if word else None
        if word is None or value is None or (factor > 1 and value < factor):
            break
        factor *= value
        position = word.end()
    return factor, position


def _scaled(value: str, factor: int) -> str:
    if factor == 1 or value.count(".") > 1 or "," in value or len(value) > LONGEST_NUMBER:
        return value
    return number_value(format(Decimal(value) * factor, "f"))


def _of_words(text: str, language: str) -> Iterator[Claim]:
    """Yield the claims written in words: number words, months, Roman numerals and names."""
    stop_words = STOP_WORDS.get(language, STOP_WORDS["en"])
    tokens = list(_WORD.finditer(text))
    index = 0
    while index < len(tokens):
        count = 0
        if day := _weekday(text, tokens[index], language):
            yield day
            count = 2 if index + 1 < len(tokens) and tokens[index + 1].start() < day.end else 1
        elif tokens[index][0][0].islower() or not _is_capital_later(text, tokens[index]):
            value, count, is_sure = _number_words(text, tokens, index, language)
            if count:
                end = tokens[index + count - 1].end()
                percent = _PERCENT.match(text, end)
                values = frozenset({f"{value}%" if percent else str(value)})
                yield Claim(Kind.NUMBER, tokens[index].start(), end, values, is_sure)
                while percent and index + count < len(tokens) and tokens[index + count].start() < percent.end():
                    count += 1
        if not count:
            yield from _of_word(text, tokens[index], stop_words)
        index += count or 1


def _weekday(text: str, token: re.Match[str], language: str) -> Claim | None:
    word, days = fold(token[0].lower()), weekdays()
    end = token.end() + len("-feira") * text.startswith("-feira", token.end())
    if (
        day := days.get(word)
        or days.get(word.removesuffix("s"))
        or days.get(f"{word}-feira" if language == "pt" else "")
    ):
        # "terça" is Tuesday or the third.
        ordinal = claim_words(language).ordinals.get(word) if end == token.end() else None
        values = {f"weekday:{day}", *([str(ordinal)] if ordinal else [])}
        return Claim(Kind.WEEKDAY, token.start(), end, frozenset(values), len(word) > LONGEST_SHORT_DAY)
    return None


def _is_capital_later(text: str, token: re.Match[str]) -> bool:
    """Return whether a word is capitalised anywhere but at the start of a sentence."""
    word = token[0]
    return any(one.isupper() for one in word[1:]) or (
        word[0].isupper() and not _OPENING.search(text[max(token.start() - 12, 0) : token.start()])
    )


def _of_word(text: str, token: re.Match[str], stop_words: frozenset[str]) -> Iterator[Claim]:
    word = _POSSESSIVE.sub("", token[0])
    lower = word.lower()
    folded = fold(lower)
    month = months().get(folded)
    if month and (folded not in shared_words("unsure_months") or _is_beside_number(text, token)):
        # "Children under 12 may enter."
        yield Claim(Kind.MONTH, *token.span(), frozenset({f"month:{month}"}), token[0] not in ("may", "march"))
        return
    if not any(one.isupper() for one in word) or lower in stop_words:
        return
    values = {folded}
    roman = _roman(word)
    if roman:
        values.add(str(roman))
    is_sure = _is_capital_later(text, token) and (len(word) > 1 or bool(roman))
    yield Claim(Kind.NAME, token.start(), token.start() + len(word), frozenset(values), is_sure)


def _is_beside_number(text: str, token: re.Match[str]) -> bool:
    before, after = text[max(token.start() - 8, 0) : token.start()], text[token.end() : token.end() + 8]
    is_after = re.search(r"(?:\d(?:st|nd|rd|th)?[\s./-]{1,2}(?:de )?|º )$", before)
    return bool(is_after or re.match(r"\.?,?[\s/-]{1,2}(?:de )?\d", after))


def _roman(word: str) -> int:
    if len(word) > LONGEST_ROMAN or not _ROMAN.fullmatch(word):
        return 0
    digits = [_ROMAN_DIGITS[one] for one in word]
    return sum(-one if one < after else one for one, after in zip(digits, [*digits[1:], 0], strict=True))


def _number_words(text: str, tokens: list[re.Match[str]], index: int, language: str) -> tuple[int, int, bool]:
    """Return the number that begins at a word: its value, its count of words, and whether it certainly is a number."""
    known = claim_words(language)
    total = current = 0
    used = position = 0
    ceiling = 10**15  # The next word must be smaller than the last one, as in "forty-two".
    while index + position < len(tokens):
        token = tokens[index + position]
        if position and not _BETWEEN_WORDS.fullmatch(text, tokens[index + position - 1].end(), token.start()):
            break
        word = fold(token[0].lower())
        value = known.hundreds.get(word) or known.tens.get(word) or known.units.get(word)
        if (scale := known.scales.get(word)) and (current or not used or total):
            if scale == 100:
                current, ceiling = (current or 1) * 100, 100
            else:
                # "mil millones": this scale word multiplies the previous scale word.
                total = total + current * scale if current else (total or 1) * scale
                current, ceiling = 0, scale
        elif value is not None and value < ceiling:
            current += value
            ceiling = 100 if word in known.hundreds else 10 if word in known.tens else 1
        elif not (used and word == known.joining and position == used):
            ordinal = known.ordinals.get(word)
            if ordinal is not None and (not used or (ordinal < ceiling and ceiling == 10)):
                return current + ordinal, position + 1, word not in shared_words("unsure") or used > 0
            break
        else:
            position += 1
            continue
        position += 1
        used = position
    if not used:
        return 0, 0, False
    is_sure = used > 1 or fold(tokens[index][0].lower()) not in shared_words("unsure")
    return total + current, used, is_sure
