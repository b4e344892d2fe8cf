"""What a page says by its form and not by its words → text in its tree, which then every reader of the tree sees.

Struck text becomes `~~text~~`, raised text `10³`, a box `☒ label`, a field `Label: value`; `notes.py` and `cells.py`
write notes and merged cells. No element is destroyed that is still to be visited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, SelectolaxError
from selectolax.lexbor import LexborNode as Node

from answerable.sources.html.cells import write_cells
from answerable.sources.html.notes import write_notes
from answerable.sources.html.words import ITEM, attribute, holds_blocks, is_block, neighbour, rewrite, visible_text
from answerable.text.notation import lowered, raised
from answerable.text.numerals import SHAPES, number_text

_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all", re.IGNORECASE)
_SHOWN = re.compile(r"display\s*:(?!\s*none)|visibility\s*:\s*visible", re.IGNORECASE)
# Selectors of one step, whose rules hide text; of longer ones, it often depends on scripts what they find.
_ONE_STEP = re.compile(r"[\w-]*(?:[.#][\w-]+)+|[\w-]+")
_ONE_NAME = re.compile(r"[\w-]*[.#]?[\w-]+")
_COMBINATOR = re.compile(r"[\s>+~]+")
_CONDITION = re.compile(r":+[\w-]+(?:\([^()]*\))?|\[[^\]]*\]")
_VISIBLE = re.compile(r"visibility\s*:\s*visible", re.IGNORECASE)
_ALWAYS = re.compile(r"@(?:layer|supports|media\s+(?:only\s+)?(?:screen|all)\s*$)", re.IGNORECASE)
_STRIKES = re.compile(r"line-through", re.IGNORECASE)
_RAISES = re.compile(r"vertical-align\s*:\s*super", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_BRACE = re.compile(r"([^{}]*)([{}])")
_OPENERS = "script, [onclick], [aria-controls], [data-target], [data-bs-target], a[href^='#']"
_ORDERED = re.compile(r"list-style(?:-type)?\s*:[^;]*\b(lower|upper)-(alpha|latin|roman)", re.IGNORECASE)
_INTEGER = re.compile(r"-?\d{1,8}", re.ASCII)
_MOST_RULES = 20  # selectors of a page's style sheets; a round number, not measured
_BOXES = ("checkbox", "radio")
_DRAWN = ".checkbox-on, .checkbox-off"  # boxes of Notion's pages
_NO_FIELDS = frozenset({"hidden", "submit", "button", "reset", "image", "file", "password", "search"})
_CELLS = ("td", "th", "dd", "li")
_NEAR = 4  # elements between a field and the label around it; a round number, not measured
_MOST_BESIDE = 50  # nodes beside a box in which its words are searched; a round number, not measured

Rules = list[tuple[str, str, bool]]


def write_forms(page: LexborHTMLParser, notes: dict[str, str] | None = None, file: str = "") -> None:
    """Write the forms of a page as text; remove scripts, style sheets and text that a style hides.

    `notes` has the marks of a book's notes by `file#id`; those in this file of the book are added.
    """
    rules = list(_rules(page))
    opened = _opened(page) if any(_HIDDEN.search(declared) for _, declared, _ in rules) else None
    page.strip_tags(["script", "style", "template"])
    root = page.body or page.root
    if root is None:
        return
    closed = {node.mem_id for node in root.css("details [style], [role=tabpanel]")} | {root.mem_id}
    # Some pages are hidden until a script shows them.
    half = len(root.text()) / 2
    for node in reversed(root.css("[style]")):
        is_hidden = node.mem_id not in closed and _HIDDEN.search(attribute(node, "style"))
        if is_hidden and len(node.text()) < half and not _shows(node):
            node.decompose()
    if opened is not None:
        _remove_hidden(root, rules, opened, closed)
    _write_ruby(root)
    _write_struck(root, {node.mem_id for node in _styled(root, "s, del, strike", _STRIKES, rules)})
    _write_fields(root)
    high = _styled(root, "sup", _RAISES, rules)
    write_notes(root, high, {} if notes is None else notes, file)
    for shown, nodes in ((raised, high), (lowered, root.css("sub"))):
        for node in nodes:
            if (written := shown(text := node.text())) != text:
                rewrite(node, written)
    write_cells(root)
    _write_numbers(root)
    _write_tabs(root)


def _rules(page: LexborHTMLParser) -> Iterator[tuple[str, str, bool]]:
    """Yield selectors and declarations of the style sheets, and whether they hold on every screen."""
    for style in page.css("style"):
        around = [f"@media {media}"] if (media := attribute(style, "media")) else []
        outermost = len(around)
        for text, brace in _BRACE.findall(_COMMENT.sub("", style.text()) + "}"):
            if brace == "{":
                around.append(text.rpartition(";")[2].strip())
            elif len(around) > outermost:
                selectors = around.pop()
                if any(each.search(text) for each in (_STRIKES, _RAISES, _HIDDEN, _SHOWN)):
                    is_always = all(map(_ALWAYS.match, around))
                    yield from ((each.strip(), text, is_always) for each in selectors.split(",") if each.strip())


def _opened(page: LexborHTMLParser) -> tuple[set[str], bool]:
    """Return what may show hidden text: words of scripts and links, and whether scripts are in other files.

    Text that people see after a click, as of tabs, is part of the page.
    """
    openers = page.css(_OPENERS)
    said = (
        text for node in openers for text in (node.text() if node.tag == "script" else "", *node.attributes.values())
    )
    words = {word for text in said for word in re.findall(r"[\w-]+", text or "")}
    return words, page.css_first("script[src]") is not None


def _remove_hidden(root: Node, rules: Rules, opened: tuple[set[str], bool], closed: set[int]) -> None:
    """Remove what a rule hides and nothing may show, unless it is half of the page: then a script shows it."""
    words, is_scripted = opened
    found: dict[int, Node] = {}
    # A later rule, or one that names an id, shows what an earlier one hides.
    again: dict[int, int] = {}
    showing = [(at, each, declared) for at, (each, declared, _) in enumerate(rules) if _SHOWN.search(declared)]
    for at, selector, _ in islice((rule for rule in showing if _ONE_STEP.fullmatch(rule[1])), _MOST_RULES):
        again |= {node.mem_id: len(rules) if "#" in selector else at for node in root.css(selector)}
    hiding = [(at, *rule) for at, rule in enumerate(rules) if rule[2] and _HIDDEN.search(rule[1])]
    # Rules with several steps, classes or a condition show their elements after a click, or in another place.
    conditional = islice((rule for rule in showing if not _ONE_NAME.fullmatch(rule[1])), _MOST_RULES)
    shown = {name for _, selector, declared in conditional for name in _shown_by(selector, declared)}
    # An element's name shows only what is hidden by this name: `li` isn't every list item.
    shown -= {name for name in shown if name[0] not in ".#"}.difference(rule[1] for rule in hiding)
    may_show = {node.mem_id for name in shown for node in root.css(name)}
    for at, selector, declared, _ in islice((rule for rule in hiding if _ONE_STEP.fullmatch(rule[1])), _MOST_RULES):
        names = set(re.findall(r"[.#]([\w-]+)", selector)) or {selector}
        if not names <= words:
            last = len(rules) if "important" in declared else at
            found |= {node.mem_id: node for node in root.css(selector) if again.get(node.mem_id, -1) <= last}
    found = {
        key: node
        for key, node in found.items()
        if not (key in closed or key in may_show or (node.id or "") in words)
        and not (_SHOWN.search(attribute(node, "style")) or _shows(node))
        and not (is_scripted and holds_blocks(node))
    }
    hidden, total, stack = 0, 0, [(root, False)] if found else []
    while stack:
        node, is_hidden = stack.pop()
        if node.is_text_node:
            total, hidden = total + len(node.text()), hidden + len(node.text()) * is_hidden
        else:
            is_hidden |= node.mem_id in found
            stack.extend((child, is_hidden) for child in node.iter(include_text=True))
    for node in reversed(root.css("*") if hidden * 2 < total else []):
        if node.mem_id in found:
            node.decompose()


def _shown_by(selector: str, declared: str) -> list[str]:
    """Return the elements that a rule may show, without their conditions: those of its last step.

    What is visible again, in difference to what is displayed again, may be within what is hidden: then those of all.
    """
    steps = _COMBINATOR.split(_CONDITION.sub("", selector).strip())
    shown = steps if _VISIBLE.search(declared) else steps[-1:]
    return [name for each in shown for name in re.findall(r"[.#][\w-]+", each) or re.findall(r"^[\w-]+", each)]


def _shows(node: Node) -> bool:
    """Whether an element within shows itself again."""
    return any(_SHOWN.search(attribute(each, "style")) for each in node.css("[style]") if each.mem_id != node.mem_id)


def _write_ruby(root: Node) -> None:
    """Write the reading of words behind them, in parentheses: that of "東" and "京" behind "東京"."""
    for ruby in reversed(root.css("ruby")):
        said = "".join(visible_text(each) for each in ruby.css("rt"))
        for each in reversed(ruby.css("rt, rp")):
            each.decompose()
        ruby.insert_child(f" ({said})" if said else "")


def _write_tabs(root: Node) -> None:
    """Write the label of each tab above its panel, as the tabs themselves are no text."""
    for tabs in root.css("[role=tablist]"):
        labels = [visible_text(tab) for tab in tabs.css("[role=tab]")]
        panels = (tabs.parent or root).css("[role=tabpanel]")
        within = (each.mem_id for panel in panels for each in panel.css("[role=tabpanel] [role=tabpanel]"))
        inner = set(within)
        outer = (panel for panel in panels if panel.mem_id not in inner)
        for label, panel in zip(labels, outer, strict=False):
            if label and visible_text(panel):
                line = panel.parser.create_node("p")
                line.insert_child(label)
                _begin(panel, line)


def _write_numbers(root: Node) -> None:
    """Write the numbers of lists that don't count 1, 2, 3 between the characters ITEM."""
    for ordered in root.css("ol"):
        items = [item for item in ordered.iter() if item.tag == "li"]
        step = -1 if "reversed" in ordered.attributes else 1
        start, styled = attribute(ordered, "start").strip(), _ORDERED.search(attribute(ordered, "style"))
        number = int(start) if _INTEGER.fullmatch(start) else 1 if step > 0 else len(items)
        shape = SHAPES.get(attribute(ordered, "type"), "decimal")
        if styled:
            shape = styled[1].lower() + ("Roman" if styled[2].lower() == "roman" else "Letter")
        is_plain = number == step == 1 and shape == "decimal"
        if is_plain and not any("value" in item.attributes or "type" in item.attributes for item in items):
            continue
        for item in filter(visible_text, items):
            value = attribute(item, "value").strip()
            number = int(value) if _INTEGER.fullmatch(value) else number
            mark = f"{ITEM}{number_text(number, SHAPES.get(attribute(item, 'type'), shape))}. {ITEM}"
            _begin(item, mark)
            number += step


