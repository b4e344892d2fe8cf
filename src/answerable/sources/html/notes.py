"""Marks of notes, and the notes → `word[^1]` and `[^1]: text`, as in Markdown.

A mark is a link to the note; `text.notation.with_notes` finds those without a link.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from urllib.parse import unquote

from selectolax.lexbor import LexborNode as Node

from answerable.sources.html.words import attribute, classes, neighbour, rewrite

_LABEL = re.compile(r"\s*[\[(]?\s*((?:[^\W\d_]{1,8}\s)?\d{1,4}|[^\W\d_]{1,2}|[ivxl]{1,6}|[*†‡§¶]{1,3})\s*[\])]?\s*")
_WAY_BACK = re.compile(r"[\s^↑↩⤴\ufe0e\ufe0f]*")
_NEAR = 5  # elements between a link back and its note; a round number, not measured
_KINDS = frozenset({"doc-noteref", "noteref", "footnote-ref", "footnote-reference"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


def write_notes(root: Node, raised: Sequence[Node], notes: dict[str, str], file: str) -> None:
    """Write the notes of a page. `notes` has the labels of a book's notes by `file#id`; those of `file` are added."""
    links = root.css("a[href*='#']")
    if not links and not notes:
        return
    high = {node.mem_id for node in raised}
    targets = {node.id or attribute(node, "name"): node for node in reversed(root.css("[id], a[name]"))}
    labels = {node.mem_id: notes[key] for name, node in targets.items() if (key := f"{file}#{name}") in notes}
    marks: set[int] = set()
    for link in links:
        path, _, name = attribute(link, "href").partition("#")
        written, target = _LABEL.fullmatch(link.text()), targets.get(name)
        label = written[1] if written else ""
        note = next((labels[node.mem_id] for node in _around(link) if node.mem_id in labels), None)
        if note is not None and (target is None or target.mem_id not in labels):
            is_way_back = label == note or _WAY_BACK.fullmatch(link.text()) or (target and target.mem_id in marks)
            if is_way_back and link.mem_id not in labels:
                rewrite(link, "")
                # An empty link, too, would make trafilatura leave out a short note.
                link.unwrap()
        elif label and (file or target) and _is_mark(link, high):
            rewrite(link, f"[^{label}]")
            marks.update(node.mem_id for node in _around(link)[:3])
            notes.setdefault(f"{posixpath.basename(unquote(path)) or file}#{name}", label)
            if target is not None and target.tag not in _HEADINGS and labels.setdefault(target.mem_id, label) != label:
                labels[target.mem_id] = ""  # The heading of all notes, perhaps, but not one of them.
    for target in targets.values():
        if label := labels.get(target.mem_id, ""):
            _begin(target, label)


def _around(node: Node | None) -> list[Node]:
    """Return an element and the elements near around it."""
    found: list[Node] = []
    while node is not None and len(found) < _NEAR:
        found.append(node)
        node = node.parent
    return found


def _is_mark(link: Node, raised: set[int]) -> bool:
    """Whether a link is the mark of a note: raised, in square brackets, or declared."""
    if link.text().strip().startswith("[") or "data-footnote-ref" in link.attributes:
        return True
    kinds = {*classes(link), *attribute(link, "epub:type").split(), attribute(link, "role")}
    near = [*_around(link)[:3], *link.css("*")]
    return not kinds.isdisjoint(_KINDS) or any(node.mem_id in raised for node in near)


def _begin(note: Node, label: str) -> None:
    """Begin a note with its label, instead of the one that the page wrote there."""
    texts = (each for each in note.traverse(include_text=True, skip_empty=True) if each.is_text_node)
    first = next(texts, None) or neighbour(note, "next")
    if first is not None and first.is_text_node:
        text = first.text_content or ""
        own = re.match(rf"[\s^↑]*(?:[\[(]?{re.escape(label)}[\])]?)?[.:)]?(?:\s+|\Z)", text)
        first.replace_with(f"[^{label}]: {text[own.end() if own else 0 :]}")
