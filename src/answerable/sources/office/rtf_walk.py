"""One pass over the groups, control words and characters of an RTF document."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from answerable.sources.office.docx_styles import heading_level
from answerable.sources.office.rtf_blocks import Blocks
from answerable.sources.office.rtf_words import CHARACTERS, IGNORED, KEPT, SYMBOLS, charset_encoding, page_encoding

_TOKEN = re.compile(
    r"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<byte>[0-9a-fA-F]{2})|\\(?P<symbol>[^a-zA-Z])"
    r"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n]+|\\",
    re.DOTALL,
)
_PROPERTIES = {"title": "title", "author": "author"}
_NUMBERED = re.compile(r"\(?(\d{1,4}|[a-zA-Z]{1,3})[.)]")
_BODY_LEVEL = 9


@dataclass(frozen=True, slots=True)
class _State:
    """What applies in a group: its destination, and the properties of characters and paragraphs."""

    destination: str = ""
    skipped_after_unicode: int = 1
    encoding: str = ""
    is_hidden: bool = False
    is_deleted: bool = False


class Walk:
    """Reads a document into blocks; `title` and `metadata` are those that it states."""

    def __init__(self, text: str, blocks: Blocks) -> None:
        self.title = ""
        self.metadata: dict[str, str] = {}
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
        """End a group: back to what applied before it."""
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
            self._marker = f"{found[1]}. " if (found := _NUMBERED.match(text)) else "- "
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
        self._aside = [] if self._state.destination != known else self._aside
        self._state = replace(self._state, destination=known)

    def _definition(self, word: str, number: int) -> None:
        """Read what a font or a style is."""
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
            case "plain":
                self._state = replace(self._state, is_hidden=False, is_deleted=False)
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
        # A character of two bytes may have a plain one as its second.
        self._bytes += text.encode("latin-1", "replace")

    def _flush(self) -> None:
        if self._bytes:
            encoding = self._state.encoding or self._default
            text = self._bytes.decode(encoding, "replace")
            self._bytes.clear()
            self._add(text)

    def _add(self, text: str) -> None:
        """Add characters to the paragraph, or to what stands aside from it: notes, markers, properties, styles."""
        state = self._state
        if state.destination == "stylesheet":
            self._name_style(text)
        elif state.destination in ("footnote", "listtext", "pntext", "title", "author"):
            self._aside.append(_whole(text))
        elif not (state.destination or state.is_hidden or state.is_deleted):
            self._pieces.append(text)

    def _name_style(self, name: str) -> None:
        level = heading_level(name.partition(";")[0].strip())
        if level is not None:
            self._levels.setdefault(self._style, max(level, 1))

    def _end_paragraph(self, in_table: bool = False) -> None:
        self._flush()
        if self._state.destination:
            self._aside.append(" ")
            return
        text, self._pieces = _whole("".join(self._pieces)), []
        level = self._level if self._own_level is None else self._own_level
        level = level if level is not None and level <= _BODY_LEVEL else None
        marker, self._marker = self._marker, ""
        self._blocks.paragraph(text, level, marker, self._depth, in_table or self._in_table)


def _whole(text: str) -> str:
    """Return a text with the halves of characters joined, which RTF writes as two numbers."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "")
