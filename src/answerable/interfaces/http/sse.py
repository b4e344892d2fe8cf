"""Server-sent events, with keep-alives. The stream ends when the client disconnects or the server stops."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, NamedTuple, TypeAlias

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from answerable.interfaces.http.problems import Problem, problem_of
from answerable.interfaces.http.service import Service

Schema: TypeAlias = Mapping[str, Any]

MEDIA_TYPE = "text/event-stream"


class Event(NamedTuple):
    """One event: its name and its JSON data."""

    name: str
    data: Mapping[str, Any]

    def encoded(self) -> bytes:
        """Return the event as bytes, in the format of server-sent events."""
        return format_sse_event(data_str=json.dumps(self.data, ensure_ascii=False, default=str), event=self.name)


def described(data: Mapping[str, Schema]) -> dict[str, Schema]:
    """Return a stream's description from the schemas of the data by the names of the events."""
    return stream({"oneOf": [fields(event={"const": name}, data=encoded(each)) for name, each in data.items()]})


def stream(event: Schema) -> dict[str, Schema]:
    """Return a stream's description. Before OpenAPI 3.2 it is the schema of each event, for want of another keyword."""
    return {MEDIA_TYPE: {"schema": event}}


def encoded(data: Schema) -> Schema:
    """Return the schema of a value that is encoded in an event's data."""
    return {"type": "string", "contentMediaType": "application/json", "contentSchema": data}


def fields(**kinds: Schema | str) -> Schema:
    """Return the schema of an object that has members of these types or schemas."""
    members = {name: {"type": kind} if isinstance(kind, str) else kind for name, kind in kinds.items()}
    return {"type": "object", "properties": members, "required": [*members]}


def reference(model: type[BaseModel]) -> Schema:
    """Return the schema of a model that a route's description has."""
    return {"$ref": f"#/components/schemas/{model.__name__}"}


async def watched(
    events: AsyncGenerator[Event, None], receive: Receive, service: Service
) -> AsyncGenerator[Event | None, None]:
    """Yield events until the client disconnects; yield None after a heartbeat's time without an event.

    Always close `events`. Raise Problem when the server stops, and any error that `events` raises.
    """
    gone = asyncio.ensure_future(_disconnected(receive))
    stopping = asyncio.ensure_future(service.stopping.wait())
    step: asyncio.Future[Event] = asyncio.ensure_future(anext(events))
    waited: set[asyncio.Future[Any]] = {gone, stopping}
    try:
        while not gone.done():
            await asyncio.wait({step, *waited}, timeout=service.options.heartbeat, return_when="FIRST_COMPLETED")
            if step.done():
                yield step.result()
                step = asyncio.ensure_future(anext(events))
            elif stopping.done():
                raise Problem(503, "stopping", "The server is stopping. Ask again when it is back.")
            elif not gone.done():
                yield None
    except StopAsyncIteration:
        return
    finally:
        for task in (step, *waited):
            task.cancel()
        await asyncio.gather(step, *waited, return_exceptions=True)
        await events.aclose()


async def last_of(events: AsyncGenerator[Event, None], receive: Receive, service: Service) -> Event:
    """Return the last event, for a plain response. Raise like `watched`, and raise Problem if the client has gone."""
    last = None
    async with aclosing(watched(events, receive, service)) as steps:
        async for event in steps:
            last = event or last
    if last is None:
        raise Problem(400, "client_gone", "The client has gone.")
    return last


class EventStream(Response):
    """A response that streams events.

    An error before the first event becomes a problem with its own HTTP status, a later error an `error` event. The
    generator is closed when the stream ends, the client disconnects, or the server stops. `BoundedConnection`
    disconnects a client that doesn't read.
    """

    media_type = MEDIA_TYPE

    def __init__(self, events: AsyncGenerator[Event, None], service: Service) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._events = events
        self._service = service
        self._is_started = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._service.metrics.streams.track_inprogress():
            try:
                async with aclosing(watched(self._events, receive, self._service)) as steps:
                    async for event in steps:
                        await self._send(send, event.encoded() if event else KEEPALIVE_COMMENT)
                await self._send(send, b"", more=False)
            except Exception as error:
                found = problem_of(error)
                if self._is_started:
                    await self._send(send, self.error_event(found).encoded(), more=False)
                else:
                    await found.response()(scope, receive, send)

    def error_event(self, found: Problem) -> Event:
        """Return the `error` event for a problem that occurs after the first event."""
        return Event("error", found.json())

    async def _send(self, send: Send, piece: bytes, more: bool = True) -> None:
        if not self._is_started:
            self._is_started = True
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": piece, "more_body": more})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
