"""Reads the date and time in the header of a WhatsApp message, whatever the phone's language and calendar.

A date is three numbers; which is the day and which the month follows from the whole file (`decide_order`).
Years of the Buddhist, Persian and Islamic calendars are converted: an Islamic date may be off by a day, because
it depends on the sighting of the moon.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum
from functools import lru_cache

MARKS = "\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
"""Invisible marks of direction and width, as the inside of a character class."""

BLANKS = " \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""Every blank but the line end, as the inside of a character class."""

SECONDS_PER_DAY = 86_400


class DateOrder(str, Enum):
    """In which order day, month and year are written."""

    DMY = "dmy"
    MDY = "mdy"
    YMD = "ymd"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class DateText:
    """Three numbers as they were written. `year_at` is the place of the year if its length gives it away."""

    numbers: tuple[int, int, int]
    year_at: int | None
    first_is_padded: bool
    separator: str


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in seconds. `half` is "am", "pm" or empty; unknown words are neither that nor "at" or the like."""

    seconds: int
    parts: int
    half: str
    has_unknown_words: bool


_NUMBERS = re.compile(r"\d+")
_NOISE = re.compile(f"[{MARKS}{BLANKS}.,'’‘()،、・]+")
_BETWEEN_WORDS = re.compile(f"[{BLANKS},،、]+|(?<=[日号일])")
_SEPARATOR_PAIRS = {"年月": "年", "년월": "년"}

# What stands before noon, what after it: lower case, without dots and blanks. Languages as in Unicode's CLDR.
_MORNING = """
    am vm fm ap dop dopoledne de öö md bh дп претпл преподне πμ ص صباحا قظ قبلازظهر
    午前 上午 早上 凌晨 清晨 半夜 오전 पूर्वाह्न मपू পূর্বাহ্ণ পূর্বাহ্ন ਪੂਦੁ પૂર્વાહ્ન முற்பகல் ಪೂರ್ವಾಹ್ನ పూర్వాహ్నం പൂർവ്വാഹ്നം
    ก่อนเที่ยง ກ່ອນທ່ຽງ ព្រឹក နံနက် පෙව ጥዋት sa pg to gh fh priekšp priešpiet vorm проб կա үө таңғы дополудня
    לפנהצ לפנה״צ לפנה"צ eparadites paradite prijepodne delamañana damanhã
"""
_AFTERNOON = """
    pm nm em ip odp odpoledne pop du ös mu пп слпл попл поподне μμ م مساء بظ بعدازظهر
    午後 下午 傍晚 晚上 夜晚 中午 오후 अपराह्न मउ অপরাহ্ণ অপরাহ্ন ਬਾਦੁ અપરાહ્ન பிற்பகல் ಅಪರಾಹ್ನ అపరాహ్నం അപരാഹ്നം
    หลังเที่ยง ຫຼັງທ່ຽງ ល្ងាច ညနေ පව ከሰዓት ch ptg tk gd eh pēcp popiet nachm слоб կհ үх кешкі пополудни
    אחהצ אחה״צ אחה"צ epasdites pasdite poslijepodne delatarde delanoche datarde danoite
"""
_NOON = frozenset({"中午"})
_HALVES = dict.fromkeys(_MORNING.casefold().split(), "am") | dict.fromkeys(_AFTERNOON.casefold().split(), "pm")

# Words around the time that change nothing: "13.6.2018 klo 21.25", "13.06.18 um 21:25 Uhr".
_NEUTRAL = frozenset(
    """
    t at um à a as às alle ore le la las los il kl klo u v w o om la în στις στη τις в о об ob dne r р г год года року
    godz saat lúc vào jam pukul del al plkst val ч uhr h hs hrs hr horas heures óra órakor น เวลา 日 일 号 分 분 秒 초
    點 点
    时 時 시
    s sek sec min мин ден tl बजे e är
    """.casefold().split()
) | {""}


def parse_date(text: str) -> DateText | None:
    """The three numbers of a date, or None if they can't be one."""
    numbers = _NUMBERS.findall(text)
    separators = [_NOISE.sub("", part) or "." for part in _NUMBERS.split(text)[1:3]]
    separator = separators[0] if separators[0] == separators[1] else _SEPARATOR_PAIRS.get("".join(separators))
    lengths = [len(number) for number in numbers]
    if separator is None or 3 in lengths or lengths.count(4) > 1:
        return None
    year_at = lengths.index(4) if 4 in lengths else None
    first, second, third = (int(number) for number in numbers)
    return DateText((first, second, third), year_at, lengths[0] == 2, separator)