def _begin(node: Node, text: str | Node) -> None:
    (node.first_child.insert_before if node.first_child else node.insert_child)(text)


def _styled(root: Node, selector: str, pattern: re.Pattern[str], rules: Rules) -> list[Node]:
    """Return the elements that a selector, their own style or a rule of the style sheets finds."""
    found = {node.mem_id: node for node in root.css(selector)}
    found |= {node.mem_id: node for node in root.css("[style]") if pattern.search(attribute(node, "style"))}
    ruled = (each for each, declared, _ in rules if ":" not in each and pattern.search(declared))
    for each in islice(ruled, _MOST_RULES):
        try:
            # The time for three steps is not linear in the depth of the page.
            found |= {node.mem_id: node for node in root.css(" ".join(each.replace(">", " ").split()[-2:]))}
        except SelectolaxError:
            continue
    return list(found.values())


def _write_struck(root: Node, struck: set[int]) -> None:
    """Enclose struck text in tildes: what is struck one after the other in a block, together."""
    runs: list[list[Node]] = []
    is_open = False
    block = root.mem_id
    stack = [(root, False, block)] if struck else []
    while stack:
        node, is_struck, around = stack.pop()
        if node.is_text_node:
            if not (node.text_content or "").strip():
                continue
            if is_struck and is_open and around == block:
                runs[-1].append(node)
            elif is_struck:
                runs.append([node])
            is_open, block = is_struck, around
        elif node.tag != "pre":
            is_open = is_open and node.tag != "br"
            is_struck, around = is_struck or node.mem_id in struck, node.mem_id if is_block(node) else around
            stack.extend((child, is_struck, around) for child in reversed(list(node.iter(include_text=True))))
    for run in runs:
        _enclose(run[0], run[-1])


