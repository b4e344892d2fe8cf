"""A chat model that says what a test tells it to, piece by piece."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from answerable.datatypes import Usage
from answerable.protocols import Delta, Message


class ScriptedModel:
    """Each call takes the next script: pieces of text, and errors that are raised where they stand."""

    name = "test:scripted"

    def __init__(self, *scripts: Sequence[str | Exception], truncates: bool = False) -> None:
        self._scripts = list(scripts)
        self.asked: list[list[Message]] = []
        self.stopped = 0
        self._truncates = truncates
        self.is_closed = False

    def stream(self, messages: Sequence[Message], max_tokens: int | None = None) -> Generator[Delta, None, None]:
        self.asked.append(list(messages))
        script = self._scripts.pop(0)
        try:
            for piece in script:
                if isinstance(piece, Exception):
                    raise piece
                yield Delta(piece)
        except GeneratorExit:
            self.stopped += 1
            raise
        yield Delta("", Usage(100, 10, 0.001), self._truncates)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) // 4 + 1 for text in texts]

    def close(self) -> None:
        self.is_closed = True
