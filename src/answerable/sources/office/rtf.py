"""Rich Text Format 1.9.1 (.rtf, and .doc files that are one) → Document: Markdown, with notes at the end.

Hidden text, tracked deletions, headers, footers, comments, pictures and embedded objects are left out. We don't use
striprtf: version 0.0.35 loses headings, lists and notes, shows hidden and deleted text, and ignores fonts' charsets.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace

from answerable.datatypes import Document, DocumentType
from answerable.errors import DamagedSource
from answerable.left_out import LeftOut, LeftOutKind
from answerable.sources.context import ReadContext
from answerable.sources.markdown import MOST_COLUMNS, Heading, indented, listed, sections_document, table_blocks, titled
from answerable.sources.office.docx_styles import heading_level
from answerable.text.notation import LOWERED, RAISED, STRUCK, marked, written

IGNORED = frozenset(
    """
    annotation atnauthor atnid author colortbl comment datafield filetbl fldinst footer footerf footerl footerr header
    headerf headerl headerr info listoverridetable listtable nonshppict objdata objname pict pn private rxe sp tc
    template title txe upr xe
    """.split()
)
"""Groups whose contents aren't text of the document; others say so themselves, with `\\*`."""
_LEFT_OUT = {
    **{"annotation": LeftOutKind.COMMENT, "objdata": LeftOutKind.FILE},
    # Word puts a picture in a group that older programs ignore; then, in another that is ignored, the same for those.
    **dict.fromkeys(("pict", "shppict"), LeftOutKind.PICTURE),
}
KEPT = frozenset({"shpinst", "shptxt", "shp", "footnote", "listtext", "pntext", "fldrslt", "stylesheet", "fonttbl"})
"""Groups that are read although they are marked as ignorable, or whose meaning this module interprets."""
CHARACTERS = {
    **{"tab": " ", "line": "\n", "lbr": "\n", "emspace": " ", "enspace": " ", "qmspace": " ", "emdash": "—"},
    **{"endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•"},
}
SYMBOLS = {"~": "\u00a0", "_": "-", "-": "", "\n": "\x00par", "\r": "\x00par", "{": "{", "}": "}", "\\": "\\"}
_CHARSETS = {
    **{0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950", 161: "cp1253"},
    **{162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874"},
    **{238: "cp1250", 255: "cp437"},
}
_TOKEN = re.compile(
    r"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<byte>[0-9a-fA-F]{2})|\\(?P<symbol>[^a-zA-Z])"
    r"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n]+|\\",
    re.DOTALL,
)
_PROPERTIES = frozenset({"title", "author"})
_BODY_LEVEL = 9  # RTF's outline level of body text
_ADVICE = "open it in Word or LibreOffice, save it again as .docx or PDF, and add that file"


def read_rtf(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from an RTF file. Raises DamagedSource and EmptySource."""
    if not data.startswith(b"{\\rtf"):
        raise DamagedSource(f"{source} is not an RTF document: {_ADVICE}")
    blocks = Blocks()
    walk = Walk(data.decode("latin-1"), blocks)
    walk.run()
    if context:
        context.left_out.extend(LeftOut.counted(walk.left_out))
    text = blocks.finish()
    notes = enumerate(blocks.notes, 1)
    return sections_document(text, blocks.headings, notes, source, DocumentType.RTF, walk.title, walk.metadata)


def charset_encoding(charset: int, default: str) -> str:
    """Return the encoding of a font's character set."""
    return _CHARSETS.get(charset, default)


def page_encoding(page: int) -> str:
    """Return the encoding of a code page; the Western one if Python doesn't know the code page."""
    if page == 65001:
        return "utf-8"
    try:
        return codecs.lookup(f"cp{page}").name
    except LookupError:
        return "mac_roman" if page == 10000 else "cp1252"


@dataclass(frozen=True, slots=True)
class _State:
    """The state within a group: its destination, and the properties of characters and paragraphs."""

    destination: str = ""
    skipped_after_unicode: int = 1
    encoding: str = ""
    is_hidden: bool = False
    is_deleted: bool = False
    is_struck: bool = False
    height: str = ""


class Walk:
    """Reads an RTF document into blocks; `title` and `metadata` are what the document states about itself.

    `left_out` are the kinds of what isn't read, with counts that add up.
    """

    def __init__(self, text: str, blocks: Blocks) -> None:
        self.title = ""
        self.metadata: dict[str, str] = {}
        self.left_out: list[tuple[LeftOutKind, int]] = []
        self._text = text
        self._blocks = blocks
        self._state = _State()
        self._stack: list[_State] = []
        self._default = "cp1252"
        self._fonts: dict[int, str] = {}
        self._levels: dict[int, int | None] = {}
        self._font = self._style = 0
        self._is_optional = False
        self._to_skip = 0
        self._bytes = bytearray()
        self._pieces: list[str] = []
        self._aside: list[str] = []
        self._level: int | None = None
        self._own_level: int | None = None
        self._marker = ""
        self._depth = 0
        self._in_table = False

    def run(self) -> None:
        """Read the whole document."""
        position = 0
        while found := _TOKEN.match(self._text, position):
            position = found.end()
            if found["brace"] == "{":
                self._flush()
                self._stack.append(self._state)
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
                self._byte(int(found["byte"], 16))
            elif found["symbol"]:
                self._symbol(found["symbol"])
            elif found["text"]:
                self._characters(found["text"])
        self._end_paragraph()

    def _close(self) -> None:
        """End a group: restore the state before the group."""
        self._flush()
        destination, self._to_skip = self._state.destination, 0
        outer = self._stack.pop() if self._stack else _State()
        self._state = outer
        if destination == outer.destination:
            return
        text = " ".join("".join(self._aside).split())
        self._aside = []
        if destination == "footnote":
            if text:
                self._blocks.notes.append(text)
                self._pieces.append(f"[^{len(self._blocks.notes)}]")
        elif destination in ("listtext", "pntext"):
            self._marker = f"{text} " if any(map(str.isalnum, text)) else "- "
        elif destination == "title":
            self.title = text
        elif destination == "author" and text:
            self.metadata["author"] = text

    def _word(self, word: str, number: int | None) -> None:
        self._flush()
        is_optional, self._is_optional = self._is_optional, False
        state = self._state
        if word == "u" and number is not None:
            self._add(chr(number % 65_536))
            self._to_skip = state.skipped_after_unicode
        elif state.destination in ("fonttbl", "stylesheet"):
            self._definition(word, number or 0)
        elif word in _PROPERTIES and state.destination == "info":
            self._state = replace(state, destination=word)
        elif state.destination in IGNORED and state.destination not in _PROPERTIES:
            return
        elif word in IGNORED or word in KEPT or is_optional:
            self._destination(word, is_optional)
        elif word in CHARACTERS:
            self._add(CHARACTERS[word])
        else:
            self._format(word, number)

    def _destination(self, word: str, is_optional: bool) -> None:
        if word in ("shp", "shpinst", "shptxt", "fldrslt"):
            return
        known = word if word in IGNORED or word in KEPT else "comment"
        if word in _LEFT_OUT:
            self.left_out.append((_LEFT_OUT[word], 1))
        self._aside = [] if self._state.destination != known else self._aside
        self._state = replace(self._state, destination=known)

    def _definition(self, word: str, number: int) -> None:
        """Read a definition of a font or a style."""
        if self._state.destination == "fonttbl":
            if word == "f":
                self._font = number
            elif word == "fcharset":
                self._fonts[self._font] = charset_encoding(number, self._default)
        elif word == "s":
            self._style = number
        elif word == "outlinelevel" and 0 <= number < _BODY_LEVEL:
            self._levels[self._style] = number + 1

    def _format(self, word: str, number: int | None) -> None:
        is_on = number != 0
        match word:
            case "par" | "sect" | "page":
                self._end_paragraph()
            case "cell" | "nestcell":
                self._end_paragraph(in_table=True)
                if word == "cell":
                    self._blocks.cell()
            case "row":
                self._blocks.row()
            case "pard":
                self._level = self._own_level = None
                self._in_table, self._depth = False, 0
            case "intbl":
                self._in_table = is_on
            case "s":
                self._level = self._levels.get(number or 0)
            case "outlinelevel":
                self._own_level = (number or 0) + 1
            case "ilvl":
                self._depth = min(max(number or 0, 0), 8)
            case "uc":
                self._state = replace(self._state, skipped_after_unicode=min(max(number or 0, 0), 8))
            case "f":
                self._state = replace(self._state, encoding=self._fonts.get(number or 0, ""))
            case "v":
                self._state = replace(self._state, is_hidden=is_on)
            case "deleted":
                self._state = replace(self._state, is_deleted=is_on)
            case "strike" | "striked":
                self._state = replace(self._state, is_struck=is_on)
            case "super" | "sub" | "nosupersub":
                height = {"super": RAISED, "sub": LOWERED}.get(word, "") if is_on else ""
                self._state = replace(self._state, height=height)
            case "plain":
                self._state = replace(self._state, is_hidden=False, is_deleted=False, is_struck=False, height="")
            case "ansicpg":
                self._default = page_encoding(number or 1252)
            case "mac":
                self._default = "mac_roman"

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            self._is_optional = True
            return
        self._flush()
        text = SYMBOLS.get(symbol, "")
        if text == "\x00par":
            self._end_paragraph()
        else:
            self._characters(text)

    def _byte(self, value: int) -> None:
        if self._to_skip:
            self._to_skip -= 1
        else:
            self._bytes.append(value)

    def _characters(self, text: str) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(text))
            self._to_skip -= skipped
            text = text[skipped:]
        # The second byte of a two-byte character may be the code of a plain character.
        self._bytes += text.encode("latin-1", "replace")

    def _flush(self) -> None:
        if self._bytes:
            encoding = self._state.encoding or self._default
            text = self._bytes.decode(encoding, "replace")
            self._bytes.clear()
            self._add(text)

    def _add(self, text: str) -> None:
        """Add characters to the paragraph, or to what is kept separately: notes, markers, properties, styles."""
        state = self._state
        if state.destination == "stylesheet":
            self._name_style(text)
        elif state.destination in ("footnote", "listtext", "pntext", "title", "author"):
            self._aside.append(_whole(text))
        elif not (state.destination or state.is_hidden or state.is_deleted):
            text = marked(text, state.height) if state.height else text
            self._pieces.append(marked(text, STRUCK) if state.is_struck else text)

    def _name_style(self, name: str) -> None:
        level = heading_level(name.partition(";")[0].strip())
        if level is not None:
            self._levels.setdefault(self._style, max(level, 1))

    def _end_paragraph(self, in_table: bool = False) -> None:
        self._flush()
        if self._state.destination:
            self._aside.append(" ")
            return
        text, self._pieces = "".join(self._pieces), []
        level = self._level if self._own_level is None else self._own_level
        level = level if level is not None and level <= _BODY_LEVEL else None
        marker, self._marker = self._marker, ""
        self._blocks.paragraph(text, level, marker, self._depth, in_table or self._in_table)


def _whole(text: str) -> str:
    """Return the text with surrogate pairs joined, which RTF writes as two numbers."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "")


class Blocks:
    """Collects blocks of Markdown, `headings`, and the texts of `notes`."""

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self.notes: list[str] = []
        self._pieces: list[tuple[str, bool]] = []
        self._rows: list[list[str]] = []
        self._row: list[str] = []
        self._cell: list[str] = []

    def paragraph(self, text: str, level: int | None, marker: str, depth: int, in_table: bool) -> None:
        """Add a paragraph: a heading of this level, a list item with this marker, text of a cell, or plain text."""
        text = _whole(written(text))
        if text and (in_table or level is not None):
            text = marker.removeprefix("- ") + text
        if in_table:
            if text:
                self._cell.append(text.replace("\n", " "))
            return
        self._end_table()
        if text and level is not None:
            text = titled(text, level, self.headings)
        elif text and marker:
            text = indented(text, "  " * depth + marker)
        if text:
            self._pieces.append((text, level is None and marker != ""))

    def cell(self) -> None:
        """End the current cell."""
        if len(self._row) < MOST_COLUMNS:
            self._row.append(" ".join(self._cell))
        self._cell = []

    def row(self) -> None:
        """End the current row."""
        if self._cell:
            self.cell()
        if self._row:
            self._rows.append(self._row)
        self._row = []

    def finish(self) -> list[str]:
        """End the open table; return the blocks."""
        self._end_table()
        return listed(self._pieces)

    def _end_table(self) -> None:
        self.row()
        self._pieces += [(block, False) for block in table_blocks(self._rows)]
        self._rows = []
