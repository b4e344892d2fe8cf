"""Passages → the numbered text that a model is given, with marks around each that nothing in it can imitate.

The marks are fixed, so that a prompt is the same each time and providers can cache it; what looks like one of them in a
document loses its angle brackets. So do the control tokens of chat templates, and a line that begins as a turn of a
conversation does ("Human:") gets a blank before it. Hidden characters are left out. Anything else stays as it is:
whoever looks a quote up in the document leaves out blanks and hidden characters as well, and a quote of a control token
isn't found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath, PureWindowsPath

from answerable.answering.safety.addresses import addresses_in, is_honest
from answerable.answering.safety.characters import visible
from answerable.answering.safety.turn_marks import ROLE, TOKEN
from answerable.datatypes import RetrievalResult

LONGEST_NAME = 160

_MARK = re.compile(r"[<＜﹤]\s*(?:[/\\]\s*)?passage[^<>\n]{0,80}[>＞﹥]?", re.IGNORECASE)
_WITHOUT_BRACKETS = str.maketrans("<>[]＜＞﹤﹥", "()()()()")
_TURN = re.compile(
    rf"(?m)^(?=[#>*_]{{0,4}}[ ]?(?:{ROLE}|(?:instruction|response|input)s?)\s?[*_]{{0,2}}[:：])", re.IGNORECASE
)
_WEB = re.compile(r"https?://", re.IGNORECASE)


def fence(passages: Sequence[RetrievalResult]) -> str:
    """The passages as text, numbered from 1, each between marks that tell its title, source and place.

    Of a source the file's name is told, not the folder; of a web page the address.
    """
    return "\n\n".join(_fenced(number, passage) for number, passage in enumerate(passages, 1))


def allowed_addresses(passages: Sequence[RetrievalResult]) -> frozenset[str]:
    """The addresses that stand in the passages, and those of their documents, less what isn't what it seems to be.

    Each with its scheme and without.
    """
    honest = {address for passage in passages for address in _addresses(passage) if is_honest(address)}
    return frozenset(honest | {_WEB.sub("", address) for address in honest if _WEB.match(address)})


def harmless(text: str) -> str:
    """The text without hidden characters, with marks of passages and of turns broken."""
    text = visible(text)
    for pattern in (_MARK, TOKEN):
        text = pattern.sub(lambda match: match[0].translate(_WITHOUT_BRACKETS), text)
    return _TURN.sub(" ", text)


def _fenced(number: int, passage: RetrievalResult) -> str:
    document = passage.document
    said = {
        "title": document.title,
        "source": document.source if _WEB.match(document.source) else _file_name(document.source),
        "place": str(passage.chunk.location),
    }
    marks = "".join(f' {name}="{short}"' for name, value in said.items() if (short := _attribute(value)))
    return f'<passage number="{number}"{marks}>\n{harmless(passage.chunk.content)}\n</passage>'


def _attribute(text: str) -> str:
    """One line that can't end the mark it stands in."""
    line = " ".join(harmless(text).split()).translate(_WITHOUT_BRACKETS).replace('"', "'")
    return line if len(line) <= LONGEST_NAME else f"{line[:LONGEST_NAME]}…"


def _file_name(source: str) -> str:
    return PurePosixPath(PureWindowsPath(source).name).name


def _addresses(passage: RetrievalResult) -> Iterator[str]:
    document = passage.document
    yield from addresses_in(passage.chunk.content)
    for address in (document.source, str(document.metadata.get("url") or "")):
        if _WEB.match(address):
            yield from addresses_in(address)
