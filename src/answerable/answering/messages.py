"""Classify a user's message by rules (word lists in `words/*.toml`), and the sentences that the engine itself writes.

A message is small talk, a request to go on, a follow-up, or a question that makes sense alone. A follow-up question is
short. It has a pronoun that refers to an earlier message ("when does it leave?", "¿quién lo dijo?"), begins with a
connector ("and on Sunday?", "e a de volta?"), or lacks its topic ("¿cuánto cuesta?", "how much?"). The rules don't know
topics: a question linked to the previous one only by its meaning ("what is the price?") counts as new.

Spanish and Portuguese share the lists `es` of `follow_ups.toml`, since the few words of a follow-up seldom show which
of the two languages it is in.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from answerable.datatypes import Reason
from answerable.text.languages import question_language
from answerable.text.terms import STOP_WORDS, fold, terms, words
from answerable.text.word_lists import read_toml

REFUSAL: Mapping[str, str] = {
    "en": "The documents don't say.",
    "es": "Los documentos no lo dicen.",
    "pt": "Os documentos não dizem.",
}

QUOTING: Mapping[str, str] = {
    "en": "The documents say:",
    "es": "Los documentos dicen:",
    "pt": "Os documentos dizem:",
}

LEFT_OUT: Mapping[str, str] = {
    "en": "(Sentences left out, because their source words don't say them: {n}.)",
    "es": "(Frases omitidas, porque sus fuentes no las dicen: {n}.)",
    "pt": "(Frases omitidas, porque as fontes não as dizem: {n}.)",
}
"""What strict grounding says below an answer."""

EMPTY_LIBRARY: Mapping[str, str] = {
    "en": "The library is empty: add documents first.",
    "es": "La biblioteca está vacía: añade documentos primero.",
    "pt": "A biblioteca está vazia: adicione documentos primeiro.",
}

MORE: Mapping[str, str] = {"en": " … and {} more", "es": " … y {} más", "pt": " … e mais {}"}

HOW_TO_ASK: Mapping[str, str] = {
    "en": "Ask a question about these documents: the answer quotes them and says where each quote is. "
    "“What documents are there?” lists them.",
    "es": "Haz una pregunta sobre estos documentos: la respuesta los cita y dice dónde está cada cita. "
    "«¿Qué documentos hay?» los enumera.",
    "pt": "Faça uma pergunta sobre estes documentos: a resposta os cita e diz onde está cada citação. "
    "“Quais documentos há?” os enumera.",
}


def refusal(reason: Reason, language: str) -> str:
    """Return the text of a refusal, in English for a language without its own text."""
    return phrase(EMPTY_LIBRARY if reason is Reason.EMPTY_LIBRARY else REFUSAL, language)


def phrase(texts: Mapping[str, str], language: str) -> str:
    """Return the text in a language, in English for a language without its own text."""
    return texts.get(language, texts["en"])


def word_lists(name: str) -> Mapping[str, Any]:
    """Return the contents of a file of word lists. Each file is read only once."""
    return read_toml(Path(__file__).with_name("words") / f"{name}.toml")


MAX_CHARACTERS = 4000
"""Characters of a message that are read, which bounds the time; the rest is ignored. A round number, not measured."""

_TOKEN = re.compile(r"\"[^\"\n]{1,58}\"|“[^”\n]{1,58}”|«[^»\n]{1,58}»|\w+(?:[-.,:/'’]\w+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")

MAX_WORDS = 16
"""Words of a follow-up; a longer question makes sense alone. A round number, not measured."""
MAX_CONTENT_WORDS = 5
"""Content words of a follow-up; a question with more makes sense alone. A round number, not measured."""

_ENCLITIC = re.compile(r".+-(?:l[oa]s?|lhes?|n[oa]s?)|\w{2,}(?:ar|er|ir|ár|ér|ír)(?:me|te|se|nos)?l[oae]s?")


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
    """Return the words of a question. With `is_whole`, a capital in the first word doesn't make it a name."""
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
    """Return the words of a list in these languages; without languages, return the list shared by all languages."""
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


