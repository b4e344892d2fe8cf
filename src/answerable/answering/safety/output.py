"""What a model wrote, made harmless before anyone reads it: as it comes, or whole.

A model that follows a text in a document can write whatever that text says. So whatever it writes, no image, no tag, no
link but an address that stands in the passages it was given, no turn of a conversation, nothing invisible and nothing
for a terminal comes out. A link shows where it goes: `[the shop](https://…)` becomes `the shop (https://…)`. What is
left out leaves a blank where its neighbours could join up to something new.

Three filters in a row, each of which holds back only what may become something forbidden: usually a word.
"""

from __future__ import annotations

from collections.abc import Sequence

from answerable.answering.safety.characters import VisibleText
from answerable.answering.safety.fencing import allowed_addresses
from answerable.answering.safety.html_tags import TagFreeText
from answerable.answering.safety.links import SafeLinks
from answerable.datatypes import RetrievalResult


class StreamCleaner:
    """Makes what a model writes harmless while it comes. How the text is cut into pieces makes no difference."""

    def __init__(self, passages: Sequence[RetrievalResult]) -> None:
        self._visible = VisibleText()
        self._tags = TagFreeText()
        self._links = SafeLinks(allowed_addresses(passages))

    def feed(self, text: str) -> str:
        """What can be shown now."""
        return self._links.feed(self._tags.feed(self._visible.feed(text)))

    def finish(self) -> str:
        """What was held back. The cleaner can't be fed afterwards."""
        rest = self._tags.feed(self._visible.feed("", is_final=True), is_final=True)
        return self._links.feed(rest, is_final=True)


def clean_output(text: str, passages: Sequence[RetrievalResult]) -> str:
    """The whole of what a model wrote, made harmless. Never longer than the text."""
    cleaner = StreamCleaner(passages)
    return cleaner.feed(text) + cleaner.finish()
