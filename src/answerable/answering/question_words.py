"""The words of a question, with the properties that the rules for follow-up questions use.

The word lists are in `words/follow_ups.toml`. Spanish and Portuguese share the lists `es`, since the few words of a
follow-up seldom show which of the two languages it is in.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from answerable.answering.word_lists import word_lists
from answerable.text.languages import question_language
from answerable.text.stop_words import STOP_WORDS
from answerable.text.terms import fold, terms

MAX_CHARACTERS = 4000

_TOKEN = re.compile(r"\"[^\"\n]{1,58}\"|“[^”\n]{1,58}”|«[^»\n]{1,58}»|\w+(?:[-.,:/'’]\w+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question.

    A run is an unbroken sequence of content words. `run` is the number of this word's run, `lead` the preposition
    before the run as written, and `slot` the name of this preposition in the word lists.
    """

    text: str
    start: int
    is_content: bool
    is_name: bool
    run: int = -1
    lead: str = ""
    slot: str = ""

    @property
    def lower(self) -> str:
        """The word in lower case, with straight apostrophes."""
        return self.text.lower().replace("’", "'")

    @property
    def is_entity(self) -> bool:
        """Whether the word is a name, a number or a quotation."""
        return self.is_name or any(letter.isdigit() for letter in self.text) or self.text[0] in '"“«'

    @property
    def kind(self) -> str:
        """The kind of date that the word is: `year`, `month` or `day`; otherwise ""."""
        return "year" if _YEAR.fullmatch(self.text) else _kinds().get(fold(self.lower), "")


def read_words(question: str, is_whole: bool = True) -> list[Word]:
    """Return the words of a question. With `is_whole` the capital of the first word means nothing."""
    text = question[:MAX_CHARACTERS]
    languages = rule_languages(text)
    function_words, slots = _function_words(languages), prepositions(languages)
    has_case = not text.isupper()
    words: list[Word] = []
    run, lead, slot, end = 0, "", "", 0
    for match in _TOKEN.finditer(text):
        token, lower = match[0], match[0].lower().replace("’", "'")
        if text[end : match.start()].strip():
            lead, slot, run = "", "", run + 1
        end = match.end()
        is_start = text[: match.start()].rstrip(' \t¿¡"“«(').endswith((*".?!:…\n",)) or (is_whole and not words)
        is_name = has_case and token[0].isupper() and not is_start and fold(lower) not in _kinds()
        is_function = not {lower, fold(lower), lower.split("'")[0]}.isdisjoint(function_words)
        if is_function and not (is_name and len(token) > 1 and lower not in ("i'm", "i'll")):
            keeps_lead = lower in listed("determiners")
            opened = slots.get(lower, "")
            run, lead = run + 1, token if opened else lead if keeps_lead else ""
            slot = opened or (slot if keeps_lead else "")
            words.append(Word(token, match.start(), False, False))
            continue
        is_name = is_name or (has_case and len(token) > 1 and token.isupper() and not token.isdigit())
        if is_name and not lead and words and words[-1].lower == "a" and "en" not in languages:
            lead, slot = words[-1].text, "to"
        words.append(Word(token, match.start(), True, is_name, run, lead, slot))
    return words


def rule_languages(question: str) -> tuple[str, ...]:
    """Return the languages whose rules apply: `en`, `es` (for Portuguese too), or both."""
    found = question_language(question[:MAX_CHARACTERS])
    return {"en": ("en",), "es": ("es",), "pt": ("es",)}.get(found, ("en", "es"))


@cache
def listed(name: str, *languages: str) -> frozenset[str]:
    """Return the words of a list, in these languages or, without languages, of the list that all share."""
    lists = word_lists("follow_ups")
    return frozenset(word for language in languages or ("any",) for word in lists[language][name].split())


@cache
def pattern(name: str, language: str) -> re.Pattern[str]:
    """Return a regular expression of a language, compiled in verbose mode."""
    return re.compile(word_lists("follow_ups")[language][name], re.VERBOSE)


@cache
def prepositions(languages: tuple[str, ...]) -> dict[str, str]:
    """Return the prepositions of these languages, each with its name."""
    tables = [word_lists("follow_ups")[language]["prepositions"] for language in languages]
    return {word: name for table in tables for name, words in table.items() for word in words.split()}


def stems(text: str) -> frozenset[str]:
    """Return the stems of a word in all languages, for comparing words."""
    found = frozenset(stem for language in STOP_WORDS for stem in terms(text, language))
    return found or frozenset([fold(text.lower())])


@cache
def _kinds() -> dict[str, str]:
    kinds = word_lists("follow_ups")["kinds"].items()
    return {fold(word): kind for kind, words in kinds for word in words.split()}


@cache
def _function_words(languages: tuple[str, ...]) -> Collection[str]:
    spoken = [code for language in languages for code in (("en",) if language == "en" else ("es", "pt"))]
    found = {word for code in spoken for word in STOP_WORDS[code]}.union(
        *(listed(name, *languages) for name in ("asking", "pronouns", "interrogatives")), prepositions(languages)
    )
    return frozenset(found) | {fold(word) for word in found}
