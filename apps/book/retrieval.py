"""Questions to the stored book: `python retrieval.py --query "…"`, and `--validate` for whether it can be searched."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from answerable.errors import SettingsError
from book.console import leave, printable, run
from book.embedding import embed_queries
from book.errors import CohereAPIError, QdrantConnectionError
from book.models import QueryValidation, RetrievalResult, ValidationReport
from book.store import COLLECTION, open_collection

__all__ = [
    "CohereAPIError",
    "QdrantConnectionError",
    "QueryValidation",
    "RetrievalResult",
    "ValidationReport",
    "default_queries",
    "main",
    "search",
    "validate",
]

DEFAULT_QUERIES = 10
THRESHOLD = 0.7
_SHOWN = 100

_log = logging.getLogger("book")


def search(
    query: str, top_k: int = 5, threshold: float = 0.0, collection_name: str = COLLECTION
) -> list[RetrievalResult]:
    """The chunks nearest to a question, by the cosine of their vectors, best first; none below the threshold.

    A collection that isn't there holds nothing. Raises ValueError for an empty question and for numbers out of bounds,
    SettingsError for a variable that is missing, CohereAPIError and QdrantConnectionError.
    """
    return _search_all([query], top_k, threshold, collection_name)[0]


def validate(test_queries: list[str], threshold: float = THRESHOLD, top_k: int = 3) -> ValidationReport:
    """Asks each of the questions; one passes when its best result reaches the threshold.

    Raises ValueError where there is no question, and what `search` raises.
    """
    return _validate(test_queries, threshold, top_k, COLLECTION)


def default_queries(collection_name: str = COLLECTION) -> list[str]:
    """What is asked where nobody says what: the titles of up to ten pages, spread over the stored book."""
    with open_collection(collection_name) as collection:
        titles = list(dict.fromkeys(page.title for _, page in sorted(collection.pages().items()) if page.title.strip()))
    count = min(len(titles), DEFAULT_QUERIES)
    return [titles[number * len(titles) // count] for number in range(count)]


def main(arguments: Sequence[str] | None = None) -> int:
    """What the command line asks for; the exit status, which is 1 when a validation fails."""
    parser = argparse.ArgumentParser(prog="retrieval.py", description="Asks the book that is stored in Qdrant.")
    modes = parser.add_mutually_exclusive_group(required=True)
    modes.add_argument("--query", help="a question")
    modes.add_argument("--validate", action="store_true", help="whether questions find what they should")
    parser.add_argument("--queries", type=Path, metavar="FILE", help="the questions to validate with, one a line")
    parser.add_argument("--threshold", type=float, help=f"the least cosine (default: 0, to validate {THRESHOLD})")
    parser.add_argument("--collection", default=COLLECTION, help="the collection in Qdrant (default: %(default)s)")
    given = parser.parse_args(arguments)
    if given.query is not None:
        return run(lambda: _ask(given.query, given.threshold or 0.0, given.collection))
    threshold = THRESHOLD if given.threshold is None else given.threshold
    return run(lambda: _check(given.queries, threshold, given.collection))


def _validate(queries: Sequence[str], threshold: float, top_k: int, collection_name: str) -> ValidationReport:
    if not queries:
        raise ValueError("there is no question to validate with: give one or more")
    _check_threshold(threshold)
    checked = []
    for query, results in zip(queries, _search_all(queries, top_k, -1.0, collection_name), strict=True):
        score = results[0].score if results else 0.0
        checked.append(QueryValidation(query, bool(results) and score >= threshold, score, results))
    passed = sum(each.passed for each in checked)
    return ValidationReport(passed / len(checked), passed, len(checked), threshold, checked)


def _search_all(
    queries: Sequence[str], top_k: int, threshold: float, collection_name: str
) -> list[list[RetrievalResult]]:
    if not all(query.strip() for query in queries):
        raise ValueError("the question is empty: ask something")
    if top_k < 1:
        raise ValueError(f"top_k is {top_k}: it must be at least 1")
    _check_threshold(threshold)
    with open_collection(collection_name) as collection:
        if not collection.exists():
            _log.warning("There is no collection %r: run main.py first.", collection_name)
            return [[] for _ in queries]
    vectors = embed_queries(queries)
    with open_collection(collection_name) as collection:
        return [collection.search(vector, top_k, threshold) for vector in vectors]


def _check_threshold(threshold: float) -> None:
    if not -1 <= threshold <= 1:
        raise ValueError(f"threshold is {threshold}: a cosine is from -1 to 1")


def _ask(query: str, threshold: float, collection_name: str) -> int:
    results = search(query, threshold=threshold, collection_name=collection_name)
    for result in results:
        print(f"{result.score:.3f} - {printable(result.title)}: {printable(result.text)[:_SHOWN]}...")
        print(f"        {printable(result.url)}")
    if not results:
        print("Nothing was found.")
    return 0


def _check(file: Path | None, threshold: float, collection_name: str) -> int:
    queries = _read_queries(file) if file else default_queries(collection_name)
    if not queries:
        print(f"The collection {printable(collection_name)!r} holds no pages to ask for: run main.py first.")
        return 1
    report = _validate(queries, threshold, 3, collection_name)
    for each in report.results:
        print(f"{'PASS' if each.passed else 'FAIL'} {each.score:.3f} - {printable(each.query)}")
    print(f"Pass rate: {report.pass_rate:.0%} ({report.passed} of {report.total} reach {report.threshold})")
    return 0 if report.pass_rate >= 1.0 else 1


def _read_queries(file: Path) -> list[str]:
    try:
        lines = file.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file} can't be read as UTF-8 ({error}): give a file with one question a line") from error
    queries = [line.strip() for line in lines if line.strip()]
    if not queries:
        raise SettingsError(f"{file} holds no question: write one a line")
    return queries


if __name__ == "__main__":
    leave(main())
