"""MDX (mdxjs.com) → the Markdown in it. Docusaurus reads all Markdown as MDX.

Imports, exports, JSX tags and comments are left out; text between tags, code and all line ends are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Bounds on searches for missing ends: the length of a tag, a note or inline code, that of a statement, and the total
# number of characters searched in vain, after which everything is text.
_LONGEST = 10_000
_LONGEST_STATEMENT = 200_000
_IN_VAIN = 500_000

_TOKEN = re.compile(
    r"""
    ^(?P<fence>[ \t>]*(?:`{3,}|~{3,}))
    | (?P<code>`+)
    | ^(?P<import>import\s+(?:[\w$*{][\w$*{},\s]{0,500}?\bfrom\s*)?(?P<quote>['"])(?P<module>[^'"\n]{1,500})(?P=quote))
    | ^(?P<export>export\s+(?:default\b|const\b|let\b|var\b|function\b|class\b|async\b|\*|\{))
    | (?P<note><!--|\{\s*/\*)
    | (?P<indent>^[ \t]*)?(?<![\\(])(?P<tag></?(?:[A-Za-z][\w.-]*(?=[\s/>])|(?=>)))
    """,
    re.MULTILINE | re.VERBOSE,
)
_IN_TAG = re.compile(r""""[^"]*"|'[^']*'|[{}<>]|[^"'{}<>]+""")
_QUOTED = r""" "[^"\n]*" | '[^'\n]*' | `[^`]*(?:`|\Z) | /\*.*?(?:\*/|\Z) """
_IN_BRACES = re.compile(rf"{_QUOTED} | [{{}}] | [^\"'`{{}}/]+ | .", re.DOTALL | re.VERBOSE)
_IN_STATEMENT = re.compile(
    rf"{_QUOTED} | //[^\n]* | [{{}}()\[\]] | \n(?=[ \t]*(?:\n|\Z)) | [^\"'`{{}}()\[\]/\n]+ | .", re.DOTALL | re.VERBOSE
)
_HEADING = re.compile(r"[ \t>]*#{1,6} ")
_ID_AT_END = re.compile(r"\{\s*/\*\s*#[^\s{}*]+\s*\*/\s*\}[ \t]*$", re.MULTILINE)
_PAGE = re.compile(r"\.mdx?$")
_NOT_TEXT = re.compile(r"<(?:style|script)\b")


@dataclass(frozen=True, slots=True)
class PlainMdx:
    """The Markdown in a file, and the names of the Markdown files it imports.

    `is_mdx` is true if the file has an import or export statement or a component's tag.
    """

    content: str
    imports: tuple[str, ...]
    is_mdx: bool


def plain_mdx(content: str, start: int) -> PlainMdx:
    """Return the Markdown in a file; the text before `start` is kept unchanged."""
    kept: list[str] = [content[:start]]
    imports: list[str] = []
    is_mdx = False
    at = start
    for begin, end, found in _left_out(content, start):
        kept += (content[at:begin], "\n" * content.count("\n", begin, end))
        at = end
        is_mdx = is_mdx or bool(found["import"] or found["export"]) or _is_component(found)
        if found["module"] and _PAGE.search(found["module"]):
            imports.append(found["module"])
    return PlainMdx("".join((*kept, content[at:])), tuple(imports), is_mdx)


def _is_component(found: re.Match[str]) -> bool:
    """Whether a match is a component's tag: it starts a line; elsewhere it may be a type such as `List<String>`."""
    return found["indent"] is not None and found["tag"].lstrip("</")[:1].isupper()


def _left_out(content: str, start: int) -> Iterator[tuple[int, int, re.Match[str]]]:
    """Yield the spans that aren't text, in order, each with the token it begins with."""
    at = start
    spare = _IN_VAIN
    while spare > 0 and (found := _TOKEN.search(content, at)):
        at = found.end()
        if found["fence"]:
            at = _fence_end(content, found)
        elif found["code"]:
            at = _code_end(content, found)
        else:
            end = _end(content, found)
            if end > 0:
                yield found.start(), end, found
                at = end
            else:
                spare -= -end - found.start()


def _end(content: str, found: re.Match[str]) -> int:
    """Return the end of the span that a token begins; if the token is text, the negated end of the searched text."""
    if found["import"]:
        return _line_end(content, found.end())
    if found["export"]:
        return _statement_end(content, found.start())
    if found["note"]:
        return _note_end(content, found)
    end = _tag_end(content, found.end())
    if end > 0 and _NOT_TEXT.match(found["tag"]) and content[end - 2] != "/":
        closing = content.find(f"</{found['tag'][1:]}", end, end + _LONGEST)
        return closing if closing > 0 else end
    return end


def _fence_end(content: str, found: re.Match[str]) -> int:
    mark = found["fence"].lstrip(" \t>")
    closing = re.compile(rf"^[ \t>]*{mark[0]}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
    match = closing.search(content, _line_end(content, found.end()))
    return match.end() if match else len(content)


def _code_end(content: str, found: re.Match[str]) -> int:
    """Return the end of inline code, or of the backticks if they aren't closed."""
    mark = found["code"]
    match = re.compile(rf"(?<!`){mark}(?!`)").search(content, found.end(), found.end() + _LONGEST)
    return match.end() if match and "\n\n" not in content[found.end() : match.start()] else found.end()


def _line_end(content: str, at: int) -> int:
    end = content.find("\n", at)
    return end if end >= 0 else len(content)


def _note_end(content: str, found: re.Match[str]) -> int:
    note = content.index(found["note"], found.start())
    if found["note"] == "<!--":
        end = content.find("-->", found.end(), found.end() + _LONGEST)
        return end + 3 if end >= 0 else -(found.end() + _LONGEST)
    # A heading's own id is read with the heading.
    is_id = _ID_AT_END.match(content, note) and _HEADING.match(content, content.rfind("\n", 0, note) + 1)
    return -found.end() if is_id else _braces_end(content, note)


def _braces_end(content: str, start: int) -> int:
    """Return the end of the braces that open at `start`, negative if they aren't closed."""
    depth = 0
    at = start
    for token in _IN_BRACES.finditer(content, start, start + _LONGEST):
        depth += (token[0] == "{") - (token[0] == "}")
        at = token.end()
        if not depth:
            return at
    return -at


def _tag_end(content: str, at: int) -> int:
    """Return the end of the tag whose name ends at `at`, negative if it has none."""
    limit = min(at + _LONGEST, len(content))
    while 0 < at < limit:
        token = _IN_TAG.match(content, at, limit)
        if token is None or token[0] in ("<", "}"):
            return -at
        if token[0] == ">":
            return token.end()
        at = _braces_end(content, at) if token[0] == "{" else token.end()
    return -abs(at)


def _statement_end(content: str, start: int) -> int:
    """Return the end of a statement: a blank line outside of brackets; negative if brackets aren't closed."""
    depth = 0
    at = start
    for token in _IN_STATEMENT.finditer(content, start, start + _LONGEST_STATEMENT):
        at = token.end()
        if token[0] == "\n" and depth <= 0:
            return token.start()
        if len(token[0]) == 1:
            depth += (token[0] in "{([") - (token[0] in "})]")
    return at if depth <= 0 else -at
