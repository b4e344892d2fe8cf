"""Rewrite follow-up questions by rules, without a model, so that they make sense alone.

For a request to go on ("give an example"), the previous search is repeated. A follow-up that only names another thing
("and the boiler?") becomes the previous question about that thing. Any other follow-up question (see `messages`) keeps
all its words, and gets the content words of the previous question, except words that it repeats or replaces (another
day, another name, another "for …"). Words of answers aren't used, because answers quote documents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from answerable.answering.messages import (
    Word,
    asks,
    asks_to_go_on,
    has_pronoun,
    is_follow_up,
    is_small_talk,
    listed,
    read_words,
    rule_languages,
    stems,
    without_connector,
)
from answerable.datatypes import Exchange
from answerable.text.terms import fold

CARRIED_WORDS = 8
"""Words taken from the previous question; more would outweigh the follow-up's own. A round number, not measured."""
LONGEST_WORD = 60
"""Characters of a word; a longer one is an address or pasted data. A round number, not measured."""
LONGEST_THING = 4
"""Words of a thing that a follow-up names ("and the boiler?"). A round number, not measured."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A question, the text to search for, and the verbs among the words taken from earlier questions."""

    question: str
    searched: str
    verbs: frozenset[str] = frozenset()


def standalone(question: str, history: Sequence[Exchange]) -> str:
    """Return the text to search for when this question follows these exchanges; messages of thanks are skipped."""
    turn: Turn | None = None
    before = (exchange.question for exchange in history if not is_small_talk(exchange.question))
    for asked in (*before, question):
        turn = next_turn(asked, turn)
    assert turn is not None
    return turn.searched


def keeps_what_was_named(question: str, searched: str) -> bool:
    """Return whether a follow-up keeps the previous question's person or time: "and in May?", but not "who pays it?".

    "Who pays it?" only needs the words of the previous question, which come first in the text that is searched for.
    """
    question = question.strip()
    return question == searched or not searched.endswith(question) or _is_fragment(question)


def next_turn(question: str, previous: Turn | None = None) -> Turn:
    """Return the question with its search text; a follow-up is preceded by words of the previous turn."""
    question = question.strip()
    if previous is None or not is_follow_up(question):
        return Turn(question, question)
    if asks_to_go_on(question):
        return Turn(previous.question, previous.searched, previous.verbs)
    if about_it := _about_another_thing(question, previous):
        return Turn(about_it, about_it)
    verbs = previous.verbs | {word.lower for word in _verbs(previous.question)}
    carried = _carried(question, previous, verbs)
    kept = {word.lower for word in carried}
    return Turn(question, " ".join((*_spelled(carried), question)), verbs & kept)


def _about_another_thing(question: str, previous: Turn) -> str:
    """Return the previous question about the thing that this follow-up names; "" if the follow-up names no thing.

    "How much did the dress cost?" and "and the boiler?" make "How much did the boiler cost?". A property, as in "and
    the price?", is a property of the previous question's thing.
    """
    rest = without_connector(question)
    if rest is None:
        return ""
    named = _things(rest, frozenset())
    words = read_words(rest)
    if len(named) != 1 or len(words) > LONGEST_THING or named[0][0] != words[0].start:
        return ""
    start, end = named[0]
    content = [word for word in words if word.is_content]
    is_property = fold(content[0].lower) in listed("properties") or any(word.kind for word in content)
    if is_property or rest[end:].strip(" ?.!"):
        return ""
    before = _things(previous.question, {word.lower for word in _verbs(previous.question)})
    if not before or previous.question != previous.searched:
        return ""
    old_start, old_end = before[-1]
    return previous.question[:old_start] + rest[start:end] + previous.question[old_end:]


def _things(question: str, verbs: Collection[str]) -> list[tuple[int, int]]:
    """Return the spans of common nouns with an article and no preposition, including a following "of …"."""
    words = read_words(question)
    found: list[tuple[int, int]] = []
    for index, word in enumerate(words[:-1]):
        first = words[index + 1]
        if word.lower not in listed("determiners") or not first.is_content or first.slot or first.kind:
            continue
        last = first
        # "Quando a alface fica pronta?": the subject may come before its verb.
        is_first = index > 0 and asks(words[index - 1 : index], "es")
        for other in words[index + 2 :]:
            is_same = other.run == first.run and not is_first
            is_part = other.is_content and (is_same or other.slot == "of") and other.lower not in verbs
            if is_part:
                last = other
            elif other.is_content or other.lower not in listed("of") | listed("determiners"):
                break
        if first.lower not in verbs and not first.is_entity:
            found.append((word.start, last.start + len(last.text)))
    return found


