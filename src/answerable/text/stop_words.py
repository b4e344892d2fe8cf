"""The most frequent words of each supported language, which do not show what a text is about."""

from __future__ import annotations

from collections.abc import Mapping

from answerable.text.word_lists import FOLDER, LANGUAGES, read_toml

STOP_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(read_toml(FOLDER / f"{language}.toml")["stop_words"].split()) for language in LANGUAGES
}
