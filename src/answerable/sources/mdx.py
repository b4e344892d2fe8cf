"""Markdown and MDX (mdxjs.com) → only the Markdown that people see on the page.

Comments (also Obsidian's `%%`), tags, the marks of boxes (`:::note`), what Logseq logs (ids, clocks) and, in MDX,
imports and exports are left out. Text between tags, titles of boxes, labels of tabs, code and all line ends are kept.
Docusaurus reads all Markdown as MDX.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

# Bounds on searches for an end that may be missing: the length of a tag, comment or inline code; and the total length
# of all failed searches, after which everything counts as text.
_LONGEST = 10_000
_IN_VAIN = 500_000  # characters; a round number, not measured

_TOKEN = re.compile(
    r"""
    ^(?P<fence>[ \t>]*(?:`{3,}|~{3,}))
    | (?P<code>`+)
    | ^(?P<import>import\s+(?:[\w$*{][\w$*{},\s]{0,500}?\bfrom\s*)?(?P<quote>['"])(?P<module>[^'"\n]{1,500})(?P=quote))
    | ^(?P<export>export\s+(?:default\b|const\b|let\b|var\b|function\b|class\b|async\b|\*|\{))
    | (?P<note><!--|\{\s*/\*|(?:^|(?<![\w%\\])(?=%%(?:[^\n%]|%(?!%)){1,2000}%%))%%(?!%))
    | ^[ \t]*(?:-[ ])?(?P<logged>(?:(?<=\A)|(?<=\A-[ ]))title::[^\n]*|id::[ ][\da-f-]{36}$
      |(?:collapsed|logseq\.[\w.-]+)::[^\n]*|CLOCK:[ ]\[[^\n]*
      |:LOGBOOK:[ \t]*\n(?:(?![ \t]*:LOGBOOK:)[^\n]*\n)*?[ \t]*:END:[ \t]*$)
    | ^(?P<quoted>[ \t>]*)(?P<box>:{3,})[ \t]*(?:\{[^{}\n]{0,200}\}|[\w-]{1,50}(?![^\s\[{]))?(?P<title>[^\n]*)
    | (?P<indent>^[ \t]*)?(?<![\\(])(?P<tag></?(?:[A-Za-z][\w.-]*(?=[\s/>])|(?=>)))
    """,
    re.MULTILINE | re.VERBOSE,
)
_IN_TAG = re.compile(r""""[^"]*"|'[^']*'|[{}<>]|[^"'{}<>]+""")
_IN_BRACES = re.compile(
    r""" "[^"\n]*" | '[^'\n]*' | `[^`]*(?:`|\Z) | /\*.*?(?:\*/|\Z) | [{}] | [^"'`{}/]+ | . """, re.DOTALL | re.VERBOSE
)
# A blank line, unless the statement goes on after it: then the next line is indented or closes a bracket.
_STATEMENT_END = re.compile(r"\n[ \t]*\n(?=[^\s)\]}])")
_CLOSED_BY = {"<!--": "-->", "%%": "%%"}
_HEADING = re.compile(r"[ \t>]*#{1,6} ")
_ID_AT_END = re.compile(r"\{\s*/\*\s*#[^\s{}*]+\s*\*/\s*\}[ \t]*$", re.MULTILINE)
_PAGE = re.compile(r"\.mdx?$")
_NOT_TEXT = re.compile(r"<(?:style|script)\b")


# A box's title may be in brackets, followed by attributes.
_TITLE = re.compile(r"[ \t]*(?:\[([^\n]*)\][ \t]*(?:\{[^\n]*\})?[ \t]*$|(?:\{[^{}\n]*\})?([^\n]*))")
# <TabItem value="deb" label="Debian">, or <Tabs values={[{label: 'Debian', value: 'deb'}]}>.
_ATTRIBUTE = re.compile(r"""\b(label|title|value)\s*[:=]\s*\{?\s*(["'`])((?:(?!\2)[^\n]){1,200})\2""")
_IN_TITLE = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->")
_OBJECT = re.compile(r"\{[^{}]*\}")
_CLOSING = re.compile(r"</([A-Za-z][\w.-]*)")
# Tags that end a word; tags inside a word, such as <b>, don't.
_APART = re.compile(r"</?(?:br|p|div|li|t[dhr]|d[dt]|h[1-6])\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=<)[a-z][\w.-]*")
_STANDS_ALONE = frozenset({"br", "hr", "img", "wbr"})


@dataclass(frozen=True, slots=True)
class PlainMdx:
    """The Markdown in a file, the names of the Markdown files it imports, and whether it has any statement of MDX."""

    content: str
    imports: tuple[str, ...]
    is_mdx: bool


Span = tuple[re.Match[str], int]
"""A span of the text that is left out: the token that it begins with, and its end."""


def plain_mdx(content: str, start: int, is_mdx: bool = False) -> PlainMdx:
    """Return the visible Markdown of a file; `is_mdx` if its name says MDX. Text before `start` is kept unchanged."""
    spans = list(_left_out(content, start))
    is_mdx = is_mdx or any(found["import"] or found["export"] or _is_component(found) for found, _ in spans)
    if not is_mdx:
        spans = _without_placeholders(content, start, spans)
    labels: dict[str, str] = {}
    kept: list[str] = [content[:start]]
    at = start
    for token, end in spans:
        text = content[token.start() : end]
        kept.append(content[at : token.start()])
        shown = _shown(text, token, labels)
        at = end
        if shown.isspace() and "".join(kept[-2:])[-1:].isspace():
            # Four spaces at the start of a line would make it code.
            shown = ""
        elif shown and not shown.isspace() and not token["box"]:
            shown += "" if content[at : at + 1].isspace() else " "
        kept.append(shown + "\n" * text.count("\n"))
    modules = (token["module"] or "" for token, _ in spans)
    return PlainMdx("".join((*kept, content[at:])), tuple(filter(_PAGE.search, modules)), is_mdx)


def _shown(text: str, found: re.Match[str], labels: dict[str, str]) -> str:
    """Return what the page shows in place of a left-out span; `labels` collects the labels of tabs, by value."""
    if found["box"]:
        title = _TITLE.match(found["title"])
        return found["quoted"] + _IN_TITLE.sub("", title[1] or title[2] or "" if title else "").strip()
    if not found["tag"]:
        return ""
    if not found["tag"][1:2].isupper():
        return " " if _APART.match(text) else ""
    if found["tag"] == "<Tabs":
        each = [_attributes(given) for given in _OBJECT.findall(text)]
        labels.update((tab["value"], tab["label"]) for tab in each if tab.keys() >= {"value", "label"})
        return ""
    given = _attributes(text)
    value = given.get("value", "") if found["tag"] == "<TabItem" else ""
    return given.get("label") or given.get("title") or labels.get(value, value)


def _attributes(text: str) -> dict[str, str]:
    return {found[1]: found[3] for found in _ATTRIBUTE.finditer(text)}


def _without_placeholders(content: str, start: int, spans: Sequence[Span]) -> list[Span]:
    """In plain Markdown, drop the spans that are text there: `List<String>`, `git switch <branch>`, indented code."""
    closed = {name.lower() for name in _CLOSING.findall(content)}
    markup = [
        (token, end)
        for token, end in spans
        if not token["tag"] or _is_markup(content[token.start() : end].lower(), closed)
    ]
    lines = [content.rfind("\n", 0, token.start()) + 1 for token, _ in markup]
    code = _code_lines(content, start) if any(content.startswith(("    ", "\t"), line) for line in lines) else ()
    return [span for span, line in zip(markup, lines, strict=True) if line not in code]


def _is_markup(tag: str, closed: Set[str]) -> bool:
    """Whether a tag is markup: an end tag, a tag with an end tag, a tag that needs none, or one with an attribute."""
    name = _NAME.match(tag, 1)
    return not name or name[0] in closed | _STANDS_ALONE or "=" in tag or tag.endswith("/>") or tag.startswith("</")


def _code_lines(content: str, start: int) -> frozenset[int]:
    """Return the offsets at which the lines of indented code begin."""
    from markdown_it import MarkdownIt

    begins = [start, *(match.end() for match in re.compile("\n").finditer(content, start))]
    tokens = MarkdownIt("commonmark").parse(content[start:])
    return frozenset(
        begins[line] for token in tokens if token.type == "code_block" and token.map for line in range(*token.map)
    )


def _is_component(found: re.Match[str]) -> bool:
    """Whether a match is a component's tag: it starts a line; elsewhere it may be a type such as `List<String>`."""
    return found["indent"] is not None and found["tag"].lstrip("</")[:1].isupper()


def _left_out(content: str, start: int) -> Iterator[Span]:
    """Yield the spans that aren't text, in order."""
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
                yield found, end
                at = end
            else:
                spare -= -end - found.start()


def _end(content: str, found: re.Match[str]) -> int:
    """Return the end of the span that a token begins; if the token is text, the negated end of the searched text."""
    if found["box"] or found["logged"]:
        return found.end()
    if found["import"]:
        return _line_end(content, found.end())
    if found["export"]:
        blank = _STATEMENT_END.search(content, found.end())
        return blank.start() if blank else len(content)
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
    if closing := _CLOSED_BY.get(found["note"]):
        end = content.find(closing, found.end())
        # As in Obsidian, what isn't closed goes on to the end; `%%time` is text of something else.
        is_open = end < 0 and closing == "%%" and content[found.end() : found.end() + 1].isspace()
        return len(content) if is_open else end + len(closing) if end >= 0 else -(found.end() + _LONGEST)
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
    """Return the end of the tag whose name ends at `at`, negative if the tag isn't closed."""
    limit = min(at + _LONGEST, len(content))
    while 0 < at < limit:
        token = _IN_TAG.match(content, at, limit)
        if token is None or token[0] in ("<", "}"):
            return -at
        if token[0] == ">":
            return token.end()
        at = _braces_end(content, at) if token[0] == "{" else token.end()
    return -abs(at)
