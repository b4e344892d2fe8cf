"""Outputs of a notebook's cell → text: what a program printed, the text of a result, the message of an error.

Pictures and other binary outputs are left out, and so is the traceback of an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

LONGEST = 20_000
"""Characters kept of one output: the logs of a training are longer."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")
_PICTURE = re.compile(
    r"!\[([^\[\]\n]{0,500})\]\(\s*(?:data|attachment):[^()\n]*\)|\bdata:image/[\w.+-]{1,50};base64,[\w+/=]*"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def joined(value: Any) -> str:
    """Return a text that notebooks store as one string or as a list of lines."""
    text = "".join(line for line in value if isinstance(line, str)) if isinstance(value, list) else value
    return clean(text) if isinstance(text, str) else ""


def clean(text: str) -> str:
    """Return a text with plain line ends, without control characters and surrogates; pictures become their names."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    text = text.replace("\r\n", "\n")
    if "data:" in text or "attachment:" in text:
        text = _PICTURE.sub(r"\1", text)
    return _CONTROLS.sub("", text.replace("\r", "\n"))


def output_texts(outputs: Any) -> Iterator[str]:
    """Yield the text of each output of a cell that has any, cut at its longest."""
    for output in outputs if isinstance(outputs, list) else ():
        text = _text(output) if isinstance(output, Mapping) else ""
        if text.strip():
            yield text.strip("\n").rstrip()[:LONGEST]


def _text(output: Mapping[str, Any]) -> str:
    match output.get("output_type"):
        case "stream":
            return _printed(output.get("text"))
        case "error" | "pyerr":
            return clean(_plain(f"{output.get('ename') or 'Error'}: {output.get('evalue') or ''}"))
        case "execute_result" | "display_data" | "pyout":
            return _result(output)
    return ""


def _result(output: Mapping[str, Any]) -> str:
    """Return a result's Markdown or plain text; of a picture, nothing."""
    data = output.get("data")
    # The third version has the formats beside the type, by short names.
    formats = data if isinstance(data, Mapping) else output
    if any(str(name).startswith(("image/", "png", "jpeg", "svg", "pdf", "application/pdf")) for name in formats):
        return ""
    texts = (joined(formats.get(name)) for name in ("text/markdown", "text/plain", "text", "text/latex"))
    return _plain(next(filter(None, texts), ""))


def _printed(value: Any) -> str:
    """Return what was printed as a terminal shows it: of a line that was written over, the last state."""
    raw = "".join(line for line in value if isinstance(line, str)) if isinstance(value, list) else value
    if not isinstance(raw, str):
        return ""
    raw = _plain(raw)
    if "\r" in raw:
        lines = raw.replace("\r\n", "\n").split("\n")
        raw = "\n".join(next(filter(None, reversed(line.split("\r"))), "") for line in lines)
    return clean(raw)


def _plain(text: str) -> str:
    """Return a text without colours."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text
