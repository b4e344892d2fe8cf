"""Write answers as chat completions, whole or in chunks, with citations in the fields that clients show.

These fields are OpenAI's annotations and Open WebUI's `sources`, both numbered like the marks `[n]` in the answer. In
the text, a sign follows each sentence of a model that isn't verified.
Clients identify sources by URL or name, so both must be unique.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from answerable.datatypes import Answer, Citation
from answerable.formats.locate import shown_name
from answerable.interfaces.http import sse
from answerable.interfaces.http.problems import Problem, openai_error
from answerable.interfaces.plain import Plain, citation_json, unavailable_json
from answerable.interfaces.written import signed
from answerable.library import Library
from answerable.text.sentences import sentence_spans

_LINE_END = re.compile(r"\n")
_LIVE = re.compile(r"!(?=\[)|\](?=\()|(?<=\])(?=:)")
_TAG = re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)
# Tags that can do something: with an attribute, or of these kinds. Others, as in `x<y and z>w`, are harmless.
_ACTIVE = re.compile(r"=|</?(?:script|style|iframe|object|embed|base|meta|link|form)\b", re.IGNORECASE)


class Chunk(sse.Event):
    """An event without a name, as OpenAI's protocol needs; an event without data ends the stream."""

    def encoded(self) -> bytes:
        """Return the event as bytes."""
        data = json.dumps(self.data, ensure_ascii=False, default=str) if self.data else "[DONE]"
        return f"data: {data}\n\n".encode()


@dataclass(frozen=True, slots=True)
class Completion:
    """The response to one request; its text ends before the first occurrence of one of the `stops`.

    With `has_usage` a stream says the numbers of tokens.
    """

    model: str
    stops: Sequence[str] = ()
    has_usage: bool = False
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(16)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, library: Library, question: str, answer: Answer) -> Plain:
        """Return the completion as one JSON object."""
        text = shown(answer, self.stops)
        cited = _nested(text, answer.citations)
        message = {"role": "assistant", "content": text, "refusal": None, "annotations": cited}
        return {
            **self._envelope("chat.completion"),
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
            "usage": usage_of(library, question, answer),
            "sources": sources(answer.citations),
            **unavailable_json(answer.unavailable, answer.waiting),
        }

    def begin(self) -> Iterator[sse.Event]:
        """Yield the chunk before the text."""
        yield self._chunk({"role": "assistant", "content": ""})

    def end(self, library: Library, question: str, answer: Answer) -> Iterator[sse.Event]:
        """Yield the chunks of a checked answer: its text by lines and sentences, its citations, and the last."""
        text = shown(answer, self.stops)
        for piece in pieces_of(text, answer.language):
            yield self._chunk({"content": piece})
        if answer.citations:
            cited = _nested(text, answer.citations)
            yield self._chunk({"annotations": cited}, sources=sources(answer.citations))
        yield self._chunk({}, "stop", **unavailable_json(answer.unavailable, answer.waiting))
        if self.has_usage:
            yield self._chunk({}, choices=[], usage=usage_of(library, question, answer))
        yield Chunk("", {})

    def failed(self, found: Problem) -> sse.Event:
        """Return the last event of a stream that failed."""
        return Chunk("", openai_error(found, found.status))

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, **more: Any) -> Chunk:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return Chunk("", {**self._envelope("chat.completion.chunk"), "choices": [choice], **more})

    def _envelope(self, kind: str) -> Plain:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


def usage_of(library: Library, question: str, answer: Answer) -> dict[str, int]:
    """Return the numbers of tokens read and written.

    They are the model's own count or, without a model, the tokens of question and answer.
    """
    if answer.usage:
        read, written = answer.usage.input_tokens, answer.usage.output_tokens
    else:
        read, written = library.embedder.count_tokens([question, answer.text])
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def shown(answer: Answer, stops: Sequence[str] = ()) -> str:
    """Return the text of an answer for clients, before the first occurrence of a stop."""
    text = inert(signed(answer))
    return text[: min((at for stop in stops if (at := text.find(stop)) >= 0), default=len(text))]


def pieces_of(text: str, language: str) -> list[str]:
    """Return a text in pieces: its lines and sentences."""
    starts = {start for start, _ in sentence_spans(text, language)}
    cuts = sorted({0, len(text), *starts, *(match.end() for match in _LINE_END.finditer(text))})
    return [text[start:end] for start, end in pairwise(cuts)]


def url_citations(text: str, citations: Sequence[Citation]) -> list[Plain]:
    """Return an annotation for the first occurrence in the text of each mark `[n]`; skip marks that were cut off."""
    found = []
    for number, (citation, url) in enumerate(zip(citations, _addresses(citations), strict=True), 1):
        mark = f"[{number}]"
        if (at := text.find(mark)) >= 0:
            place = {"start_index": at, "end_index": at + len(mark), "title": _title(number, citation), "url": url}
            found.append({"type": "url_citation", **place})
    return found


def _nested(text: str, citations: Sequence[Citation]) -> list[Plain]:
    """Return the annotations as chat completions have them."""
    places = [
        {name: value for name, value in each.items() if name != "type"} for each in url_citations(text, citations)
    ]
    return [{"type": "url_citation", "url_citation": place} for place in places]


def sources(citations: Sequence[Citation]) -> list[Plain]:
    """Return the citations as Open WebUI's sources."""
    return [
        {
            "source": {"name": _title(number, citation), "url": address},
            "document": [citation.quote],
            "metadata": [{**citation_json(citation), "source": address, "name": _title(number, citation)}],
        }
        for number, (citation, address) in enumerate(zip(citations, _addresses(citations), strict=True), 1)
    ]


def _title(number: int, citation: Citation) -> str:
    name = citation.title or shown_name(citation)
    return " ".join(f"{number}. {name}, {citation.location}".removesuffix(", ").split())


def _addresses(citations: Sequence[Citation]) -> list[str]:
    """Return a unique URL for each citation; a repeated URL gets a number."""
    found: list[str] = []
    for number, citation in enumerate(citations, 1):
        address = citation.link or f"answerable://document/{citation.document_id}#{citation.start}-{citation.end}"
        again = f"{address}{'&' if '#' in address else '#'}citation={number}"
        found.append(again if address in found else address)
    return found


def inert(text: str) -> str:
    """Return a text with every image, link and tag escaped; unchanged if Markdown makes none of them from it."""
    tokens = [each for token in _parser().parse(text) for each in (token, *(token.children or ()))]
    if not any(map(_is_live, tokens)):
        return text
    return _TAG.sub("&lt;", _LIVE.sub(lambda mark: f"{mark[0]}\\", text))


def _is_live(token: Token) -> bool:
    if token.type in ("html_inline", "html_block"):
        return _ACTIVE.search(token.content) is not None
    return token.type == "image" or (token.type == "link_open" and token.info != "auto")


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True})
