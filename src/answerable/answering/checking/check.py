"""Check a model's answer against its passages: cite what they support, mark or leave out what they don't.

A sentence that is copied from a passage, or that consists of a quote, needs no judgement. A sentence can't be supported
if its passages lack a quote, number, date, address or name in it, or if it repeats one of their sentences with another
number or name, or with a negation added or dropped. A model (see `StatementJudge`) reads every other sentence together
with windows of the passages. Greetings, lead-ins, headings and questions claim nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from answerable.answering.answer_text.claimed import about_the_answer, claimed, courtesy, lead_ins
from answerable.answering.answer_text.statements import Statement, quotations, read_statements
from answerable.answering.checking.passage_text import PassageText, Sentence, Window
from answerable.answering.checking.quotes import LocatedQuote, cited_span, first_with, is_part, verbatim, without_quotes
from answerable.answering.checking.refusals import VERBATIM, RefusalReader, with_refusals
from answerable.answering.checking.rendering import Rendering
from answerable.answering.checking.verdicts import CheckedAnswer, Support, Verdict
from answerable.answering.checking.vetoes import of_another
from answerable.answering.computed_passage import ComputedPassage
from answerable.answering.safety.fencing import harmless
from answerable.datatypes import Citation, RetrievalResult
from answerable.protocols import StatementJudge
from answerable.text.characters import encodable
from answerable.text.claims import respelled
from answerable.text.copies import CONTRADICTED, changed_in_copy, told_in_clauses
from answerable.text.languages import question_language
from answerable.text.negation import folded_words, loses_negation, negations
from answerable.text.wording import Wording

SUPPORTED = 0.0
"""The lowest logit at which a statement counts as supported."""
DOUBT = 1.5
"""How much higher the logit must be with a window that has hardly a word of the statement."""
LITTLE = 0.15
LONGEST = 2000
MANY_CITED = 4
MANY_QUOTES = 30
FEW_WORDS = 3
COVERED = 0.5
MORE = 0.15
OWN_WINDOWS = 1
FOREIGN_WINDOWS = 2
ELSEWHERE = 2
ADDS = 0.2
MOST_CITED = 3

_MARKS = re.compile('["“”«»„‟]')
_LOST = "its quote leaves out a negation"
_NOT_FOUND = "the check found no passage that says it"
_UNREAD = "no model reads it, and no passage has it letter for letter"


def check_answer(
    text: str,
    passages: Sequence[RetrievalResult],
    language: str,
    judge: StatementJudge | None,
    marks: bool = True,
    keep_unsupported: bool = False,
    computed: ComputedPassage | None = None,
    refusals: RefusalReader | None = None,
) -> CheckedAnswer:
    """Check each sentence of a model's answer, in `language`, against the passages that the model was given.

    `[n]` in the text means `passages[n - 1]`. `marks=False` means that the model wasn't asked for such marks: any
    passage may support a sentence, and the checked text has no marks. Unsupported sentences are removed or, with
    `keep_unsupported`, marked as not verified; their `[n]` lead to what is nearest in the passages that they name.
    Without a judge only quotes are supported. Quotes of `computed`, the last passage, cite what it was computed from.
    `refusals` finds sentences that refuse in words of their own; without it, only known sentences do.
    """
    passages = [*passages, computed.result] if computed else passages
    check = _Check(text, passages, language, marks)
    statements = read_statements(encodable(text), language, len(passages))
    open_or_judged = [
        check.examine(statement, lead_in, statements[index + 1 : index + 2])
        for index, (statement, lead_in) in enumerate(zip(statements, lead_ins(statements), strict=True))
    ]
    pairs = [
        (respelled(one.text, check.language, trial.window.text, trial.window.language), trial.window.text)
        for one in open_or_judged
        if isinstance(one, _Open)
        for trial in one.trials
    ]
    logits = iter(judge.judge(pairs) if judge and pairs else [-float("inf")] * len(pairs))
    verdicts = [
        one if isinstance(one, Verdict) else check.decide(one, [next(logits) for _ in one.trials], judge is not None)
        for one in open_or_judged
    ]
    if refusals:
        verdicts = with_refusals(statements, verdicts, refusals)
    verdicts = [
        check.pointing(statement, verdict) if keep_unsupported or verdict.is_refusal else verdict
        for statement, verdict in zip(statements, verdicts, strict=True)
    ]
    if computed:
        verdicts = [
            replace(each, citations=tuple(chain.from_iterable(map(computed.sources, each.citations))))
            for each in verdicts
        ]
    return Rendering(statements, verdicts, language, marks, keep_unsupported).answer()


@dataclass(frozen=True, slots=True)
class _Trial:
    """A window that may support a statement; `is_cited` if the statement cites its passage."""

    window: Window
    is_cited: bool


@dataclass(frozen=True, slots=True)
class _Open:
    """A statement to be read with windows: what it claims, and the verdict if none supports it."""

    text: str
    trials: tuple[_Trial, ...]
    otherwise: Verdict
    is_named: bool
    quoted: tuple[Citation, ...] = ()
    body: str | None = None


class _Check:
    def __init__(self, text: str, passages: Sequence[RetrievalResult], language: str, marks: bool) -> None:
        # A model may answer in another language than that of the question.
        self.language = question_language(text) or language
        self._marks = marks
        self._passages = [PassageText(result, language) for result in passages]

    def examine(self, statement: Statement, lead_in: str, after: Sequence[Statement]) -> Verdict | _Open:
        """Return the verdict on a statement that needs no reading, or what has to be read.

        `lead_in` is the sentence above the list that the statement belongs to, if any.
        """
        if statement.is_furniture:
            return Verdict(Support.NOTHING_CLAIMED, "it is a separator")
        is_named = self._marks and bool(statement.marks)
        cited = self._cited(statement)
        others = [passage for passage in self._passages if passage not in cited]
        body = statement.body
        if statement.is_code:
            code = "\n".join(line for line in body.split("\n") if not line.lstrip().startswith(("```", "~~~")))
            found = self._as_quote(code, cited, others, is_named, is_code=True)
            return found or _unsupported("no passage has this code")
        text, quoted = claimed(body), quotations(body)
        if len(quoted) > MANY_QUOTES or len(body) > LONGEST:
            return _unsupported("it is too long to check")
        located = self._locate(body, quoted, [*cited, *others])
        whole = self._as_quote(text, cited, others, is_named) if quoted else None
        if isinstance(located, str):
            return whole or _unsupported(f"no passage has this quote: {located}")
        if located:
            verdict = self._with_quotes(body, located, cited, is_named)
            is_settled = isinstance(verdict, Verdict) and verdict.support is not Support.UNSUPPORTED
            return verdict if is_settled else whole or verdict
        if kind := courtesy(body, self.language):
            if kind == "yes or no" and not after:
                return _unsupported("it says only yes or no")
            is_refusal = kind == "refusal"
            if is_refusal or not is_named:
                how = "it refuses" if is_refusal else "it only introduces"
                return Verdict(Support.NOTHING_CLAIMED, how, is_refusal=is_refusal)
        if body.rstrip(" *_").endswith("?"):
            return Verdict(Support.NOTHING_CLAIMED, "it asks")
        if statement.is_row and after and after[0].is_furniture and not self._missing(body, self._passages):
            return Verdict(Support.NOTHING_CLAIMED, "it is a table header")
        otherwise = _unsupported(_NOT_FOUND)
        if statement.is_heading or (statement.is_label and not is_named):
            otherwise = self._label(body) or otherwise
            if statement.is_heading and not is_named:
                return otherwise
        if whole := self._as_quote(text, cited, others, is_named):
            return whole
        text = f"{lead_in}: {text}" if lead_in else text
        return self._to_read(text, cited, others, otherwise, is_named)

    def decide(self, one: _Open, logits: Sequence[float], is_read: bool) -> Verdict:
        """Return the verdict on a statement that was read with its windows."""
        if not one.trials:
            return one.otherwise
        doubts = [DOUBT * self._is_unlike(trial.window) for trial in one.trials]
        judged = [(logit - doubt, trial) for logit, doubt, trial in zip(logits, doubts, one.trials, strict=True)]
        supporting = [trial for logit, trial in sorted(judged, key=lambda pair: -pair[0]) if logit > SUPPORTED]
        if not supporting:
            if one.otherwise.support is not Support.UNSUPPORTED:
                return one.otherwise
            return _unsupported(_NOT_FOUND if is_read else _UNREAD)
        trial = next((trial for trial in supporting if trial.is_cited), supporting[0])
        is_elsewhere = one.is_named and not trial.is_cited
        citations = one.quoted or _evidence(one.text, trial.window)
        if not citations:
            return _unsupported("its evidence can't be verified in the document")
        support = Support.CORRECTED if is_elsewhere else Support.SUPPORTED
        how = f"{'another passage than the one cited' if is_elsewhere else 'its passage'} supports it"
        return Verdict(support, how, citations, one.body)

    def pointing(self, statement: Statement, verdict: Verdict) -> Verdict:
        """Return the verdict on a statement without citations, with what is nearest to it in each passage it names."""
        if verdict.citations or not self._marks:
            return verdict
        cited = self._cited(statement)
        wanted = {passage.language: self._wording(statement.body, passage).compared for passage in cited}
        nearest = [
            max(passage.sentences, key=lambda each: len(wanted[each.passage.language] & each.compared))
            for passage in cited
            if passage.sentences
        ]
        found = (cited_span(each.passage, each.start, each.end) for each in nearest)
        return replace(verdict, citations=tuple(citation for citation in found if citation))

    def _cited(self, statement: Statement) -> list[PassageText]:
        named = statement.marks[:MANY_CITED] if self._marks else ()
        return [self._passages[number - 1] for number in named if 1 <= number <= len(self._passages)]

    def _locate(
        self, body: str, quoted: Sequence[tuple[int, int]], passages: Sequence[PassageText]
    ) -> list[LocatedQuote] | str:
        """Return the located quotes, or the text of the first quote that no passage contains.

        A quoted title or heading is allowed, but supports nothing.
        """
        found: list[LocatedQuote] = []
        for start, end in quoted:
            inside = body[start:end]
            located = first_with(inside, passages)
            if located:
                found.append(LocatedQuote(start, end, *located))
            elif not any(passage.setting.find(inside) for passage in passages):
                return inside
        return found

    def _with_quotes(
        self, body: str, located: list[LocatedQuote], cited: list[PassageText], named: bool
    ) -> Verdict | _Open:
        """Examine a statement with quotes: what else it says must be supported as well."""
        rest = claimed(without_quotes(body, located))
        sources = list(dict.fromkeys([*(quote.passage for quote in located), *cited]))
        first = located[0].passage
        why = _LOST if any(_loses_negation(quote, body) for quote in located) else self._missing(rest, sources)
        citations = [cited_span(quote.passage, *quote.span) for quote in located]
        verified = tuple(dict.fromkeys(citation for citation in citations if citation))
        if not why and None in citations:
            why = "its quote can't be verified in the document"
        window = first.window(first.touched(*located[0].span), Wording(rest, first.language).compared)
        why = why or (of_another(Wording(rest, first.language), window) if window.sentences else "")
        if why:
            return _unsupported(why)
        new_body = verbatim(body, located)
        is_elsewhere = named and any(quote.passage not in cited for quote in located)
        wording = self._wording(rest, first)
        own = wording.terms - about_the_answer(wording.language) - first.setting_terms
        said = window.sentences[0].said_by if window.sentences else None
        own -= said.terms if said else frozenset()
        if len(own) < FEW_WORDS and not negations(rest, wording.language):
            if is_elsewhere:
                return Verdict(Support.CORRECTED, "its quote is in another passage than cited", verified, new_body)
            return Verdict(Support.QUOTED, "its quote is in the passage", verified, new_body)
        if len(own) < FEW_WORDS:
            # What it denies are the words of its quote.
            window = replace(window, coverage=1.0)
        trial = _Trial(window, first in cited or not named)
        otherwise = _unsupported("the words around its quote aren't supported")
        return _Open(_MARKS.sub("", claimed(body)), (trial,), otherwise, named, verified, new_body)

    def _as_quote(
        self, text: str, cited: list[PassageText], others: list[PassageText], named: bool, is_code: bool = False
    ) -> Verdict | None:
        """Return the verdict on a text that a passage contains letter for letter; None if none does.

        A word or two, as in "In 1901.", is a quote only of a passage that is cited. A longer part of a sentence is
        none, since the rest may be its condition.
        """
        if not is_code and len(text.split()) < FEW_WORDS and self._marks:
            others = []
        passages = [*cited, *others]
        found = first_with(text, passages, is_code)
        support, how = Support.QUOTED, VERBATIM
        if not is_code and found and (_loses_negation(LocatedQuote(0, len(text), *found), text) or is_part(*found)):
            return None
        if not is_code and not found and (sentence := _in_clauses(text, passages)):
            found = sentence.passage, ((sentence.start, sentence.end),)
            support, how = Support.SUPPORTED, "its clauses are in the passage, word for word"
        citation = cited_span(found[0], found[1][0][0], found[1][-1][1]) if found else None
        if found is None or citation is None:
            return None
        if named and found[0] not in cited:
            support, how = Support.CORRECTED, "it is in another passage than the one cited"
        return Verdict(support, how, (citation,))

    def _label(self, body: str) -> Verdict | None:
        """Return the verdict on a heading or a list's lead-in whose words occur in a passage, else None."""
        for passage in self._passages:
            wording = self._wording(body, passage)
            own = wording.terms - about_the_answer(wording.language)
            shared = own & (passage.wording.terms | passage.setting_terms)
            if self._missing(body, [passage]) or (not self._is_foreign(passage) and len(shared) < COVERED * len(own)):
                continue
            return Verdict(Support.NOTHING_CLAIMED, "it only introduces")
        return None

    def _to_read(
        self, text: str, cited: list[PassageText], others: list[PassageText], otherwise: Verdict, named: bool
    ) -> Verdict | _Open:
        """Return the windows to read with a statement; a verdict if it can't be supported."""
        if harmless(text) != text:
            return _unsupported("it holds marks of a prompt or of a turn in a conversation")
        is_joint = len(cited) > 1 and not self._missing(text, cited)
        reasons: list[str] = []
        near = list(self._possible(text, cited, cited if is_joint else (), reasons))
        if contradicted := next((why for why in reasons if why.startswith(CONTRADICTED)), ""):
            return _unsupported(contradicted)
        trials = [_Trial(window, True) for window in ([_joined(near)] if is_joint and near else near)]
        far = sorted(self._possible(text, others, (), reasons), key=lambda window: -window.coverage)
        covered = max((window.coverage + MORE for window in near), default=COVERED if named else 0.0)
        far = [window for window in far if window.coverage > covered]
        trials += [_Trial(window, not named) for window in far[: 1 if near else ELSEWHERE]]
        if not trials and otherwise.support is Support.UNSUPPORTED:
            return _unsupported(next(iter(reasons), _NOT_FOUND))
        return _Open(text, tuple(trials), otherwise, named)

    def _possible(
        self, text: str, passages: Sequence[PassageText], together: Sequence[PassageText], reasons: list[str]
    ) -> Iterator[Window]:
        """Yield the windows of passages that may support a statement; add the reasons against the others to `reasons`.

        Each passage must contain all numbers and names of the statement, or all of `together` must between them.
        """
        for passage in passages:
            is_foreign = self._is_foreign(passage)
            wording = self._wording(text, passage)
            why = self._missing(text, together or [passage])
            for window in () if why else passage.windows(wording, FOREIGN_WINDOWS if is_foreign else OWN_WINDOWS):
                if changed := self._changed(text, window):
                    reasons.append(changed)
                else:
                    yield window
            reasons += [why] if why else []

    def _missing(self, text: str, passages: Sequence[PassageText]) -> str:
        """Return which number, date, address or name of a text all of these passages lack, or ""."""
        wording = self._wording(text, passages[0]) if passages else Wording("", "")
        for claim in wording.claims:
            if claim.is_sure and all(each.lacks(claim, wording.text, self._is_foreign(each)) for each in passages):
                return f"the {claim.kind} {wording.text[claim.start : claim.end]} isn't in its evidence"
        return ""

    def _changed(self, text: str, window: Window) -> str:
        """Return what a statement changes in a sentence that it copies, or whose sender or row it takes for another."""
        passage = window.sentences[0].passage
        if self._is_foreign(passage):
            return ""
        for sentence in window.sentences:
            if why := changed_in_copy(text, sentence.wording.text, passage.language):
                return why
        return of_another(Wording(text, passage.language), window)

    def _is_unlike(self, window: Window) -> bool:
        return window.coverage < LITTLE and not self._is_foreign(window.sentences[0].passage)

    def _wording(self, text: str, passage: PassageText) -> Wording:
        return Wording(text, self.language if self._is_foreign(passage) else passage.language)

    def _is_foreign(self, passage: PassageText) -> bool:
        return passage.language != self.language


