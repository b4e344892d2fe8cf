"""Which facts about the library, or which summaries, a question asks for; read in lower case without accents."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice

from answerable.computing.vocabulary import word_lists
from answerable.datatypes import Span
from answerable.text.terms import words

EDGES = " ?¿!¡.,;:\"'“”«»"
"""Characters that may precede or follow a question."""
LISTED = frozenset({"", "pdf", "chat", "mail"})
"""Types of documents that may be asked for by name: "notes" and "tables" may also occur within documents."""
JOINED = 5
"""A topic is looked for after this many prepositions and verbs at most, since the topic is all words after them."""
_SENTENCES = re.compile(r"[?!.;]\s+")


def stands_alone(folded: str) -> bool:
    """Return whether a message, in lower case without accents, asks about the library or for a summary by itself."""
    return listing(folded) is not None or people(folded) == [] or bool(summaries_wanted(folded))


def may_be_about_library(folded: str) -> bool:
    """Return whether a question has the form of a question about the library, or about all of its content."""
    return listing(folded) is not None or people(folded) is not None or is_of_everything(folded)


def listing(folded: str) -> tuple[str, Span | None] | None:
    """Return which documents a question asks to list: their type ("" for all), and the place of their topic.

    None if the question asks for anything else: "Which documents do I have about the lease?" and "what is in here?" are
    listings, "what documents do I need?" is not.
    """
    text = folded.strip(EDGES)
    if match := _pattern("library", "appear").fullmatch(text):
        return ("", match.span("what")) if _asks_which(match["before"]) else None
    for match in islice(_pattern("library", "joined").finditer(text), JOINED):
        before = text[: match.start()]
        named, says_so = _documents_asked_for(before)
        if named and (_asks_which(before) if match["verb"] else match["about"] or says_so):
            return "", (match.end(), len(text))
    named, says_so = _documents_asked_for(text)
    counted = _pattern("library", "count").search(text)
    types = named - {""}
    if len(types) > 1 or not (says_so or (named and counted)) or not (counted or types <= LISTED):
        return None
    return next(iter(types), ""), None


def _asks_which(text: str) -> bool:
    match = _pattern("library", "which").fullmatch(text)
    return bool(match and (match["noun"] or match["nouns"]) in _nouns())


def _documents_asked_for(text: str) -> tuple[set[str], bool]:
    """Return the types of documents that a text names ("" for all), and whether it asks for those that are kept.

    Neither if the text says more.
    """
    said = set(words(text))
    if said - listed("holds") - listed("words") - _nouns():
        return set(), False
    named = {kind for kind, nouns in word_lists("library")["nouns"].items() if said & set(nouns.split())}
    is_of_library = _pattern("library", "where").search(text) is not None
    return named, is_of_library or bool(named and said & listed("holds"))


def people(folded: str) -> list[str] | None:
    """Return the words that tell of which chat a question asks who is in it; None if it asks anything else."""
    said = list(words(folded))
    if _pattern("library", "count").search(folded):
        return None
    is_asked = not listed("people").isdisjoint(said) and not listed("groups").isdisjoint(said)
    known = listed("words") | listed("holds") | listed("people") | listed("groups")
    return [word for word in said if word not in known] if is_asked else None


@cache
def listed(name: str) -> frozenset[str]:
    """Return words that `library.toml` lists."""
    return frozenset(word_lists("library")["library"][name].split())


@cache
def _nouns() -> frozenset[str]:
    return frozenset(" ".join(word_lists("library")["nouns"].values()).split())


def summaries_wanted(folded: str) -> list[tuple[str, bool]]:
    """Return what each sentence asks to summarise, and whether it says so explicitly: "What is it? Resume it"."""
    found = []
    for sentence in (folded, *_SENTENCES.split(folded)):
        text = sentence.strip(EDGES)
        asked, about = _pattern("summaries", "asked").match(text), _pattern("summaries", "about").fullmatch(text)
        if match := asked or about:
            found.append((next(filter(None, match.groups())), asked is not None))
    return found


def is_of_everything(folded: str) -> bool:
    """Return whether a request asks for a summary of all documents."""
    match = _pattern("summaries", "asked").match(folded.strip(EDGES))
    return bool(match and _pattern("summaries", "everything").fullmatch(match["what"]))


@cache
def _pattern(lists: str, name: str) -> re.Pattern[str]:
    return re.compile(word_lists(lists)["patterns"][name], re.VERBOSE)
