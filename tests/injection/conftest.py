"""Ask questions through a library, its retrieval and a real client, with a model server that obeys attacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from attacks import Ask
from helpers import HashEmbedder

from answerable.answering.decide import Answering, Writer
from answerable.datatypes import Answer, Document
from answerable.library import Library
from answerable.providers.openai import OpenAIChatModel
from answerable.settings import load_settings
from answerable.splitting.by_type import SplitterByType
from answerable.stores.memory import MemoryStore
from answerable.wiring.build import build_reader


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
        answerer=Answering(writer=Writer(model)),
    ) as library:
        library.add_documents(list(documents))
        return library.ask(question, where)
