"""Build the checked answer from statements and verdicts: number the citations, mark or leave out what isn't backed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from answerable.answering.answer_text.statements import Statement, put_marks
from answerable.answering.checking.verdicts import CheckedAnswer, CheckedSentence, Support, Verdict
from answerable.datatypes import Citation

NOT_VERIFIED = {"en": "(not verified)", "es": "(sin verificar)", "pt": "(não verificado)"}
"""Marks an unsupported sentence that is kept."""
MOST_MARKS = 12
"""A sentence that rests on more rows than this has marks for the first ones; all are among the citations."""
PICTURE = {
    "en": "(the address of a picture, which isn't opened)",
    "es": "(la dirección de una imagen, que no se abre)",
    "pt": "(o endereço de uma imagem, que não é aberto)",
}
"""Marks Markdown of a picture: a document may hold it so that a model repeats it, and loading it tells a server."""
LEFT_OUT = {
    "en": "({n} sentence left out: the check found no passage that says it.)|"
    "({n} sentences left out: the check found no passage that says them.)",
    "es": "(Se omitió {n} frase: la comprobación no halló ningún pasaje que la diga.)|"
    "(Se omitieron {n} frases: la comprobación no halló ningún pasaje que las diga.)",
    "pt": "({n} frase omitida: a verificação não achou nenhum trecho que a diga.)|"
    "({n} frases omitidas: a verificação não achou nenhum trecho que as diga.)",
}

_PICTURE = re.compile(r"!\[[^\]\n]*\]\(")
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
        self._language = language
        self._not_verified = NOT_VERIFIED.get(language, NOT_VERIFIED["en"])
        self._numbers: dict[Citation, int] = {}
        follows = Counter(one.marks_follow for one in statements if one.marks_follow is not None and not one.is_code)
        self._follow = follows[True] > follows[False]

    def answer(self) -> CheckedAnswer:
        """Return the kept text with its citations numbered in order."""
        text: list[str] = []
        sentences: list[CheckedSentence] = []
        gaps: list[str] = []
        prefix = bold = line = ""
        for index, (statement, verdict) in enumerate(zip(self._statements, self._verdicts, strict=True)):
            if "\n" in statement.gap:
                prefix = bold = line = ""
            gaps.append(statement.gap)
            body = self._body(statement, verdict)
            if self._keeps or self._is_kept(index):
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
        says = [each for each in self._verdicts if each.is_refusal or each.support is not Support.NOTHING_CLAIMED]
        return CheckedAnswer(
            "".join(text).strip(),
            tuple(self._numbers),
            tuple(sentences),
            any(not each.is_refusal for each in says),
            bool(says) and says[0].is_refusal,
        )

    def _body(self, statement: Statement, verdict: Verdict) -> str:
        body = statement.body if verdict.body is None else verdict.body
        numbers = [self._numbers.setdefault(citation, len(self._numbers) + 1) for citation in verdict.citations]
        marks = "".join(f"[{number}]" for number in sorted(numbers)[:MOST_MARKS]) if self._with_marks else ""
        follow = self._follow if statement.marks_follow is None else statement.marks_follow
        body = put_marks(body, marks, follow, statement.is_code, statement.is_row)
        if _PICTURE.search(body) and not statement.is_code:
            picture = PICTURE.get(self._language, PICTURE["en"])
            body = put_marks(body, picture, True, is_row=statement.is_row)
        if verdict.support is not Support.UNSUPPORTED:
            return body
        return put_marks(body, self._not_verified, True, statement.is_code, statement.is_row)

    def _is_kept(self, index: int) -> bool:
        verdict = self._verdicts[index]
        if verdict.support in _BACKED:
            return True
        if verdict.is_refusal:
            return True
        if verdict.support is Support.UNSUPPORTED:
            return False
        return any(self._verdicts[other].support in _BACKED for other in self._led_to(index))

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


def left_out(count: int, language: str) -> str:
    """Return how many sentences of an answer are left out, in words; "" for none."""
    one, several = LEFT_OUT.get(language, LEFT_OUT["en"]).split("|")
    return (one if count == 1 else several).format(n=count) if count else ""
