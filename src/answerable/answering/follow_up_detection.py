"""Decide by rules whether an English, Spanish or Portuguese question makes sense only after another one.

A follow-up question is short and either has a pronoun for something before ("when does it leave?", "¿quién lo dijo?"),
begins with a connector ("and on Sunday?", "e a de volta?"), or lacks its topic ("¿cuánto cuesta?", "how much?"). The
rules don't know topics: a question that only its meaning ties to the previous one ("what is the price?") counts as new.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from answerable.answering.question_words import (
    MAX_CHARACTERS,
    Word,
    listed,
    pattern,
    prepositions,
    read_words,
    rule_languages,
)

MAX_WORDS = 16
MAX_CONTENT_WORDS = 5

_ENCLITIC = re.compile(r".+-(?:l[oa]s?|lhes?|n[oa]s?)|\w{2,}(?:ar|er|ir|ár|ér|ír)(?:me|te|se|nos)?l[oae]s?")


def asks_to_go_on(question: str) -> bool:
    """Return whether a message only asks for more on the last answer: "give an example", "en otras palabras"."""
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
