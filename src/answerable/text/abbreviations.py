"""Whether a sentence goes on where a splitter has cut it: behind an abbreviation, a number or initials.

The rules hardly depend on the text's language: an English quote in a Spanish text has English abbreviations.
"""

from __future__ import annotations

import re

from answerable.text.stop_words import STOP_WORDS

_BEFORE_NAMES = """
arq col cdte dep dr dra dras dres eng exma exmas exmo exmos gen gov hon ing lic lt mme mr mrs ms mtro prof profa profas
profs rep rev sen sgto sr sra sras sres srta srtas srs st sta sto
"""
_BEHIND_NAMES = "bros corp exa exas hno hnos inc jr ltd ltda ud uds vd vds"
_AT_ENDS = "al etc kg km mi"
_ON_NUMBERS = "n no nos par res ss tom"
_OTHERS = """
adm admin aprox approx art arts atte av cap caps cf cfr ch cia cía cód dcha dept depto dpto ed eds ej ex fasc fig
figs fl fls fols gral ibid ibíd incl izq lib max máx min mín mt nn nro nros nº núm num nums núms nov obs oct op orig pag
pags párr pág págs pp prov pt ref refs reg resp sec secs sept sig sigs suppl tel tels tfno tít trad vol vols vs
ago dez dic ene feb fev jan jun
"""
_NAMES_FOLLOW = frozenset(_BEFORE_NAMES.split())
_NAMES_PRECEDE = frozenset(_BEHIND_NAMES.split())
_ENDING = frozenset(_AT_ENDS.split())
# Words of their own, which only a number behind them shows to be abbreviations.
_NUMBERS_FOLLOW = frozenset(_ON_NUMBERS.split())
_ALL = _NAMES_FOLLOW | _NAMES_PRECEDE | _ENDING | _NUMBERS_FOLLOW | frozenset(_OTHERS.split())
_FUNCTION_WORDS = frozenset().union(*STOP_WORDS.values())
_LAST_WORD = re.compile(r"(?<!\w)([^\W\d_]+[ºª]?)\.\s*$")
_UNIT = re.compile(r"\d\s*\w+\.\s*$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_DOTTED = re.compile(r"(?:^|[\s\d(\[\"'“«])(?:[^\W\d_]\.\s?)+$")
_ROMAN = re.compile(r"[IVXLC]+\b(?!')")
# Not I, V and X, which are numbers of kings and wars.
_AFTER_NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ][^\W\d_]+ [A-HJ-UWYZ]\.\s*$")
_INITIAL = re.compile(r"[A-ZÀ-ÖØ-Þ]\.")
_NUMBER_OF_ITEM = re.compile(r"(?:^|\n)\s*(?:#{1,6} )?(?:\d{1,3}(?:\.\d{1,2})*[.)]|[a-z]\))\s*$")
_MARK_OF_NOTE = re.compile(r"(?<=[.!?…\"”’»)\]])(?:\d{1,2}|[¹²³⁰⁴-⁹]{1,3})\s*$")
_OPENING = "\"'“‘«(["
_BULLETS = "•·‣–—-"


def goes_on(before: str, after: str, language: str) -> bool:
    """Whether the sentence whose tail is `before` goes on with `after`, where a splitter has cut between them."""
    if _NUMBER_OF_ITEM.search(before) or after[:1] in "ºª°":
        return True
    if before.endswith(".") and (after[:1].isalpha() or after[:1].isdecimal()):
        return True
    before = _MARK_OF_NOTE.sub("", before)
    sentence = before.rstrip()
    if sentence[-1:] in ",(" or (sentence[-1:].isalnum() and "\n" not in before[len(sentence) :]):
        # No mark ends a sentence here, nor does a line.
        return after[:1] not in _BULLETS
    word = _LAST_WORD.search(before)
    return word is not None and after[:1] not in "¿¡" and _is_abbreviation(word[1], before, after, language)


def _is_abbreviation(word: str, before: str, after: str, language: str) -> bool:
    known, following = word.lower(), after.lstrip(_OPENING)[:1]
    if following.isdigit():
        return known in _ALL - _ENDING
    if following.islower():
        return known in _ALL - _NUMBERS_FOLLOW or _DOTTED.search(before) is not None
    if not following.isupper():
        return False
    first = _FIRST_WORD.match(after)
    is_name = first is None or first[0].lower() not in _FUNCTION_WORDS
    if len(word) == 1:
        # "a. C.", "James O. McKinsey", and "D. Maria": in Spanish and Portuguese Don and Dona are a letter, as streets.
        is_initial = is_name and _AFTER_NAME.search(before) is not None
        of_language = word in "DR" and language in ("es", "pt")
        return is_initial or of_language or (word.islower() and _INITIAL.match(after) is not None)
    if _UNIT.search(before):
        return False
    if known in _NAMES_FOLLOW:
        return is_name or word[0].isupper()
    other = known in _ALL - _NAMES_PRECEDE - _ENDING - _NUMBERS_FOLLOW
    return other and (_ROMAN.match(after) is not None or (is_name and word[0].isupper()))
