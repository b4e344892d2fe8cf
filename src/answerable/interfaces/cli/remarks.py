"""Texts of the program itself that are printed around an answer, in the language of the answer."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

from answerable.datatypes import Answer, Narrowing, Reason, Step
from answerable.interfaces.cli.printing import one_line
from answerable.interfaces.written import asked_of
from answerable.text.word_lists import LANGUAGES, read_toml

_CLAIMED = ("verified", "check", "unsupported")


def remark(name: str, language: str, **values: str) -> str:
    """Return a remark of `remarks.toml` with these values in it."""
    return _text("remarks", name, language).format(**values)


def counted_remark(name: str, language: str, count: int, **values: str) -> str:
    """Return a remark about a number, in its form for one or for several."""
    one, several = _text("remarks", name, language).split("|")
    return (one if count == 1 else several).format(n=f"{count:,}", **values)


def why(reason: Reason, language: str) -> str:
    """Return the reason of an answer or refusal in words."""
    return _text("reasons", str(reason), language)


def why_refused(found: Answer, how: str = "") -> str:
    """Return why a question is refused and how much was read; `how` names the command to show the nearest passages."""
    n = len(found.results)
    checked = counted_remark("checked", found.language, n)
    shows = f"; {counted_remark('shows it', found.language, n, how=how)}" if how else ""
    return f"{why(found.reason, found.language)}; {checked}{shows}"


def refused(found: Answer) -> str:
    """Return why the best sentence doesn't answer, with its chance and the chance needed; "" if there is none."""
    decided = next((step for step in reversed(found.why) if step.name == "decide"), None)
    if decided is None or found.reason not in (Reason.WEAK_EVIDENCE, Reason.NEAR) or "threshold" not in decided.values:
        return ""
    text = " ".join(str(decided.chose["text"]).split())
    confidence, threshold = (float(decided.values[name]) for name in ("confidence", "threshold"))
    if confidence >= threshold:
        # The answer itself says how the sentence differs.
        return ""
    # Show a decimal if the chance and the chance needed would otherwise round to the same number.
    places = int(percent(confidence) == percent(threshold))
    share, least = percent(confidence, places), percent(threshold, places)
    return remark("too unlikely", found.language, text=text, share=share, least=least)


def percent(share: float, places: int = 0) -> str:
    """Return a share from 0 to 1 in per cent, in the format of all printed shares."""
    return "< 1 %" if 0 < share < 0.01 else f"{100 * share:.{places}f} %"


def score(value: float) -> str:
    """Return a score of a passage, a sentence or the reader model, in the format of all printed scores."""
    return f"{value:.3f}"


def word(name: str, language: str) -> str:
    """Return the name of a step, a fact or a value; in English if there is no translation to the language."""
    return _text("words", name, language)


def narrowed(found: Narrowing, language: str = "en") -> str:
    """Return the filter taken from a question, or a note that nothing was found with it."""
    to = ", ".join([*found.senders, *(_days(start, end, language) for start, end in found.periods)])
    return remark("narrowed" if found.applied else "in vain", language, to=to)


def other_places(count: int, language: str) -> str:
    """Return the number of other places that have the same text, in words; "" for none."""
    return counted_remark("other places", language, count) if count else ""


def checked(found: Answer) -> str:
    """Return how many sentences in a model's answer have which mark; "" if none claims anything."""
    counts = Counter(check.support for check in found.checks if check.text in found.text)
    return "; ".join(f"{word(mark, found.language)}: {counts[mark]}" for mark in _CLAIMED if counts[mark])


def doing(step: Step, language: str) -> str:
    """Return what a model does while it runs a tool, on one line; "" for an unknown tool."""
    return one_line(_text("doing", step.name, language, "").format(asked=asked_of(step)))


def _text(kind: str, name: str, language: str, unknown: str | None = None) -> str:
    """Return a text of `remarks.toml`, in English for other languages; for an unknown name `unknown`, or the name."""
    texts = read_toml(Path(__file__).with_name("remarks.toml"))[kind].get(name)
    if texts is None:
        return name if unknown is None else unknown
    return str(texts[LANGUAGES.index(language) if language in LANGUAGES else 0])


def _days(start: datetime, end: datetime, language: str) -> str:
    first, last = f"{start:%Y-%m-%d}", f"{end - timedelta(microseconds=1):%Y-%m-%d}"
    if end == datetime.max:
        return remark("since", language, day=first)
    if start == datetime.min:
        return remark("until", language, day=last)
    return first if first == last else remark("between", language, first=first, last=last)
