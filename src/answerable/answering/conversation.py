"""Follow-up questions → questions that stand alone: what is missing is carried over from the question before.

Rules over the words, for English, Spanish and Portuguese, that no model has to be asked for. A question follows up when
it is short and refers back ("when does it leave?", "¿quién lo dijo?"), goes on ("and on Sunday?", "e a de volta?"), or
lacks what it is about ("¿cuánto cuesta?", "how much?"). It keeps its own words, all of them, and gets the content words
of the question before, less those that it says again or puts something in the place of (another day, another name,
another "for …"). What the answers said isn't carried: it came from documents. The rules don't know the topic: a
follow-up by meaning alone ("what is the price?") counts as a new question.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from answerable.answering.conversation_words import (
    AMOUNTS,
    ASKING,
    AUXILIARIES,
    BEING,
    CLITICS,
    DEMONSTRATIVES,
    DETERMINERS,
    ENGLISH_SUBJECTS,
    INTERROGATIVES,
    KIND,
    MANNER,
    NAMING,
    NEUTER,
    ONE,
    PASSABLE,
    PEOPLE,
    PREPOSITIONS,
    PRONOUN_SUBJECTS,
    PRONOUNS,
    QUANTITIES,
    SPANS_OF_TIME,
    SPEAKERS,
    SUBJECTS,
)
from answerable.datatypes import Exchange
from answerable.text.languages import question_language
from answerable.text.stop_words import STOP_WORDS
from answerable.text.terms import fold, terms

CARRIED_WORDS = 8
LONGEST_WORD = 60
SHORT = 16
FEW = 5
READ = 4000

_TOKEN = re.compile(r"\"[^\"\n]{1,58}\"|“[^”\n]{1,58}”|«[^»\n]{1,58}»|\w+(?:[-.,:/'’]\w+)*")
_ENCLITIC = re.compile(r".+-(?:l[oa]s?|lhes?|n[oa]s?)|\w{2,}(?:ar|er|ir|ár|ér|ír)(?:me|te|se|nos)?l[oae]s?")
_NO_ENCLITIC = frozenset("charla charlas carla perla perlas burla burlas mirlo merlo".split())
_CONNECTOR = {
    "en": re.compile(r"\W*(?:and|but|or|so|then|also|what about|how about|what if)\b(?!\.)"),
    "es": re.compile(
        r"\W*(?:y|e(?! (?:poss[ií]vel|necess[aá]rio|preciso|verdade|permitido))|pero"
        r"|mas|ou|entonces|ent[aã]o|tambi[eé]n|tamb[eé]m|qu[eé] tal|qu[eé] (?:hay|pasa) (?:de|con)"
        r"|quanto aos?|quanto [àa]s?)\b(?!\.)|\W*¿\s*o\b"
    ),
}
_EXPLETIVE = re.compile(
    r"\b(?:is|was|will|would|does|did) it (?:be )?(?:possible|true|necessary|allowed|ok|okay|safe|worth|easy|hard"
    r"|better|best|legal|normal|rain\w*|snow\w*)\b|\b(?:take|cost)s? to\b|\btime (?:is|was) it\b"
    r"|\b(?:is|are|was|were|be|been) there\b|\bthere(?:'s| (?:is|are|was|were))\b"
)

_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Turn:
    """A question as it was typed and as it was searched for, and which of the words carried over are verbs."""

    question: str
    searched: str
    verbs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a question. `slot` names the preposition that its run of content words hangs on, `lead` spells it."""

    text: str
    start: int
    is_content: bool
    is_name: bool
    run: int = -1
    lead: str = ""
    slot: str = ""

    @property
    def lower(self) -> str:
        return self.text.lower().replace("’", "'")

    @property
    def is_number(self) -> bool:
        return any(letter.isdigit() for letter in self.text)

    @property
    def is_quoted(self) -> bool:
        return self.text[0] in '"“«'

    @property
    def kind(self) -> str:
        return "year" if _YEAR.fullmatch(self.text) else KIND.get(fold(self.lower), "")


def standalone(question: str, history: Sequence[Exchange]) -> str:
    """The question as it is searched for after these exchanges."""
    turn: Turn | None = None
    for asked in (*(exchange.question for exchange in history), question):
        turn = next_turn(asked, turn)
    assert turn is not None
    return turn.searched


