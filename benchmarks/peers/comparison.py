"""Systems × sets → figures: rankings once, costs as medians of rounds in which the systems take turns."""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from answerable.evaluation.metrics import ndcg
from answerable.evaluation.sets import QuestionSet
from peers.environments import Failed, environment, megabytes, work
from peers.interface import Corpus, Text
from peers.systems import System

Result = dict[str, Any]
"""What is known of a system: `ndcg` by set, `measured`, `megabytes`, `when`; or `failed` with the reason."""


class Sets:
    """The sets of `languages` in a folder of data, each also as a file for the systems' processes in `folder`.

    Of a set with more than `most` questions so many are drawn, the same ones every time.
    """

    def __init__(self, data: Path, folder: Path, languages: Mapping[str, str], most: int | None = None) -> None:
        self.files = {name: folder / f"{name.replace('/', '-')}.json" for name in languages}
        self._queries = {}
        for name, language in languages.items():
            loaded = QuestionSet.load(data / name, name)
            count = len(loaded.queries) if most is None else min(most, len(loaded.queries))
            self._queries[name] = random.Random(0).sample(loaded.queries, count)
            documents = [Text(each.id, each.title, each.content) for each in loaded.documents]
            Corpus(language, documents, [query.text for query in self._queries[name]]).write(self.files[name])

    def corpus(self, name: str) -> Corpus:
        """What the systems are given of a set."""
        return Corpus.read(self.files[name])

    @property
    def questions(self) -> dict[str, int]:
        """How many questions are asked of each set."""
        return {name: len(queries) for name, queries in self._queries.items()}

    def ndcg(self, name: str, rankings: Sequence[Sequence[str]]) -> float:
        """The mean nDCG@10 of rankings of a set's documents, one for each question."""
        pairs = zip(rankings, self._queries[name], strict=True)
        return statistics.fmean(ndcg(ranking, query.relevant) for ranking, query in pairs)


def rank(system: System, sets: Sets, port: int) -> Result:
    """The nDCG@10 of a system on each of the sets, and its size."""
    figures: dict[str, float] = {}
    result: Result = {"ndcg": figures, "when": f"{datetime.now():%Y-%m-%d %H:%M}"}
    try:
        python = environment(system)
        for name, file in sets.files.items():
            report = work(python, "rank", system, file, port)
            figures[name] = sets.ndcg(name, report["rankings"])
            _say(f"{system.name}: {name} {figures[name]:.4f}, {report['passages']:,} passages")
        return {**result, "megabytes": megabytes(system)}
    except Failed as error:
        _say(f"{system.name}: {error}")
        return {**result, "failed": str(error)}


def costs(systems: Sequence[System], corpus: Path, port: int, rounds: int) -> dict[str, Result]:
    """What working with a corpus costs each of the systems, by its module."""
    results: dict[str, Result] = {}
    reports: dict[str, list[Result]] = {system.module: [] for system in systems}
    for number in range(rounds):
        for system in systems:
            if "failed" in results.get(system.module, {}):
                continue
            _say(f"{system.name}: costs, round {number + 1} of {rounds}")
            try:
                reports[system.module].append(work(environment(system), "measure", system, corpus, port))
                results[system.module] = {"measured": _medians(reports[system.module])}
            except Failed as error:
                results[system.module] = {"failed": str(error)}
    return results


def merge(results: Result, found: Mapping[str, Result], questions: Mapping[str, int]) -> None:
    """Puts what was found of systems among earlier results; rankings of other questions are no longer compared."""
    known = results.setdefault("questions", {})
    for name in [name for name, count in questions.items() if known.get(name) != count]:
        known[name] = questions[name]
        for result in results.values():
            result.get("ndcg", {}).pop(name, None)
    for module, figures in found.items():
        before = results.get(module, {})
        before.pop("failed", None)
        results[module] = {**before, **figures, "ndcg": {**before.get("ndcg", {}), **figures.get("ndcg", {})}}


def _medians(reports: Sequence[Result]) -> Result:
    """The median of each figure; what is no figure is the same each time."""
    return {
        key: statistics.median(report[key] for report in reports) if type(value) in (int, float) else value
        for key, value in reports[0].items()
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
