"""Source code → Document: the unchanged file, with a part for each function, each class and the code between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import PurePosixPath

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.sources.code.languages import code_language
from answerable.sources.code.symbols import Symbol, find_symbols
from answerable.sources.text import require_text

_NOBODY = -1


def read_code(content: str, source: str) -> Document:
    """Return the document for decoded source code; without symbols if parsing fails. Raises EmptySource."""
    require_text(content, source)
    language = code_language(source)
    symbols = find_symbols(content, language) if language else []
    parts = tuple(_parts(content, symbols, language.above if language else ()))
    title = PurePosixPath(source.replace("\\", "/").rsplit("!/", 1)[-1]).name
    metadata = {"programming_language": language.name} if language else {}
    return Document(
        document_id(source, content), content, source, title, DocumentType.CODE, metadata=metadata, parts=parts
    )


def _parts(content: str, symbols: Sequence[Symbol], above: tuple[str, ...]) -> Iterator[Part]:
    """Cut the content where a symbol begins or ends; blank lines belong to the part before them."""
    lines = content.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    owners = _owners(lines, symbols, above)
    first = 0
    for line in range(1, len(lines) + 1):
        if line == len(lines) or (owners[line] != owners[first] and lines[line].strip()):
            start, end = starts[first], min(starts[line], len(content))
            symbol = symbols[owners[first]].path if owners[first] != _NOBODY else None
            if start < end:
                yield Part(start, end, PartKind.SYMBOL, symbol=symbol)
            first = line


def _owners(lines: Sequence[str], symbols: Sequence[Symbol], above: tuple[str, ...]) -> list[int]:
    """Return for each line the index of its innermost symbol, or _NOBODY."""
    owners = [_NOBODY] * len(lines)
    for index, symbol in enumerate(symbols):
        first, last = symbol.first, min(symbol.last, len(lines) - 1)
        if first > last:
            continue
        around = owners[first]
        if around != _NOBODY and symbols[around].first == first and symbols[around].last == symbol.last:
            # On the same lines as the outer symbol, which is enough to cite.
            continue
        # Comments and decorators directly above a function are about it.
        while first and owners[first - 1] == around and lines[first - 1].strip().startswith(above):
            first -= 1
        owners[first : last + 1] = [index] * (last + 1 - first)
    return owners