def next_turn(question: str, previous: Turn | None = None) -> Turn:
    """The question with what it is to be searched for: itself, or with words of the one before when it follows up."""
    question = question.strip()
    if previous is None or not is_follow_up(question):
        return Turn(question, question)
    verbs = previous.verbs | {word.lower for word in _verbs(previous.question)}
    carried = _carried(question, previous, verbs)
    kept = {word.lower for word in carried}
    return Turn(question, " ".join((*_spelled(carried), question)), verbs & kept)


def is_follow_up(question: str) -> bool:
    """Whether a question makes sense only after another one."""
    words = _read(question)
    content = [word for word in words if word.is_content]
    if not words or len(question) > READ or len(words) > SHORT or len(content) > FEW:
        return False
    languages = _languages(question)
    return (
        _refers_back(question, words, content, languages)
        or _goes_on(question, words, content, languages)
        or _lacks_its_topic(question, words, content, languages)
    )


def _refers_back(question: str, words: Sequence[_Word], content: Sequence[_Word], languages: Sequence[str]) -> bool:
    """Whether it has a pronoun and nothing before it that the pronoun could stand for."""
    known = _table(PRONOUNS, languages)
    expletive = "en" in languages and _EXPLETIVE.search(question.lower().replace("’", "'"))
    for index, word in enumerate(words):
        if not _is_pronoun(words, index, known) or (expletive and word.lower in ("it", "there", "this", "that")):
            continue
        earlier = [other for other in content if other.start < word.start]
        if not earlier or _is_subject_of(words, index, earlier) or (word is words[-1] and len(content) <= 2):
            return True
    return False


def _is_subject_of(words: Sequence[_Word], index: int, earlier: Sequence[_Word]) -> bool:
    """Whether it is the subject of a question for a noun: "how many tools does it lend?"."""
    place = words.index(earlier[0])
    is_named = place > 0 and words[place - 1].lower in NAMING | QUANTITIES | AMOUNTS
    is_one = len({word.run for word in earlier}) == 1
    is_nominative = words[index].lower in SUBJECTS and index + 1 < len(words)
    return (
        is_named
        and is_one
        and is_nominative
        and (words[index].lower not in ENGLISH_SUBJECTS or _aids(words[index - 1]))
    )


def _aids(word: _Word) -> bool:
    return word.lower in AUXILIARIES


def _is_pronoun(words: Sequence[_Word], index: int, known: Collection[str]) -> bool:
    word = words[index].lower
    before = words[index - 1].lower if index else ""
    after = words[index + 1].lower if index + 1 < len(words) else ""
    if word in ("one", "ones"):
        return before in ONE
    if "es" in known or "él" in known:
        if len(word) > 4 and word not in _NO_ENCLITIC and _ENCLITIC.fullmatch(word) and not words[index].is_name:
            return True
        if word in ("esta", "estas") and (not after or after in DETERMINERS or before in _table(INTERROGATIVES)):
            return False  # "¿dónde esta el hotel?", typed without its accent
        if word == "lo" and after in NEUTER:
            return False
        if word in ("le", "les", "lhe", "lhes") and any(later.is_name for later in words[index:]):
            return False
    if word in DEMONSTRATIVES and after in SPANS_OF_TIME:
        return False
    return word in known or (word.endswith("'s") and word[:-2] in ("it", "that", "he", "she"))


def _goes_on(question: str, words: Sequence[_Word], content: Sequence[_Word], languages: Sequence[str]) -> bool:
    """Whether it begins as the rest of a question would, and isn't a whole one."""
    if not any(_CONNECTOR[language].match(question.lower()) for language in languages):
        return False
    asks = _asks(words, languages)
    if asks and content and all(word.is_name for word in content) and any(word.lower in BEING for word in words):
        return False  # "and who is Julián?"
    return len(content) <= (2 if asks else 3)


