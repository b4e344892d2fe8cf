"""Keyword search over the windows of chats: BM25, each chat stemmed in its own language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from answerable.retrieval import analyze_question
from answerable.stores import KeywordIndex
from answerable.text import document_language
from answerable.text.terms import terms

# So many of a chat's first messages tell its language.
_SAMPLE = 200


class ChatKeywords:
    """The words of windows, each given as the id of its chat and its text, and numbered in this order.

    A window's lines are `[time] Sender: text`.
    """

    def __init__(self, windows: Sequence[tuple[str, str]]) -> None:
        self._index = KeywordIndex()
        samples: dict[str, list[str]] = {}
        for chat, window in windows:
            sample = samples.setdefault(chat, [])
            if len(sample) < _SAMPLE:
                # Times and names say nothing of the language.
                sample += [line.partition("] ")[2].partition(": ")[2] for line in window.split("\n")]
        languages = {chat: document_language("\n".join(sample)) for chat, sample in samples.items()}
        self._languages = frozenset(languages.values())
        for number, (chat, window) in enumerate(windows):
            self._index.add(number, Counter(terms(window, languages[chat])))

    def search(self, question: str, k: int) -> list[tuple[int, float]]:
        """The k windows with the highest scores, best first: number and score."""
        return self._index.search(analyze_question(question, self._languages).terms, k)
