"""What markitdown or docling makes of one file, in its own environment. `python -m format_files.theirs PROGRAM FILE`.

docling gets the wanted passages as JSON on standard input, for the places of the items that have them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from format_files.words import passages


def main() -> None:
    """Prints what is made."""
    print(json.dumps(_PROGRAMS[sys.argv[1]](Path(sys.argv[2]))))


def _markitdown(path: Path) -> dict[str, Any]:
    from markitdown import MarkItDown

    return {"text": MarkItDown().convert(path).markdown}


def _docling(path: Path) -> dict[str, Any]:
    from docling.document_converter import DocumentConverter

    # An archive becomes several documents. Those that can't be read are left out, unless there is no other.
    results = list(DocumentConverter().convert_all([path], raises_on_error=False))
    made = [(str(result.input.file), result.document) for result in results if not result.errors]
    if not made:
        raise ValueError(results[0].errors[0].error_message if results else "no document")
    places = [
        [{**place, "source": f"!/{name}"} for name, each in made for place in _places(each, text, path.suffix)]
        for text in json.load(sys.stdin)
    ]
    # Escaped underscores would divide words.
    texts = [each.export_to_markdown(escape_html=False, escape_underscores=False) for _, each in made]
    return {"text": "\n\n".join(texts), "html": "\n".join(each.export_to_html() for _, each in made), "places": places}


def _places(made: Any, text: str, suffix: str) -> Iterator[dict[str, Any]]:
    """Where the items with this text say that they are: a page, slide or second, or the cell of a sheet."""
    for item, _ in made.iterate_items():
        for words, row, column in _texts(item):
            if passages(words, text):
                yield {**_NOWHERE, **_place(made, item, row, column, suffix)}


_NOWHERE = dict.fromkeys(("lines", "pages", "unit", "headings", "place", "seconds", "box")) | {
    "times": [],
    "senders": [],
}


def _texts(item: Any) -> Iterator[tuple[str, int, int]]:
    if (data := getattr(item, "data", None)) is not None and hasattr(data, "table_cells"):
        for cell in data.table_cells:
            yield cell.text, cell.start_row_offset_idx, cell.start_col_offset_idx
    elif words := getattr(item, "text", ""):
        yield words, 0, 0


def _place(made: Any, item: Any, row: int, column: int, suffix: str) -> dict[str, Any]:
    seconds = [source.start_time for source in getattr(item, "source", None) or () if hasattr(source, "start_time")]
    if not item.prov:
        slides = [int(name.removeprefix("slide-")) + 1 for name in _groups(made, item) if name.startswith("slide-")]
        return {"unit": "slide", "pages": [*slides, *slides], "seconds": seconds or None}
    where = item.prov[0]
    if suffix in (".xlsx", ".ods"):
        left, top = int(where.bbox.l) + column, int(where.bbox.t) + row
        return {"place": f"{_sheet(made, item)}!{_letters(left)}{top + 1}"}
    unit = "slide" if suffix in (".pptx", ".odp") else "page"
    return {"unit": unit, "pages": [where.page_no, where.page_no], "seconds": seconds or None}


def _sheet(made: Any, item: Any) -> str:
    return next((name.removeprefix("sheet: ") for name in _groups(made, item)), "")


def _groups(made: Any, item: Any) -> Iterator[str]:
    """The names of the groups around an item: of a sheet, or of a slide with its number from 0."""
    while item.parent is not None:
        item = item.parent.resolve(made)
        if item.label in ("sheet", "section", "chapter", "slide"):
            yield item.name


def _letters(column: int) -> str:
    return _letters(column // 26 - 1) + chr(65 + column % 26) if column >= 26 else chr(65 + column)


_PROGRAMS: dict[str, Callable[[Path], dict[str, Any]]] = {"markitdown": _markitdown, "docling": _docling}

if __name__ == "__main__":
    main()