def _lacks_its_topic(question: str, words: Sequence[_Word], content: Sequence[_Word], languages: Sequence[str]) -> bool:
    """Whether there is a question word with a verb and no noun, a noun phrase that hangs in the air, or less."""
    if not content:
        return True
    if all(word.kind or not re.search(r"[^\W\d_]", word.text) for word in content) and not any(
        word.lower in BEING for word in words
    ):
        return len(words) <= 6
    asks = _asks(words, languages)
    if not asks:
        return words[0].lower in _slots(languages) and len(content) <= 2 and len(words) <= 6
    lowered = [word.lower for word in words]
    if any(word.is_name or word.is_number or word.is_quoted for word in content):
        return False
    if any(word in BEING or word in SPEAKERS for word in lowered) or content[0].lower.endswith("mos"):
        return False
    place = words.index(content[0])
    before = lowered[place - 1] if place else ""
    if before == "to" or (before in DETERMINERS and not _is_clitic(lowered, place - 1, languages)):
        return False
    if len(content) == 1:
        return True
    # "¿cuánto cuesta por persona?"
    is_loose = lowered[words.index(content[1]) - 1] in _slots(languages) and content[1].slot != "of"
    is_loose = is_loose and not PEOPLE.intersection(lowered)
    return "en" not in languages and len(content) == 2 and is_loose and place <= 3 and content[0].run != content[1].run


def _is_clitic(lowered: Sequence[str], index: int, languages: Sequence[str]) -> bool:
    """Whether an article is a pronoun: right behind the question word, with nothing behind it but a verb."""
    return (
        "es" in languages
        and lowered[index] in CLITICS
        and index > 0
        and lowered[index - 1] in _table(INTERROGATIVES, ["es"])
        and index + 2 == len(lowered)
    )


def _asks(words: Sequence[_Word], languages: Sequence[str]) -> bool:
    return any(word.lower in _table(INTERROGATIVES, languages) for word in words)


def _carried(question: str, previous: Turn, verbs: Collection[str]) -> list[_Word]:
    """The words of the earlier question that the new one wants, in their order, a bounded number of them."""
    new = _read(question)
    content = [word for word in new if word.is_content]
    earlier = _read(previous.searched, is_whole=previous.searched == previous.question)
    old = [word for word in earlier if word.is_content and len(word.text) <= LONGEST_WORD]
    languages = _languages(question)
    refers = any(_is_pronoun(new, index, _table(PRONOUNS, languages)) for index in range(len(new)))
    is_fragment = not refers and not (content and _asks(new, languages))
    said = {stem for word in content for stem in _stems(word.text)}
    dropped = {word for word in old if (stems := _stems(word.text)) and stems <= said}
    kinds = {word.kind for word in content} - {""}
    dropped |= {word for word in old if word.kind in kinds}
    if is_fragment:
        dropped |= _replaced(content, [word for word in old if word not in dropped])
    else:
        # A question with a verb of its own has no use for the earlier one, unless there is nothing else.
        nouns = [word for word in old if word.lower not in verbs]
        dropped |= {word for word in old if nouns and word not in nouns}
    kept: dict[tuple[str, ...], _Word] = {}
    for word in old:
        if word not in dropped:
            kept[tuple(sorted(_stems(word.text))) or (word.lower,)] = word
    # Names, numbers and quotes first, then what was said last.
    chosen = sorted(kept.values(), key=lambda word: (not _is_entity(word), -word.start))[:CARRIED_WORDS]
    return sorted(chosen, key=lambda word: word.start)


def _replaced(new: Sequence[_Word], old: Sequence[_Word]) -> set[_Word]:
    """What a fragment puts something else in the place of: after the same preposition, a name, a number."""
    replaced: set[_Word] = set()
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


def _verbs(question: str) -> list[_Word]:
    """The verbs of a question, where its form gives them away: behind the question word, or behind the subject."""
    words = _read(question)
    found = [word for index, word in enumerate(words) if _follows_question_word(words, index)]
    return found or _behind_subject(words)


def _follows_question_word(words: Sequence[_Word], index: int) -> bool:
    """`sale` in "¿a qué hora sale …", `take` in "how long does it take"; no noun ("which hotel") and no subject."""
    if not words[index].is_content or _is_entity(words[index]) or words[index].lead:
        return False
    asking = _table(INTERROGATIVES)
    has_subject = has_auxiliary = False
    for back in range(index - 1, -1, -1):
        word = words[back]
        if word.lower in asking:
            is_named = back == index - 1 and word.lower in NAMING | MANNER
            return not is_named and (has_subject or not has_auxiliary)
        is_article = word.lower in DETERMINERS and word.lower not in PASSABLE
        # "How often should I descale the machine?": what somebody does is the topic.
        is_doing = word.lower in SPEAKERS and word.lower not in PASSABLE
        if word.is_content or is_article or is_doing or (back == index - 1 and word.lower in QUANTITIES):
            return False
        has_subject |= word.lower in PRONOUN_SUBJECTS
        has_auxiliary |= word.lower in AUXILIARIES
    return False


