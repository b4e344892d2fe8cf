"""The toolkit's in-memory store: one exact search among 100,000 vectors of 384 dimensions, the ten best.

The peers, in the same process on the same vectors: a matrix product and a full sort, as people write it by hand; a loop
over the vectors, the brute force of the toolkit's specification; and langchain-core's in-memory store where it is
installed (`pip install langchain-core`). The two slow ones search among fewer vectors, and their time is scaled up.
Wall time stands beside CPU time, since it is what a caller waits; on a busy machine it says more about the machine.
`--vectors 100000 --searches 40`.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt
from measuring import ROOT, cpu_seconds, show

sys.path.insert(0, str(ROOT / "apps" / "toolkit" / "src"))

from codomyrmex.llm.rag import Chunk, InMemoryVectorStore

DIMENSION = 384
BEST = 10
SLOW = 2_000

Matrix = npt.NDArray[np.float32]
Search = Callable[[Matrix], Sequence[str]]


def ours(matrix: Matrix) -> Search:
    """The toolkit's store."""
    store = InMemoryVectorStore()
    for start in range(0, len(matrix), 1000):
        rows = matrix[start : start + 1000].tolist()
        store.add([Chunk(str(start + row), "", "", 0, 0, 0, vector) for row, vector in enumerate(rows)])
    return lambda query: [result.chunk.id for result in store.search(query.tolist(), BEST)]


def by_hand(matrix: Matrix) -> Search:
    """A matrix product and a full sort."""
    return lambda query: [str(row) for row in np.argsort(matrix @ query)[::-1][:BEST]]


def brute_force(matrix: Matrix) -> Search:
    """One cosine after the other, in Python."""
    vectors = matrix.tolist()

    def search(query: Matrix) -> Sequence[str]:
        wanted = query.tolist()
        length = math.hypot(*wanted)
        scores = [
            sum(one * other for one, other in zip(vector, wanted, strict=True)) / (math.hypot(*vector) * length)
            for vector in vectors
        ]
        return [str(row) for row in sorted(range(len(scores)), key=lambda row: -scores[row])[:BEST]]

    return search


def langchain(matrix: Matrix) -> Search:
    """langchain-core's store, which keeps vectors as lists."""
    from langchain_core.embeddings import Embeddings  # type: ignore[import-not-found]
    from langchain_core.vectorstores import InMemoryVectorStore as Peer  # type: ignore[import-not-found]

    class Given(Embeddings):  # type: ignore[misc]
        """The vector of a text is the row of that number."""

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            """The rows."""
            return [matrix[int(text)].tolist() for text in texts]

        def embed_query(self, text: str) -> list[float]:
            """The row."""
            return self.embed_documents([text])[0]

    peer = Peer(Given())
    names = [str(row) for row in range(len(matrix))]
    peer.add_texts(names, ids=names)
    return lambda query: [
        document.id for document, _ in peer.similarity_search_with_score_by_vector(query.tolist(), BEST)
    ]


def measure(searches: dict[str, Search], queries: Matrix) -> dict[str, tuple[float, float]]:
    """Median CPU and wall milliseconds of each; they take turns."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in searches}
    for query in queries:
        for name, search in searches.items():
            cpu, wall = cpu_seconds(), time.perf_counter()
            search(query)
            times[name].append((1000 * (cpu_seconds() - cpu), 1000 * (time.perf_counter() - wall)))
    return {
        name: (statistics.median(cpu for cpu, _ in each), statistics.median(wall for _, wall in each))
        for name, each in times.items()
    }


def main() -> None:
    """Both sizes in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=40)
    options = parser.parse_args()
    chance = np.random.default_rng(1)
    matrix = chance.standard_normal((options.vectors, DIMENSION), np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    queries = chance.standard_normal((options.searches, DIMENSION), np.float32)
    fast = {"toolkit": ours(matrix), "numpy by hand": by_hand(matrix)}
    for query in queries:
        if list(fast["toolkit"](query)) != list(fast["numpy by hand"](query)):
            sys.exit("the toolkit and numpy found different vectors")
    times = measure(fast, queries)
    few = matrix[:SLOW]
    slow = {"loop over vectors": brute_force(few)}
    if find_spec("langchain_core"):
        slow["langchain-core"] = langchain(few)
    for name, (cpu, wall) in measure(slow, queries[:5]).items():
        times[name] = (cpu * len(matrix) / SLOW, wall * len(matrix) / SLOW)
    rows = [
        row for name, (cpu, wall) in times.items() for row in ((name, cpu, "CPU ms"), (f"{name}, wall", wall, "ms"))
    ]
    rows += [
        (f"{name} / toolkit", cpu / times["toolkit"][0], "times")
        for name, (cpu, _) in times.items()
        if name != "toolkit"
    ]
    show("vector_store", rows, vectors=options.vectors, dimension=DIMENSION, best=BEST, searches=options.searches)


if __name__ == "__main__":
    main()
