"""How routes say in the OpenAPI document what may come back."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

from answerable.interfaces.http import problems, sse
from answerable.interfaces.http.models import ProblemOut

Responses = dict[int | str, dict[str, Any]]

# What any route that needs a key may answer: the guards in front of it do, or the core behind it.
_ALWAYS = (400, 401, 403, 404, 405, 408, 413, 414, 415, 421, 422, 429, 431, 500, 502, 503, 507)


def responses(model: type[BaseModel] | None = None, status: int = 200, events: bool = False) -> Responses:
    """A route's responses: what it gives, also as a stream of events, and every problem."""
    good: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if model is not None:
        good["model"] = model
    if events:
        good["content"] = {sse.MEDIA_TYPE: {"schema": {"type": "string"}}}
    wrong = {"schema": {"$ref": f"#/components/schemas/{ProblemOut.__name__}"}}
    return {
        status: good,
        **{code: {"description": HTTPStatus(code).phrase, "content": {problems.MEDIA_TYPE: wrong}} for code in _ALWAYS},
    }