def asks_to_go_on(question: str) -> bool:
    """Return whether a message only asks for more about the last answer: "give an example", "en otras palabras"."""
    text = question[:MAX_CHARACTERS].lower().strip()
    return len(text.split()) <= MAX_WORDS and any(
        pattern("elaboration", language).fullmatch(text) for language in ("en", "es")
    )


def is_follow_up(question: str) -> bool:
    """Return whether a question makes sense only after another one."""
    if asks_to_go_on(question):
        return True
    words = read_words(question)
    content = [word for word in words if word.is_content]
    if not words or len(question) > MAX_CHARACTERS or len(words) > MAX_WORDS or len(content) > MAX_CONTENT_WORDS:
        return False
    languages = rule_languages(question)
    return (
        _refers_back(question, words, content, languages)
        or _goes_on(question, words, content, languages)
        or _lacks_its_topic(words, content, languages)
    )


def has_pronoun(question: str) -> bool:
    """Return whether a question has a pronoun that may refer to an earlier question."""
    words, known = read_words(question), listed("pronouns", *rule_languages(question))
    return any(_is_pronoun(words, index, known) for index in range(len(words)))


def asks(words: Sequence[Word], *languages: str) -> bool:
    """Return whether the words include a question word."""
    return any(word.lower in listed("interrogatives", *languages) for word in words)


def without_connector(question: str) -> str | None:
    """Return what follows "and", "what about" …; None if the question begins with no connector."""
    for language in rule_languages(question):
        if begun := pattern("connector", language).match(question.lower()):
            return question[begun.end() :].strip()
    return None


def _refers_back(question: str, words: Sequence[Word], content: Sequence[Word], languages: tuple[str, ...]) -> bool:
    """Return whether the question has a pronoun without a noun before it in the question to refer to."""
    known = listed("pronouns", *languages)
    expletive = "en" in languages and pattern("expletive", "en").search(question.lower().replace("’", "'"))
    for index, word in enumerate(words):
        if not _is_pronoun(words, index, known) or (expletive and word.lower in ("it", "there", "this", "that")):
            continue
        earlier = [other for other in content if other.start < word.start]
        if not earlier or _is_subject_of(words, index, earlier) or (word is words[-1] and len(content) <= 2):
            return True
    return False


def _is_subject_of(words: Sequence[Word], index: int, earlier: Sequence[Word]) -> bool:
    """Return whether a pronoun is the subject of a question about a noun: "how many tools does it lend?"."""
    place, pronoun = words.index(earlier[0]), words[index].lower
    naming = listed("naming") | listed("quantities") | listed("amounts")
    if place == 0 or words[place - 1].lower not in naming or len({word.run for word in earlier}) != 1:
        return False
    is_subject = pronoun in listed("subjects") and index + 1 < len(words)
    return is_subject and (pronoun not in listed("english_subjects") or words[index - 1].lower in listed("auxiliaries"))


def _is_pronoun(words: Sequence[Word], index: int, known: Collection[str]) -> bool:
    word = words[index].lower
    before = words[index - 1].lower if index else ""
    after = words[index + 1].lower if index + 1 < len(words) else ""
    if word in ("one", "ones"):
        return before in listed("one")
    if "él" in known:
        is_enclitic = len(word) > 4 and word not in listed("no_enclitics") and _ENCLITIC.fullmatch(word)
        if is_enclitic and not words[index].is_name:
            return True
        # "¿dónde esta el hotel?", typed without its accent.
        is_verb = not after or after in listed("determiners") or before in listed("interrogatives", "en", "es")
        if word in ("esta", "estas") and is_verb:
            return False
        if word == "lo" and after in listed("neuter"):
            return False
        if word in ("le", "les", "lhe", "lhes") and any(later.is_name for later in words[index:]):
            return False
    if word in listed("demonstratives") and after in listed("spans_of_time"):
        return False
    return word in known or (word.endswith("'s") and word[:-2] in ("it", "that", "he", "she"))


