"""Remove images, disallowed links and turn markers from a model's text.

The text is read word by word. A word that may begin an address is held back until the word ends, and a bracket until it
is clear that it doesn't begin a link.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from answerable.answering.safety.addresses import LONGEST_ADDRESS, LONGEST_BEGINNING, address_start, trimmed
from answerable.answering.safety.turn_marks import BRACKETED_TOKEN, ROLE

# Marks a removal. It isn't in the text, whose hidden characters are removed before.
_GAP = "\0"

_LINK = re.compile(
    r"!?\[([^\[\]\n\0]{0,300})\]"
    r"\([ \t]{0,20}([^()\s\0]{0,2000}(?:\([^()\s\0]{0,200}\)[^()\s\0]{0,200}){0,3})(?:[ \t][^()\n\0]{0,300})?\)"
)
_LINK_BEGUN = re.compile(
    r"!?(?:\[[^\[\]\n\0]{0,300}(?:\](?:"
    r"\([ \t]{0,20}[^()\s\0]{0,2000}(?:\([^()\s\0]{0,200}\)[^()\s\0]{0,200}){0,3}"
    r"(?:\([^()\s\0]{0,200}|[ \t][^()\n\0]{0,300})?)?)?)?"
)
_NUMBER = re.compile(r"\d{1,3}")
_CITED_AFTER_EXCLAMATION = re.compile(r"!\[\d{1,3}\]")
_WORD = re.compile(r"(?:(?!!?\[|\][(:])[^\s\0<])+")
_RUN = re.compile(r"[^\s\0<]+")

_MARKERS = r"[#>*_~|({\"'“«]{0,12}"
_SPEAKER = rf"{_MARKERS}{ROLE}[*_~)}}\"'”]{{0,6}}[ \t]{{0,8}}"
_TURN = re.compile(rf"{_SPEAKER}[:：][*_~]{{0,4}}", re.IGNORECASE)
_TURN_BEGUN = re.compile(_SPEAKER, re.IGNORECASE)
_SPEAKER_EMITTED = re.compile(rf"[\s\[]*{_MARKERS}[\s\[]*{_SPEAKER}", re.IGNORECASE)
_ONLY_MARKERS = re.compile(_MARKERS)
_STOPS = re.compile(r"[.,;?)]+")
_LONGEST_SPEAKER = 80
_NO_GAP_AFTER = " \t\n(“«\"'*"


class SafeLinks:
    """A filter for links in a stream; the result doesn't depend on how the stream is cut.

    `allowed` contains complete addresses.
    """

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = allowed
        self._text = ""
        self._at = 0
        self._out: list[str] = []
        self._line = ""
        self._has_gap = False
        self._is_line_start = True
        self._has_letters = False
        self._had_letters = False
        self._drops = False

    def feed(self, text: str, is_final: bool = False) -> str:
        """Return the text that is now final and wasn't returned before."""
        # Keep one character before, to recognise the start of a word.
        self._text = self._text[max(self._at - 1, 0) :] + text
        self._at = min(self._at, 1)
        self._out = []
        while self._at < len(self._text) and self._step(is_final):
            pass
        return "".join(self._out)

    def _step(self, is_final: bool) -> bool:
        """Read one token; return False if more text is needed."""
        if self._drops:
            return self._skip_address()
        text, at = self._text, self._at
        character = text[at]
        if character == _GAP:
            self._has_gap = True
            self._at += 1
        elif character.isspace() or character == "<":
            self._emit(character)
            self._at += 1
            if character == "\n":
                self._is_line_start, self._has_letters = True, False
        elif text.startswith(("[", "!["), at):
            return self._bracket(is_final)
        elif text.startswith(("](", "]:"), at):
            self._break_link_mark()
        else:
            return self._word(is_final)
        return True

    def _bracket(self, is_final: bool) -> bool:
        text, at = self._text, self._at
        link = _LINK.match(text, at)
        if link:
            self._text = text[:at] + self._rewritten(link[1], link[2]) + text[link.end() :]
            return True
        if not is_final and _LINK_BEGUN.fullmatch(text, at):
            return False
        token = BRACKETED_TOKEN.match(text, at)
        if token:
            self._has_gap = True
            self._at = token.end()
        elif text[at] == "!" and not _CITED_AFTER_EXCLAMATION.match(text, at):
            self._at += 1
            self._has_gap = True
        else:
            bracket = "![" if text[at] == "!" else "["
            self._had_letters = self._has_letters
            self._emit(bracket)
            self._at += len(bracket)
        return True

    def _rewritten(self, label: str, target: str) -> str:
        if _NUMBER.fullmatch(label):
            return f"[{label}]{_GAP}"
        if target not in self._allowed:
            return f"{_GAP}{label}{_GAP}"
        return f"{_GAP}{target}" if label.strip() == target else f"{_GAP}{label} ({target})"

    def _break_link_mark(self) -> None:
        """Break up `](`, which makes a link, and `]:` at a line start, which defines a link."""
        is_harmless = self._text[self._at + 1] == ":" and self._had_letters
        self._emit("]:" if is_harmless else "] ")
        self._at += 2

    def _word(self, is_final: bool) -> bool:
        text, at = self._text, self._at
        if self._is_line_start:
            turn = _TURN.match(text, at)
            if not is_final and (_TURN_BEGUN.fullmatch(text, at) or (turn and turn.end() == len(text))):
                return False
            if turn:
                self._at = turn.end()
                self._has_gap = True
                return True
        word = _WORD.match(text, at, at + 2 * LONGEST_BEGINNING)
        assert word is not None
        end, sight = word.end(), min(word.end() + 2, _end_of_run(text, at, word.end() + 2))
        is_cut = end == at + 2 * LONGEST_BEGINNING
        if not is_final and not is_cut and sight == len(text):
            return False
        address = address_start(text, at, end if is_cut else sight)
        if address is not None and address < end:
            return self._address(address, is_final)
        self._take(at + LONGEST_BEGINNING if is_cut else end)
        return True

    def _address(self, start: int, is_final: bool) -> bool:
        if start > self._at:
            self._take(start)
            return True
        run = _RUN.match(self._text, start, start + LONGEST_ADDRESS + 1)
        assert run is not None
        if len(run[0]) > LONGEST_ADDRESS:
            self._drops = True
            return True
        if run.end() == len(self._text) and not is_final:
            return False
        address = trimmed(run[0]) or run[0]
        if address in self._allowed:
            self._take(start + len(address))
        else:
            self._has_gap = True
            self._at = start + len(address)
        return True

    def _skip_address(self) -> bool:
        """Skip an address that is too long to be allowed."""
        run = _RUN.match(self._text, self._at)
        self._at = run.end() if run else self._at
        self._has_gap = True
        self._drops = self._at == len(self._text)
        return not self._drops

    def _take(self, end: int) -> None:
        """Emit the text up to a position unchanged."""
        piece = self._text[self._at : end]
        self._is_line_start = self._is_line_start and _ONLY_MARKERS.fullmatch(piece) is not None
        self._has_letters = self._has_letters or any(letter.isalpha() for letter in piece)
        self._emit(piece)
        self._at = end

    def _emit(self, piece: str) -> None:
        if piece[0] in ":：" and _SPEAKER_EMITTED.fullmatch(self._line):
            # Something between a speaker and the colon was removed.
            piece = piece.lstrip(":：") or " "
        if self._has_gap and self._needs_gap(piece):
            piece = f" {piece}"
        self._has_gap = False
        self._out.append(piece)
        self._line = piece if self._line.endswith("\n") else self._line + piece
        if len(self._line) > _LONGEST_SPEAKER:
            self._line = "…" + self._line[-1]

    def _needs_gap(self, piece: str) -> bool:
        if not self._line or self._line[-1] in _NO_GAP_AFTER or piece[0].isspace():
            return False
        return _STOPS.fullmatch(piece) is None


def _end_of_run(text: str, start: int, limit: int) -> int:
    run = _RUN.match(text, start, limit)
    return run.end() if run else start