def _carried(question: str, previous: Turn, verbs: Collection[str]) -> list[Word]:
    """Return the words to take from the previous question, in their order, at most `CARRIED_WORDS`."""
    new = read_words(question)
    content = [word for word in new if word.is_content]
    earlier = read_words(previous.searched, is_whole=previous.searched == previous.question)
    old = [word for word in earlier if word.is_content and len(word.text) <= LONGEST_WORD]
    is_fragment = _is_fragment(question)
    repeated = {stem for word in content for stem in stems(word.text)}
    kinds = {word.kind for word in content} - {""}
    dropped = {word for word in old if stems(word.text) <= repeated or word.kind in kinds}
    if is_fragment:
        dropped |= _replaced(content, [word for word in old if word not in dropped])
    elif any(word.lower not in verbs for word in old):
        # A question with its own verb doesn't need the earlier one, unless there is nothing else.
        dropped |= {word for word in old if word.lower in verbs}
    kept = {tuple(sorted(stems(word.text))): word for word in old if word not in dropped}
    # Names, numbers and quotations first, then the latest words.
    chosen = sorted(kept.values(), key=lambda word: (not word.is_entity, -word.start))[:CARRIED_WORDS]
    return sorted(chosen, key=lambda word: word.start)


def _is_fragment(question: str) -> bool:
    """Return whether a follow-up asks nothing by itself: "and on Sunday?"."""
    words = read_words(question)
    is_question = any(word.is_content for word in words) and asks(words, *rule_languages(question))
    return not has_pronoun(question) and not is_question


def _replaced(new: Sequence[Word], old: Sequence[Word]) -> set[Word]:
    """Return the old words that a short follow-up replaces by a name, a number, or words after the same preposition."""
    replaced: set[Word] = set()
    for slot in {word.slot for word in new if not word.kind} - {""}:
        runs = [word.run for word in old if word.slot == slot]
        replaced |= {word for word in old if runs and word.run == runs[-1]}
    bare = [word for word in new if not word.slot]
    names = [word for word in old if word.is_name and not word.slot]
    if any(word.is_name for word in bare) and len({word.run for word in names}) == 1:
        replaced |= set(names)
    numbers = [word for word in old if word.text.isdigit()]
    if any(word.text.isdigit() for word in bare) and len(numbers) == 1:
        replaced |= set(numbers)
    return replaced


def _verbs(question: str) -> list[Word]:
    """Return the verbs of a question, recognised by their place after the question word or the subject."""
    words = read_words(question)
    found = [word for index, word in enumerate(words) if _follows_question_word(words, index)]
    return found or _after_subject(words)


def _follows_question_word(words: Sequence[Word], index: int) -> bool:
    """Return whether a word is a verb after the question word, as in "¿a qué hora sale …", and not a noun."""
    if not words[index].is_content or words[index].is_entity or words[index].lead:
        return False
    passable = listed("passable")
    has_subject = has_auxiliary = False
    for back in range(index - 1, -1, -1):
        word, is_next = words[back], back == index - 1
        if word.lower in listed("interrogatives", "en", "es"):
            is_named = is_next and word.lower in listed("naming") | listed("manner")
            return not is_named and (has_subject or not has_auxiliary)
        # With a speaker, as in "How often should I descale the machine?", the verb is the topic.
        blocks = word.lower in (listed("determiners") | listed("speakers")) - passable
        if word.is_content or blocks or (is_next and word.lower in listed("quantities")):
            return False
        has_subject |= word.lower in listed("pronoun_subjects")
        has_auxiliary |= word.lower in listed("auxiliaries")
    return False


def _after_subject(words: Sequence[Word]) -> list[Word]:
    """Return the verbs after the subject, such as `open` in "when does the library open on Saturday"."""
    if not asks(words, "en", "es") or any(word.lower in listed("being") for word in words):
        return []
    for index, word in enumerate(words[:-1]):
        run = [other for other in words[index + 1 :] if other.is_content and other.run == words[index + 1].run]
        if word.lower not in listed("determiners") or len(run) < 2 or not words[index + 1].is_content:
            continue
        is_last = run[-1] is words[-1]
        does = index > 0 and words[index - 1].lower in ("do", "does", "did")
        return [run[-1]] if (is_last or does) and not run[-1].is_entity else []
    return []


def _spelled(words: Sequence[Word]) -> Iterator[str]:
    """Yield the words as text, and before each run (see `Word`) its preposition."""
    run = -1
    for word in words:
        if word.run != run and word.lead:
            yield word.lead
        run = word.run
        yield word.text
