"""Whether what a program writes of a file says what the file shows other than by its words.

One rule for each kind of state, the same for all programs, whether they write Markdown, HTML or signs of Unicode:

- struck: exactly these words are between `~~` and `~~`, or in `<s>`, `<del>` or `<strike>`.
- box: beside the label, with no word between, stands `☒`, `☑`, `✓`, `[x]` or "yes" if it is ticked; `☐`, `[ ]` or "no"
  if it is not. What stands before the label counts first. A box without any sign is not read.
- field: the value follows its label, with no word between.
- number: the line begins with the number that the page shows, before the words: `6.2`, also as an item of Markdown
  (`3.`), with whatever dots and brackets. `1.` for a clause that the page calls 6.1 is wrong.
- raised and lowered: `10⁶`, `10^6`, `10^{6}` or `10<sup>6</sup>`; `CO₂`, `CO_2`, `CO~2~` or `CO<sub>2</sub>`. `106` is
  wrong.
- note: after the word stands a mark (`[^1]`, `[1]`, `¹`, `<sup>1</sup>`, a link), and a line with the note's text
  begins with the same mark or number; or the text itself follows in brackets. `word1` is wrong.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from format_files.sample import State
from format_files.words import passages, words

_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_STRUCK = re.compile(r"~~(.+?)~~|<(s|del|strike)\b[^<>]*>(.+?)</\2>", re.DOTALL)
_AGAIN = re.compile(r"~~(\s*)~~|</(s|del|strike)>(\s*)<\2\b[^<>]*>")
_ON = r"[☒☑✓✔✗✘]|\[[xX]\]|<input\b[^<>]*\bchecked\b[^<>]*>"
_OFF = r"[☐□]|\[ \]|<input\b(?![^<>]*\bchecked\b)[^<>]*>"
_SIGN = rf"(?:(?P<on>{_ON})|(?P<off>{_OFF}))"
_BEFORE = re.compile(rf"{_SIGN}[^\w\n☒☑✓✔✗✘☐□]*$")
_AFTER = re.compile(
    rf"[^\w\n☒☑✓✔✗✘☐□\[<]*(?:{_SIGN}|(?P<yes>(?:yes|on|true|checked)\b)|(?:no|off|false|unchecked)\b)", re.I
)
_BESIDE = re.compile(r"(?:<[^<>]*>|[\W_])*")
_HIGH = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_LOW = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_MARK = re.compile(
    r"[*_]*\s?(?:\[\^(\w+)\]|\[\[(\w+)\]\]\([^()]*\)|\[(\w+)\](?:\([^()]*\))?|<sup>\W*(\w+)\W*</sup>|\^(\w+)\^|([⁰¹²³⁴-⁹]+))"
)


def says(text: str, state: State) -> bool:
    """Whether the text says the state."""
    return _SAYS[state.kind](_ESCAPED.sub(r"\1", html.unescape(text)), state)


def _is_struck(text: str, state: State) -> bool:
    joined = _AGAIN.sub(lambda found: found[1] or found[3] or "", text)
    return any(words(found[1] or found[3]) == words(state.text) for found in _STRUCK.finditer(joined))


def _is_box(text: str, state: State) -> bool:
    found = {ticked for start, end in passages(text, state.text) if (ticked := _ticked(text, start, end)) is not None}
    return found == {state.value == "ticked"}


def _ticked(text: str, start: int, end: int) -> bool | None:
    before = _BEFORE.search(text, text.rfind("\n", 0, start) + 1, start)
    if before:
        return before["on"] is not None
    after = _AFTER.match(text, end)
    return bool(after["on"] or after["yes"]) if after else None


def _is_field(text: str, state: State) -> bool:
    return any(
        last <= start and _BESIDE.fullmatch(text, last, start) is not None
        for _, last in passages(text, state.text)
        for start, _ in passages(text, state.value)
    )


def _is_number(text: str, state: State) -> bool:
    lines = (text[text.rfind("\n", 0, start) + 1 : start].split() for start, _ in passages(text, state.text))
    numbers = [[bare for each in line if (bare := each.strip("#*_>|-.():"))] for line in lines]
    return any(line[-1:] == [state.value] for line in numbers)


def _is_raised(text: str, state: State) -> bool:
    value = re.escape(state.value)
    plain = re.search(rf"{re.escape(state.text)}[*_$\s]*(?:\^[({{]*{value}(?!\w)|<sup>\s*{value}\s*</sup>)", text)
    high = (found[1].translate(_HIGH) for found in re.finditer(rf"{re.escape(state.text)}([⁰¹²³⁴-⁹⁺⁻]+)", text))
    return plain is not None or state.value in high


def _is_lowered(text: str, state: State) -> bool:
    value = re.escape(state.value)
    plain = re.search(rf"{re.escape(state.text)}[*$]*(?:_[({{]*{value}(?!\w)|~{value}~|<sub>\s*{value}\s*</sub>)", text)
    low = (found[1].translate(_LOW) for found in re.finditer(rf"{re.escape(state.text)}([₀-₉]+)", text))
    return plain is not None or state.value in low


def _is_note(text: str, state: State) -> bool:
    """Whether a note of this text is marked after the words."""
    notes = [start for start, _ in passages(text, state.value)]
    # In passages, a mark without its brackets would lengthen the last word.
    for end in (found.end() for found in re.finditer(r"[\s*_]+".join(map(re.escape, state.text.split())), text)):
        if mark := _MARK.match(text, end):
            key = next(filter(None, mark.groups())).translate(_HIGH)
            if any(start >= mark.end() and _key(text, start) == key for start in notes):
                return True
        if any(re.fullmatch(r"\W*[\[(]\W*", text[end:start]) for start in notes):
            return True
    return False


def _key(text: str, start: int) -> str:
    """The mark with which the line of a note begins, before its text."""
    begun = text[text.rfind("\n", 0, start) + 1 : start]
    return re.sub(r"\([^()]*\)|<[^<>]*>|\W", "", begun.translate(_HIGH))


_SAYS: dict[str, Callable[[str, State], bool]] = {
    "struck": _is_struck,
    "box": _is_box,
    "field": _is_field,
    "number": _is_number,
    "raised": _is_raised,
    "lowered": _is_lowered,
    "note": _is_note,
}
