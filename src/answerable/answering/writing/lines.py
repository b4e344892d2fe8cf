"""Read the reply of a model without tools: lines of evidence, a verdict, then the answer. All of them may be missing.

E 1 | passage 4 | a whole source sentence
VERDICT: answer
ANSWER:
The answer, with the numbers of its evidence [1].
"""

from __future__ import annotations

import re
from collections.abc import Callable

VERDICTS = ("answer", "partly", "not_found")

_EVIDENCE = re.compile(r"\s*\**E\s?(\d{1,3})?\**\s*\|\s*(?:\D{0,20}?(\d{1,5})\s*\|)?\s*(.+?)\s*$")
_EVIDENCE_BEGUN = re.compile(r"E\s?(?:\d{1,3}\**\s*)?(?:\|.*)?")
_VERDICT = re.compile(r"\s*\**VERDICT\**\s*:", re.IGNORECASE)
_ANSWER = re.compile(r"\s*\**ANSWER\**\s*:\**[ \t]*", re.IGNORECASE)
_LATE = re.compile(r"(?:^|\n)[ \t*]{0,4}(?:V(?:E(?:R(?:D(?:I(?:C(?:T[^\n]{0,40})?)?)?)?)?)?)?$", re.IGNORECASE)


def evidence_of(line: str) -> tuple[int, int, str] | None:
    """Return the number, the passage's number and the source words of a line of evidence; 0 for missing numbers."""
    given = _EVIDENCE.match(line)
    return (int(given[1] or 0), int(given[2] or 0), given[3]) if given else None


def verdict_of(given: object) -> str:
    """Return the verdict in a value or a line; "" if there is none, or several, as where a model repeats its rules."""
    said = str(given).lower().replace(" ", "_")
    named = [verdict for verdict in VERDICTS if verdict in said]
    return named[0] if len(named) == 1 else ""


class Lines:
    """A reply while it comes. `offer` gets each line of evidence: its number, the passage's number, the words."""

    def __init__(self, offer: Callable[[int, int, str], object]) -> None:
        self.verdict = ""
        self._offer = offer
        self._held = ""
        self._is_answer = False

    def take(self, text: str) -> str:
        """Add a piece of the reply; return what of the answer can be shown."""
        self._held += text
        if not self._is_answer:
            self._read_head()
        if not self._is_answer:
            return ""
        # A line that may become a late verdict is held.
        late = _LATE.search(self._held)
        at = late.start() if late else len(self._held)
        shown, self._held = self._held[:at], self._held[at:]
        return shown

    def end(self) -> str:
        """Return the rest of the answer."""
        if not self._is_answer:
            self._held += "\n"
            self._read_head()
        shown = ""
        for line in self._held.splitlines(keepends=True) if self._is_answer else ():
            if _VERDICT.match(line):
                self.verdict = self.verdict or verdict_of(line)
            else:
                shown += line
        return shown

    def _read_head(self) -> None:
        """Take the lines before the answer."""
        while self._held:
            if answer := _ANSWER.match(self._held):
                self._is_answer, self._held = True, self._held[answer.end() :].lstrip()
                return
            line, end, rest = self._held.partition("\n")
            if not (self._is_of_head(line) if end else _may_be_head(line)):
                self._is_answer = True
                return
            if not end:
                return
            self._held = rest

    def _is_of_head(self, line: str) -> bool:
        """Take what a line before the answer holds; return False for a line of the answer itself."""
        if given := evidence_of(line):
            self._offer(*given)
        elif _VERDICT.match(line):
            self.verdict = verdict_of(line)
        else:
            return not line.strip()
        return True


def _may_be_head(line: str) -> bool:
    """Return whether an unfinished line may become one of those before the answer."""
    begun = line.strip(" *").upper()
    is_named = any(name.startswith(begun[: len(name)]) for name in ("VERDICT:", "ANSWER:"))
    return is_named or bool(_EVIDENCE_BEGUN.fullmatch(begun))