def _enclose(first: Node, last: Node) -> None:
    text = last.text_content or ""
    if first.mem_id != last.mem_id:
        last.replace_with(f"{text.rstrip()}~~{text[len(text.rstrip()) :]}")
        text = first.text_content or ""
        first.replace_with(f"{text[: -len(text.lstrip())]}~~{text.lstrip()}")
    else:
        first.replace_with(text.replace(text.strip(), f"~~{text.strip()}~~", 1))


def _write_fields(root: Node) -> None:
    labels = {attribute(label, "for"): label for label in root.css("label[for]")}
    used: dict[int, Node] = {}
    for field in root.css(f"input, select, textarea, [role=checkbox], [role=radio], {_DRAWN}"):
        label = _label_around(field) or labels.get(field.id or " ")
        # A label names one field: others in it have their words beside them.
        label = None if label is None or label.mem_id in used else label
        used |= {label.mem_id: label} if label else {}
        kind = attribute(field, "type").lower() if field.tag == "input" else ""
        if kind in _BOXES or attribute(field, "role") in _BOXES or field.css_matches(_DRAWN):
            _write_box(field, label)
        elif kind not in _NO_FIELDS:
            _write_value(field, label)
    for label in used.values():
        # Trafilatura leaves out a short label and a short block that holds nothing but an element.
        label.unwrap()


