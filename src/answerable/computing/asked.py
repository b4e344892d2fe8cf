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
LISTED = ("", "pdf", "chat", "mail")
"""Types of documents that may be asked for by name: "notes" and "tables" may also occur within documents."""
JOINED = 5
"""A topic is looked for after this many prepositions at most, since the topic is all words after the preposition."""
_SENTENCES = re.compile(r"[?!.;]\s+")


def stands_alone(folded: str) -> bool:
    """Return whether a message, in lower case without accents, asks about the library or for a summary by itself."""
    return _is_about_library(folded) or bool(summaries_wanted(folded))


def may_be_about_library(folded: str) -> bool:
    """Return whether a question has the form of a question about the library, or about all of its content."""
    return _is_about_library(folded) or counted_of_library(folded) is not None or is_of_everything(folded)


def _is_about_library(folded: str) -> bool:
    return any(library_form(name, folded) for name in ("mention", "people")) or listing(folded) is not None


def library_form(name: str, folded: str) -> re.Match[str] | None:
    """Return the match of a question with a form listed in `library.toml`."""
    return _library_pattern(name).match(folded.strip(EDGES))


def counted_of_library(folded: str) -> tuple[str, list[str]] | None:
    """Return which documents, or which part of them, a question counts, and the other conditions on them."""
    match = library_form("count", folded)
    nouns = word_lists("library")["nouns"]
    kind = next((kind for kind, same in nouns.items() if match and match["noun"] in same.split()), None)
    if match is None or kind is None:
        return None
    return kind, [word for word in words(match["rest"]) if word not in _said_of_library()]


def listing(folded: str) -> tuple[str, Span | None] | None:
    """Return which documents a question asks to list: their type ("" for all), and the place of their topic.

    None if the question asks for anything else: "Which documents do I have about the lease?" and "what is in here?" are
    listings, "what documents do I need?" is not.
    """
    text, known = folded.strip(EDGES), word_lists("library")["library"]
    joined = re.finditer(rf" (?:(?P<about>{known['about']})|{known['of']}) +(?=\S)", text)
    for match in islice(joined, JOINED):
        named, says_so = _documents_asked_for(text[: match.start()])
        if named and (match["about"] or says_so):
            return "", (match.end(), len(text))
    named, says_so = _documents_asked_for(text)
    if not says_so or not (named or re.search(rf"\b(?:{known['where']})\b", text)):
        return None
    nouns = word_lists("library")["nouns"]
    return next((kind for kind in LISTED if named in nouns[kind].split()), ""), None


def _documents_asked_for(text: str) -> tuple[str, bool]:
    """Return the noun for documents in a question, and whether it says that they exist; ("", …) if it says more."""
    said, known = set(words(text)), word_lists("library")["library"]
    nouns = {noun for kind in LISTED for noun in word_lists("library")["nouns"][kind].split()}
    if said - nouns - _said_of_library():
        return "", False
    says_so = said & set(known["holds"].split()) or re.search(rf"\b(?:{known['where']})\b", text)
    return next(iter(said & nouns), ""), bool(says_so)


@cache
def _said_of_library() -> frozenset[str]:
    known = word_lists("library")["library"]
    return frozenset(f"{known['words']} {known['holds']}".split())


@cache
def _library_pattern(name: str) -> re.Pattern[str]:
    documents = "|".join(sorted(word_lists("library")["nouns"][""].split(), key=len, reverse=True))
    written = word_lists("library")["patterns"][name].replace("DOCUMENTS", f"(?:{documents}|pdfs?|chats|notes|notas)")
    return re.compile(rf"(?:{written})", re.VERBOSE)


def summaries_wanted(folded: str) -> list[tuple[str, bool]]:
    """Return what each sentence asks to summarise, and whether it says so explicitly: "What is it? Resume it"."""
    found = []
    for sentence in (folded, *_SENTENCES.split(folded)):
        text = sentence.strip(EDGES)
        asked, about = summary_pattern("asked").match(text), summary_pattern("about").fullmatch(text)
        if match := asked or about:
            found.append((next(filter(None, match.groups())), asked is not None))
    return found


def is_of_everything(folded: str) -> bool:
    """Return whether a request asks for a summary of all documents."""
    match = summary_pattern("asked").match(folded.strip(EDGES))
    return bool(match and summary_pattern("everything").fullmatch(next(filter(None, match.groups()), "")))


@cache
def summary_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern listed in `summaries.toml`."""
    return re.compile(word_lists("summaries")["patterns"][name], re.VERBOSE)
