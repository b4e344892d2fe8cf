"""Make texts of any length for which some step of reading once took quadratic time."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterable

from fuzz_packages import WORD
from hostile_writing import WRITING
from made_files import edited, epub, with_body, zipped
from made_office_files import opendocument, table, with_rows

from answerable.sources.spreadsheets.blocks import column_letters

_SENTENCE = "Words of a page that say something, again and again. "
_PARAGRAPH = "<w:p><w:r><w:t>x y</w:t></w:r></w:p>"
_DOCUSAURUS = "<html class=docs-doc-page><body><article><div class='theme-doc-markdown'>"

Shape = tuple[str, int, Callable[[int], str | bytes]]
"""The file's name, a size that takes a tenth of a second, and the file of any size."""


_ITEM = '<w:p><w:pPr><w:numPr><w:numId w:val="77"/></w:numPr></w:pPr><w:r><w:t>x y</w:t></w:r></w:p>'


def _styled(count: int) -> bytes:
    """Paragraphs of a style that says nothing, at length."""
    style = f'<w:style w:type="paragraph" w:styleId="Long">{"<w:q/>" * count}</w:style>'
    paragraph = '<w:p><w:pPr><w:pStyle w:val="Long"/></w:pPr><w:r><w:t>x y</w:t></w:r></w:p>'
    styles = {"styles": lambda text: text.replace("</w:styles>", f"{style}</w:styles>")}
    return edited(with_body(WORD, paragraph * count), **styles)


def _listed(count: int, levels: str, starts: str = "") -> bytes:
    """Items of one list."""
    kind = f'<w:abstractNum w:abstractNumId="77">{levels}</w:abstractNum>'
    number = f'<w:num w:numId="77"><w:abstractNumId w:val="77"/>{starts}</w:num>'
    lists = {"numbering": lambda text: text.replace("</w:numbering>", f"{kind}{number}</w:numbering>")}
    return edited(with_body(WORD, _ITEM * count), **lists)


def _with_contents(count: int, items: str, name: str, contents: str) -> bytes:
    """A book many of whose items are one table of contents."""
    manifest = "".join(f'<item id="n{each}" href="{name}" {items}/>' for each in range(count))
    return epub({"c.xhtml": "<p>x</p>"}, manifest=manifest, extra={f"OEBPS/{name}": contents})


def _cells(count: int) -> str:
    return "".join(f"<w:tc>{_PARAGRAPH}</w:tc>" for _ in range(count))


_CELL = "<c><v>1.5</v></c>"
_ROW = f'<row><c t="inlineStr"><is><t>x y</t></is></c>{_CELL * 3}</row>'
_SPACED = '<c t="inlineStr"><is><t>aN</t></is></c><c t="inlineStr"><is><t>bN</t></is></c><c/>'
_NOTE = "<text:note><text:note-body><text:p>n</text:p></text:note-body></text:note>"


def _table_at(row: int) -> str:
    return f'<row r="{row}">{_SPACED}</row><row r="{row + 1}">{_CELL * 2}</row>'


