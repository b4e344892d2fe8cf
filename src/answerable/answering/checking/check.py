"""Check a model's answer against its passages: keep the sentences that the passages back, with citations.

A sentence with quotes is backed if a passage contains its quotes word for word and the words around the quotes claim
nothing more. A sentence without quotes is backed if one or two adjacent sentences of a passage say what it says (see
`support`). If sentence and passage are in different languages, their words can't be compared: the sentence needs a
quote, and only its numbers and names are compared. Sentences that aren't backed are removed or marked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from answerable.answering.checking.claim_words import claim_words
from answerable.answering.checking.claims import Claim, Kind
from answerable.answering.checking.quotes import LocatedQuote, cited_span, first_with, verbatim, without_quotes
from answerable.answering.checking.rendering import Rendering
from answerable.answering.checking.support import ENOUGH, Judged, PassageText, Span
from answerable.answering.checking.verdicts import CheckedAnswer, Support, Verdict
from answerable.answering.checking.wording import Wording, negation_mismatch
from answerable.answering.checking.written import Statement, quotations, read_statements
from answerable.answering.phrases import REFUSAL
from answerable.datatypes import RetrievalResult
from answerable.text.languages import question_language
from answerable.text.stop_words import STOP_WORDS
from answerable.text.terms import terms, words

ENOUGH_AROUND_QUOTES = 0.5
ENOUGH_OF_A_LABEL = 0.5
FEW_WORDS = 3
BEFORE_QUOTE = 3
FIRST_LETTERS = 3
LONGEST = 2000
MANY_CITED = 6
MANY_QUOTES = 30
CLEARLY_BETTER = 0.15

_CLAUSE_END = re.compile(r"[.;:!?]")


def check_answer(
    text: str,
    passages: Sequence[RetrievalResult],
    language: str,
    marks: bool = True,
    keep_unsupported: bool = False,
) -> CheckedAnswer:
    """Check each sentence of a model's answer, in `language`, against the passages that the model was given.

    `[n]` in the text means `passages[n - 1]`. `marks=False` means that the model wasn't asked for such marks: any
    passage may back a sentence, and the checked text has no marks. Unsupported sentences are removed or, with
    `keep_unsupported`, marked as not verified. A sentence in another language than its passage needs a quote.
    """
    check = _Check(text, passages, language)
    statements = read_statements(text, language, len(passages))
    verdicts = [
        check.verdict(statement, statements[index + 1] if index + 1 < len(statements) else None, marks)
        for index, statement in enumerate(statements)
    ]
    return Rendering(statements, verdicts, language, marks, keep_unsupported).answer()


class _Check:
    def __init__(self, text: str, passages: Sequence[RetrievalResult], language: str) -> None:
        self._language = language
        self._passages = [PassageText(result, language) for result in passages]
        spoken = {language}
        if any(passage.language != language for passage in self._passages):
            # A model may answer in the passages' language.
            spoken.add(question_language(text))
        self._spoken = frozenset(spoken)

    def verdict(self, statement: Statement, following: Statement | None, marks: bool) -> Verdict:
        if statement.is_furniture:
            return Verdict(Support.NOTHING_CLAIMED, "it is a separator")
        named = statement.marks if marks else ()
        cited = [self._passages[number - 1] for number in named[:MANY_CITED] if 1 <= number <= len(self._passages)]
        others = [passage for passage in self._passages if passage not in cited]
        if statement.is_code:
            return self._judge_code(statement, cited, others, bool(named))
        quoted = quotations(statement.body)
        if len(quoted) > MANY_QUOTES:
            return Verdict(Support.UNSUPPORTED, "it has too many quotes to check")
        located = self._locate(statement.body, quoted, [*cited, *others])
        if isinstance(located, str):
            return Verdict(Support.UNSUPPORTED, f"no passage has this quote: {located}")
        if located:
            return self._judge_with_quotes(statement, located, cited, bool(named))
        if len(statement.body) > LONGEST:
            return Verdict(Support.UNSUPPORTED, "it is too long to check and quotes nothing")
        lead_in = self._judge_small_talk(statement.body)
        if lead_in and (lead_in.is_refusal or not named):
            return lead_in
        is_header = statement.is_row and following is not None and following.is_furniture
        if is_header and not any(claim.is_sure for claim in Wording(statement.body, self._language).claims):
            return Verdict(Support.NOTHING_CLAIMED, "it is a table header")
        if statement.is_heading and not named and (heading := self._judge_label(statement.body)):
            return heading
        backed = self._judge_without_quotes(statement.body, cited, others, bool(named))
        if backed.support is not Support.UNSUPPORTED or named:
            return lead_in or backed if backed.support is Support.UNSUPPORTED else backed
        is_label = statement.is_label or statement.body.endswith("?")
        return (self._judge_label(statement.body) if is_label else None) or backed

    def _locate(
        self, body: str, quoted: Sequence[tuple[int, int]], passages: Sequence[PassageText]
    ) -> list[LocatedQuote] | str:
        """Return the located quotes, or the text of the first quote that no passage contains.

        A quoted title or heading is allowed, but backs nothing.
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

    def _judge_with_quotes(
        self, statement: Statement, located: list[LocatedQuote], cited: list[PassageText], named: bool
    ) -> Verdict:
        sources = list(dict.fromkeys([*(quote.passage for quote in located), *cited]))
        why = next((why for quote in located if (why := self._reject_torn_quote(quote, statement.body))), "")
        why = why or self._reject_words_around_quotes(without_quotes(statement.body, located), located, sources)
        why = why or self._reject_sentence(statement.body, located[0])
        if why:
            return Verdict(Support.UNSUPPORTED, why)
        citations = [cited_span(quote.passage, *quote.span) for quote in located]
        if None in citations:
            return Verdict(Support.UNSUPPORTED, "its quote can't be verified in the document")
        verified = tuple(dict.fromkeys(citation for citation in citations if citation))
        body = verbatim(statement.body, located)
        if named and any(quote.passage not in cited for quote in located):
            return Verdict(Support.CORRECTED, "its quote is in another passage than the one cited", verified, body)
        return Verdict(Support.SUPPORTED, "its quote is in the passage", verified, body)

    def _reject_torn_quote(self, quote: LocatedQuote, body: str) -> str:
        """Return why to reject a quote whose sentence drops a negation of the passage, or ""."""
        content, language = quote.passage.content, quote.passage.language
        before = content[max(quote.spans[0][0] - 60, 0) : quote.spans[0][0]]
        ends = [match.end() for match in _CLAUSE_END.finditer(before)]
        clause = " ".join(before[ends[-1] if ends else 0 :].split()[-BEFORE_QUOTE:])
        gaps = [content[one[1] : other[0]] for one, other in zip(quote.spans, quote.spans[1:], strict=False)]
        if not any(Wording(gap, language).negated for gap in (clause, *gaps)):
            return ""
        around = body[: quote.start] + " " + body[quote.end :]
        return "" if Wording(around, language).negated else "its quote leaves out a negation"

    def _reject_words_around_quotes(
        self, rest: str, located: Sequence[LocatedQuote], sources: Sequence[PassageText]
    ) -> str:
        """Return the reason to reject the words around the quotes; "" to accept them."""
        if len(rest) > LONGEST:
            return "it is too long to check"
        first = located[0].passage
        is_foreign = self._is_foreign(first)
        wording = Wording(rest, self._language if is_foreign else first.language)
        spans = [quote.passage.span(*quote.span) for quote in located]
        missing = _unbacked_claim(wording, sources, spans, is_foreign)
        if missing:
            return f"the {missing.kind} {wording.text[missing.start : missing.end]} isn't in its evidence"
        for quote, span in zip(located, spans, strict=True):
            wrong = quote.passage.wrong_sender(wording, span)
            if wrong:
                return wrong
        if is_foreign:
            return ""
        claimed = set(wording.weights) - claim_words(wording.language).about_the_answer
        share = max(passage.share(wording, passage.wording) for passage in sources)
        if len(claimed) >= FEW_WORDS and share < ENOUGH_AROUND_QUOTES:
            return "the words around its quote aren't in the passage"
        if wording.negated and all(
            negation_mismatch(wording, quote.passage.around_span(*quote.span)) for quote in located
        ):
            return "it has a negation that its evidence lacks"
        return ""

    def _reject_sentence(self, body: str, quote: LocatedQuote) -> str:
        """Return the reason to reject a sentence with quotes as a whole; "" to accept it."""
        passage = quote.passage
        if self._is_foreign(passage) or len(body) > LONGEST:
            return ""
        wording = Wording(body, passage.language)
        own = Wording(body[: quote.start] + body[quote.end :], passage.language)
        why = passage.swapped(wording)
        if not why and len(set(own.weights) - claim_words(own.language).about_the_answer) >= FEW_WORDS:
            why = negation_mismatch(wording, passage.around_span(*quote.span))
        return why

    def _judge_without_quotes(
        self, body: str, cited: list[PassageText], others: list[PassageText], named: bool
    ) -> Verdict:
        """Judge a sentence without quotes by each cited passage, then by all cited ones together, then by `others`."""
        comparable = [passage for passage in cited if not self._is_foreign(passage)]
        judged = [(passage, passage.judge(body)) for passage in comparable]
        backing = [(passage, one) for passage, one in judged if one.is_backed]
        if not backing and len(judged) > 1:
            backing = self._judge_together(body, judged)
        support = Support.SUPPORTED
        reached = max((one.share for _, one in backing), default=0.0)
        if reached + CLEARLY_BETTER <= 1:
            further = [(passage, passage.judge(body)) for passage in others if not self._is_foreign(passage)]
            judged += further
            better = [(passage, one) for passage, one in further if one.is_backed]
            best = max(better, key=lambda pair: pair[1].share, default=None)
            if best and (not backing or best[1].share >= reached + CLEARLY_BETTER):
                backing = [best]
                support = Support.CORRECTED if named else Support.SUPPORTED
        citations = [cited_span(passage, one.span.start, one.span.end) for passage, one in backing if one.span]
        verified = tuple(dict.fromkeys(citation for citation in citations if citation))
        if verified:
            return Verdict(support, backing[0][1].why, verified)
        if not judged:
            return Verdict(Support.UNSUPPORTED, "its passage is in another language and it quotes nothing")
        return Verdict(Support.UNSUPPORTED, max((one for _, one in judged), key=lambda one: one.share).why)

    def _judge_together(
        self, body: str, judged: Sequence[tuple[PassageText, Judged]]
    ) -> list[tuple[PassageText, Judged]]:
        """Judge a sentence by several passages together, when no single passage backs it."""
        parts = [(passage, one, one.span) for passage, one in judged if one.span and one.share > 0]
        if len(parts) < 2:
            return []
        first = parts[0][0]
        wording = Wording(body, first.language)
        union = Wording("\n".join(span.wording.text for _, _, span in parts), first.language)
        share = first.share(wording, union)
        passages, spans = [passage for passage, _, _ in parts], [span for _, _, span in parts]
        if (
            share < ENOUGH
            or _unbacked_claim(wording, passages, spans, False)
            or negation_mismatch(wording, union)
            or set.intersection(*(set(passage.swaps(wording)) for passage in passages))
        ):
            return []
        return [(passage, Judged(True, share, "several passages have its words", span)) for passage, _, span in parts]

    def _judge_small_talk(self, body: str) -> Verdict | None:
        """Return the verdict for a courtesy, lead-in or refusal, which claims nothing of documents; else None."""
        plain = _plain(body)
        if plain in _REFUSALS:
            return Verdict(Support.NOTHING_CLAIMED, "it refuses", is_refusal=True)
        if not plain:
            return Verdict(Support.NOTHING_CLAIMED, "it is empty")
        for language in dict.fromkeys((self._language, *STOP_WORDS)):
            said = terms(body, language)
            if language in STOP_WORDS and said and claim_words(language).about_the_answer.issuperset(said):
                wording = Wording(body, language)
                if not wording.numbers and not any(claim.kind is Kind.LINK for claim in wording.claims):
                    refuses = bool(wording.negated)
                    how = "it refuses" if refuses else "it only introduces"
                    return Verdict(Support.NOTHING_CLAIMED, how, is_refusal=refuses)
        return None

    def _judge_label(self, body: str) -> Verdict | None:
        """Return the verdict for a heading or list lead-in whose topic occurs in a passage, else None."""
        for passage in self._passages:
            wording = Wording(body, self._language if self._is_foreign(passage) else passage.language)
            whole = passage.whole
            if self._is_foreign(passage):
                if not wording.numbers and _unbacked_claim(wording, [passage], [whole], True) is None:
                    return Verdict(Support.NOTHING_CLAIMED, "it only introduces")
            elif passage.share(wording, passage.wording) >= ENOUGH_OF_A_LABEL and not passage.contradiction(
                wording, whole
            ):
                return Verdict(Support.NOTHING_CLAIMED, "it only introduces")
        return None

    def _judge_code(
        self, statement: Statement, cited: list[PassageText], others: list[PassageText], named: bool
    ) -> Verdict:
        """Return the verdict for a code block, which a passage must contain verbatim."""
        code = "\n".join(line for line in statement.body.split("\n") if not line.lstrip().startswith(("```", "~~~")))
        located = first_with(code, [*cited, *others], is_code=True)
        citation = cited_span(located[0], located[1][0][0], located[1][-1][1]) if located else None
        if located is None or citation is None:
            return Verdict(Support.UNSUPPORTED, "no passage has this code")
        if named and located[0] not in cited:
            return Verdict(Support.CORRECTED, "the code is in another passage than the one cited", (citation,))
        return Verdict(Support.SUPPORTED, "the code is in the passage", (citation,))

    def _is_foreign(self, passage: PassageText) -> bool:
        return passage.language not in self._spoken


def _plain(text: str) -> str:
    return " ".join(words(text))


_REFUSALS = frozenset(_plain(sentence) for sentence in REFUSAL.values())


def _unbacked_claim(
    wording: Wording, passages: Sequence[PassageText], spans: Sequence[Span], is_foreign: bool
) -> Claim | None:
    """Return the first claim that no passage backs. In another language a name may be spelled differently."""
    for claim in wording.claims:
        if not claim.is_sure:
            continue
        one = Wording(wording.text[claim.start : claim.end], wording.language)
        if is_foreign and claim.kind is Kind.NAME:
            letters = {value[:FIRST_LETTERS] for value in claim.values}
            if any(name[:FIRST_LETTERS] in letters for passage in passages for name in passage.names):
                continue
        if not any(passage.backs(claim, one, span) for passage in passages for span in (*spans, None)):
            return claim
    return None