def _label_around(field: Node) -> Node | None:
    node = field.parent
    for _ in range(_NEAR):
        if node is None or node.tag == "label":
            return node
        node = node.parent
    return None


def _write_box(field: Node, label: Node | None) -> None:
    kind = attribute(field, "role") or attribute(field, "type").lower()
    is_drawn = field.css_matches(_DRAWN)
    is_ticked = "checked" in field.attributes or attribute(field, "aria-checked") == "true"
    is_ticked |= is_drawn and field.css_matches(".checkbox-on")
    mark = f" {'☒' if is_ticked else '☐'} "
    name = attribute(field, "aria-label")
    if label is not None and visible_text(label):
        _apart(label, kind == "radio")
        _begin(label, mark)
    elif field.tag != "input" and not is_drawn:
        _begin(field, f"{mark}{name}")
    elif (before := neighbour(field, "prev")) and _says(before) and _ends_line(field):
        before.insert_before(mark)
    elif _says(neighbour(field, "next")):
        field.insert_before(mark)
    elif name or (field.parent and field.parent.tag in _CELLS):
        field.insert_before(f"{mark}{name} ")
    if field.tag == "input" or is_drawn:
        field.decompose()


def _says(node: Node | None) -> bool:
    """Whether a node beside a field has words of its line."""
    return node is not None and (node.is_text_node or not (is_block(node) or not visible_text(node)))


def _ends_line(box: Node) -> bool:
    """Whether the words of the boxes on a line are before their boxes, as the line ends with a box."""
    last, node = box, box.next
    for _ in range(_MOST_BESIDE):
        if node is None or node.tag == "br":
            break
        last, node = (last, node.next) if node.is_empty_text_node else (node, node.next)
    return last.tag == "input"


def _apart(label: Node, is_choice: bool = False) -> None:
    """Put a label on a line of its own, unless it is a choice or the line begins with other words: Dogs: ☐ yes ☒ no."""
    before = neighbour(label, "prev")
    if before is None or before.is_text_node or before.tag == "br" or label.parent is None:
        return
    first = next(label.parent.iter(include_text=True, skip_empty=True), None)
    is_line = not is_choice and first is not None and not first.is_text_node
    label.insert_before(label.parser.create_node("br") if is_line else " ")


def _write_value(field: Node, label: Node | None) -> None:
    value = " ".join(_value(field).split()).encode("utf-8", "ignore").decode("utf-8")
    before = neighbour(field, "prev")
    text = before if before is not None and before.is_text_node else None
    is_cell = field.parent is not None and field.parent.tag in _CELLS
    name = attribute(field, "aria-label")
    if label is not None and visible_text(label) and not is_cell:
        _apart(label)
        text = next((each for each in reversed(list(label.traverse(include_text=True))) if _is_name(each)), None)
    elif value and is_cell and text is None:
        field.insert_before(value)
    elif value and text is None and name:
        field.insert_before(f"{name}: {value}")
    if text is not None and (value or label):
        said = (text.text_content or "").rstrip()
        text.replace_with(f"{said}{'' if said.endswith((':', '?')) else ':'} {value}")
    field.decompose()


def _is_name(node: Node) -> bool:
    """Whether a node of a label is text that names its field."""
    is_said = node.is_text_node and (node.text_content or "").strip() != ""
    return is_said and node.parent is not None and node.parent.tag not in ("option", "optgroup", "textarea")


def _value(field: Node) -> str:
    if field.tag != "select":
        return field.text() if field.tag == "textarea" else attribute(field, "value")
    options = field.css("option")
    chosen = [option for option in options if "selected" in option.attributes]
    if not chosen and "multiple" not in field.attributes:
        chosen = options[:1]
    return ", ".join(
        option.text() for option in chosen if attribute(option, "value") or "value" not in option.attributes
    )