PAGES: dict[str, tuple[int, Callable[[int], str]]] = {
    "attributes": (20_000, lambda n: "<p " + "".join(f"a{each}=b " for each in range(n)) + ">text</p>"),
    "attributes with brackets": (20_000, lambda n: "<p " + "".join(f"a{each}='>' " for each in range(n)) + ">text"),
    "attributes of a script": (
        20_000,
        lambda n: "<script " + "".join(f"a{each} " for each in range(n)) + "></script><p>x",
    ),
    "tags cut short": (20_000, lambda n: "<p>x" + "<a " * n),
    "cells of a row": (4_000, lambda n: "<nav>x</nav><table><tr>" + "<td>x</td>" * n),
    "rows of a table": (2_000, lambda n: "<nav>x</nav><table>" + "<tr><td>x</td><td>y</td></tr>" * n),
    "one long row": (3_000, lambda n: "<nav>x</nav><table><tr>" + "<td>x" * n + "<tr><td>y" * n),
    "tables": (1_000, lambda n: "<nav>x</nav>" + "<table><tr><td>x</td><td>y</td></tr></table>" * n),
    "short paragraphs": (2_000, lambda n: "<nav>x</nav>" + "<p>x</p>" * n),
    "blocks": (2_000, lambda n: "<nav>x</nav>" + "<div>x</div>" * n),
    "line breaks": (4_000, lambda n: "<nav>x</nav><p>" + "x<br><br>" * n),
    "options": (8_000, lambda n: "<nav>x</nav><select>" + "<option>x" * n + "</select><p>x"),
    "options with a bracket": (6_000, lambda n: "<nav>x</nav><select>" + "<option a='<'>x" * n + "</select><p>x"),
    "open fonts with a bracket": (4_000, lambda n: "".join(f"<p><font a{each}='<'>y" for each in range(n))),
    "bodies": (10_000, lambda n: "".join(f"<body a{each}=x>" for each in range(n)) + "<p>x"),
    "open fonts": (6_000, lambda n: "".join(f"<p><font a{each}=x>y" for each in range(n))),
    "paragraphs of an item": (4_000, lambda n: "<nav>x</nav><ul><li>" + "<p>x</p>" * n),
    "headings": (3_000, lambda n: "<nav>x</nav>" + "".join(f"<h2 id=a{each}>x</h2>" for each in range(n))),
    "a long heading": (20_000, lambda n: f"<h1>{'word ' * n}</h1><p>{'word ' * n}"),
    "code": (1_000, lambda n: "<nav>x</nav>" + "".join(f"<pre>x = {each}</pre>" for each in range(n))),
    "code in a long class": (1_000, lambda n: f"<nav>x</nav><div class='{'a ' * n * 20}'>" + "<pre>x</pre>" * n),
    "code in a long attribute": (1_000, lambda n: f"<nav>x</nav><div title='{'a ' * n * 20}'>" + "<pre>x</pre>" * n),
    "a chapter": (2_000, lambda n: _DOCUSAURUS + f"<p>{_SENTENCE}</p>" * n),
}


