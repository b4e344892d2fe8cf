"""The way that questions go: through a library, its retrieval and a real client, to the server that obeys attacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from attacks import Ask
from helpers import HashEmbedder

from answerable.answering.grounded import GroundedAnswerer
from answerable.answering.models.openai_chat import OpenAIChatModel
from answerable.datatypes import Answer, Document
from answerable.library import Library
from answerable.reading.e5_judge import E5Judge
from answerable.settings import load_settings
from answerable.splitting.by_type import SplitterByType
from answerable.stores.memory.store import MemoryStore
from answerable.wiring.build import build_reader

JUDGE = E5Judge(threads=1)


@pytest.fixture
def ask() -> Ask:
    return _ask


def _ask(
    documents: Iterable[Document], question: str, server_url: str, where: Mapping[str, Any] | None = None
) -> Answer:
    model = OpenAIChatModel("adversary", api_key="none", base_url=server_url)
    with Library(
        store=MemoryStore(),
        embedder=HashEmbedder(),
        splitter=SplitterByType(160, 16),
        reader=build_reader(load_settings({})),
        answerer=GroundedAnswerer(model, gate=None, judge=JUDGE),
    ) as library:
        library.add_documents(list(documents))
        return library.ask(question, where)