def _behind_subject(words: Sequence[_Word]) -> list[_Word]:
    """`open` in "when does the library open on Saturday", `sai` in "quando o ônibus sai"."""
    if not _asks(words, ("en", "es")) or any(word.lower in BEING for word in words):
        return []
    for index, word in enumerate(words[:-1]):
        run = [other for other in words[index + 1 :] if other.is_content and other.run == words[index + 1].run]
        if word.lower not in DETERMINERS or len(run) < 2 or not words[index + 1].is_content:
            continue
        is_last = run[-1] is words[-1]
        does = index > 0 and words[index - 1].lower in ("do", "does", "did")
        return [run[-1]] if (is_last or does) and not _is_entity(run[-1]) else []
    return []


def _spelled(words: Sequence[_Word]) -> Iterator[str]:
    """The words, each run with the preposition that it hung on."""
    run = -1
    for word in words:
        if word.run != run and word.lead:
            yield word.lead
        run = word.run
        yield word.text


def _is_entity(word: _Word) -> bool:
    return word.is_name or word.is_number or word.is_quoted


def _read(question: str, is_whole: bool = True) -> list[_Word]:
    """The words of a question, with the runs that its content words form."""
    text = question[:READ]
    languages = _languages(text)
    function = _function_words(languages)
    slots = _slots(languages)
    has_case = not text.isupper()
    words: list[_Word] = []
    run, lead, slot, end = 0, "", "", 0
    for match in _TOKEN.finditer(text):
        token, lower = match[0], match[0].lower().replace("’", "'")
        if text[end : match.start()].strip():
            lead, slot, run = "", "", run + 1
        end = match.end()
        is_start = text[: match.start()].rstrip(' \t¿¡"“«(').endswith((*".?!:…\n",)) or (is_whole and not words)
        is_name = has_case and token[0].isupper() and not is_start and fold(lower) not in KIND
        is_content = not _is_function(lower, function) or (is_name and len(token) > 1 and lower not in ("i'm", "i'll"))
        if not is_content:
            opened = slots.get(lower, "")
            run, lead, slot = (
                run + 1,
                token if opened else lead if lower in DETERMINERS else "",
                opened or (slot if lower in DETERMINERS else ""),
            )
            words.append(_Word(token, match.start(), False, False))
            continue
        is_name = is_name or (has_case and len(token) > 1 and token.isupper() and not token.isdigit())
        if is_name and not lead and words and words[-1].lower == "a" and "en" not in languages:
            lead, slot = words[-1].text, "to"
        words.append(_Word(token, match.start(), True, is_name, run, lead, slot))
    return words


def _is_function(lower: str, function: Collection[str]) -> bool:
    return lower in function or fold(lower) in function or ("'" in lower and lower.split("'")[0] in function)


def _stems(text: str) -> frozenset[str]:
    """What a word counts as when words are compared, in whichever of the languages."""
    plain = frozenset(stem for language in STOP_WORDS for stem in terms(text, language))
    return plain or frozenset([fold(text.lower())])


def _languages(question: str) -> tuple[str, ...]:
    """Whose rules apply; Spanish and Portuguese share theirs, since a few words seldom tell them apart."""
    found = question_language(question[:READ])
    return {"en": ("en",), "es": ("es",), "pt": ("es",)}.get(found, ("en", "es"))


def _table(tables: dict[str, str], languages: Sequence[str] = ("en", "es")) -> frozenset[str]:
    return frozenset(word for language in languages for word in tables[language].split())


def _slots(languages: Sequence[str]) -> dict[str, str]:
    pairs = (pair.split(":") for language in languages for pair in PREPOSITIONS[language].split())
    return dict(pairs)


def _function_words(languages: Sequence[str]) -> frozenset[str]:
    spoken = [code for language in languages for code in (("en",) if language == "en" else ("es", "pt"))]
    listed = {word for code in spoken for word in STOP_WORDS[code]}
    for table in (ASKING, PRONOUNS, INTERROGATIVES):
        listed |= _table(table, languages)
    listed |= set(_slots(languages))
    return frozenset(listed) | {fold(word) for word in listed}
