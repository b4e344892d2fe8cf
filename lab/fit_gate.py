"""Fit the packaged gates on half of the articles of the development sets, and report on the other half.

    python -m lab.fit_gate ../shared/data [--reader] [--write] [--plot FILE.svg]

XQuAD has SQuAD's articles in every language: an article is in the same half in all languages, and questions in one
language can be asked of articles in another. Vectors are stored in the user's cache. With cached vectors this takes
some 5 minutes; with `--reader`, which fits the gates for evidence that a reader has read, half an hour. These gates
aren't fitted on articles that the reader was trained on, because it is surer of them than of users' documents, but also
on the papers of two writers that it wasn't trained on.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from xml.etree.ElementTree import tostring

import platformdirs
from training.sets import is_trained_on
from training.windows import asked_together

from answerable.answering.gate import LEXICAL_ONLY, Gate
from answerable.answering.reading import read
from answerable.datatypes import Document
from answerable.e5.readers import E5Reader
from answerable.embedding.cache import CachedEmbedder
from answerable.embedding.local import LocalEmbedder
from answerable.evaluation.calibration import case_weights, figures, fit_gate, probabilities
from answerable.evaluation.refusals import Case, Kind, Sampling, case_of, collect_cases, side
from answerable.evaluation.sets import Query, QuestionSet
from answerable.wiring.answering import READING
from lab.plots import STYLE, Reliability, element, reliability, reliability_plot

SETS = ("xquad/en", "xquad/es", "faquad", "squad2/en-dev", "squad2/es-dev", "squad2/pt-dev", "scifact")
CROSSED = (("es", "en"), ("en", "es"))
SAMPLING = Sampling(questions=600)
READ_SAMPLING = Sampling(questions=200, foreign=150, small_libraries=20)
"""Fewer questions where each takes a sixth of a second: they fit three weights."""
REPORTING = 300
PAPERS = Path(__file__).parents[1] / "training" / "written" / "papers"
HELD_PAPERS = ("k", "n")
KINDS = {"answered": Kind.ANSWERABLE, "near": Kind.UNANSWERABLE, "absent": Kind.FOREIGN}
NAMED_IN_ENGLISH = ("xquad/en", "squad2/en-dev", "squad2/pt-dev")
TARGETS = (2, 5, 10, 15, 20, 30)
GATES = Path(__file__).parents[1] / "src" / "answerable" / "answering" / "gates.json"
CACHE = Path(platformdirs.user_cache_dir("answerable-tests", appauthor=False))


def main(folder: Path, reads: bool, write: bool, plot: Path | None) -> None:
    sets = [QuestionSet.load(folder / name, name) for name in SETS]
    titles: dict[str, str] = {}
    for questions in sets:
        for document in questions.documents if questions.name in NAMED_IN_ENGLISH else ():
            titles.setdefault(_number(document), document.title)

    def article(name: str, document: Document) -> str:
        if name == "scifact":
            return document.id
        return titles.get(_number(document), _number(document))

    embedder = CachedEmbedder(LocalEmbedder(cache_folder=CACHE / "models"), CACHE / "embeddings.db", 10**11)
    asked = [*sets, *(_crossed(folder, *languages) for languages in CROSSED)]
    if reads:
        asked = [_unlearnt(questions, article) for questions in asked]
    reader = E5Reader(cache_folder=CACHE / "models") if reads else None
    sampling = replace(READ_SAMPLING, reader=reader) if reader else SAMPLING
    cases = collect_cases(asked, embedder, sampling, article, lambda name: print(name, file=sys.stderr))
    if reader:
        cases += [case for name in HELD_PAPERS for case in _of_papers(name, reader)]
    fitted = [case for case in cases if side(case.article) == 0]
    held_out = [case for case in cases if side(case.article) == 1]
    suffix = READING if reads else ""
    gates = {
        f"{embedder.fingerprint.provider}:{embedder.fingerprint.model}{suffix}": fit_gate(fitted),
        LEXICAL_ONLY + suffix: fit_gate(fitted, uses_meaning=False),
    }
    for name, gate in gates.items():
        print(f"\n## {name}\n\n{json.dumps(gate.to_json())}")
        report("All of a set", gate, [case for case in held_out if not case.is_small])
        report("Libraries of one and three documents", gate, [case for case in held_out if case.is_small])
    found = report_reliability(next(iter(gates.values())), [case for case in held_out if not case.is_small])
    if plot:
        drawing = reliability_plot(list(found.items()))
        drawing.set("xmlns", "http://www.w3.org/2000/svg")
        drawing.append(element("style", STYLE))
        plot.write_text(tostring(drawing, "unicode"), "utf-8")
    if write:
        values = json.loads(GATES.read_text("utf-8")) | {name: gate.to_json() for name, gate in gates.items()}
        GATES.write_text(json.dumps(values, indent=1) + "\n", "utf-8")


def _of_papers(writer: str, reader: E5Reader) -> Iterator[Case]:
    """Yield the cases of a writer's papers; an answered question whose best sentence is another one isn't answered."""
    with (PAPERS / f"{writer}.jsonl").open(encoding="utf-8") as file:
        for library, name, paper, asked in asked_together(map(json.loads, file)):
            found, kind = library.evidence(asked["q"]), KINDS[asked["kind"]]
            if not (ranked := read(found, reader)):
                continue
            best, place = ranked[0], paper["text"].find(asked.get("quote", ""))
            is_quoted = best.result.document.source.endswith(name) and (
                best.start < place + len(asked.get("quote", "")) and place < best.end
            )
            if kind is Kind.ANSWERABLE and not is_quoted:
                kind = Kind.UNANSWERABLE
            yield case_of(found, ranked, f"papers/{writer}", kind, f"{writer} {name} {paper['text'][:40]}")


def _unlearnt(questions: QuestionSet, article: Callable[[str, Document], str]) -> QuestionSet:
    """Return the set without its questions on articles that the reader was trained on.

    From the half for the report, only `REPORTING` questions of each kind are drawn: reading all takes hours.
    """
    is_learnt = is_trained_on if questions.name.startswith(("xquad", "squad2")) else lambda article: False
    articles = {document.id: article(questions.name, document) for document in questions.documents}

    def kept(queries: Sequence[Query]) -> list[Query]:
        about = [(articles[next(iter(query.relevant))], query) for query in queries]
        held_out = [query for article, query in about if side(article) == 1]
        fitting = [query for article, query in about if side(article) == 0 and not is_learnt(article)]
        return fitting + Random(questions.name).sample(held_out, min(REPORTING, len(held_out)))

    return replace(questions, queries=kept(questions.queries), unanswerable=kept(questions.unanswerable))


def report_reliability(gate: Gate, cases: Sequence[Case]) -> dict[str, Reliability]:
    """Print and return how probabilities compare with outcomes, by language; kinds have the weights of the fit."""
    print(
        "\nReliability: the share that is answerable among those of like probability, Brier score, calibration error\n"
    )
    found = {}
    for language in ("en", "es", "pt", "crossed"):
        here = [case for case in cases if _language(case.corpus) == language]
        right = [case.kind is Kind.ANSWERABLE for case in here]
        found[language] = one = reliability(probabilities(gate, here), right, list(case_weights(here)))
        bins = " ".join(f"{each.predicted:.2f}:{each.observed:.2f}" for each in one.bins)
        print(f"| {language} | {bins} | {one.brier:.3f} | {one.calibration_error:.3f} |")
    return found


def _language(corpus: str) -> str:
    if ">" in corpus:
        return "crossed"
    return {"faquad": "pt", "scifact": "en"}.get(corpus) or corpus.rpartition("/")[2][:2]


def report(title: str, gate: Gate, cases: Sequence[Case]) -> None:
    print(f"\n{title}: area under the curve with the document removed, then what is refused by target (in percent)\n")
    print(
        "| set | area | plain cosine | area, unanswerable | plain cosine |",
        " | ".join(f"{kind.value} {', '.join(map(str, TARGETS))}" for kind in Kind),
        "|",
    )
    print("|---" * (5 + len(Kind)) + "|")
    curves = {target: {one.corpus: one for one in figures(gate.aiming_at(target), cases)} for target in TARGETS}
    for corpus, one in curves[TARGETS[0]].items():
        shares = (
            " ".join(f"{100 * curves[target][corpus].refused.get(kind, float('nan')):.1f}" for target in TARGETS)
            if kind in one.refused
            else ""
            for kind in Kind
        )
        areas = (one.area, one.cosine_area, one.unanswerable_area, one.unanswerable_cosine_area)
        print(
            f"| {corpus} ({one.questions}) |", " | ".join(f"{area:.3f}" for area in areas), "|", " | ".join(shares), "|"
        )


def _crossed(folder: Path, asked: str, written: str) -> QuestionSet:
    """Return XQuAD's questions in the language `asked` with its articles in the language `written`."""
    questions, documents = (QuestionSet.load(folder / "xquad" / language) for language in (asked, written))
    return replace(documents, name=f"xquad/{asked}>{written}", queries=questions.queries)


def _number(document: Document) -> str:
    """Return `set-article` from a document id of the form `set-article-paragraph`."""
    return document.id.rsplit("-", 1)[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reader", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    main(given.folder, given.reader, given.write, given.plot)
