"""Count the groups of letters in English, Spanish and Portuguese words, and write `text/words/letters.toml`.

    python tools/fit_letters.py ../shared/data

The words are the distinct words, without accents, of SQuAD 2's and XQuAD's paragraphs and questions and of FaQuAD.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from answerable.text.languages import GRAM, grams
from answerable.text.terms import fold

SETS = {
    "en": ("squad2/en-dev", "xquad/en"),
    "es": ("squad2/es-dev", "xquad/es"),
    "pt": ("squad2/pt-dev", "faquad"),
}
KEPT = 2_500
"""How many groups of letters are kept: those that differ most between the languages."""
HALVES = 0.5
"""Added to each count, so that a group that never occurs in a language has a finite logarithm."""
OUT = Path(__file__).parents[1] / "src/answerable/text/words/letters.toml"
_WORD = re.compile(r"[^\W\d_]{2,}")


def texts(folder: Path) -> Iterator[str]:
    for name in ("corpus.jsonl", "queries.jsonl"):
        with (folder / name).open(encoding="utf-8") as lines:
            yield from (json.loads(line)["text"] for line in lines)


def main() -> None:
    data = Path(sys.argv[1])
    counts: dict[str, Counter[str]] = {}
    for language, names in SETS.items():
        words = {fold(word) for name in names for text in texts(data / name) for word in _WORD.findall(text.lower())}
        counts[language] = Counter(gram for word in words for gram in grams(word))
    totals = {language: counts[language].total() for language in SETS}
    logs: dict[str, list[float]] = {}
    for gram in set().union(*counts.values()):
        shares = [(counts[language][gram] + HALVES) / totals[language] for language in SETS]
        mean = sum(map(math.log, shares)) / len(shares)
        logs[gram] = [math.log(share) - mean for share in shares]

    def telling(gram: str) -> float:
        frequency = sum(counts[language][gram] / totals[language] for language in SETS)
        return frequency * max(map(abs, logs[gram]))

    kept = sorted(sorted(logs, key=telling, reverse=True)[:KEPT])
    lines = [f"{gram} {' '.join(f'{10 * value:.0f}' for value in logs[gram])}" for gram in kept]
    head = [
        f"# Groups of {GRAM} letters (_ begins and ends a word), with how much more often than on average words of",
        "# English, Spanish and Portuguese have them: tenths of a natural logarithm. Made by tools/fit_letters.py.",
    ]
    OUT.write_text("\n".join([*head, "grams = '''", *lines, "'''", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
