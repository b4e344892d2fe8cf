"""How content shows what a page shows by other means: struck, raised and lowered text, boxes, marks of notes.

Readers put the characters of STRUCK, RAISED or LOWERED around such text with `marked`; `written` replaces them once a
paragraph is complete, because word processors divide what is struck or raised into many pieces.
"""

from __future__ import annotations

import re

STRUCK, RAISED, LOWERED = "\ufdd1\ufdd2", "\ufdd3\ufdd4", "\ufdd5\ufdd6"
"""Characters before and after text of each kind; they occur in no text."""
HIGH = str.maketrans("0123456789+-–−()=ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁽⁾⁼ⁿⁱ")
LOW = str.maketrans("0123456789+-–−()=", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₍₎₌")
"""Raised and lowered characters, for `str.translate`."""
_HAS_HIGH, _HAS_LOW = (frozenset(map(chr, table)) for table in (HIGH, LOW))
BOXES = frozenset("☐☑☒✓✔✗✘")
WINGDINGS = dict(zip(b"oqr\xa8\xfb\xfc\xfd\xfe\xe0", "☐☐☐☐✗✓☒☒→", strict=True))
"""Characters by their codes in the font Wingdings."""
PAGE = "\ufdd7"
"""Stands for the number of a page; `written` removes it."""
# Of "Page 3 of 10", first what is between the numbers, then what is beside them.
_PAGES = re.compile(f"{PAGE}(?:[^{PAGE}]{{0,9}}{PAGE})+")
_BESIDE, _NAME = r"[^\w\n\t]{0,9}", r"[^\W\d]{0,20}"
_ONLY_PAGE = re.compile(rf"(?m)(^|\t){_BESIDE}(?:{_NAME}{_BESIDE}{PAGE}|{PAGE}{_BESIDE}{_NAME}){_BESIDE}(?=\t|$)")
# Marks that remain; programs store symbols of Wingdings as characters of Unicode's private area.
_LAST: dict[int, str | None] = dict.fromkeys(range(0xFDD0, 0xFDD8)) | {
    0xF000 + code: to for code, to in WINGDINGS.items()
}
_BOX = re.compile(r"([☐☒])(?=\w)")
_WORD = re.compile(r"[^\W\d_]{3}")
_MARKED = {kind: re.compile(f"{kind[0]}([^{kind}]*){kind[1]}") for kind in (STRUCK, RAISED, LOWERED)}
_STRUCK_ON = re.compile(rf"{STRUCK[1]}(\s*){STRUCK[0]}")


def marked(text: str, kind: str) -> str:
    """Return text between the characters of its kind."""
    return f"{kind[0]}{text}{kind[1]}"


def written(text: str) -> str:
    """Return a paragraph with each of its lines on one line, and its marked text in Markdown and Unicode."""
    if PAGE in text:
        text = _ONLY_PAGE.sub(r"\1", _PAGES.sub(PAGE, text))
    if not text.isascii():
        text = _STRUCK_ON.sub(r"\1", text)
        for kind in (RAISED, LOWERED, STRUCK):
            text = _MARKED[kind].sub(_shown, text.replace(kind[1] + kind[0], ""))
        text = _BOX.sub(r"\1 ", text.translate(_LAST))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(filter(None, lines))


def _shown(found: re.Match[str]) -> str:
    text, core = found[1], found[1].strip()
    if found[0].startswith(STRUCK[0]):
        return text.replace(core, f"~~{core}~~", 1) if core else text
    return raised(text) if found[0].startswith(RAISED[0]) else lowered(text)


def raised(text: str, is_formula: bool = False) -> str:
    """Return raised text: `10³`, `^(2x)`. Words, and outside formulas letters, stay as they are: `1st`, `Mme`."""
    core = text.strip()
    high = ""
    if set(core) <= _HAS_HIGH:
        high = core.translate(HIGH)
    elif is_formula or not (_WORD.search(core) or _HAS_LOW.isdisjoint(core) or "[" in core):
        high = f"^({core})"
    return text.replace(core, high, 1) if high else text


def lowered(text: str) -> str:
    """Return lowered text: `CO₂`. Letters stay as they are."""
    return text.translate(LOW) if set(text.strip()) <= _HAS_LOW else text


# A raised number after a word or a mark, not after a figure or a unit such as `m`; and the beginning of a note's text.
_MARK = re.compile(
    r"(?<![⁰¹²³⁴-⁻])(?:(?<=[^\W\d_]{3})|(?<=[^\W\d_]{3}\))|(?<=[.,;:!?”\"’»]))[⁰¹²³⁴-⁹]{1,3}(?![⁰¹²³⁴-⁻\w])"
)
_NOTE = re.compile(r"(?m)^([⁰¹²³⁴-⁹]{1,3}) ?(?=\w)|(?<=\n\n)(\d{1,3}) (?=[^\W\d_])")
_LOWER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def with_notes(text: str) -> str:
    """Return text in which raised numbers that refer to a note below are `[^2]`, and the note begins with `[^2]: `."""
    if frozenset(map(chr, _LOWER)).isdisjoint(text):
        return text
    marks = [(found.start(), found.end(), found[0].translate(_LOWER)) for found in _MARK.finditer(text)]
    marked_at = {number: start for start, _, number in reversed(marks)}
    notes: dict[str, tuple[int, int]] = {}
    for found in _NOTE.finditer(text):
        key = (found[1] or found[2]).translate(_LOWER)
        if marked_at.get(key, len(text)) < found.start():
            notes.setdefault(key, found.span())
    changes = [(first, last, f"[^{key}]: ") for key, (first, last) in notes.items()]
    changes += [(first, last, f"[^{key}]") for first, last, key in marks if key in notes and first < notes[key][0]]
    pieces, at = [], 0
    for first, last, new in sorted(changes):
        pieces += [text[at:first], new]
        at = last
    return "".join((*pieces, text[at:]))
