"""Word's equations → a line of text in reading order: `Q=V/t`, `√(a+b)`, `x²`, `∑_(i=1)^(n) i`."""

from __future__ import annotations

import re
from typing import Any

from answerable.sources.xml import local_name
from answerable.text.notation import lowered, raised

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_ONE = re.compile(r"[^\W\d_]+|\d[\d.,]*|\([^()]*\)")
_PRODUCT = re.compile(r"[\w.,·]+")  # needs no brackets above a line
_FACTOR = re.compile(r"[\w(√]")  # beginning of what would seem to be below the line


# How the parts of an equation follow each other, by the name of the whole.
_ORDERS = {
    **{"f": "{num}/{den}", "sSup": "{e}{sup}", "sSub": "{e}{sub}", "sSubSup": "{e}{sub}{sup}", "sPre": "{sub}{sup}{e}"},
    **{"rad": "{deg}√{e}", "func": "{fName} {e}", "limLow": "{e}_({lim})", "limUpp": "{e}^({lim})"},
}


def equation(element: Any) -> str:
    """Return the text of an equation or of a part of one."""
    name = local_name(element)
    if name == "t":
        return element.text or ""
    if name.endswith("Pr") or name in ("del", "moveFrom"):
        return ""
    parts = dict.fromkeys(("num", "den", "sub", "sup", "deg", "e", "fName", "lim"), "")
    texts: list[str] = []
    is_fraction = False
    for child in element.iterchildren("*"):
        parts[local_name(child)] = text = equation(child)
        if is_fraction and _FACTOR.match(text):
            texts[-1] = f"({texts[-1]})"
        is_fraction = local_name(child) == "f"
        is_mixed = is_fraction and texts[-1:] and texts[-1][-1:].isdecimal()
        texts += [] if local_name(child).endswith("Pr") else [f"({text})" if is_mixed else text]
    if name in _ORDERS:
        return _ORDERS[name].format_map({key: _part(key, text) for key, text in parts.items()})
    if name == "nary":
        limits = (f"{mark}({text})" for mark, text in (("_", parts["sub"]), ("^", parts["sup"])) if text)
        return f"{_property(element, 'chr', '∫')}{''.join(limits)} {parts['e']}"
    if name == "d":
        inner = _property(element, "sepChr", "|").join(texts)
        return f"{_property(element, 'begChr', '(')}{inner}{_property(element, 'endChr', ')')}"
    return {"m": "; ", "mr": ", ", "eqArr": "; "}.get(name, "").join(texts)


def _part(name: str, text: str) -> str:
    if name in ("sup", "deg"):
        return raised(text, is_formula=True)
    is_whole = name in ("fName", "lim") or (name == "num" and _PRODUCT.fullmatch(text))
    return lowered(text) if name == "sub" else text if is_whole else _one(text)


def _property(element: Any, name: str, usual: str) -> str:
    """Return the value of an element's property, and the usual one if it has no such property."""
    found = next(element.iterfind(f"{element.tag}Pr/{M}{name}"), None)
    return usual if found is None else found.get(f"{M}val", "")


def _one(text: str) -> str:
    """Return a part of an equation in brackets, unless it is one number, name or bracket."""
    core = text.strip()
    return core if not core or _ONE.fullmatch(core) else f"({core})"
