"""The sentences that WhatsApp itself writes into an export, by language; `whatsapp_words.json` holds the lists.

The sentences come from real exports. A language may have several of a kind, because the app changes them. `plain`
normalises both texts of a comparison. No list is complete, so `whatsapp_bodies` checks the form of a text first.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

MARKS = "\u061c\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
"""Invisible marks of direction and width; at the ends of a text they have no meaning."""

BLANKS = " \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""All blanks except line ends, for use inside a character class."""

LONGEST_SENTENCE = 160
"""Upper bound for the characters of a sentence of the app."""

_JOINERS = "\u200c\u200d"
_MARKS = re.compile(f"[{MARKS}]+")
_MARKS_BUT_JOINERS = re.compile(f"(?:(?![{_JOINERS}])[{MARKS}])+")
_CURLY = re.compile("[’‘ʻʼ`]")
_AROUND = " .。।!"


def without_marks(text: str) -> str:
    """Remove invisible marks, except joiners inside the text: 👩‍💻 and Persian words need them."""
    return text if text.isascii() else _MARKS_BUT_JOINERS.sub("", text).strip(_JOINERS)


def plain(text: str) -> str:
    """Normalise a text for comparison: no marks, lower case, single spaces, no punctuation at its ends."""
    if not text.isascii():
        text = _CURLY.sub("'", _MARKS.sub("", text))
    return " ".join(text.casefold().split()).strip(_AROUND)


WORDS: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def _sentences(name: str) -> frozenset[str]:
    return frozenset(plain(sentence) for sentences in WORDS[name].values() for sentence in sentences)


def _any_of(name: str) -> str:
    return "|".join(WORDS[name])


def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


OMITTED_MEDIA = _sentences("omitted_media")
# iPhones name the kind of media and use no brackets: each kind combines with each form of "omitted" in its language.
OMITTED_KIND = _sentences("omitted_other") | {
    plain(f"{kind} {form}")
    for language in WORDS["omitted_kinds"].values()
    for kind in language["kinds"]
    for form in language["forms"]
}
DELETED = _sentences("deleted")
ATTACHED = _sentences("attached")
MISSED_CALL = _sentences("missed_call")
# Beginnings of notices that address the user, long enough that no person begins a message with the same words.
NOTICES_TO_READER = tuple(map(plain, WORDS["notices_to_reader"]))

EDITED = _pattern(_any_of("edited"))
MEDIA_STEM = _pattern(_any_of("media_stem"))
OMITTED_STEM = _pattern(_any_of("omitted_stem"))
VIEW_ONCE = _pattern(_any_of("view_once"))
# Placeholders for messages that a person sent: a live location, a message that hasn't arrived yet.
SENT = _pattern(_any_of("sent"))

# "Messages and calls are end-to-end encrypted …": the beginning of this notice, and its key phrase.
ENCRYPTION_START = _pattern(f"(?:(?:{_any_of('encryption_articles')}) )*(?:{_any_of('encryption_messages')})")
ENCRYPTION_FIRST_WORD = _pattern(f"{_any_of('encryption_messages')}|(?:{_any_of('encryption_articles')})$")
ENCRYPTION = _pattern(_any_of("encryption"))

# Verbs and nouns of notices about a group; they count only next to the name of the person the notice is about.
NOTICE = _pattern(rf"\b(?:{_any_of('notice_words')})\b|{_any_of('notice_stems')}")
# Notices that quote a text, which may contain a colon: `Ana changed the subject to "Foo: bar"`.
NOTICE_WITH_QUOTE = _pattern(rf"\b(?:{_any_of('quote_verbs')})[^:]{{0,60}}\b(?:{_any_of('quote_nouns')})")

_ALL_SENTENCES = OMITTED_MEDIA | OMITTED_KIND | DELETED | ATTACHED | MISSED_CALL | frozenset(NOTICES_TO_READER)
FIRST_WORDS = frozenset(sentence.split()[0].strip(_AROUND) for sentence in _ALL_SENTENCES)
"""First words of all these sentences: a text with another first word needs no comparison."""

LAST_WORDS = frozenset(sentence.split()[-1] for sentence in OMITTED_KIND)
"""Last words of placeholders that may follow a file name."""
