"""Text whose lines a mail program has broken, and says so (RFC 3676) → whole paragraphs."""

from __future__ import annotations

import re

_QUOTE = re.compile(r">*")
_SIGNATURE = "-- "


def unwrapped(text: str, delete_space: bool = False) -> str:
    """Join lines that end with a space to the next ones of the same depth of quotation.

    `delete_space` is for languages without spaces between words.
    """
    joined: list[tuple[int, list[str]]] = []
    flows = False
    for line in text.split("\n"):
        quote = _QUOTE.match(line)
        depth = quote.end() if quote else 0
        # A space is put before what would look like a quotation or a separator.
        own = line[depth:].removeprefix(" ")
        is_signature = own.rstrip() == "--" or line[depth:] == _SIGNATURE or own == _SIGNATURE
        follows = flows and joined[-1][0] == depth and not is_signature
        flows = own.endswith(" ") and not is_signature
        if flows and delete_space:
            own = own[:-1]
        if follows:
            joined[-1][1].append(own)
        else:
            joined.append((depth, [_SIGNATURE if is_signature else own]))
    return "\n".join(f"{'>' * depth}{' ' if depth else ''}{''.join(pieces)}" for depth, pieces in joined)
