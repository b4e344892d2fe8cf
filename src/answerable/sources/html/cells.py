"""Tables with merged cells or several rows of names → tables with one row of names and a cell in each column."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile, zip_longest
from string import ascii_uppercase

from selectolax.lexbor import LexborNode as Node

from answerable.sources.html.words import attribute, inline_text, one_line, rewrite, visible_text

_MOST_SPANNED = 1_000  # columns that a cell may span: the limit of the standard; taken for rows too
_MOST_COPIED = 1_000_000  # characters of markup that merged cells of a page repeat; a round number, not measured
_CELL = 50  # characters that a copy counts besides its own, as short cells take time too; a round number, not measured

_IN_LAYOUT = "table, ul, ol, h1, h2, h3, h4, h5, h6, blockquote, p + p"


def write_cells(root: Node) -> None:
    """Repeat merged cells in each row and column, join the rows of names, keep list items in a cell apart."""
    left = _MOST_COPIED
    for table in root.css("table"):
        rows = _without_frame([row for row in rows_of(table) if cells_of(row)])
        cells = [cells_of(row) for row in rows]
        if is_layout(table, cells) or table.css_first("table table") is not None:
            continue
        for item in (item for row in cells for cell in row for item in cell.css("li")[:-1]):
            item.insert_child(";")
        names = _rows_of_names(cells)
        if names > 1 or table.css_first("[rowspan], [colspan]"):
            title = _title(cells)
            left = _spread(list(rows_of(table)), left)
            if title is not None and names < len(rows):
                paragraph = table.parser.create_node("p")
                paragraph.insert_child(visible_text(title))
                table.insert_before(paragraph)
                rows.pop(0).decompose()
                names -= names > 1
            if 1 < names < len(rows):
                _join(rows[:names])


def _without_frame(rows: list[Node]) -> list[Node]:
    """Remove the letters of columns and the numbers of rows around a sheet, as Google writes them; return the rows."""
    letters = [visible_text(cell) for cell in cells_of(rows[0])] if rows else []
    numbers = [cells_of(row)[0] for row in rows[1:]]
    is_frame = all(cell.tag == "th" and visible_text(cell).isdecimal() for cell in numbers)
    if not is_frame or len(letters) < 2 or letters[:27] != ["", *ascii_uppercase][: len(letters)]:
        return rows
    for cell in numbers:
        cell.decompose()
    rows[0].decompose()
    return rows[1:]


def _rows_of_names(rows: list[list[Node]]) -> int:
    """Return how many rows at the top name the columns."""
    named = sum(1 for _ in takewhile(lambda row: all(map(_is_name, row)), rows))
    spans = {name: any(_span(cell, name) > 1 for cell in rows[0]) for name in ("colspan", "rowspan")}
    return max(named if named < len(rows) else 1, 2 if all(spans.values()) else 1)


def _is_name(cell: Node) -> bool:
    return cell.tag == "th" or (
        cell.parent is not None and cell.parent.parent is not None and cell.parent.parent.tag == "thead"
    )


def _title(rows: list[list[Node]]) -> Node | None:
    """Return the cell with the title of the table: it is alone in its row, above the names of the columns."""
    first = rows[0][0]
    is_title = len(rows) > 2 and len(rows[0]) == 1 < len(rows[1]) and _span(first, "colspan") > 1
    return first if is_title and (len(rows[1]) > 2 or all(map(_is_name, rows[1]))) else None


def _span(cell: Node, name: str) -> int:
    number = attribute(cell, name).strip()
    if number == "0" and name == "rowspan":
        return _MOST_SPANNED  # to the end of its section
    return max(1, min(int(number), _MOST_SPANNED)) if number.isdecimal() and len(number) < 9 else 1


def _spread(rows: list[Node], left: int) -> int:
    """Repeat the merged cells of a table; return how many characters may still be copied."""
    due: dict[int, tuple[Node, int]] = {}
    section = None
    for number, row in enumerate(rows):
        if row.parent is None or row.parent.mem_id != section:
            due, section = {}, row.parent.mem_id if row.parent else None
        cells = cells_of(row)
        column = 0
        above, due = due, {}
        for cell in cells:
            while column in above:
                cell.insert_before(above[column][0])
                column += 1
            columns = _span(cell, "colspan") if len(cells) > 1 or above else 1
            below = min(_span(cell, "rowspan"), len(rows) - number)
            for name in ("colspan", "rowspan"):
                if name in cell.attributes:
                    del cell.attrs[name]
            cost = (len(cell.html or "") + _CELL) * (columns * below - 1)
            columns, below = (columns, below) if cost <= left else (1, 1)
            left -= cost if cost <= left else 0
            for _ in range(columns - 1):
                cell.insert_after(cell)
            due |= {column + each: (cell, below) for each in range(columns) if below > 1}
            column += columns
        for each in sorted(each for each in above if each >= column):
            row.insert_child(above[each][0])
        due |= {each: (cell, rest - 1) for each, (cell, rest) in above.items() if rest > 2}
    return left


def _join(rows: list[Node]) -> None:
    """Write the names in several rows into the first row: `2023 single`."""
    texts = [[one_line(inline_text(cell, 0)) for cell in cells_of(row)] for row in rows]
    for cell, names in zip(cells_of(rows[0]), zip_longest(*texts, fillvalue=""), strict=False):
        name = " ".join(filter(None, dict.fromkeys(names)))
        if visible_text(cell):
            rewrite(cell, name)
        else:
            cell.insert_child(name)
    for row in rows[1:]:
        row.decompose()


def cells_of(row: Node) -> list[Node]:
    """Return the cells of a table's row."""
    return [cell for cell in row.iter() if cell.tag in ("td", "th")]


def rows_of(table: Node) -> Iterator[Node]:
    """Yield the rows of a table, also those in its head, bodies and foot."""
    for child in table.iter():
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in child.iter() if row.tag == "tr")


def is_layout(node: Node, rows: list[list[Node]]) -> bool:
    """Whether a table is used for layout, by the cells of its rows."""
    if attribute(node, "role") in ("presentation", "none") or max(map(len, rows), default=0) < 2:
        return True
    if len(rows) > 3 or all(cell.tag == "th" for cell in rows[0]):
        return False
    full = sum(cell.css_first(_IN_LAYOUT) is not None for row in rows for cell in row)
    return full * 4 > sum(map(len, rows))
