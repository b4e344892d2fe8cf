"""One system in a process of its own: what it finds, and what its work costs. Prints JSON; `run.py` starts it.

`python -m peers.worker rank|measure MODULE CORPUS PORT`.
"""

from __future__ import annotations

import importlib
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measuring import cpu_seconds, peak_megabytes

from peers.interface import Build, Corpus, Embedder, Found, Peer

DEPTH = 100
"""How many passages are asked for to rank documents: a document ranks by its best."""
ASKED = 10
"""How many are asked for otherwise."""
PROBED = 20
"""How many questions or documents a yes or no is tried on."""


def rank(peer: Peer, corpus: Corpus, embedder: Embedder) -> dict[str, Any]:
    """The documents found for each question, best first."""
    peer.add(corpus.documents)
    rankings = [
        list(dict.fromkeys(found.document for found in peer.search(question, DEPTH))) for question in corpus.questions
    ]
    return {"rankings": rankings, "passages": embedder.texts}


def measure(peer: Peer, corpus: Corpus, embedder: Embedder) -> dict[str, Any]:
    """What adding, asking and adding again cost, and what they leave."""
    indexing = _spent(embedder, lambda: peer.add(corpus.documents))
    for question in corpus.questions[:PROBED]:
        peer.search(question, ASKED)
    answers: list[list[Found]] = []
    asking = [
        _spent(embedder, lambda question=question: answers.append(peer.search(question, ASKED)))  # type: ignore[misc]
        for question in corpus.questions
    ]
    peak, texts = peak_megabytes(), embedder.texts
    again = _spent(embedder, lambda: peer.add(corpus.documents))
    return {
        "index": indexing,
        "p50": statistics.median(asking),
        "p95": statistics.quantiles(asking, n=20)[-1] if len(asking) > 1 else asking[0],
        "peak": peak,
        "again": again,
        "embedded_again": embedder.texts - texts,
        "duplicates": _repeats(peer, corpus),
        "offsets": _share_of_exact_offsets(peer, corpus, answers),
    }


def _spent(embedder: Embedder, work: Callable[[], object]) -> float:
    """CPU seconds of the work, without those of asking for vectors."""
    started = cpu_seconds() - embedder.cpu
    work()
    return cpu_seconds() - embedder.cpu - started


def _repeats(peer: Peer, corpus: Corpus) -> bool:
    """Whether a question brings the same passage of a document twice."""
    for question in corpus.questions[:PROBED]:
        found = [(each.document, each.passage) for each in peer.search(question, ASKED)]
        if len(set(found)) < len(found):
            return True
    return False


def _share_of_exact_offsets(peer: Peer, corpus: Corpus, answers: Sequence[Sequence[Found]]) -> float | None:
    """How many of the passages stand where they are said to, of 1; None where nothing is said."""
    contents = {document.id: peer.content(document) for document in corpus.documents}
    found = [each for answer in answers for each in answer]
    if all(each.start is None for each in found):
        return None
    return sum(contents[each.document][each.start : each.end] == each.passage for each in found) / len(found)


def found_after_deletion(peer: Peer, corpus: Corpus) -> bool:
    """Whether one of some deleted documents is found by its own words; the system is empty before."""
    some = corpus.documents[: 2 * PROBED]
    peer.add(some)
    gone = some[::2]
    for document in gone:
        peer.delete(document.id)
    return any(document.id in {each.document for each in peer.search(document.body[:200], ASKED)} for document in gone)


def main() -> None:
    """Runs what the command line says."""
    task, module, path, port = sys.argv[1:]
    corpus = Corpus.read(Path(path))
    embedder = Embedder(int(port))
    with tempfile.TemporaryDirectory() as folder:
        started = cpu_seconds()
        build: Build = importlib.import_module(f"peers.{module}").build
        peer = build(Path(folder) / "index", corpus.language, embedder)
        opened = cpu_seconds() - started
        report = {"rank": rank, "measure": measure}[task](peer, corpus, embedder)
        if task == "measure":
            report["still_found"] = found_after_deletion(
                build(Path(folder) / "other", corpus.language, embedder), corpus
            )
    print(json.dumps({**report, "import": opened}))


if __name__ == "__main__":
    main()
