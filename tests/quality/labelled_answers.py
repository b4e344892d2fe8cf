"""Answers as a model may write them to questions of SQuAD 2, each with what is true of it: good, or how it is bad.

Everything is made by rule from a question, its gold answer and the paragraph's sentences, with a fixed seed, so that
each label is known without a judge. The passages given are the right one, up to three others of the same article, and
others of the set. Nothing here knows how the check works: negations, numbers and names are found by patterns of its
own.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from answerable.datatypes import Document, RetrievalResult
from answerable.evaluation.sets import Query, QuestionSet
from answerable.splitting.recursive import RecursiveSplitter
from answerable.text.sentences import sentence_spans

from .harness import data_folder

GIVEN = 6
SAME_ARTICLE = 3

_WORD = re.compile(r"[^\W\d_]{4,}")
_NUMBER = re.compile(r"(?<![\w.,])\d[\d.,]*\d(?![\w])|(?<![\w.,])\d(?![\w.,])")
_NAME = re.compile(r"(?<=[a-zà-ÿ,] )[A-ZÀ-Þ][^\W\d_]{3,}")
_PARENTHESIS = re.compile(r" \([^()]*\)")
_LEADS = {
    "en": ("According to the text, ", "The passage states that ", "As the document says, ", ""),
    "es": ("Según el texto, ", "El pasaje indica que ", "Como dice el documento, ", ""),
    "pt": ("Segundo o texto, ", "O trecho afirma que ", "Como diz o documento, ", ""),
}
_AUXILIARY = {
    "en": re.compile(r"\b(was|is|were|are|had|has|can|could|would|will|did)\b"),
    "es": re.compile(r"\b(?=(?:fue|era|es|son|fueron|eran|ha|han|había|tiene|tienen|puede|pueden|está|están)\b)"),
    "pt": re.compile(r"\b(?=(?:foi|era|é|são|foram|eram|tem|têm|tinha|pode|podem|está|estão|havia)\b)"),
}
_NEGATION = {
    "en": re.compile(r"\b(?:not|never)\b (?!only |just |merely )"),
    "es": re.compile(r"\b(?:no|nunca)\b (?!solo |sólo |solamente )", re.IGNORECASE),
    "pt": re.compile(r"\b(?:não|nunca)\b (?!só |apenas |somente )", re.IGNORECASE),
}
_NEGATED = {"en": r"\1 not", "es": "no ", "pt": "não "}
_ANY_NEGATION = re.compile(
    r"\b(?:not|no|never|nor|neither|none|without|cannot|\w+n['’]t|nunca|ni|ning\w+|nada|nadie|sin|não|nem|nenhum\w*"
    r"|ninguém|sem|jamás|jamais|tampoco)\b",
    re.IGNORECASE,
)
_WHO = {
    "en": re.compile(r"^Who (?!is |was |are |were |did |do |does |has |had |would |could |can |else )(.+)\?$"),
    "es": re.compile(r"^¿Quién (?!es |fue |era |son )(.+)\?$"),
    "pt": re.compile(r"^Quem (?!é |foi |era |são )(.+)\?$"),
}
_WHAT_IS = {
    "en": re.compile(r"^(?:What|Who) (is|was|are|were) ((?:the |a |an )?[\w' -]+)\?$"),
    "es": re.compile(r"^¿(?:Qué|Cuál|Quién) (es|fue|era) ((?:el |la |los |las |un |una )[\w ]+)\?$"),
    "pt": re.compile(r"^(?:Qual|O que|Quem) (é|foi|era) ((?:o |a |os |as |um |uma )[\w ]+)\?$"),
}


@dataclass(frozen=True)
class LabelledAnswer:
    """An answer of one sentence, the passages it was given, and the truth: `is_good`, and the right passage's number.

    A bad answer whose only fault is the passage that it cites `is_true`: it may be corrected.
    """

    kind: str
    text: str
    passages: list[RetrievalResult]
    right: int
    is_good: bool
    is_true: bool


class AnswerMaker:
    """Makes the answers of one language's set."""

    def __init__(self, language: str, questions: int) -> None:
        self.language = language
        self.random = random.Random(f"answers-{language}")
        loaded = QuestionSet.load(data_folder() / f"squad2/{language}-dev")
        self.documents = [replace(document, language=language) for document in loaded.documents]
        self.by_id = {document.id: document for document in self.documents}
        usable = [query for query in loaded.queries if self._usable(query)]
        self.queries = self.random.sample(usable, questions)

    def _usable(self, query: Query) -> bool:
        paragraph = self.by_id[next(iter(query.relevant))].content
        return (
            bool(query.answers and query.answers[0].strip(" ."))
            and self._sentence(paragraph, query.answers[0]) is not None
        )

    def _sentence(self, paragraph: str, answer: str) -> str | None:
        """The first sentence that has the gold answer and is neither very short nor very long."""
        for start, end in sentence_spans(paragraph, self.language):
            sentence = paragraph[start:end]
            stands = re.search(rf"\b{re.escape(answer.strip(' .'))}(?!\w)", sentence)
            if stands and 8 <= len(sentence.split()) <= 60 and sentence[-1] == ".":
                return sentence
        return None

    def answers(self) -> Iterator[LabelledAnswer]:
        """Every kind that can be made of each question."""
        for query in self.queries:
            document = self.by_id[next(iter(query.relevant))]
            sentence = self._sentence(document.content, query.answers[0])
            assert sentence is not None
            given = self._given(document)
            right = given.index(document) + 1
            for kind, text in self._good(query, sentence, right):
                yield LabelledAnswer(kind, text, _results(given), right, True, True)
            mangled = replace(document, content=self._mangled(document.content))
            mangled_given = [mangled if one is document else one for one in given]
            yield LabelledAnswer(
                "quote of a mangled source", f"“{sentence}” [{right}]", _results(mangled_given), right, True, True
            )
            wrong = self.random.choice([number for number in range(1, len(given) + 1) if number != right])
            for kind, text in (
                ("wrong passage, quote", f'{self._lead()}"{sentence}" [{wrong}]'),
                ("wrong passage, no quote", f"{_cut(sentence)} [{wrong}]."),
            ):
                yield LabelledAnswer(kind, text, _results(given), right, False, True)
            for kind, text in self._bad(sentence, document, given, right):
                yield LabelledAnswer(kind, text, _results(given), right, False, False)

    def _given(self, document: Document) -> list[Document]:
        kin = [one for one in self.documents if one.title == document.title and one is not document]
        given = [document, *self.random.sample(kin, min(SAME_ARTICLE, len(kin)))]
        rest = [one for one in self.documents if one not in given]
        given += self.random.sample(rest, GIVEN - len(given))
        self.random.shuffle(given)
        return given

    def _lead(self) -> str:
        return self.random.choice(_LEADS[self.language])

    def _good(self, query: Query, sentence: str, right: int) -> Iterator[tuple[str, str]]:
        opening, closing = self.random.choice(('""', "“”", "«»"))
        yield "quote", f"{self._lead()}{opening}{sentence}{closing} [{right}]"
        curly = sentence.replace("'", "’").replace('"', "”").replace(" - ", " – ").replace(" ", "  ", 3)
        yield "quote, typography changed", f"{self._lead()}“{curly}” [{right}]."
        yield "quote of a fragment", f"{self._lead()}“{self._fragment(sentence)}” [{right}]."
        lead = self._lead()
        yield "source sentence", f"{lead}{_cut(_lowered(sentence) if lead else sentence)} [{right}]."
        yield "no marks at all", sentence
        shorter = _cut(_PARENTHESIS.sub("", sentence))
        if shorter != _cut(sentence) and "(" not in shorter:
            yield "without its parenthesis", f"{self._lead()}{shorter} [{right}]."
        reordered = self._reordered(sentence)
        if reordered:
            yield "clauses reordered", f"{reordered} [{right}]."
        shortened = self._shortened(sentence, query.answers[0])
        if shortened:
            yield "last clause dropped", f"{shortened} [{right}]."
        answer = query.answers[0].strip(" .")
        yield "gold answer alone", f"{answer[:1].upper()}{answer[1:]} [{right}]."
        short = self._from_question(query.text, answer)
        if short:
            yield "question turned into an answer", f"{short} [{right}]."

    def _bad(self, sentence: str, document: Document, given: list[Document], right: int) -> Iterator[tuple[str, str]]:
        titles = {one.title for one in given}
        stranger = self.random.choice([one for one in self.documents if one.title not in titles])
        invented = self._some_sentence(stranger)
        yield "changed word in a quote", f'{self._lead()}"{self._changed(sentence, stranger)}" [{right}]'
        yield "invented", f"{self._lead()}{_cut(invented)} [{right}]."
        yield "invented, no marks", invented
        yield "invented quote", f"{self._lead()}“{invented}” [{right}]"
        yield "real quote, invented claim", f"{_cut(invented)}: “{self._fragment(sentence)}” [{right}]."
        base = self._reordered(sentence) if self.random.random() < 0.5 else None
        base = base or _cut(sentence)
        yield from (
            (kind, f"{text} [{right}].")
            for kind, text in (
                ("number of the passage swapped in", self._swapped(base, _NUMBER, document.content)),
                ("number of elsewhere swapped in", self._swapped(base, _NUMBER, stranger.content)),
                ("two numbers exchanged", self._exchanged(_cut(sentence))),
                ("name of the passage swapped in", self._swapped(base, _NAME, document.content)),
                ("name of elsewhere swapped in", self._swapped(base, _NAME, stranger.content)),
                ("negated", self._negated(base)),
                ("negation dropped", self._unnegated(base)),
            )
            if text
        )

    def _fragment(self, sentence: str) -> str:
        words = _cut(sentence).split(" ")
        size = min(len(words), self.random.randint(5, 10))
        first = self.random.randint(0, len(words) - size)
        while first and _ANY_NEGATION.search(" ".join(words[max(first - 4, 0) : first])):
            first -= 1
        return " ".join(words[first : first + size]).strip(",;:\"'“” ")

    def _reordered(self, sentence: str) -> str | None:
        clauses = _cut(sentence).split(", ")
        if len(clauses) != 2 or min(len(clause.split()) for clause in clauses) < 4:
            return None
        first, second = clauses
        return f"{second[:1].upper()}{second[1:]}, {_lowered(first)}"

    def _shortened(self, sentence: str, answer: str) -> str | None:
        shorter, _, clause = _cut(sentence).rpartition(", ")
        is_whole = len(shorter.split()) >= 8 and answer.strip(" .") in shorter and len(clause.split()) >= 4
        return shorter if is_whole else None

    def _from_question(self, question: str, answer: str) -> str | None:
        capital = answer[:1].upper() + answer[1:]
        if match := _WHO[self.language].match(question):
            return f"{capital} {match[1]}"
        if match := _WHAT_IS[self.language].match(question):
            return f"{match[2][:1].upper()}{match[2][1:]} {match[1]} {answer}"
        return None

    def _some_sentence(self, document: Document) -> str:
        spans = sentence_spans(document.content, self.language)
        sentences = [document.content[start:end] for start, end in spans]
        full = [one for one in sentences if len(one.split()) >= 6 and one[-1] == "." and '"' not in one]
        return self.random.choice(full or sentences)

    def _changed(self, sentence: str, stranger: Document) -> str:
        match = self.random.choice(list(_WORD.finditer(sentence)))
        others = [word for word in _WORD.findall(stranger.content) if word.lower()[:4] != match[0].lower()[:4]]
        return sentence[: match.start()] + self.random.choice(others) + sentence[match.end() :]

    def _swapped(self, sentence: str, pattern: re.Pattern[str], source: str) -> str | None:
        """One of the sentence's numbers or names replaced by one of the source that the sentence hasn't."""
        places = list(pattern.finditer(sentence))
        lower = sentence.lower()
        others = [other for other in pattern.findall(source) if other.lower()[:4] not in lower]
        if pattern is _NUMBER:
            own = {re.sub(r"\D", "", match[0]) for match in places}
            others = [other for other in pattern.findall(source) if re.sub(r"\D", "", other) not in own]
        if not places or not others:
            return None
        match = self.random.choice(places)
        return sentence[: match.start()] + self.random.choice(others) + sentence[match.end() :]

    def _exchanged(self, sentence: str) -> str | None:
        places = list(_NUMBER.finditer(sentence))
        if len(places) < 2 or places[0][0] == places[1][0]:
            return None
        one, two = places[:2]
        if len(sentence[one.end() : two.start()].split()) < 3:
            return None
        return sentence[: one.start()] + two[0] + sentence[one.end() : two.start()] + one[0] + sentence[two.end() :]

    def _negated(self, sentence: str) -> str | None:
        if _ANY_NEGATION.search(sentence):
            return None
        changed = _AUXILIARY[self.language].sub(_NEGATED[self.language], sentence, count=1)
        return changed if changed != sentence else None

    def _unnegated(self, sentence: str) -> str | None:
        if len(_ANY_NEGATION.findall(sentence)) != 1:
            return None
        changed = _NEGATION[self.language].sub("", sentence, count=1)
        return changed if changed != sentence else None

    def _mangled(self, text: str) -> str:
        """A text as it comes out of a PDF: ligatures, line breaks, hyphens at their ends, typographic marks."""
        text = text.replace("fi", "ﬁ").replace("fl", "ﬂ").replace("'", "’")
        lines, line = [], ""
        for word in text.split(" "):
            if len(line) + len(word) > 60 and word.isalpha() and len(word) > 7:
                lines.append(f"{line} {word[:4]}-")
                line = word[4:]
            elif len(line) + len(word) > 66:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}".strip(" ") if line else word
        return "\n".join([*lines, line])


def _results(documents: list[Document]) -> list[RetrievalResult]:
    return [
        RetrievalResult(RecursiveSplitter(100_000, 0).split(document)[0], 1.0 - rank / 10, document)
        for rank, document in enumerate(documents)
    ]


def _cut(sentence: str) -> str:
    return sentence.rstrip(". ")


def _lowered(sentence: str) -> str:
    """The sentence as it goes on after a lead-in: its first word small, unless it looks like a name."""
    first, _, rest = sentence.partition(" ")
    is_small = len(first) <= 4 and first.isalpha() and not first.isupper()
    return f"{first.lower()} {rest}" if is_small else sentence
