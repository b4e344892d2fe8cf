"""Fits the gates that come with the package, on half of the articles of the development sets, and reports on the rest.

    python tools/fit_gate.py ../shared/data [--write]

XQuAD's articles are SQuAD's, in every language: they fall on the same side. Vectors are kept in the user's cache.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from answerable.answering.gate import LEXICAL_ONLY, Gate
from answerable.datatypes import Document
from answerable.embedding.cache import CachedEmbedder
from answerable.embedding.local import LocalEmbedder
from answerable.evaluation.calibration import figures, fit_gate
from answerable.evaluation.refusals import Case, Kind, collect_cases, measure_background, side
from answerable.evaluation.sets import QuestionSet

SETS = ("xquad/en", "xquad/es", "faquad", "squad2/en-dev", "squad2/es-dev", "squad2/pt-dev", "scifact")
NAMED_IN_ENGLISH = ("xquad/en", "squad2/en-dev", "squad2/pt-dev")
TARGETS = (2, 5, 10, 15, 20, 30)
GATES = Path(__file__).parents[1] / "src" / "answerable" / "answering" / "gates.json"
CACHE = Path(platformdirs.user_cache_dir("answerable-tests", appauthor=False))


def main(folder: Path, write: bool) -> None:
    sets = [QuestionSet.load(folder / name, name) for name in SETS]
    titles: dict[str, str] = {}
    for questions in sets:
        for document in questions.documents if questions.name in NAMED_IN_ENGLISH else ():
            titles.setdefault(_number(document), document.title)

    def article(name: str, document: Document) -> str:
        if name == "scifact":
            return document.id
        return titles.get(_number(document), _number(document))

    embedder = CachedEmbedder(
        LocalEmbedder(cache_folder=CACHE / "models", runtime="openvino"), CACHE / "embeddings.db", 10**11
    )
    background = measure_background(sets, embedder)
    cases = collect_cases(
        sets, embedder, background, article_of=article, on_progress=lambda name: print(name, file=sys.stderr)
    )
    fitted = [case for case in cases if side(case.article) == 0]
    held_out = [case for case in cases if side(case.article) == 1]
    gates = {
        f"{embedder.fingerprint.provider}:{embedder.fingerprint.model}": fit_gate(fitted, background),
        LEXICAL_ONLY: fit_gate(fitted, None),
    }
    for name, gate in gates.items():
        print(f"\n## {name}\n\n{json.dumps(gate.to_json())}")
        report("All of a set", gate, [case for case in held_out if not case.is_small])
        report("Libraries of one and three documents", gate, [case for case in held_out if case.is_small])
    if write:
        values = {name: gate.to_json() for name, gate in gates.items()}
        GATES.write_text(json.dumps(values, indent=1) + "\n", "utf-8")


def report(title: str, gate: Gate, cases: Sequence[Case]) -> None:
    print(f"\n{title}: area under the curve with the document removed, then what is refused by target (in percent)\n")
    print(
        "| set | area | plain cosine |",
        " | ".join(f"{kind.value} {', '.join(map(str, TARGETS))}" for kind in Kind),
        "|",
    )
    print("|---" * (3 + len(Kind)) + "|")
    curves = {target: {one.corpus: one for one in figures(gate.aiming_at(target), cases)} for target in TARGETS}
    for corpus, one in curves[TARGETS[0]].items():
        shares = (
            " ".join(f"{100 * curves[target][corpus].refused.get(kind, float('nan')):.1f}" for target in TARGETS)
            if kind in one.refused
            else ""
            for kind in Kind
        )
        print(f"| {corpus} ({one.questions}) | {one.area:.3f} | {one.cosine_area:.3f} |", " | ".join(shares), "|")


def _number(document: Document) -> str:
    """Ids are `set-article-paragraph`."""
    return document.id.rsplit("-", 1)[0]


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--write" in sys.argv)