def _tarred(names: Iterable[str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = 5
            archive.addfile(info, io.BytesIO(b"x y z"))
    return buffer.getvalue()


SHAPES: dict[str, Shape] = {
    **{f"HTML: {what}": ("a.html", size, made) for what, (size, made) in PAGES.items()},
    "EPUB: attributes": ("a.epub", 10_000, lambda n: epub({"one.xhtml": PAGES["attributes"][1](n)})),
    "EPUB: cells": ("a.epub", 4_000, lambda n: epub({"one.xhtml": PAGES["cells of a row"][1](n)})),
    "EPUB: chapters": ("a.epub", 200, lambda n: epub({f"{each}.xhtml": "<p>x</p>" for each in range(n)})),
    "Word: cells": ("a.docx", 1_000, lambda n: with_body(WORD, f"<w:tbl><w:tr>{_cells(n)}</w:tr></w:tbl>")),
    "Word: one long row": (
        "a.docx",
        700,
        lambda n: with_body(WORD, f"<w:tbl><w:tr>{_cells(n)}</w:tr>" + f"<w:tr>{_cells(1)}</w:tr>" * n + "</w:tbl>"),
    ),
    "Word: paragraphs": ("a.docx", 1_000, lambda n: with_body(WORD, _PARAGRAPH * n)),
    "Word: a long style": ("a.docx", 2_000, _styled),
    "Word: levels of a list": ("a.docx", 500, lambda n: _listed(n, '<w:lvl w:ilvl="9"/>' * n)),
    "Word: starts of a list": (
        "a.docx",
        500,
        lambda n: _listed(
            n, '<w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>', '<w:lvlOverride w:ilvl="9"/>' * n
        ),
    ),
    "Word: deleted ends of paragraphs": (
        "a.docx",
        2_000,
        lambda n: with_body(WORD, _PARAGRAPH.replace("<w:r>", "<w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r>") * n),
    ),
    "EPUB: items of one contents": (
        "a.epub",
        150,
        lambda n: _with_contents(n, 'properties="nav"', "n.xhtml", "<nav>" + "<a href='c.xhtml'>x</a>" * n + "</nav>"),
    ),
    "EPUB: items of one older contents": (
        "a.epub",
        150,
        lambda n: _with_contents(
            n, 'media-type="application/x-dtbncx+xml"', "n.ncx", f"<ncx>{'<navPoint/>' * n}</ncx>"
        ),
    ),
    "Excel: rows": ("a.xlsx", 2_000, lambda n: with_rows(_ROW * n)),
    "Excel: cells of a row": ("a.xlsx", 2_000, lambda n: with_rows(f"<row>{_CELL * n}</row>" * 3)),
    "Excel: a column for each row": (
        "a.xlsx",
        1_000,
        lambda n: with_rows("".join(f'<row><c r="{column_letters(i)}{i + 1}"><v>1</v></c></row>' for i in range(n))),
    ),
    "Excel: tables side by side": (
        "a.xlsx",
        300,
        lambda n: with_rows("".join(f"<row>{_SPACED * n}</row>".replace("N", str(i)) for i in range(3))),
    ),
    "Excel: tables below each other": ("a.xlsx", 500, lambda n: with_rows("".join(map(_table_at, range(1, 4 * n, 4))))),
    "OpenDocument: rows": ("a.ods", 1_000, lambda n: opendocument("spreadsheet", table([["x", 1.0]] * n))),
    "OpenDocument: paragraphs": ("a.odt", 2_000, lambda n: opendocument("text", "<text:p>x y</text:p>" * n)),
    "OpenDocument: notes": ("a.odt", 1_000, lambda n: opendocument("text", f"<text:p>x{_NOTE * n}</text:p>")),
    "RTF: paragraphs": ("a.rtf", 5_000, lambda n: "{\\rtf1 " + "x\\par " * n + "}"),
    "RTF: groups": ("a.rtf", 10_000, lambda n: "{\\rtf1 " + "{" * n + "x"),
    "RTF: characters": ("a.rtf", 10_000, lambda n: "{\\rtf1 " + "\\'e9\\u8364 ?" * n + "}"),
    "Markdown: ids of a heading": ("a.md", 2_000, lambda n: "# " + "{#a" * n),
    "Markdown: notes in a heading": ("a.md", 1_000, lambda n: "# " + "{/*#x*/} " * n + "a"),
    "Markdown: references": ("a.md", 3_000, lambda n: "".join(f"[r{each}]: http://a/{each}\n" for each in range(n))),
    "Markdown: uses of a reference": ("a.md", 3_000, lambda n: "[r]: http://a/\n\n" + "[r] " * n),
    "Markdown: brackets": ("a.md", 5_000, lambda n: "[" * n),
    "Markdown: links in links": ("a.md", 3_000, lambda n: "[" * n + "](b)" * n),
    "Markdown: stars": ("a.md", 5_000, lambda n: "*a _" * n),
    "Markdown: struck text": ("a.md", 500, lambda n: "~~a. b~~ " * n),
    "Markdown: struck text that doesn't end": ("a.md", 2_000, lambda n: "~~a. " * n),
    "Markdown: back-quotes": ("a.md", 5_000, lambda n: "`x``y" * n),
    "Markdown: list items": ("a.md", 2_000, lambda n: "- x\n" * n),
    "Markdown: quotations": ("a.md", 5_000, lambda n: "> x\n" * n),
    "Markdown: cells": ("a.md", 5_000, lambda n: "|a" * n + "|\n" + "|-" * n + "|\n" + "|x|\n" * 10),
    "Markdown: spaces in front matter": ("a.md", 20_000, lambda n: "---\na: b" + " " * n + "x\n---\nx\n"),
    "Markdown: a long title": ("a.md", 20_000, lambda n: f"---\ntitle: {'word ' * n}\n---\n{'word ' * n}"),
    "Markdown: much front matter": (
        "a.md",
        5_000,
        lambda n: "---\n" + "".join(f"a{i}: b\n" for i in range(n)) + "---\n" + "x y\n" * n,
    ),
    "Markdown: equal headings": ("a.md", 2_000, lambda n: "# a\n" * n),
    "CSV: columns": ("a.csv", 10_000, lambda n: (",".join(f"c{each}" for each in range(n)) + "\n") * 5),
    "CSV: rows": ("a.csv", 10_000, lambda n: "a,b,c\n" + "1,2,3\n" * n),
    "CSV: an unclosed quote": ("a.csv", 10_000, lambda n: 'a,b\n1,"x\n' + "1,2,3\n" * n),
    "CSV: unclosed quotes": ("a.csv", 10_000, lambda n: "a,b\n" + '1,"x\n' * n),
    "JSON: records": ("a.json", 10_000, lambda n: "[" + ",".join(['{"a":1}'] * n) + "]"),
    "JSON: a list cut short": ("a.json", 10_000, lambda n: "[" + '{"a":1},' * n),
    "JSON: lines": ("a.jsonl", 10_000, lambda n: '{"a":1}\n' * n),
    "chat: messages": ("_chat.txt", 4_000, lambda n: "12/31/21, 10:00 PM - Ana: x\n" * n),
    "chat: senders": ("_chat.txt", 4_000, lambda n: "".join(f"12/31/21, 10:00 PM - A{i}: x\n" for i in range(n))),
    "chat: colons": ("_chat.txt", 20_000, lambda n: "12/31/21, 10:00 PM - " + "a: " * n),
    "chat: one message": ("_chat.txt", 20_000, lambda n: "12/31/21, 10:00 PM - Ana: x\n" + "more\n" * n),
    "code: functions": ("a.py", 3_000, lambda n: "".join(f"def f{each}():\n    pass\n" for each in range(n))),
    "code: functions of one const": (
        "a.js",
        30_000,
        lambda n: "export const a=1" + "".join(f",\na{each}=()=>1" for each in range(n)),
    ),
    "code: brackets": ("a.js", 20_000, lambda n: "{" * n),
    "code: functions in functions": ("a.js", 3_000, lambda n: "function f() {" * n),
    "text: sentences": ("a.txt", 20_000, lambda n: _SENTENCE * (n // 5)),
    "text: one sentence": ("a.txt", 50_000, lambda n: "word " * n),
    "text: one word": ("a.txt", 200_000, lambda n: "x" * n),
    "text: blank lines": ("a.txt", 200_000, lambda n: "x" + "\n" * n + "x"),
    "text: lines": ("a.txt", 20_000, lambda n: "word\n" * n),
    "text: Chinese": ("a.txt", 20_000, lambda n: "这是一个句子。" * n),
    "text: brackets": ("a.txt", 20_000, lambda n: "(a. B " * n),
    "text: full stops": ("a.txt", 20_000, lambda n: "." * n + " A. 1) " * n),
    **WRITING,
    "archive: folders": ("a.zip", 2_000, lambda n: zipped({"a/" * n + "1.txt": "x y z"})),
    "archive: members": ("a.zip", 500, lambda n: zipped({f"{each}.txt": "x y z" for each in range(n)})),
    "archive: members of a tar": ("a.tar", 500, lambda n: _tarred(f"{each}.txt" for each in range(n))),
    "archive: long names in a tar": ("a.tar", 100, lambda n: _tarred(f"{'a/' * 1_000}{each}.txt" for each in range(n))),
}
