"""Rich Text Format 1.9.1 (.rtf, and .doc files that are one) → Document: Markdown, with notes at the end.

Hidden text, tracked deletions, headers, footers, comments, pictures and embedded objects are left out. We don't use
striprtf: version 0.0.35 loses headings, lists and notes, shows hidden and deleted text, and ignores fonts' charsets.
"""

from __future__ import annotations

import codecs
import re
from typing import Any

from answerable.datatypes import Document, DocumentType
from answerable.errors import DamagedSource
from answerable.left_out import LeftOut, LeftOutKind
from answerable.sources.context import ReadContext
from answerable.sources.markdown import MOST_COLUMNS, Heading, indented, listed, sections_document, table_blocks, titled
from answerable.sources.office.docx_styles import ADVICE, heading_level
from answerable.text.notation import LOWERED, RAISED, STRUCK, marked, written

IGNORED = frozenset(
    """
    annotation atnauthor atnid author colortbl comment datafield filetbl fldinst footer footerf footerl footerr header
    headerf headerl headerr info listoverridetable listtable nonshppict objdata objname pict pn private rxe sp tc
    template title txe upr xe
    """.split()
)
"""Groups whose contents aren't text of the document; others say so themselves, with `\\*`."""
KEPT = frozenset({"footnote", "listtext", "pntext", "stylesheet", "fonttbl"})
"""Groups that are read although they are marked as ignorable, and whose meaning this module interprets."""
_LEFT_OUT = {
    **{"annotation": LeftOutKind.COMMENT, "objdata": LeftOutKind.FILE},
    # Word puts a picture in a group that older programs ignore; then, in another that is ignored, the same for those.
    **dict.fromkeys(("pict", "shppict"), LeftOutKind.PICTURE),
}
_TRANSPARENT = frozenset({"shp", "shpinst", "shptxt", "fldrslt"})
CHARACTERS = {
    **{"tab": " ", "line": "\n", "lbr": "\n", "emspace": " ", "enspace": " ", "qmspace": " ", "emdash": "—"},
    **{"endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•"},
}
SYMBOLS = {"~": "\u00a0", "_": "-", "{": "{", "}": "}", "\\": "\\"}
# The code pages of fonts by their character sets.
_CHARSETS = {
    **{0: 1252, 77: 10000, 128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258},
    **{177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 255: 437},
}
_TOKEN = re.compile(
    r"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<byte>[0-9a-fA-F]{2})|\\(?P<symbol>[^a-zA-Z])"
    r"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n]+|\\",
    re.DOTALL,
)
# What is switched on and off for characters; the marks of the text if it is shown.
_MARKS = {"super": RAISED, "sub": LOWERED, "strike": STRUCK, "striked": STRUCK}
_SWITCHES = frozenset({"v", "deleted", *_MARKS})
_OF_PARAGRAPHS = frozenset({"s", "outlinelevel", "ilvl", "intbl"})
_PROPERTIES = frozenset({"title", "author"})
_BODY_LEVEL = 9  # RTF's outline level of body text
_DEEPEST = 8  # the last level of a list, from 0; and characters after `\\u`


