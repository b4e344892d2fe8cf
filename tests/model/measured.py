"""Measure the recordings: `python tests/model/measured.py [LIBRARY ...]` prints what isn't as it should be."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recorded import RecordedModel, ask, doubts, opened, questions, turns

from answerable.datatypes import Answer, Reason

LIBRARIES = ("neighbours", "clinica", "escola", "manual")


@dataclass
class Played:
    """A question, the answer to its recording, and the text that the player wrote last."""

    question: dict[str, Any]
    answer: Answer
    written: str


@dataclass
class Shares:
    """What was measured, as pairs of how many are right and how many there are, with those that aren't."""

    counts: Counter[tuple[str, bool]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, name: str, is_right: bool, what: str = "") -> None:
        self.counts[name, is_right] += 1
        if not is_right:
            self.wrong.append(f"{name}: {what}")

    def share(self, name: str) -> float:
        right, wrong = self.counts[name, True], self.counts[name, False]
        return right / max(right + wrong, 1)

    def __str__(self) -> str:
        names = dict.fromkeys(name for name, _ in self.counts)
        rows = (
            f"{name}: {self.share(name):.3f} of {self.counts[name, True] + self.counts[name, False]}" for name in names
        )
        return "\n".join(rows)


def played(library: str, kept: Path) -> Iterator[Played]:
    """Play the recordings of a library."""
    recorded, doubted = turns(library), doubts()
    with opened(library, kept) as opened_library:
        for question in questions(library):
            if question["id"] in recorded:
                model = RecordedModel(recorded[question["id"]], doubted.get(question["id"], "[]"))
                answer = ask(opened_library, question, model)
                yield Played(question, answer, str(model.turns[-1].get("text", "")))


def measure(found: Iterator[Played], shares: Shares) -> None:
    """Add what is measured of these answers."""
    for one in found:
        name, answer = one.question["id"], one.answer
        shares.add("shown whole", not answer.problem and _letters(answer.text) == _letters(one.written), name)
        for check in answer.checks:
            if check.support != "nothing claimed":
                sources = [answer.citations[number - 1].quote for number in check.citations]
                shares.add("true verified", check.support == "verified", f"{name} {check} {sources}")
        is_refused = answer.reason is Reason.MODEL_REFUSED
        if one.question["expects"] == "not_found":
            shares.add("refusals shown", is_refused, f"{name} {answer.text}")
        else:
            shares.add("answers shown", not is_refused, f"{name} {answer.text}")
            read = "\n".join(result.chunk.content for result in answer.results)
            needed = [need["text"] in read for need in one.question["needs"]]
            shares.add("needed passage read", all(needed), name)
            shares.add(f"needed passage read, {one.question['kind']}", all(needed), name)
            cited = "\n".join(citation.quote for citation in answer.citations)
            shares.add("needed words cited", all(need["text"] in cited for need in one.question["needs"]), name)


def _letters(text: str) -> str:
    return "".join(one for one in text if one.isalpha())


def main() -> None:
    shares = Shares()
    for library in sys.argv[1:] or LIBRARIES:
        measure(played(library, Path(tempfile.gettempdir()) / "recorded-libraries"), shares)
    print(*shares.wrong, sep="\n")
    print(shares)


if __name__ == "__main__":
    main()
