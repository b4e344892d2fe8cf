"""Write passages into a prompt, each numbered and between tags that nothing in a passage can imitate.

The tags are fixed, so that providers can cache the prompt. In a passage, lookalikes of the tags and control tokens of
chat templates lose their brackets, a line that looks like a turn ("Human:") gets a space before it, and hidden
characters are removed. The rest is unchanged, so that quotes can still be found in the document.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath

from answerable.answering.safety.characters import visible
from answerable.answering.safety.turn_marks import ROLE, TOKEN
from answerable.datatypes import RetrievalResult
from answerable.text.shown_names import shown_source

LONGEST_NAME = 160

_MARK = re.compile(r"[<＜﹤]\s*(?:[/\\]\s*)?passage[^<>\n]{0,80}[>＞﹥]?", re.IGNORECASE)
_WITHOUT_BRACKETS = str.maketrans("<>[]＜＞﹤﹥", "()()()()")
_TURN = re.compile(
    rf"(?m)^(?=[#>*_]{{0,4}}[ ]?(?:{ROLE}|(?:instruction|response|input)s?)\s?[*_]{{0,2}}[:：])", re.IGNORECASE
)
_WEB = re.compile(r"https?://", re.IGNORECASE)


def fence(passages: Sequence[RetrievalResult]) -> str:
    """Return the passages as text, numbered from 1, each in a tag with its title, source and location.

    The source of a file is shown as its name without the folder, that of a web page as its URL.
    """
    return "\n\n".join(_fenced(number, passage) for number, passage in enumerate(passages, 1))


def harmless(text: str) -> str:
    """Return the text without hidden characters, and with tags and turn markers made harmless."""
    text = visible(text)
    for pattern in (_MARK, TOKEN):
        text = pattern.sub(lambda match: match[0].translate(_WITHOUT_BRACKETS), text)
    return _TURN.sub(" ", text)


def _fenced(number: int, passage: RetrievalResult) -> str:
    document = passage.document
    attributes = {
        "title": document.title,
        "source": document.source if _WEB.match(document.source) else _file_name(shown_source(document)),
        "place": str(passage.chunk.location),
    }
    shown = "".join(f' {name}="{short}"' for name, value in attributes.items() if (short := _attribute(value)))
    return f'<passage number="{number}"{shown}>\n{harmless(passage.chunk.content)}\n</passage>'


def _attribute(text: str) -> str:
    """Return a text fit for an attribute of a tag: on one line, without characters that end the tag."""
    line = " ".join(harmless(text).split()).translate(_WITHOUT_BRACKETS).replace('"', "'")
    return line if len(line) <= LONGEST_NAME else f"{line[:LONGEST_NAME]}…"


def _file_name(source: str) -> str:
    return PurePosixPath(PureWindowsPath(source).name).name
