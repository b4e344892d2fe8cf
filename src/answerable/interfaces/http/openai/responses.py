"""Write answers as OpenAI's responses, whole or as events. Their output is one message: tools of ours aren't shown."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from answerable.datatypes import Answer
from answerable.interfaces.http import sse
from answerable.interfaces.http.openai.completions import pieces_of, shown, sources, url_citations, usage_of
from answerable.interfaces.http.problems import Problem, openai_error
from answerable.interfaces.plain import Plain, unavailable_json
from answerable.library import Library


@dataclass(frozen=True, slots=True)
class Reply:
    """The response to one request."""

    model: str
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    created: int = field(default_factory=lambda: int(time.time()))
    numbers: Iterator[int] = field(default_factory=count)

    def whole(self, library: Library, question: str, answer: Answer) -> Plain:
        """Return the response as one JSON object."""
        text = shown(answer)
        cited = url_citations(text, answer.citations)
        counted = usage_of(library, question, answer)
        usage = {
            "input_tokens": counted["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": counted["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": counted["total_tokens"],
        }
        more = {"usage": usage, "sources": sources(answer.citations), **unavailable_json(answer.unavailable)}
        return {**self._envelope("completed", [self._message("completed", [_part(text, cited)])]), **more}

    def begin(self) -> Iterator[sse.Event]:
        """Yield the events before the text."""
        yield self._event("response.created", response=self._envelope("in_progress", []))
        yield self._event("response.in_progress", response=self._envelope("in_progress", []))
        yield self._event("response.output_item.added", output_index=0, item=self._message("in_progress", []))
        yield self._event("response.content_part.added", **self._place(), part=_part("", []))

    def end(self, library: Library, question: str, answer: Answer) -> Iterator[sse.Event]:
        """Yield the events of a checked answer: its text by lines and sentences, its citations, and the whole."""
        text = shown(answer)
        cited = url_citations(text, answer.citations)
        for piece in pieces_of(text, answer.language):
            yield self._event("response.output_text.delta", **self._place(), delta=piece, logprobs=[])
        for index, each in enumerate(cited):
            place = {**self._place(), "annotation_index": index, "annotation": each}
            yield self._event("response.output_text.annotation.added", **place)
        yield self._event("response.output_text.done", **self._place(), text=text, logprobs=[])
        yield self._event("response.content_part.done", **self._place(), part=_part(text, cited))
        item = self._message("completed", [_part(text, cited)])
        yield self._event("response.output_item.done", output_index=0, item=item)
        yield self._event("response.completed", response=self.whole(library, question, answer))

    def failed(self, found: Problem) -> sse.Event:
        """Return the last event of a stream that failed."""
        error = openai_error(found, found.status)["error"]
        told = {name: error[name] for name in ("code", "message", "param")}
        return self._event("error", **told)

    def _event(self, name: str, **data: Any) -> sse.Event:
        return sse.Event(name, {"type": name, "sequence_number": next(self.numbers), **data})

    def _place(self) -> Plain:
        return {"item_id": f"msg_{self.token}", "output_index": 0, "content_index": 0}

    def _message(self, status: str, content: list[Plain]) -> Plain:
        return {"type": "message", "id": f"msg_{self.token}", "role": "assistant", "status": status, "content": content}

    def _envelope(self, status: str, output: list[Plain]) -> Plain:
        return {
            "id": f"resp_{self.token}",
            "object": "response",
            "created_at": self.created,
            "status": status,
            "model": self.model,
            "output": output,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": False,
            "store": False,
            "text": {"format": {"type": "text"}},
            "tool_choice": "none",
            "tools": [],
        }


def _part(text: str, cited: list[Plain]) -> Plain:
    return {"type": "output_text", "text": text, "annotations": cited, "logprobs": []}
