"""Make notebooks, marked-up texts, subtitles, outlines and notes of any length that are meant to take long."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def _notebook(cells: list[dict[str, Any]]) -> str:
    return json.dumps({"nbformat": 4, "cells": cells})


def _printed(text: str) -> str:
    outputs = [{"output_type": "stream", "text": text}]
    return _notebook([{"cell_type": "code", "source": "x", "outputs": outputs}])


def _captions(count: int, text: str, seconds: int = 1) -> str:
    return "".join(f"{n}\n00:00:01,000 --> 00:00:0{seconds},000\n{text}\n\n" for n in range(count))


def _canvas(text: str, links: int) -> str:
    edges = [{"fromNode": "a", "toNode": "a"}] * links
    return json.dumps({"nodes": [{"id": "a", "type": "text", "text": text}], "edges": edges})


def _attached(count: int) -> str:
    file = "<resource-attributes><file-name>a.txt</file-name></resource-attributes>"
    resources = f"<resource><data>eCB5</data>{file}</resource>" * count
    return f"<en-export><note><title>T</title><content>x</content>{resources}</note></en-export>"


_TEX = "\\begin{document}\n"
_BOOKMARKS = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n"
_OPML = "<opml><body>"

WRITING: dict[str, tuple[str, int, Callable[[int], str | bytes]]] = {
    "notebook: cells": ("a.ipynb", 400, lambda n: _notebook([{"cell_type": "markdown", "source": "# A\nb"}] * n)),
    "notebook: cells of code": ("a.ipynb", 2_000, lambda n: _notebook([{"cell_type": "code", "source": "x = 1"}] * n)),
    "notebook: pictures cut short": ("a.ipynb", 5_000, lambda n: _printed("![a](data:" * n)),
    "notebook: brackets": ("a.ipynb", 5_000, lambda n: _notebook([{"cell_type": "raw", "source": "![data:" * n}])),
    "notebook: lines written over": ("a.ipynb", 20_000, lambda n: _printed("a\r" * n)),
    "notebook: fences": ("a.ipynb", 5_000, lambda n: _notebook([{"cell_type": "code", "source": "```\n" * n}])),
    "notebook: colours": ("a.ipynb", 20_000, lambda n: _printed("\x1b[" * n)),
    "reST: headings": ("a.rst", 2_000, lambda n: "A\n===\n\n" * n),
    "reST: comments": ("a.rst", 5_000, lambda n: ".. a comment\n\nx\n\n" * n),
    "reST: one long comment": ("a.rst", 10_000, lambda n: "x\n\n.. a\n" + "\n   b" * n),
    "reST: directives": ("a.rst", 5_000, lambda n: ".. note::\n   :a: b\n\n" * n + "x"),
    "reST: colons": ("a.rst", 20_000, lambda n: "x\n\n.. " + "a:" * n),
    "Org: headlines": ("a.org", 2_000, lambda n: "* a\n" * n + "x"),
    "Org: open blocks": ("a.org", 5_000, lambda n: "x\n" + "#+begin_a\n" * n + "* b\n#+end_a\n"),
    "Org: open drawers": ("a.org", 5_000, lambda n: "x\n" + ":a:\n" * n),
    "Org: tags": ("a.org", 20_000, lambda n: "* a" + " :a:" * n + "b"),
    "AsciiDoc: sections": ("a.adoc", 2_000, lambda n: "== a\n\nb\n\n" * n),
    "AsciiDoc: open blocks": (
        "a.adoc",
        5_000,
        lambda n: "x\n" + "".join(f"{'-' * (4 + i % 90)}\n" for i in range(n)),
    ),
    "AsciiDoc: spaces of a heading": ("a.adoc", 50_000, lambda n: "== a" + " " * n + "b"),
    "AsciiDoc: brackets": ("a.adoc", 50_000, lambda n: "x\n\na::" + "[" * n),
    "LaTeX: sections": ("a.tex", 2_000, lambda n: _TEX + "\\section{a}\nb\n" * n),
    "LaTeX: open sections": ("a.tex", 3_000, lambda n: _TEX + "\\section{\n" * n + "x"),
    "LaTeX: open titles": ("a.tex", 10_000, lambda n: _TEX + "\\title{" * n + "x"),
    "LaTeX: commands": ("a.tex", 10_000, lambda n: _TEX + "\\centering " * n + "x"),
    "LaTeX: braces": ("a.tex", 20_000, lambda n: _TEX + "\\label" + "{" * n),
    "LaTeX: backslashes": ("a.tex", 50_000, lambda n: _TEX + "b\n%a" + "\\" * n + "x"),
    "LaTeX: verbatims": ("a.tex", 2_000, lambda n: _TEX + "\\begin{verbatim}\na\n\\end{verbatim}\n\\section{b}\n" * n),
    "LaTeX: items": ("a.tex", 3_000, lambda n: _TEX + "\\item a b c\n" * n),
    "subtitles: cues": ("a.srt", 3_000, lambda n: _captions(n, "Words that end.")),
    "subtitles: cues without an end": ("a.srt", 3_000, lambda n: "".join(_captions(1, f"word {i}") for i in range(n))),
    "subtitles: tags": ("a.vtt", 5_000, lambda n: _captions(1, "<a " * n)),
    "subtitles: lines of a cue": ("a.srt", 5_000, lambda n: _captions(1, "".join(f"word {i}\n" for i in range(n)))),
    "outlines: entries": ("a.opml", 3_000, lambda n: _OPML + '<outline text="a"/>' * n + "</body></opml>"),
    "outlines: entries in entries": ("a.opml", 3_000, lambda n: _OPML + '<outline text="a">' * n),
    "outlines: bookmarks": ("a.html", 3_000, lambda n: _BOOKMARKS + '<DT><A HREF="http://a/">b</A>\n' * n),
    "outlines: folders in folders": ("a.html", 3_000, lambda n: _BOOKMARKS + "<DL><DT><H3>a</H3>\n" * n),
    "outlines: more of a bookmark": ("a.html", 5_000, lambda n: f'{_BOOKMARKS}<A HREF="x:y">b</A>' + "<DD>c\n" * n),
    "outlines: open tags": ("a.html", 20_000, lambda n: f'{_BOOKMARKS}<A HREF="x:y">b</A>' + "<a " * n),
    "outlines: quotes": ("a.html", 20_000, lambda n: f'{_BOOKMARKS}<A HREF="x:y">b</A><a ' + '"' * n),
    "canvas: links to one long card": ("a.canvas", 5_000, lambda n: _canvas("word " * n, n)),
    "notes: attached files of one name": ("a.enex", 200, _attached),
    "Markdown: tags and links": ("a.md", 3_000, lambda n: "#a/b/c [[d]] " * n),
    "Markdown: open links": ("a.md", 5_000, lambda n: "x [[" * n),
    "Markdown: steps of a tag": ("a.md", 5_000, lambda n: "x #" + "a/" * n),
}
"""The file's name, a size that takes about a tenth of a second, and the file of any size."""
