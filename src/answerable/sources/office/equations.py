"""Word's equations → a line of text in reading order: `Q=V/t`, `√(a+b)`, `x²`, `∑_(i=1)^(n)`, as in UnicodeMath."""

from __future__ import annotations

import re
from typing import Any

from answerable.sources.notation import lowered, raised

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_ONE = re.compile(r"[^\W\d_]+|\d[\d.,]*|\([^()]*\)")
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}


def equation(element: Any) -> str:
    """Return the text of an equation or of a part of one."""
    name = element.tag.removeprefix(M)
    if name == "t":
        return element.text or ""
    if name.endswith("Pr") or not element.tag.startswith(M):
        return ""
    part = {child.tag.removeprefix(M): child for child in element.iterchildren(f"{M}*")}

    def text(key: str) -> str:
        return equation(part[key]) if key in part else ""

    match name:
        case "f":
            bar = "¦" if _property(element, "type") == "noBar" else "/"
            return f"{_one(text('num'))}{bar}{_one(text('den'))}"
        case "sSup" | "sSub" | "sSubSup":
            return f"{_one(text('e'))}{lowered(text('sub'))}{raised(text('sup'), is_formula=True)}"
        case "sPre":
            return f"{lowered(text('sub'))}{raised(text('sup'), is_formula=True)}{text('e')}"
        case "rad":
            degree = text("deg")
            return f"{_ROOTS.get(degree) or raised(degree, is_formula=True) + '√'}{_one(text('e'))}"
        case "nary":
            limits = (f"{mark}({limit})" for mark, limit in (("_", text("sub")), ("^", text("sup"))) if limit)
            return f"{_property(element, 'chr') or '∫'}{''.join(limits)} {text('e')}"
        case "limLow" | "limUpp":
            return f"{text('e')}{'_' if name == 'limLow' else '^'}({text('lim')})"
        case "func":
            return f"{text('fName')} {_one(text('e'))}"
        case "d":
            inner = (_property(element, "sepChr") or "|").join(equation(each) for each in element.iterchildren(f"{M}e"))
            opening, closing = _property(element, "begChr"), _property(element, "endChr")
            return f"{'(' if opening is None else opening}{inner}{')' if closing is None else closing}"
        case "m" | "eqArr":
            lines = element.iterchildren(f"{M}mr", f"{M}e")
            return "; ".join(
                ", ".join(map(equation, line)) if line.tag == f"{M}mr" else equation(line) for line in lines
            )
    return "".join(map(equation, element.iterchildren("*")))


def _property(element: Any, name: str) -> str | None:
    """Return the value of an element's property; None if it has no such property."""
    found = next(element.iterfind(f"{element.tag}Pr/{M}{name}"), None)
    return None if found is None else found.get(f"{M}val", "")


def _one(text: str) -> str:
    """Return a part of an equation in brackets, unless it is one number, name or bracket."""
    core = text.strip()
    return core if _ONE.fullmatch(core) else f"({core})"
