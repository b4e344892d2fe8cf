"""Fuzz notebooks, marked-up texts, subtitles, outlines, canvases and exported notes."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from draw import Draw
from fuzz_exports import with_another_value
from fuzz_targets import Target
from fuzz_texts import MARKDOWN
from reading_here import read_file
from soundness import assert_same_again, assert_sound

from answerable.datatypes import Document
from answerable.sources.dispatch import read_bytes

MARKUP = (
    "Title\n=====\n\n",
    "=====\n Over\n=====\n",
    "Sub\n---\n",
    ".. note:: text\n   :option: x\n\n   more\n",
    ".. comment\n   below\n\n",
    ".. _target: x\n",
    ".. |s| image:: y\n",
    "..\n",
    "* TODO head :tag:\n",
    "** COMMENT hidden\n",
    "#+TITLE: x\n",
    "#+begin_src py\n",
    "#+end_src\n",
    ":PROPERTIES:\n",
    ":END:\n",
    "# words\n",
    "= Doc\nAda <a@b>\nv1\n:key: value\n",
    "== Part ==\n",
    "////\n",
    "----\n",
    "====\n",
    "--\n",
    "[source]\n",
    "x::y[z]\n",
    "|===\n| a | b\n",
    "\\documentclass{a}\n\\title{T\\&}\n\\begin{document}\n",
    "\\section*[s]{Head {a} \\b}\\label{x}\n",
    "\\begin{verbatim}\n",
    "\\end{verbatim}\n",
    "\\begin{comment}",
    "\\end{document}",
    "\\item ",
    "\\%%",
    "text % remark\n",
    "{",
    "}",
    "    ",
    "words that say something. ",
    "\n",
)
SUBTITLES = (
    "WEBVTT\n\n",
    "1\n00:00:01,000 --> 00:00:02,000\n",
    "00:01.500 --> 59:59.9 align:start\n",
    "9999:00:00,1 --> 0:0:0.0\n",
    "NOTE x\n\n",
    "STYLE\n::cue {}\n\n",
    "<v Ana>",
    "<c.x><00:01.2>",
    "{\\an8}",
    "- ",
    "-->",
    "42\n",
    "words that go on ",
    "and end. ",
    "&amp;&#0;",
    "\n",
    "\n\n",
)
OUTLINES = (
    "<?xml version='1.0' encoding='utf-16'?>",
    "<opml version='2.0'><head><title>T</title></head><body>",
    "<outline text='a' _note='b&#10;c' xmlUrl='https://example.org/'>",
    "<outline text='&lt;b&gt;'/>",
    "</outline>",
    "</body></opml>",
    "<!DOCTYPE a [<!ENTITY x 'y'>]>",
    "&x;",
    "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n",
    "<H1>Title</H1>",
    "<DL><p>",
    "</DL>",
    '<DT><H3 ADD_DATE="1">Folder</H3>',
    '<DT><A HREF="https://example.org/" ADD_DATE="1700000000" TAGS="a,b">Name</A>',
    '<A HREF="javascript:x">',
    "<DD>more",
    '"',
    "<",
    ">",
    "text\n",
)
CANVAS = {
    "nodes": [
        {"id": "g", "type": "group", "x": 0, "y": 0, "width": 9, "height": 9, "label": "Group"},
        {"id": "a", "type": "text", "x": 1, "y": 1, "width": 2, "height": 2, "text": "# A\nb"},
        {"id": "b", "type": "file", "x": 99, "y": 1, "width": 2, "height": 2, "file": "B.md", "subpath": "#c"},
    ],
    "edges": [{"fromNode": "a", "toNode": "b", "label": "leads to"}],
}
KEEP = {
    "title": "Boat",
    "isTrashed": False,
    "textContent": "Oars",
    "listContent": [{"text": "Sweep", "isChecked": True}],
    "attachments": [{"filePath": "a.jpg"}],
    "annotations": [{"title": "A", "url": "https://example.org/"}],
    "labels": [{"name": "spring"}],
    "createdTimestampUsec": 1_700_000_000_000_000,
}
EVERNOTE = (
    "<?xml version='1.0'?><!DOCTYPE en-export SYSTEM 'x.dtd'><en-export>",
    "<note><title>Boat</title><created>20240203T080910Z</created>",
    "<created>99999999T999999Z</created><tag>spring</tag>",
    "<content><![CDATA[<en-note><div>Call <en-todo checked='true'/>Sweep</div>",
    "<ul><li style='--en-checked:true;'><div>Pay</div></li></ul><en-media hash='1'/><en-crypt>x</en-crypt>",
    "</en-note>]]></content>",
    "<task><title>Buy</title><taskStatus>completed</taskStatus></task>",
    "<resource><data encoding='base64'>IyBBCg==</data><resource-attributes><file-name>../a.md</file-name>",
    "</resource-attributes></resource>",
    "</note>",
    "</en-export>",
    "&a;",
    "<",
)
CELLS = ("markdown", "code", "raw", "heading", "", None)
VALUES: tuple[Any, ...] = (
    None,
    7,
    True,
    [],
    {},
    ["a\n", "b"],
    "text",
    {"text/plain": ["x"]},
    "data:image/png;base64,AA",
)


def _read(data: bytes, name: str) -> Document:
    (document,) = read_bytes(data, name)
    return document


def _notebook(draw: Draw) -> None:
    if draw.number(3) == 3:
        assert_same_again(partial(_read, draw.rest(), "/in/a.ipynb"))
        return
    cells = [_cell(draw) for _ in range(draw.number(6))]
    notebook = {"cells": cells, "metadata": draw.pick(VALUES)}
    assert_same_again(partial(_read, json.dumps(notebook).encode(), "/in/a.ipynb"))


def _cell(draw: Draw) -> Any:
    if draw.number(9) == 9:
        return draw.pick(VALUES)
    output = {
        "output_type": draw.pick(("stream", "error", "display_data", "execute_result", None)),
        "text": draw.pick((draw.text(MARKDOWN, 5), *VALUES)),
        "data": draw.pick(VALUES),
        "evalue": draw.pick(VALUES),
    }
    source = draw.pick((draw.text(MARKDOWN, 8), draw.text(MARKDOWN, 8).splitlines(), *VALUES))
    return {
        "cell_type": draw.pick(CELLS),
        "level": draw.pick(VALUES),
        draw.pick(("source", "input")): source,
        "outputs": draw.pick(([output], [output, draw.pick(VALUES)], draw.pick(VALUES))),
    }


def _markup(draw: Draw) -> None:
    name = draw.pick(("/in/a.rst", "/in/a.org", "/in/a.adoc", "/in/a.tex"))
    assert_same_again(partial(_read, draw.file(MARKUP), name))


def _subtitles(draw: Draw) -> None:
    assert_same_again(partial(_read, draw.file(SUBTITLES), draw.pick(("/in/a.srt", "/in/a.vtt"))))


def _outlines(draw: Draw) -> None:
    assert_same_again(partial(_read, draw.file(OUTLINES), draw.pick(("/in/a.opml", "/in/a.html"))))


def _canvas(draw: Draw) -> None:
    canvas: Any = CANVAS
    for _ in range(draw.number(4)):
        canvas = with_another_value(draw, canvas)
    assert_same_again(partial(_read, json.dumps(canvas).encode(), "/in/a.canvas"))


def _notes(draw: Draw) -> None:
    if draw.number(1):
        note: Any = KEEP
        for _ in range(draw.number(4)):
            note = with_another_value(draw, note)
        name, data = "/in/a.json", json.dumps(note).encode()
    else:
        name, data = "/in/a.enex", draw.file(EVERNOTE)
    for document in read_file(data, source=name):
        assert_sound(document)


TARGETS = {
    "notebook": Target(_notebook, (b'\3{"cells": [{"cell_type": "markdown", "source": "# A\\n\\nb"}]}',)),
    "markup": Target(_markup, tuple("".join(MARKUP[first : first + 6]).encode() for first in (0, 8, 16, 25))),
    "subtitles": Target(_subtitles, ("".join(SUBTITLES).encode(),)),
    "outlines": Target(_outlines, ("".join(OUTLINES[1:6]).encode(), "".join(OUTLINES[8:16]).encode())),
    "canvas": Target(_canvas, (b"\0" * 9,)),
    "notes": Target(_notes, (b"\0\0" + "".join(EVERNOTE[:2] + EVERNOTE[3:11]).encode(), b"\1\0")),
}
