"""Addresses in text: anything that some renderer, messenger or terminal would turn into a link.

An address extends to white space or `<`, without the punctuation at its end. An address is allowed only if it equals an
address in the passages, so that a model can't append anything to one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from unicodedata import name, normalize
from urllib.parse import unquote

LONGEST_ADDRESS = 2000
# Maximum distance from the start of an address to where it is recognised.
LONGEST_BEGINNING = 640

# Common top-level domains that aren't words of code ("self.store"). The second list counts in lower case only, since
# they are also words ("así.Es").
_ENDINGS = """
com net org info biz io app dev xyz site online top shop club cloud ai tech edu gov mil eu uk br pt mx ar cl pe uy ve ec
bo cr fr ch nl ru cn jp kr au ca za tk ga cf gq ly gg tv example invalid localhost onion
""".split()
_ENDINGS_IN_SMALL = ("es", "us", "de", "it", "me")
_LABEL = r"[^\W_](?:[\w-]{0,62})"
_HOST = rf"(?:{_LABEL}\.){{1,9}}"
_START = re.compile(
    rf"""
    [a-z][a-z0-9+.-]{{0,30}} : [/\\]{{2}} (?=[^\s<\0])
    | : [/\\]{{2}} (?=[^\s<\0])
    | \b https? : (?=[^\s<\0])
    | \b (?:javascript|vbscript|livescript|mailto|view-source) : (?=[^\s<\0])
    | \b data : [\w.+-]{{0,60}} [/;,]
    | \b (?:file|blob|filesystem|intent) : (?=[/\w])
    | [/\\]{{2}} (?: \[ | [^\s<\0/\\\[\]!]{{1,255}} [.:/\\?] )
    | \b www \. (?=[^\s<\0])
    | {_HOST} [^\W\d_]{{2,24}} (?: / | \? (?=[^\s<\0]) | :\d{{2,5}} [/?] )
    | {_HOST} (?: {"|".join(_ENDINGS)} | (?-i:{"|".join(_ENDINGS_IN_SMALL)}) ) \b
    | \b \d{{1,3}} (?: \.\d{{1,3}} ){{3}} (?: / | :\d | \? (?=[^\s<\0]) )
    | [\w.+-]{{1,64}} @ {_LABEL} \. [^\W\d_]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_RUN = re.compile(r"[^\s<\0]+")
_MARKS = re.compile(r"(?:\[\d{1,3}\])+$")
_TRAILING = ".,;:!?'\"*_~`|]}>»”’…—–"
_CUT = re.compile(r"[()\[\]{}\"'`|*,;>»”’\\]")
_AUTHORITY = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//([^/?#]*)|([^/?#]*)", re.IGNORECASE)
_FORBIDDEN = re.compile(r"(?!https?://)[a-z][a-z0-9+.-]*:(?!\d)", re.IGNORECASE)


def address_start(text: str, start: int, end: int) -> int | None:
    """Return the start of the first address in a span without white space, or None.

    An encoded address (`%2F%2Fevil.example%2F`, `evil。example/`) begins at the start of the span.
    """
    match = _START.search(text, start, end)
    before = text[start : match.start() + 1 if match else end]
    if _START.search(_decoded(before)):
        return start
    return match.start() if match else None


def trimmed(address: str) -> str:
    """Strip punctuation and citation marks from the end, but not a bracket that the address also opens."""
    while address:
        mark = _MARKS.search(address)
        if mark:
            address = address[: mark.start()]
        elif address[-1] in _TRAILING or (address[-1] == ")" and address.count(")") > address.count("(")):
            address = address[:-1]
        else:
            break
    return address


def addresses_in(text: str) -> Iterator[str]:
    """Yield each address in a text, also cut short at every bracket, quotation mark or comma in it."""
    for run in _RUN.finditer(text):
        found = _START.search(text, *run.span())
        while found:
            cut = _CUT.search(text, found.end(), run.end())
            ends = [end for end in (run.end(), cut.start() if cut else 0) if end - found.start() <= LONGEST_ADDRESS]
            yield from (trimmed(text[found.start() : end]) for end in ends)
            found = _START.search(text, cut.end(), run.end()) if cut else None


def is_honest(address: str) -> bool:
    """Return whether a web or e-mail address leads to the host that a reader sees in it.

    Addresses with mixed scripts in the host, a user name before the host, an escaped host or another scheme are
    rejected.
    """
    if _FORBIDDEN.match(address) or "\\" in address or len(address) > LONGEST_ADDRESS:
        return False
    match = _AUTHORITY.match(address)
    authority = (match[1] or match[2] or "") if match else ""
    if "//" in address[:9]:
        if "@" in authority:
            return False
    else:
        authority = authority.rpartition("@")[2]
    is_plain = "%" not in authority and "&" not in authority and normalize("NFKC", authority) == authority
    return is_plain and len({_script(letter) for letter in authority if letter.isalpha()}) < 2


def _script(letter: str) -> str:
    return name(letter, "?").split()[0]


def _decoded(run: str) -> str:
    return unquote(unescape(normalize("NFKC", run))).replace("。", ".")
