"""An environment without the toolkit's variables, and the embedder that users get as a function."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from answerable.embedding import CachedEmbedder
from answerable.protocols import Passage


@pytest.fixture(autouse=True)
def _no_variables_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the toolkit reads is what a test sets."""
    for name in [name for name in os.environ if name.startswith("CODOMYRMEX_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def embed_meaning(embedder: CachedEmbedder) -> Callable[[list[str]], list[list[float]]]:
    """The local model's vectors."""
    return lambda texts: [
        vectors.whole.tolist() for vectors in embedder.embed_passages([Passage(text, ()) for text in texts])
    ]
