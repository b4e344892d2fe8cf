"""Many libraries asked as one, beside one library of the same chunks: the same ten passages, and what a search takes.

The one library is one of `million.py` (`…/answerable-benchmarks/million/100000`), with its questions and their vectors.
Its documents are dealt to 2, 10 and 40 libraries in folders, each with an index in a process of its own from 3,000
chunks on. All take turns, question by question. Wall time, since most of the work is other processes'. At the end one
of the forty hangs: a database server that accepts connections and says nothing.
`LIBRARY --counts 2 10 40 --searches 60 --folder FOLDER` (kept, and used again).
"""

from __future__ import annotations

import argparse
import json
import socket
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
from measuring import show
from million_steps import library, word_vectors
from standin import StandInEmbedder

from answerable.datatypes import FloatArray
from answerable.protocols import Store
from answerable.retrieval.retriever import SearchRequest, analyze_question, retrieve, word_weights
from answerable.stores.embedded.store import EmbeddedStore
from answerable.text.terms import term_weights
from answerable.wiring.stores import build_federation

ASKED = 30
BEST = 10
WARMING = 5
PATIENCE = 3.0

Found = tuple[tuple[float, ...], ...]


def deal(folder: Path, source: Path, counts: Sequence[int]) -> dict[int, list[str]]:
    """Deals the documents of a library, unless they are dealt already; all addresses by how many they are."""
    addresses = {1: [str(source)]}
    with closing(EmbeddedStore(source)) as store:
        made_by, listed = store.fingerprint, list(store.documents())
        assert made_by is not None
        for count in counts:
            places = [folder / f"{count}" / f"library-{number}" for number in range(count)]
            addresses[count] = [str(place) for place in places]
            for number, place in enumerate(places):
                if (place / "done").exists():
                    continue
                with closing(EmbeddedStore(place)) as part:
                    part.bind_embedder(made_by)
                    for each in listed[number::count]:
                        document = store.document(each.id)
                        assert document is not None
                        part.put(document, store.indexed_chunks(each.id))
                    part.refresh()
                (place / "done").touch()
    return addresses


def searching(store: Store, asked: Sequence[tuple[str, FloatArray]]) -> Callable[[int], Found]:
    """The search for each question: what `Library.search` does once it is embedded.

    Of passages that are equally near and have the question's words with equal weights, any is right: it gives these.
    """

    def search(number: int) -> Found:
        text, vector = asked[number % len(asked)]
        question, chunks = analyze_question(text, store.languages()), store.count()[1]
        request = SearchRequest(question, vector, word_weights(store, question, chunks), chunks)
        found = []
        for _, indexed in retrieve(store, request, BEST):
            weights = term_weights(indexed.terms)
            found.append((float(vector @ indexed.vector), *(weights.get(term, 0.0) for term in question.terms)))
        return tuple(found)

    return search


def measure(searches: Mapping[str, Callable[[int], Found]], count: int) -> list[tuple[str, list[Found], list[float]]]:
    """What each finds and its milliseconds, in turns."""
    found: dict[str, list[Found]] = {name: [] for name in searches}
    times: dict[str, list[float]] = {name: [] for name in searches}
    for number in range(count + WARMING):
        for name, search in searches.items():
            started = time.perf_counter()
            ten = search(number)
            if number >= WARMING:
                times[name].append(1000 * (time.perf_counter() - started))
                found[name].append(ten)
    return [(name, found[name], times[name]) for name in searches]


def same(found: Sequence[Found], tens: Sequence[Found]) -> float:
    """The share of questions with the same ten passages, in any order."""
    return statistics.mean(sorted(mine) == sorted(ten) for mine, ten in zip(found, tens, strict=True))


def common(found: Sequence[Found], tens: Sequence[Found]) -> float:
    """The share of the ten passages that both found, on average."""
    shares = [(Counter(mine) & Counter(ten)).total() / len(ten) for mine, ten in zip(found, tens, strict=True)]
    return statistics.mean(shares)


def main() -> None:
    """Builds, searches in turns, prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", type=Path)
    parser.add_argument("--searches", type=int, default=60)
    parser.add_argument("--counts", type=int, nargs="+", default=[2, 10, 40])
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    folder: Path = given.folder or Path(tempfile.mkdtemp())
    texts = json.loads((given.library / "questions.json").read_text("utf-8"))["questions"]
    queries = np.load(given.library / "queries.npy")
    addresses = deal(folder, given.library, given.counts)
    asked = list(zip(texts, queries, strict=False))[: given.searches]
    with ExitStack() as opened:
        stores: dict[str, Store] = {"one library": opened.enter_context(closing(EmbeddedStore(given.library)))}
        for count in given.counts:
            stores[f"{count} libraries"] = opened.enter_context(closing(build_federation(addresses[count], "", 60)))
        rows = measure({name: searching(store, asked) for name, store in stores.items()}, given.searches)
        _, tens, usual = rows[0]
        table = []
        for name, found, times in rows:
            ratio = statistics.median(mine / other for mine, other in zip(times, usual, strict=True))
            table += [
                (f"{name}: questions with the same ten", same(found, tens), ""),
                (f"{name}: share of the ten in common", common(found, tens), ""),
                (f"{name}: p50", statistics.median(times), "ms"),
                (f"{name}: p95", statistics.quantiles(times, n=20)[-1], "ms"),
                (f"{name}: times one library's", ratio, ""),
            ]
        show("federation", table, chunks=stores["one library"].count()[1], searches=given.searches)
    asking(addresses, asked)
    hanging(addresses[max(addresses)], asked)


def asking(addresses: Mapping[int, Sequence[str]], asked: Sequence[tuple[str, FloatArray]]) -> None:
    """Whole answers by quotes: searching and reading; the stand-in embeds the question."""
    embedder = StandInEmbedder(word_vectors())
    with ExitStack() as opened:
        libraries = {count: opened.enter_context(library(_store(some), embedder)) for count, some in addresses.items()}
        times: dict[int, list[float]] = {count: [] for count in libraries}
        for number, (question, _) in enumerate(asked[: ASKED + WARMING]):
            for count, one in libraries.items():
                started = time.perf_counter()
                one.quote(question)
                if number >= WARMING:
                    times[count].append(1000 * (time.perf_counter() - started))
        rows = [(f"answers of {count} libraries: p50", statistics.median(each), "ms") for count, each in times.items()]
        most = max(times)
        last = [mine / one for mine, one in zip(times[most], times[1], strict=True)]
        ratio = (f"answers of {most} libraries: times one library's", statistics.median(last), "")
        show("federation, answers", [*rows, ratio])


def _store(addresses: Sequence[str]) -> Store:
    return EmbeddedStore(Path(addresses[0])) if len(addresses) == 1 else build_federation(addresses, "", 60)


def hanging(addresses: Sequence[str], asked: Sequence[tuple[str, FloatArray]]) -> None:
    """A database server that accepts connections and says nothing, among the libraries."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://127.0.0.1:{silent.getsockname()[1]}/silent"
        started = time.perf_counter()
        with closing(build_federation([address, *addresses[1:]], "", PATIENCE)) as store:
            opened = time.perf_counter() - started
            search = searching(store, asked)
            times = []
            for number in range(WARMING, WARMING + 10):
                started = time.perf_counter()
                search(number)
                times.append(time.perf_counter() - started)
            named = ", ".join(store.unavailable)  # type: ignore[attr-defined]
            print(
                f"one hangs (patience {PATIENCE:g} s): opening {opened:.1f} s, then searches of {min(times):.2f} to "
                f"{max(times):.2f} s; named: {named}"
            )


if __name__ == "__main__":
    main()
