"""Put together the words that line ends broke: `docu-` and `ment` become `document` on the first of the two lines.

A hyphen that belongs to the word stays: `e-` and `mail` become `e-mail`. What else the document writes decides first,
then the letters around the hyphen, in English, Spanish and Portuguese.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence, Set
from functools import reduce

SHORTEST_WORD = 3
_HYPHENS = ("-", "- ", "\xad", "\xad ")
_LAST_TOKEN = re.compile(r"(\S*[^\W\d_])[-\xad] *$")
_FIRST_TOKEN = re.compile(r" *-?(\w\S*) *")
_LETTERS = re.compile(r"[^\W_]+")
# In addresses, paths and code a hyphen is written, whatever the words.
_WRITTEN = re.compile(r"[/\\@=_.:\d]|--")
# Parts of words that the lexicon of a document may hold as words of their own: "under-stand", "entre-tanto".
_OPENINGS = frozenset(
    "after any con contra del des dis ent entre every for fore hand inter into mal mis non out over par para per pre "
    "pro pros re semi sobre some sub super sur there trans under upon with".split()
)
# A hanging hyphen: "short- and long-term".
_CONJUNCTIONS = frozenset("and or to y o u e ou und oder bis et".split())
_HYPHENATED = frozenset(("self", "quasi", "vice"))
# Pronouns after Portuguese verbs: "fazê-lo", "disse-me".
_PRONOUNS = frozenset("me te se lhe lhes lo la los las no na nos nas vos".split())
_STRESSED = tuple("áâéêíóô")


def whole_words(pages: Sequence[str], fixed: Sequence[Collection[int]]) -> list[tuple[str, list[int]]]:
    """Return each page's text with whole words, and the numbers of the lines that are left of it.

    Lines in `fixed`, by page, keep their text. A line that was only the rest of a word is left out.
    """
    if not any(map(_may_be_broken, pages)):
        return [(page, list(range(page.count("\n") + 1))) for page in pages]
    written: set[str] = set()
    for page in pages:
        # A part of a broken word is no word. Splitting at white space is many times faster than matching words.
        text = reduce(lambda text, hyphen: text.replace(f"{hyphen}\n", "\0"), _HYPHENS, page.lower())
        written.update(text.replace(",", " ").replace(".", " ").split())
    return [_joined(page, lines, written) for page, lines in zip(pages, fixed, strict=True)]


def _may_be_broken(page: str) -> bool:
    return "-\n" in page or "- \n" in page or "\xad" in page


def _joined(page: str, fixed: Collection[int], written: Set[str]) -> tuple[str, list[int]]:
    lines = page.split("\n")
    if not _may_be_broken(page):
        return page, list(range(len(lines)))
    removed = set()
    for number in [number for number, line in enumerate(lines[:-1]) if line.endswith(_HYPHENS)]:
        # The word may have begun some lines above, and the lines between be gone.
        before = next(line for line in range(number, -1, -1) if line not in removed)
        rest = _FIRST_TOKEN.match(lines[number + 1])
        head = _LAST_TOKEN.search(lines[before])
        if rest is None or head is None or before in fixed or number + 1 in fixed or rest[1] in _CONJUNCTIONS:
            continue
        hyphen = "-" if _stays(head[1], rest, written) else ""
        lines[before] = lines[before][: head.end(1)] + hyphen + rest[1]
        lines[number + 1] = lines[number + 1][rest.end() :]
        if not lines[number + 1]:
            removed.add(number + 1)
    kept = [number for number in range(len(lines)) if number not in removed]
    if "\xad" in page:
        lines = [line if number in fixed else line.replace("\xad", "") for number, line in enumerate(lines)]
    return "\n".join(lines[number] for number in kept), kept


def _stays(head: str, rest: re.Match[str], written: Set[str]) -> bool:
    """Whether the hyphen between the end of a line and the first token of the next belongs to the word."""
    letters = _LETTERS.match(rest[1])
    after = letters[0] if letters else rest[1]
    if rest[0].lstrip().startswith("-") or not after.isalpha() or _WRITTEN.search(head):
        return True
    before = re.split(r"[^\w-]", head)[-1]
    part = before.rsplit("-", 1)[-1]
    if after[0].isupper():
        return len(part) < 2 or not part.isupper()
    return _is_compound(before.lower(), part.lower(), after.lower(), written)


def _is_compound(before: str, part: str, after: str, written: Set[str]) -> bool:
    if (is_joined := before + after in written) != (f"{before}-{after}" in written):
        return not is_joined
    if len(part) == 1 or part in _HYPHENATED or (part != before and part in written):
        return True
    if after in _PRONOUNS and part.endswith(_STRESSED):
        return True
    if part in _OPENINGS or min(len(part), len(after)) < SHORTEST_WORD:
        return False
    return not is_joined and part in written and after in written
