"""A fake chat model that streams the text given by a test."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from typing import Any

from answerable.datatypes import Usage
from answerable.protocols import Delta, Message, Tool, ToolCall


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


class ToolScript(ScriptedModel):
    """A scripted model that calls tools: the pieces of a script may be calls."""

    def __init__(self, *scripts: Sequence[str | ToolCall | Exception]) -> None:
        super().__init__()
        self._turns = list(scripts)

    def converse(
        self, messages: Sequence[Message], tools: Sequence[Tool], max_tokens: int | None = None
    ) -> Generator[Delta, None, None]:
        self.asked.append(list(messages))
        for piece in self._turns.pop(0):
            if isinstance(piece, Exception):
                raise piece
            yield Delta("", calls=(piece,)) if isinstance(piece, ToolCall) else Delta(piece)
        yield Delta("", Usage(100, 10, 0.001))

    def stream(self, messages: Sequence[Message], max_tokens: int | None = None) -> Generator[Delta, None, None]:
        """Doubt no sentence in the second call."""
        yield Delta("[]")
        yield Delta("", Usage(100, 10, 0.001))


def call(name: str, **arguments: Any) -> ToolCall:
    """A call of a tool as a model makes it."""
    return ToolCall(f"call-{name}", name, json.dumps(arguments))