def read_rtf(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from an RTF file. Raises DamagedSource and EmptySource."""
    if not data.startswith(b"{\\rtf"):
        raise DamagedSource(f"{source} is not an RTF document: {ADVICE}")
    walk = Walk()
    blocks = walk.blocks(data.decode("latin-1"))
    if context:
        context.left_out.extend(LeftOut.counted(walk.left_out))
    notes = enumerate(walk.notes, 1)
    return sections_document(blocks, walk.headings, notes, source, DocumentType.RTF, walk.title, walk.metadata)


def page_encoding(page: int) -> str:
    """Return the encoding of a code page; the Western one if Python doesn't know the code page."""
    try:
        return codecs.lookup(f"cp{page}").name
    except LookupError:
        return "mac_roman" if page == 10000 else "cp1252"


class Walk:
    """One pass over an RTF document; collects `headings`, `notes`, and what the document states about itself.

    `left_out` are the kinds of what isn't read, with counts that add up.
    """

    def __init__(self) -> None:
        self.title = ""
        self.metadata: dict[str, str] = {}
        self.headings: list[Heading] = []
        self.notes: list[str] = []
        self.left_out: list[tuple[LeftOutKind, int]] = []
        # What holds within a group: its destination, encoding and switches; and what holds until the next `\\pard`.
        self._state: dict[str, Any] = {}
        self._stack: list[dict[str, Any]] = []
        self._paragraph: dict[str, int | None] = {}
        self._default = "cp1252"
        self._fonts: dict[int, str] = {}
        self._levels: dict[int | None, int] = {}
        self._font = self._style = 0
        self._is_optional = False
        self._to_skip = 0
        self._bytes = bytearray()
        # The text of the paragraph, and what is kept separately: a note, a marker, a property.
        self._pieces: list[str] = []
        self._aside: list[str] = []
        self._marker = ""
        self._blocks: list[tuple[str, bool]] = []
        self._rows: list[list[str]] = []
        self._row: list[str] = []
        self._cell: list[str] = []

    def blocks(self, text: str) -> list[str]:
        """Return the blocks of Markdown for a whole document."""
        position = 0
        while found := _TOKEN.match(text, position):
            position = found.end()
            if found["brace"] == "{":
                self._flush()
                self._stack.append(dict(self._state))
                self._to_skip = 0
            elif found["brace"]:
                self._close()
            elif found["word"]:
                number = None if found["number"] is None else int(found["number"])
                if found["word"] == "bin":
                    position += max(number or 0, 0)
                else:
                    self._word(found["word"], number)
            elif found["byte"]:
                self._characters(bytes.fromhex(found["byte"]))
            elif found["symbol"]:
                self._symbol(found["symbol"])
            elif found["text"]:
                self._characters(found["text"].encode("latin-1"))
        self._end_paragraph()
        self._end_table()
        return listed(self._blocks)

    @property
    def _destination(self) -> str:
        return str(self._state.get("destination", ""))

    def _close(self) -> None:
        """End a group: restore the state before the group."""
        self._flush()
        destination, self._to_skip = self._destination, 0
        self._state = self._stack.pop() if self._stack else {}
        if destination == self._destination:
            return
        text = " ".join("".join(self._aside).split())
        self._aside = []
        if destination == "footnote" and text:
            self.notes.append(text)
            self._pieces.append(f"[^{len(self.notes)}]")
        elif destination in ("listtext", "pntext"):
            self._marker = f"{text} " if any(map(str.isalnum, text)) else "- "
        elif destination == "title":
            self.title = text
        elif destination == "author" and text:
            self.metadata["author"] = text

    def _word(self, word: str, number: int | None) -> None:
        self._flush()
        is_optional, self._is_optional = self._is_optional, False
        destination = self._destination
        if word == "u" and number is not None:
            self._add(chr(number % 65_536))
            self._to_skip = self._state.get("uc", 1)
        elif destination in ("fonttbl", "stylesheet"):
            self._definition(word, number or 0)
        elif (
            destination in IGNORED
            and destination not in _PROPERTIES
            and not (destination == "info" and word in _PROPERTIES)
        ):
            return
        elif word in IGNORED or word in KEPT or (is_optional and word not in _TRANSPARENT):
            known = word if word in IGNORED or word in KEPT else "comment"
            if word in _LEFT_OUT:
                self.left_out.append((_LEFT_OUT[word], 1))
            self._aside = [] if destination != known else self._aside
            self._state["destination"] = known
        elif word in CHARACTERS:
            self._add(CHARACTERS[word])
        else:
            self._format(word, number)

    def _definition(self, word: str, number: int) -> None:
        """Read a definition of a font or a style."""
        if self._destination == "fonttbl":
            if word == "f":
                self._font = number
            elif word == "fcharset":
                self._fonts[self._font] = page_encoding(_CHARSETS[number]) if number in _CHARSETS else self._default
        elif word == "s":
            self._style = number
        elif word == "outlinelevel" and 0 <= number < _BODY_LEVEL:
            self._levels[self._style] = number

    def _format(self, word: str, number: int | None) -> None:
        if word in _SWITCHES:
            self._state[word] = number != 0
            return
        if word in _OF_PARAGRAPHS:
            self._paragraph[word] = number
            return
        match word:
            case "par" | "sect" | "page":
                self._end_paragraph()
            case "cell" | "nestcell":
                self._end_paragraph(in_table=True)
                if word == "cell":
                    self._end_cell()
            case "row":
                self._end_row()
            case "pard":
                self._paragraph = {}
            case "uc":
                self._state["uc"] = min(max(number or 0, 0), _DEEPEST)
            case "f":
                self._state["encoding"] = self._fonts.get(number or 0, "")
            case "plain" | "nosupersub":
                self._state.update(dict.fromkeys(_SWITCHES if word == "plain" else ("super", "sub"), False))
            case "ansicpg" | "mac":
                self._default = page_encoding(number or 1252) if word == "ansicpg" else "mac_roman"

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            self._is_optional = True
            return
        self._flush()
        if symbol in "\r\n":
            self._end_paragraph()
        else:
            self._characters(SYMBOLS.get(symbol, "").encode("latin-1"))

    def _characters(self, text: bytes) -> None:
        # The second byte of a two-byte character may be the code of a plain character.
        self._bytes += text[self._to_skip :]
        self._to_skip = max(self._to_skip - len(text), 0)

    def _flush(self) -> None:
        if self._bytes:
            text = self._bytes.decode(self._state.get("encoding") or self._default, "replace")
            self._bytes.clear()
            self._add(text)

    def _add(self, text: str) -> None:
        """Add characters to the paragraph, or to what is kept separately; or name a style by them."""
        destination = self._destination
        if destination == "stylesheet":
            level = heading_level(text.partition(";")[0].strip())
            if level is not None:
                self._levels.setdefault(self._style, max(level - 1, 0))
        elif destination in ("footnote", "listtext", "pntext", *_PROPERTIES):
            self._aside.append(_whole(text))
        elif not (destination or self._state.get("v") or self._state.get("deleted")):
            for kind in dict.fromkeys(kind for word, kind in _MARKS.items() if self._state.get(word)):
                text = marked(text, kind)
            self._pieces.append(text)

    def _end_paragraph(self, in_table: bool = False) -> None:
        self._flush()
        if self._destination:
            self._aside.append(" ")
            return
        text, self._pieces = _whole(written("".join(self._pieces))), []
        marker, self._marker = self._marker, ""
        style = self._levels.get(self._paragraph.get("s") or 0, _BODY_LEVEL) if "s" in self._paragraph else _BODY_LEVEL
        level = self._paragraph.get("outlinelevel", style) or 0
        in_table = in_table or self._paragraph.get("intbl", 0) != 0
        if text and (in_table or level < _BODY_LEVEL):
            text = marker.removeprefix("- ") + text
        if in_table:
            self._cell += filter(None, [text.replace("\n", " ")])
            return
        self._end_table()
        if text and level < _BODY_LEVEL:
            self._blocks.append((titled(text, level + 1, self.headings), False))
        elif text:
            depth = min(max(self._paragraph.get("ilvl") or 0, 0), _DEEPEST)
            self._blocks.append((indented(text, "  " * depth + marker) if marker else text, marker != ""))

    def _end_cell(self) -> None:
        if len(self._row) < MOST_COLUMNS:
            self._row.append(" ".join(self._cell))
        self._cell = []

    def _end_row(self) -> None:
        if self._cell:
            self._end_cell()
        self._rows += filter(None, [self._row])
        self._row = []

    def _end_table(self) -> None:
        self._end_row()
        self._blocks += [(block, False) for block in table_blocks(self._rows)]
        self._rows = []


def _whole(text: str) -> str:
    """Return the text with surrogate pairs joined, which RTF writes as two numbers."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "")
