"""Build a library of the four sample documents once per test run, in the first process that needs it."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock

import answerable

EXAMPLES = Path(__file__).parents[1] / "examples"


def example_library_folder(cache_folder: Path) -> Path:
    """The folder of a library with the sample documents, to be read only: copy it to change it."""
    example_cache(cache_folder)
    return cache_folder / "examples" / "library"


def example_cache(cache_folder: Path) -> Path:
    """A cache that has the sample documents' vectors: adding these documents again embeds nothing.

    It is apart from the cache of all tests, which may have been given another runtime's vectors, that differ a little.
    """
    cache = cache_folder / "examples"
    with FileLock(f"{cache}.lock"):
        if not (cache / "library").exists():
            _build(cache, cache_folder / "models")
    return cache


def _build(cache: Path, models: Path) -> None:
    cache.mkdir(exist_ok=True)
    models.mkdir(exist_ok=True)
    # The model is compiled once for all tests.
    if not (cache / "models").is_symlink():
        (cache / "models").symlink_to(models)
    with answerable.open(cache / "building", cache_folder=str(cache)) as library:
        report = library.add(EXAMPLES)
    assert report.added == 4, report
    (cache / "building").rename(cache / "library")
