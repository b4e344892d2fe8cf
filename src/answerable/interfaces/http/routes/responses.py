"""The routers and responses of the API, and their descriptions in the OpenAPI document."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from answerable.interfaces.http import problems, sse
from answerable.interfaces.http.schemas import ProblemOut

Responses = dict[int | str, dict[str, Any]]

# Problems that any route may return, from guards or core.
_ALWAYS = (400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 421, 422, 429, 431, 500, 502, 503, 507)


def responses(model: type[BaseModel] | None = None, status: int = 200, events: bool = False) -> Responses:
    """Return a route's responses: the result, optionally also a stream of events, and every problem."""
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


class PlainResponse(JSONResponse):
    """A JSON response of plain values. Dates in a document's metadata become text."""

    def render(self, content: Any) -> bytes:
        """Return the content as JSON."""
        return json.dumps(content, ensure_ascii=False, default=str, separators=(",", ":")).encode("utf-8")


def api_router(tag: str, prefix: str = "") -> APIRouter:
    """Return a router of JSON routes, whose operation ids are the names of their functions."""
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        default_response_class=PlainResponse,
        generate_unique_id_function=lambda route: route.name,
    )
