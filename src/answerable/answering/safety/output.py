"""Clean a model's text, streamed or whole, before anyone reads it.

A model may obey instructions in a document. So images, tags, turn markers, invisible characters, terminal escapes and
links to addresses outside its passages are removed. Allowed links show their target: `[the shop](https://…)` becomes
`the shop (https://…)`. A removed part leaves a space where its neighbours could join into something forbidden.

Three filters work in a row; each holds back only text that may become something forbidden, usually a word.
"""

from __future__ import annotations

from collections.abc import Sequence

from answerable.answering.safety.characters import VisibleText
from answerable.answering.safety.fencing import allowed_addresses
from answerable.answering.safety.html_tags import TagFreeText
from answerable.answering.safety.links import SafeLinks
from answerable.datatypes import RetrievalResult


class StreamCleaner:
    """A cleaner of streamed text; the result doesn't depend on how the stream is cut."""

    def __init__(self, passages: Sequence[RetrievalResult]) -> None:
        self._visible = VisibleText()
        self._tags = TagFreeText()
        self._links = SafeLinks(allowed_addresses(passages))

    def feed(self, text: str) -> str:
        """Return the text that can be shown now."""
        return self._links.feed(self._tags.feed(self._visible.feed(text)))

    def finish(self) -> str:
        """Return the text still held back. The cleaner can't be used afterwards."""
        rest = self._tags.feed(self._visible.feed("", is_final=True), is_final=True)
        return self._links.feed(rest, is_final=True)


def clean_output(text: str, passages: Sequence[RetrievalResult]) -> str:
    """Clean a whole text. The result is never longer than the text."""
    cleaner = StreamCleaner(passages)
    return cleaner.feed(text) + cleaner.finish()
