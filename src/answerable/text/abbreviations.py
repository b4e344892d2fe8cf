"""Detect where a splitter has cut a sentence in two: after an abbreviation, a number or initials.

The rules hardly depend on the text's language: an English quote in a Spanish text has English abbreviations.
"""

from __future__ import annotations

import re

from answerable.text.stop_words import STOP_WORDS
from answerable.text.word_lists import FOLDER, read_toml

_LISTS = {kind: frozenset(words.split()) for kind, words in read_toml(FOLDER / "abbreviations.toml").items()}
_BEFORE_NAMES, _AFTER_NAMES = _LISTS["before_names"], _LISTS["after_names"]
_BEFORE_NUMBERS, _AT_ENDS = _LISTS["before_numbers"], _LISTS["at_ends"]
_ALL = frozenset().union(*_LISTS.values())
_NOT_AT_ENDS, _NOT_BEFORE_NUMBERS = _ALL - _AT_ENDS, _ALL - _BEFORE_NUMBERS
_BEFORE_WORDS = _NOT_AT_ENDS - _AFTER_NAMES - _BEFORE_NUMBERS
_FUNCTION_WORDS = frozenset().union(*STOP_WORDS.values())
_LAST_WORD = re.compile(r"(?<!\w)([^\W\d_]+[ºª]?)\.\s*$")
_UNIT = re.compile(r"\d\s*\w+\.\s*$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_DOTTED = re.compile(r"(?:^|[\s\d(\[\"'“«])(?:[^\W\d_]\.\s?)+$")
_ROMAN = re.compile(r"[IVXLC]+\b(?!')")
# Not I, V and X, which number kings and wars.
_NAME_AND_INITIAL = re.compile(r"\b[A-ZÀ-ÖØ-Þ][^\W\d_]+ [A-HJ-UWYZ]\.\s*$")
_INITIAL = re.compile(r"[A-ZÀ-ÖØ-Þ]\.")
_ITEM_NUMBER = re.compile(r"(?:^|\n)\s*(?:#{1,6} )?(?:\d{1,3}(?:\.\d{1,2})*[.)]|[a-z]\))\s*$")
_NOTE_MARK = re.compile(r"(?<=[.!?…\"”’»)\]])(?:\d{1,2}|[¹²³⁰⁴-⁹]{1,3})\s*$")
_OPENING = "\"'“‘«(["
_BULLETS = "•·‣–—-"


def continues(before: str, after: str, language: str) -> bool:
    """Return whether `after` continues the sentence that ends with `before`; a splitter has cut between them."""
    sentence = before.rstrip()
    end = sentence[-1:]
    # Only these can be the end of an item's number or a note mark: mostly, neither has to be looked for.
    is_number = end == ")" or (end == "." and sentence[-2:-1].isdigit())
    if (is_number and _ITEM_NUMBER.search(before)) or after[:1] in "ºª°":
        return True
    if before.endswith(".") and (after[:1].isalpha() or after[:1].isdecimal()):
        return True
    if end.isdigit():
        before = _NOTE_MARK.sub("", before)
        sentence = before.rstrip()
        end = sentence[-1:]
    if end in ",(" or (end.isalnum() and "\n" not in before[len(sentence) :]):
        # There is no end mark and no line break.
        return after[:1] not in _BULLETS
    word = _LAST_WORD.search(before)
    return word is not None and after[:1] not in "¿¡" and _is_abbreviation(word[1], before, after, language)


def _is_abbreviation(word: str, before: str, after: str, language: str) -> bool:
    known, following = word.lower(), after.lstrip(_OPENING)[:1]
    if following.isdigit():
        return known in _NOT_AT_ENDS
    if following.islower():
        return known in _NOT_BEFORE_NUMBERS or _DOTTED.search(before) is not None
    if not following.isupper():
        return False
    first = _FIRST_WORD.match(after)
    is_name = first is None or first[0].lower() not in _FUNCTION_WORDS
    if len(word) == 1:
        # "James O. McKinsey"; "D. Maria" and "R. Augusta" in Spanish and Portuguese; "a. C.".
        is_initial = is_name and _NAME_AND_INITIAL.search(before) is not None
        is_title = word in "DR" and language in ("es", "pt")
        return is_initial or is_title or (word.islower() and _INITIAL.match(after) is not None)
    if _UNIT.search(before):
        return False
    if known in _BEFORE_NAMES:
        return is_name or word[0].isupper()
    return known in _BEFORE_WORDS and (_ROMAN.match(after) is not None or (is_name and word[0].isupper()))
