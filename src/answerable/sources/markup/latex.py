"""LaTeX → Document: the unchanged file, with its sections; title, author and date are metadata.

The preamble, comments, and lines that hold only commands of layout are hidden. Nothing is expanded: `\\input` files are
documents of their own.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from answerable.datatypes import Document, DocumentType
from answerable.sources.markup.sections import Line, Marks, lines_of, read_marked

_LEVELS = {"part": 0, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}
_HEADING = re.compile(rf"^[ \t]*\\({'|'.join(_LEVELS)}|subparagraph)\*?[ \t]*(?:\[[^\]\n]*\])?[ \t]*\{{", re.MULTILINE)
_BEGIN = re.compile(r"^[^%\n]*?\\begin[ \t]*\{document\}[^\n]*\n?", re.MULTILINE)
_FINISH = re.compile(r"^[^%\n]*?(\\end[ \t]*\{document\})", re.MULTILINE)
_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*(%)")
_OPENING = re.compile(r"[ \t]*\\begin[ \t]*\{(verbatim\*?|Verbatim|lstlisting|minted|comment)\}")
_ITEM = re.compile(r"[ \t]*\\item\b[ \t]*")
_LABEL = re.compile(r"[ \t]*\\label[ \t]*\{[^{}\n]*\}")
# Commands that print nothing, or only the text of other files.
_LAYOUT = (
    "begin|end|label|usepackage|documentclass|maketitle|tableofcontents|listoffigures|listoftables|bibliography|"
    "bibliographystyle|printbibliography|addbibresource|newpage|clearpage|cleardoublepage|pagebreak|linebreak|"
    "includegraphics|centering|raggedright|vspace|hspace|vfill|hfill|input|include|includeonly|subfile|appendix|"
    "frontmatter|mainmatter|backmatter|pagestyle|thispagestyle|pagenumbering|setcounter|addtocounter|setlength|"
    "newcommand|renewcommand|providecommand|def|let|noindent|bigskip|medskip|smallskip|hline|toprule|midrule|"
    "bottomrule|cline|cmidrule|printindex|makeindex|index|addcontentsline|markboth|phantomsection|small|footnotesize|"
    "scriptsize|large|normalsize|title|author|date|graphicspath|hypersetup|RequirePackage|selectlanguage|nocite"
)
_ARGUMENTS = r"(?:\[[^\]\n]*\]|\{(?:[^{}\n]|\{[^{}\n]*\})*\})"
_DIRECTIVES = re.compile(rf"[ \t]*(?:\\(?:{_LAYOUT})(?![A-Za-z])\*?(?:[ \t]*{_ARGUMENTS})*[ \t]*)+(?:%[^\n]*)?")
_COMMAND = re.compile(r"\\[A-Za-z]+\*?[ \t]*|[{}]|\\(?=[%&#_$])")
_LONGEST = 2_000  # characters of an argument
_MOST_LINES = 4  # lines of an argument; if it is longer, its brace isn't closed


def read_latex(content: str, source: str) -> Document:
    """Return a document with a part for each section. Raise EmptySource."""
    return read_marked(content, source, DocumentType.LATEX, _marks(content))


def _marks(content: str) -> Marks:
    marks = Marks()
    begin = _BEGIN.search(content)
    start = begin.end() if begin else 0
    finish = _FINISH.search(content, start)
    end = finish.start(1) if finish else len(content)
    for key in ("title", "author", "date"):
        if found := re.search(rf"^[^%\n]*?\\{key}[ \t]*(?:\[[^\]\n]*\])?[ \t]*\{{", content, re.MULTILINE):
            marks.metadata[key] = plain(_argument(content, found.end())[0])
    marks.title = marks.metadata.pop("title", "")
    marks.hidden += [(0, start), (end, len(content))]
    verbatim = _lines(content, marks, start, end)
    ends = [high for _, high in verbatim]
    for found in _HEADING.finditer(content, start, end):
        place = bisect_right(ends, found.start())
        if place == len(verbatim) or found.start() < verbatim[place][0]:
            title, body = _argument(content, found.end())
            body = label.end() if (label := _LABEL.match(content, body)) else body
            marks.add(found.start(), min(body, end), _LEVELS.get(found[1], len(_LEVELS)), plain(title))
    return marks


def _lines(content: str, marks: Marks, start: int, end: int) -> list[tuple[int, int]]:
    """Hide comments and commands of layout; return the verbatim spans, which have no comments, commands or headings."""
    spans: list[tuple[int, int]] = []
    closing, opened = "", 0
    for line in lines_of(content, start, end):
        if closing:
            if closing in line.text:
                marks.hide(line)
                if closing == r"\end{comment}":
                    marks.hidden.append((opened, line.end))
                spans.append((opened, line.end))
                closing = ""
        elif opening := _OPENING.match(line.text):
            closing, opened = f"\\end{{{opening[1]}}}", line.end
            marks.hide(line)
        else:
            _hide(line, marks)
    return [*spans, (opened, end)] if closing else spans


def _hide(line: Line, marks: Marks) -> None:
    if "\\" in line.text and _DIRECTIVES.fullmatch(line.text):
        marks.hide(line)
        return
    if "%" in line.text and (comment := _COMMENT.search(line.text)):
        if not line.text[: comment.start(1)].strip():
            marks.hide(line)
        elif line.text[comment.end() :].strip():
            marks.hide_in(line, comment.start(1), len(line.text))
    if item := _ITEM.match(line.text):
        marks.hide_in(line, 0, item.end())


def _argument(content: str, start: int) -> tuple[str, int]:
    """Return a command's argument, whose opening brace is just before `start`, and the offset after its end."""
    depth, lines = 1, 0
    for place in range(start, min(start + _LONGEST, len(content))):
        character = content[place]
        lines += character == "\n"
        if lines > _MOST_LINES:
            break
        if content[place - 1] != "\\":
            depth += (character == "{") - (character == "}")
        if not depth:
            return content[start:place], place + 1
    line = content.find("\n", start)
    line = len(content) if line < 0 else line
    return content[start:line], line


def plain(text: str) -> str:
    """Return a title without commands and braces."""
    words = _COMMAND.sub("", text.replace("\\\\", " ").replace("~", " ").replace("\\and", ","))
    return " ".join(words.split())[:_LONGEST]