def _loses_negation(quote: LocatedQuote, body: str) -> bool:
    around = f"{body[: quote.start]} {body[quote.end :]}"
    return loses_negation(quote.passage.content, quote.spans, around, quote.passage.language)


def _in_clauses(text: str, passages: Sequence[PassageText]) -> Sentence | None:
    words = {word for word, _, _ in folded_words(text)}
    likely = (each for passage in passages for each in passage.sentences if words.issubset(each.wording.words))
    return next((each for each in likely if told_in_clauses(text, each.wording.text, each.wording.language)), None)


def _joined(windows: Sequence[Window]) -> Window:
    """Return the best window of each passage as one."""
    first = {id(window.sentences[0].passage): window for window in reversed(windows)}.values()
    sentences = tuple(sentence for window in first for sentence in window.sentences)
    return Window(sentences, "\n".join(window.text for window in first), max(each.coverage for each in windows))


def _evidence(text: str, window: Window) -> tuple[Citation, ...]:
    """Return citations of the sentences of a window that have most of a statement's words, numbers and names."""
    wanted = set(Wording(text, window.sentences[0].passage.language).compared)
    least = ADDS * len(wanted)
    chosen: list[Sentence] = []
    while len(chosen) < MOST_CITED:
        best = max(window.sentences, key=lambda sentence: len(wanted & sentence.compared))
        if chosen and len(wanted & best.compared) < max(least, 1):
            break
        chosen.append(best)
        wanted -= best.compared
    found = (cited_span(each.passage, each.start, each.end) for each in window.sentences if each in chosen)
    return tuple(dict.fromkeys(citation for citation in found if citation))


def _unsupported(how: str) -> Verdict:
    return Verdict(Support.UNSUPPORTED, how)
