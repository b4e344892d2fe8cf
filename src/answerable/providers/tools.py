"""Function calls, which OpenAI's protocol and Cohere's API v2 have in common but for their events."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from answerable.protocols import Message, Tool, ToolCall
from answerable.providers.usage import Allowance
from answerable.text.characters import encodable

# As Ollama, llama.cpp ("requires --jinja"), vLLM ("requires --enable-auto-tool-choice"), Cohere and others put it.
_REFUSAL = re.compile(
    r"(?=.*\b(tools?|tool_choice|function.call\w*)\b)"
    r".*((\bnot?\b|n't).{0,40}(support|permitted|allowed)|unsupported|requires --"
    r"|(unknown|unrecogni[sz]ed|unexpected) (request )?(argument|field|keyword|param))",
    re.IGNORECASE | re.DOTALL,
)


def refuses_tools(said: str) -> bool:
    """Return whether an error message says that the server or the model takes no tools."""
    return bool(_REFUSAL.match(said))


def sent_tools(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return the tools in the protocol's form."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in tools
    ]


def sent_message(message: Message, clean: Callable[[str], str]) -> dict[str, Any]:
    """Return the message in the protocol's form; `clean` makes texts fit for sending.

    Arguments that are no JSON object are sent as {}: several servers parse them, and would reject the conversation.
    """
    sent: dict[str, Any] = {"role": message.role}
    if message.content or not message.calls:
        sent["content"] = clean(message.content)
    if message.calls:
        sent["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": clean(call.arguments) if _is_whole(call) else "{}"},
            }
            for call in message.calls
        ]
    if message.role == "tool":
        sent["tool_call_id"] = message.call_id
    return sent


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""


class Calls:
    """Puts the fragments of a stream's tool calls together. They count towards the answer's allowance."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._calls: list[_Call] = []
        # The call to which a fragment with an index belongs, and, under None, one without.
        self._open: dict[int | None, _Call] = {}

    def add(self, index: object, id: object, name: object, arguments: object) -> None:
        """Add a fragment. Each value may be None or of a wrong type, and repeat what an earlier fragment said."""
        id, name = (encodable(value) if isinstance(value, str) else "" for value in (id, name))
        if not isinstance(arguments, str):
            # Some servers send an object in place of its JSON.
            arguments = "" if arguments is None else json.dumps(arguments)
        place = index if isinstance(index, int) else None
        call = self._open.get(place)
        if call is None or _is_another(call, id, name, arguments):
            call = _Call()
            self._calls.append(call)
        self._open[place] = self._open[None] = call
        call.id = call.id or self._allowance.take(id)
        call.name = call.name or self._allowance.take(name)
        call.arguments += encodable(self._allowance.take(arguments))

    def complete(self, truncated: bool) -> tuple[ToolCall, ...]:
        """Return the calls; of a truncated answer, only those whose arguments are a JSON object."""
        return tuple(
            ToolCall(call.id or f"call_{uuid4().hex}", call.name, call.arguments or "{}")
            for call in self._calls
            if call.name and (_is_whole(call) or not truncated)
        )


def _is_another(call: _Call, id: str, name: str, arguments: str) -> bool:
    """Return whether a fragment begins another call: some servers give all calls the same index, or no ids."""
    if not name or not call.name:
        return False
    if id and call.id:
        return id != call.id
    return name != call.name or (arguments.startswith("{") and _is_whole(call))


def _is_whole(call: ToolCall | _Call) -> bool:
    try:
        return isinstance(json.loads(call.arguments), dict)
    except (ValueError, RecursionError):
        return False
