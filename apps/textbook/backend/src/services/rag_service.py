"""Questions → the passages of the book that are nearest to them."""

from __future__ import annotations

import asyncio
import logging

from src.collection import Collected
from src.embedding import open_embedder
from src.errors import OpenAIAPIError, QdrantOperationError, openai_errors
from src.passages import Passage
from src.qdrant import NotThere, open_qdrant
from src.services.book import shelf
from src.settings import COLLECTION, Settings, load

__all__ = ["OpenAIAPIError", "QdrantOperationError", "retrieve_relevant_context"]

_log = logging.getLogger("textbook")


async def retrieve_relevant_context(
    query: str,
    limit: int = 3,
    selected_text_hint: str | None = None,
) -> list[dict[str, str]]:
    """The passages that are nearest to a question, best first, `limit` at most, each with four keys.

    `text`, the `source` file, the title of its `chapter`, and the `section`'s headings. With a text that was selected
    in the book, those of the section that it stands in, or of several; the whole book is searched where it stands
    nowhere, and where nothing is found in that section. Without a collection there are none.

    Raises OpenAIAPIError, QdrantOperationError, ValueError for an empty question or a limit below 1, and SettingsError
    for a variable that is missing.
    """
    if not query.strip():
        raise ValueError("the question is empty: ask something")
    if limit < 1:
        raise ValueError(f"limit is {limit}: it must be at least 1")
    # Model and network block: the event loop goes on meanwhile.
    passages = await asyncio.to_thread(_retrieve, load(), query, limit, selected_text_hint or "")
    return [passage.payload() for passage in passages]


def _retrieve(settings: Settings, query: str, limit: int, selected: str) -> list[Passage]:
    embedder = open_embedder(settings.engine)
    with openai_errors():
        vector = embedder.embed_query(query).tolist()
    try:
        with open_qdrant(settings.qdrant) as opened:
            collected = Collected(opened)
            collected.check_embedder(embedder.fingerprint)
            places = shelf(settings.qdrant).book(collected).places_of(selected) if selected.strip() else []
            found = collected.search(vector, limit, places, embedder.fingerprint) if places else []
            return found or collected.search(vector, limit, (), embedder.fingerprint)
    except NotThere:
        _log.warning("There is no collection %r: ingest the book first.", COLLECTION)
        return []
