"""Build the checked answer from statements and verdicts: keep and join sentences, number the citations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from answerable.answering.answer_text.statements import Statement, put_marks
from answerable.answering.checking.verdicts import CheckedAnswer, CheckedSentence, Support, Verdict
from answerable.datatypes import Citation

NOT_VERIFIED = {"en": "(not verified)", "es": "(sin verificar)", "pt": "(não verificado)"}
"""Marks an unsupported sentence that is kept."""

_BOLD = "**"
_BACKED = frozenset({Support.QUOTED, Support.SUPPORTED, Support.CORRECTED})


class Rendering:
    """Builds one checked answer."""

    def __init__(
        self,
        statements: Sequence[Statement],
        verdicts: Sequence[Verdict],
        language: str,
        marks: bool,
        keep_unsupported: bool,
    ) -> None:
        self._statements = statements
        self._verdicts = verdicts
        self._with_marks = marks
        self._keeps = keep_unsupported
        self._not_verified = NOT_VERIFIED.get(language, NOT_VERIFIED["en"])
        self._numbers: dict[Citation, int] = {}
        follows = Counter(one.marks_follow for one in statements if one.marks_follow is not None and not one.is_code)
        self._follow = follows[True] > follows[False]

    def answer(self) -> CheckedAnswer:
        """Return the kept text with its citations numbered in order."""
        is_backed = any(verdict.support in _BACKED for verdict in self._verdicts)
        text: list[str] = []
        sentences: list[CheckedSentence] = []
        gaps: list[str] = []
        prefix = bold = line = ""
        for index, (statement, verdict) in enumerate(zip(self._statements, self._verdicts, strict=True)):
            if "\n" in statement.gap:
                prefix = bold = line = ""
            gaps.append(statement.gap)
            body = self._body(statement, verdict)
            if (is_backed or self._keeps) and self._is_kept(index):
                shown = (statement.prefix or prefix) + bold + body
                line += shown
                text += [max(gaps, key=lambda gap: gap.count("\n")) if text else "", shown]
                gaps, prefix, bold = [], "", ""
            else:
                shown, prefix = statement.written, statement.prefix or prefix
                if not statement.is_code and body.count(_BOLD) % 2 and line.count(_BOLD) % 2:
                    # Close the bold text that the removed sentence would have closed.
                    text[-1] += _BOLD
                    line += _BOLD
                elif not statement.is_code and body.count(_BOLD) % 2:
                    bold = "" if bold else _BOLD
            sentences.append(CheckedSentence(shown.strip(), verdict.support, verdict.how, verdict.citations))
        return CheckedAnswer("".join(text).strip(), tuple(self._numbers), tuple(sentences))

    def _body(self, statement: Statement, verdict: Verdict) -> str:
        body = statement.body if verdict.body is None else verdict.body
        if verdict.support is Support.UNSUPPORTED:
            return put_marks(body, self._not_verified, True, statement.is_code, statement.is_row)
        numbers = [self._numbers.setdefault(citation, len(self._numbers) + 1) for citation in verdict.citations]
        marks = "".join(f"[{number}]" for number in sorted(numbers)) if self._with_marks else ""
        follow = self._follow if statement.marks_follow is None else statement.marks_follow
        return put_marks(body, marks, follow, statement.is_code, statement.is_row)

    def _is_kept(self, index: int) -> bool:
        verdict = self._verdicts[index]
        if verdict.support in _BACKED:
            return True
        if verdict.support is Support.UNSUPPORTED:
            return self._keeps
        return not verdict.is_refusal and any(self._is_backed_or_kept(other) for other in self._led_to(index))

    def _is_backed_or_kept(self, index: int) -> bool:
        support = self._verdicts[index].support
        return support in _BACKED or (self._keeps and support is Support.UNSUPPORTED)

    def _led_to(self, index: int) -> Iterator[int]:
        """Yield the indices of the statements that follow a heading or lead-in and belong to it."""
        is_heading = self._statements[index].is_heading
        has_claim = False
        for other in range(index + 1, len(self._statements)):
            if is_heading and self._statements[other].is_heading:
                return
            if self._verdicts[other].support is not Support.NOTHING_CLAIMED:
                has_claim = True
                yield other
            elif has_claim and not is_heading:
                return
