"""Exact strings in a question: quoted words, and identifiers such as ERR_4711 or v1.2.3.

Case, white space and compatibility forms are ignored. Only whole strings match: ERR_471 is not in ERR_4711, nor v1.2 in
v1.2.3. Numbers, ordinals, hyphenated words ("20-year-old") and names with a single digit, which people spell in many
ways (IL-6, SHP2), are not identifiers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence

from answerable.protocols import Store
from answerable.retrieval.fetched import Fetched, Scored
from answerable.text.indexed_text import indexed_text
from answerable.text.terms import plain_words

# Reading the candidates is faster than looking up a word that is in more chunks.
LOOKED_UP = 1000
# Straight quotes open before a word and close after one; after a digit one may mean inches.
_QUOTED = re.compile(
    r"""(?<!\w)"(?!\s)([^"]{2,200})(?<!\s)"(?!\w)|“([^“”]{2,200})”|«([^«»]{2,200})»|„([^„“”]{2,200})[“”]"""
    r"""|‹([^‹›]{2,200})›"""
)
_TOKEN = re.compile(r"\w+(?:(?:[-./:]|::)\w+)*(?:\(\))?")
_CODE = re.compile(
    r"""
      \w*[^\W_]_\w+ (?:[-./:]\w+)* (?:\(\))?      # foo_bar, ERR_4711
    | \w+ (?:(?:\.|::)\w+)* \(\)                  # read(), store.read()
    | (?=.*\d.*\d) (?=.*[^\W\d_]) (?:[A-Z]{1,6}|\d+[A-Z]?) (?:[-./:](?:[A-Z]{1,6}|\d+[A-Z]?|[A-Z]\d+))+   # ISO-9001
    | [A-Z]{1,6}\d{3,}[A-Z]?                      # RFC2616
    | [vV]?\d+ (?:\.\d+){2,3} | [vV]\d+ (?:\.\d+)+    # 1.2.3, v1.2
    | \d+ (?:-\d+){2,}                            # 12-0001-44
    """,
    re.VERBOSE,
)


def exact_texts(question: str) -> tuple[str, ...]:
    """Return the quotes and identifiers in the question, each once, normalised for `count_held`."""
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(question)]
    codes = [match[0] for match in _TOKEN.finditer(question) if _CODE.fullmatch(match[0])]
    found = (_folded(text.strip(" .,;:!?")) for text in (*quoted, *codes))
    return tuple(dict.fromkeys(text for text in found if re.search(r"\w", text)))


def count_held(wanted: Iterable[str], text: str) -> int:
    """Return how many of these strings the text contains exactly."""
    folded = _folded(text)
    return sum(
        re.search(rf"(?<!\w)(?<!\w[-./:_]){re.escape(each)}(?!\w)(?![-./:_]\w)", folded) is not None for each in wanted
    )


def may_hold(store: Store, wanted: Sequence[str], languages: Collection[str], scored: Scored) -> Scored:
    """Drop chunks that, by the keyword index, contain none of these strings.

    The index is searched for each string's rarest word; if this word is in too many chunks, nothing is dropped.
    """
    words = [plain_words(text, languages) for text in wanted]
    counts = store.document_frequency([stem for those in words for word in those for stem in word])
    rarest = [min(those, key=lambda word: sum(counts[stem] for stem in word), default=None) for those in words]
    stems = frozenset[str]().union(*filter(None, rarest))
    most = sum(counts[stem] for stem in stems)
    if None in rarest or most > LOOKED_UP:
        return scored
    having = {number for number, _ in store.search_terms(sorted(stems), most, None)} if most else set[int]()
    return [pair for pair in scored if pair[0] in having]


def held_by(fetched: Fetched, wanted: Sequence[str], scored: Scored) -> dict[int, int]:
    """Return how many of these strings each chunk contains; chunks without any are left out."""
    stored = fetched.fetch([number for number, _ in scored])
    counts = {number: count_held(wanted, indexed_text(indexed.chunk)) for number, (indexed, _) in stored.items()}
    return {number: count for number, count in counts.items() if count}


def lift(scored: Scored, held: Mapping[int, int]) -> Scored:
    """Rank each chunk above all that contain fewer of the exact strings; scores are from 0 to 1."""
    if not held:
        return scored
    most = max(held.values())
    ordered = sorted(scored, key=lambda pair: (-held.get(pair[0], 0), -pair[1], pair[0]))
    return [(number, (score + held.get(number, 0)) / (1 + most)) for number, score in ordered]


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