def _goes_on(question: str, words: Sequence[Word], content: Sequence[Word], languages: tuple[str, ...]) -> bool:
    """Return whether the question begins with a connector and isn't complete."""
    if not any(pattern("connector", language).match(question.lower()) for language in languages):
        return False
    is_question = asks(words, *languages)
    if is_question and content and all(word.is_name for word in content) and _has(words, "being"):
        return False  # "and who is Julián?"
    return len(content) <= (2 if is_question else 3)


def _has(words: Sequence[Word], name: str) -> bool:
    return any(word.lower in listed(name) for word in words)


def _lacks_its_topic(words: Sequence[Word], content: Sequence[Word], languages: tuple[str, ...]) -> bool:
    """Return whether the words are a question without a noun, only a noun phrase, or even less."""
    if not content:
        return True
    if all(word.kind or not re.search(r"[^\W\d_]", word.text) for word in content) and not _has(words, "being"):
        return len(words) <= 6
    slots = prepositions(languages)
    if not asks(words, *languages):
        return words[0].lower in slots and len(content) <= 2 and len(words) <= 6
    if any(word.is_entity for word in content) or _has(words, "being") or _has(words, "speakers"):
        return False
    place = words.index(content[0])
    before = words[place - 1].lower if place else ""
    is_noun = before in listed("determiners") and not _is_clitic(words, place - 1, languages)
    if content[0].lower.endswith("mos") or before == "to" or is_noun:
        return False
    if len(content) == 1:
        return True
    # "¿cuánto cuesta por persona?"
    is_loose = (
        words[words.index(content[1]) - 1].lower in slots and content[1].slot != "of" and not _has(words, "people")
    )
    return "en" not in languages and len(content) == 2 and is_loose and place <= 3 and content[0].run != content[1].run


def _is_clitic(words: Sequence[Word], index: int, languages: tuple[str, ...]) -> bool:
    """Return whether this article is used as a pronoun: between the question word and a final verb."""
    return (
        "es" in languages
        and words[index].lower in listed("clitics")
        and index > 0
        and words[index - 1].lower in listed("interrogatives", "es")
        and index + 2 == len(words)
    )


def is_small_talk(message: str) -> bool:
    """Return whether a message only greets, thanks, asks for help, or asks about the assistant."""
    return bool(small_talk_language(message))


def small_talk_language(message: str, likely: str = "", is_first: bool = False) -> str:
    """Return the language of a message that asks nothing about the documents; `likely` if several languages fit.

    Return "" for any other message: "hello, when is the rent due?" is a question. In the first message of a
    conversation, "this" means the assistant.
    """
    if asks_to_go_on(message):
        return ""
    text = fold(" ".join(words(message)))
    languages = sorted(STOP_WORDS, key=lambda one: one != likely)
    return next((one for one in languages if _is_small_talk(text, "?" in message, one, is_first)), "")


def _is_small_talk(text: str, is_question: bool, language: str, is_first: bool) -> bool:
    rules = "en" if language == "en" else "es"
    rest = " ".join(_courtesies(language).sub(" ", text).split())
    said = set(rest.split())
    addressing = _words_of(language, "addressed") | (_words_of(language, "this") if is_first else frozenset())
    if addressed := said & addressing:
        # "Can you do it?" refers to an earlier message: it isn't small talk.
        said -= addressed
        return said <= _words_of(language, "about") | _stop_words(language) - _pronouns(rules)
    # "ok, and before that" goes on: it isn't small talk.
    goes_on = rest[match.end() :] if (match := pattern("connector", rules).match(rest)) else ""
    asks = bool(rest) and (is_question or goes_on or not said.isdisjoint(listed("interrogatives", rules)))
    return rest != text and not asks and said <= _words_of(language, "about") | _stop_words(language)


@cache
def _courtesies(language: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{word_lists('small_talk')[language]['courtesies']})\b", re.VERBOSE)


@cache
def _words_of(language: str, name: str) -> frozenset[str]:
    return frozenset(word_lists("small_talk")[language][name].split())


@cache
def _stop_words(language: str) -> frozenset[str]:
    return frozenset(map(fold, STOP_WORDS[language]))


@cache
def _pronouns(rules: str) -> frozenset[str]:
    return frozenset(map(fold, listed("pronouns", rules)))