def parse_clock(before: str, time: str, after: str) -> Clock | None:
    """The time of day, with the words around it, or None if there is no such time."""
    numbers = [int(number) for number in _NUMBERS.findall(time)]
    hour, minute, second = (*numbers, 0)[:3]
    if hour > 24 or minute > 59 or second > 59:
        return None
    half, has_unknown_words = _read_words(_NUMBERS.split(time)[0] + before, after)
    if half == "noon":
        hour, half = (hour if hour >= 11 else hour + 12), "pm"
    elif half == "pm" and hour < 12:
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    return Clock(hour % 24 * 3600 + minute * 60 + second, len(numbers), half, has_unknown_words)


@lru_cache(maxsize=4096)
def _read_words(*texts: str) -> tuple[str, bool]:
    """Which half of the day the words tell ("am", "pm", "noon" or ""), and whether there are others."""
    half, has_unknown_words = "", False
    for text in texts:
        words = [word for word in _BETWEEN_WORDS.split(text) if word]
        while words:
            # "p. m." is one word to us: the longest run of words that is known wins.
            for count in range(len(words), 0, -1):
                joined = _NOISE.sub("", "".join(words[:count])).casefold()
                if joined in _HALVES and not half:
                    half = "noon" if joined in _NOON else _HALVES[joined]
                elif joined not in _NEUTRAL:
                    continue
                del words[:count]
                break
            else:
                has_unknown_words = True
                del words[0]
    return half, has_unknown_words


def resolve(text: DateText, order: DateOrder) -> date | None:
    """The date that the numbers mean in this order, or None if there is no such day."""
    first, second, third = text.numbers
    if text.year_at == 0:
        # Year-day-month exists (in Kazakh), but only a day above 12 gives it away.
        month, day = (third, second) if second > 12 and third <= 12 else (second, third)
        return _calendar_date(first, month, day)
    if text.year_at == 1:
        day, month = (third, first) if order is DateOrder.MDY else (first, third)
        return _calendar_date(second, month, day)
    if text.year_at is None and order is DateOrder.YMD:
        return _calendar_date(first, second, third) if text.first_is_padded else None
    day, month = (second, first) if order is DateOrder.MDY else (first, second)
    return _calendar_date(third, month, day)


def _calendar_date(year: int, month: int, day: int) -> date | None:
    if year < 100:
        year += 2000 if year < 70 else 1900
    elif 2500 < year < 2700:
        year -= 543  # Buddhist: WhatsApp is younger than 2552
    elif 1387 < year < 1430:
        return _from_persian(year, month, day)
    elif 1430 <= year < 1500:
        return _from_islamic(year, month, day)
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _from_persian(year: int, month: int, day: int) -> date | None:
    """Six months of 31 days, then 30; leap years in cycles of 33, right for the years 1244 to 1500."""
    leap = (year * 8 + 29) % 33 < 8
    last_day = 31 if month <= 6 else 30 if month < 12 or leap else 29
    if not (1 <= month <= 12 and 1 <= day <= last_day):
        return None
    leaps = sum((earlier * 8 + 29) % 33 < 8 for earlier in range(1387, year))
    days = (year - 1387) * 365 + leaps + 30 * (month - 1) + min(month - 1, 6) + day - 1
    return date(2008, 3, 20) + timedelta(days=days)


def _from_islamic(year: int, month: int, day: int) -> date | None:
    """The tabular calendar, thirty years of which hold eleven leap days."""
    if not (1 <= month <= 12 and 1 <= day <= 30):
        return None
    days = day + (59 * (month - 1) + 1) // 2 + (year - 1) * 354 + (3 + 11 * year) // 30
    return date.fromordinal(days + 227_014)


def decide_order(runs: Sequence[tuple[DateText, int]], preferred: Iterable[DateOrder]) -> DateOrder:
    """The order in which the fewest dates are impossible, then the one in which time runs backwards least often.

    `runs` are the dates in the order of the file, each with the number of messages in a row; `preferred` breaks ties.
    """
    best: tuple[int, int] | None = None
    choice = DateOrder.DMY
    for order in preferred:
        impossible = backwards = 0
        last = date.min
        for text, count in runs:
            day = resolve(text, order)
            if day is None:
                impossible += count
                continue
            backwards += day < last
            last = day
        if best is None or (impossible, backwards) < best:
            best, choice = (impossible, backwards), order
    return choice
