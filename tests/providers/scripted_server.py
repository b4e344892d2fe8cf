"""A real HTTP server that plays whatever it is told to, and remembers what it was asked.

    with ScriptedServer() as server:
        server.script("/v1/chat/completions", failure(429, "slow down", retry_after=1), chat("Hello", " you"))
        ...
        assert server.requests[0].body["stream"] is True

The replies follow OpenAI's published schemas; `json_reply` and `sse_reply` are there for other protocols.
"""

from __future__ import annotations

import base64
import itertools
import json
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self


# Seconds: longer than anything is waited for, and long enough for requests that are made at once.
_LONG = 600.0
_MEETING = 30.0


class Ending(Enum):
    """How a reply ends: as it should, with the connection cut before the end, or not at all."""

    COMPLETE = "complete"
    CUT = "cut"
    HANG = "hang"


@dataclass(frozen=True)
class Reply:
    """A status, headers, and pieces: bytes to send, or seconds or an event to wait for. Several pieces go as chunks.

    A reply with no status says nothing at all.
    """

    status: int | None = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: tuple[bytes | float | threading.Event, ...] = ()
    ending: Ending = Ending.COMPLETE


@dataclass
class Request:
    """What was asked, when (monotonic seconds), and what became of the reply."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    at: float
    sent: int = 0
    is_done: bool = False
    disconnected: threading.Event = field(default_factory=threading.Event)

    @property
    def body(self) -> Any:
        """The body as JSON."""
        return json.loads(self.raw)


Step = Reply | Callable[[Request], Reply]


class ScriptedServer:
    """A server on loopback. `disconnected` is set once a client went away before its reply was over."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.disconnected = threading.Event()
        self.most_at_once = 0
        self._scripts: dict[str, list[Step]] = {}
        self._under_way = 0
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def connections(self) -> int:
        """How many connections were made to it, whatever came over them."""
        return self._server.connections

    @property
    def url(self) -> str:
        """Where it listens, without a slash at the end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, path: str, *steps: Step) -> None:
        """What the requests to a path get, one after the other; the last step serves all that come after it.

        A step is a reply, or a function that makes one from the request.
        """
        with self._lock:
            self._scripts[path] = list(steps)

    def unscripted(self, request: Request) -> Reply:
        """What a request to a path without a script gets."""
        return failure(404, "there is no such route")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _next(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            steps = self._scripts.get(request.path) or [self.unscripted]
            step = steps.pop(0) if len(steps) > 1 else steps[0]
        return step(request) if callable(step) else step

    def _play(self, handler: BaseHTTPRequestHandler, request: Request) -> None:
        with self._lock:
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            _send(handler, request, self._next(request), self._stopping, self._leave(request))
        except OSError:
            request.disconnected.set()
            self.disconnected.set()
            handler.close_connection = True
        finally:
            self._leave(request)()

    def _leave(self, request: Request) -> Callable[[], None]:
        """Counts a request as done, once. A client may send its next one as soon as it has the last piece."""

        def leave() -> None:
            with self._lock:
                if not request.is_done:
                    request.is_done = True
                    self._under_way -= 1

        return leave


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    connections = 0

    def verify_request(self, *_: object) -> bool:
        """Counts a connection: the one thread that accepts them asks this of each."""
        self.connections += 1
        return True

    def handle_error(self, *_: object) -> None:
        """Nothing: a client that goes away between two requests is no news."""


def _handler(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server._play(self, Request(self.command, self.path, headers, raw, time.monotonic()))

        do_GET = do_POST

        def log_message(self, *_: object) -> None:
            """Nothing: what the tests ask is no news."""

    return Handler


def _send(
    handler: BaseHTTPRequestHandler,
    request: Request,
    reply: Reply,
    stopping: threading.Event,
    before_last: Callable[[], None],
) -> None:
    last = max((number for number, piece in enumerate(reply.pieces) if isinstance(piece, bytes)), default=None)
    chunked = len(reply.pieces) > 1
    if reply.status is not None:
        handler.send_response(reply.status)
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        if chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        elif "Content-Length" not in reply.headers:
            length = sum(len(piece) for piece in reply.pieces if isinstance(piece, bytes))
            handler.send_header("Content-Length", str(length + (reply.ending is not Ending.COMPLETE)))
        handler.end_headers()
    for number, piece in enumerate(reply.pieces):
        if number == last:
            before_last()
        if isinstance(piece, bytes):
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            request.sent += 1
        else:
            _wait(handler.connection, piece, stopping)
    if reply.ending is Ending.COMPLETE:
        handler.wfile.write(b"0\r\n\r\n" if chunked else b"")
        return
    if reply.ending is Ending.HANG:
        _wait(handler.connection, _LONG, stopping)
    handler.close_connection = True


def _wait(connection: socket.socket, until: float | threading.Event, stopping: threading.Event) -> None:
    """Waits so many seconds or for the event, unless the client goes away, which is an OSError."""
    event, seconds = (until, _LONG) if isinstance(until, threading.Event) else (stopping, until)
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0 and not event.is_set() and not stopping.is_set():
        readable, _, _ = select.select([connection], [], [], min(left, 0.02))
        if readable and not connection.recv(1, socket.MSG_PEEK):
            raise ConnectionResetError("the client went away")


def meeting(count: int, serve: Callable[[Request], Reply]) -> Callable[[Request], Reply]:
    """A step whose first requests, so many, are served only once they are all under way."""
    met, numbers = threading.Barrier(count), itertools.count()

    def step(request: Request) -> Reply:
        if next(numbers) < count:
            met.wait(_MEETING)
        return serve(request)

    return step


def json_reply(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """A reply of JSON; a text is sent as it is, whether it is JSON or not."""
    text = body if isinstance(body, str) else json.dumps(body)
    return Reply(status, {"Content-Type": "application/json", **(headers or {})}, (text.encode(),))


def sse_reply(*events: str | bytes | float | threading.Event, ending: Ending = Ending.COMPLETE) -> Reply:
    """A stream of server-sent events: the data of each (bytes go as they are), or seconds or an event to wait for."""
    pieces = tuple(f"data: {event}\n\n".encode() if isinstance(event, str) else event for event in events)
    return Reply(200, {"Content-Type": "text/event-stream"}, (*pieces, 0.0), ending)


def failure(
    status: int,
    message: str,
    code: str | None = None,
    param: str | None = None,
    kind: str = "invalid_request_error",
    retry_after: str | int | None = None,
) -> Reply:
    """An error as OpenAI sends it."""
    error = {"message": message, "type": kind, "param": param, "code": code}
    return json_reply({"error": error}, status, {} if retry_after is None else {"Retry-After": str(retry_after)})


def chunk(text: str | None = None, finish: str | None = None, **more: object) -> str:
    """One chunk of a chat completion."""
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return json.dumps({**_CHUNK, "choices": [choice], **more})


def usage_chunk(given: int, written: int) -> str:
    """The chunk that a stream has before its end when it was asked for usage; it has no choices."""
    usage = {"prompt_tokens": given, "completion_tokens": written, "total_tokens": given + written}
    return json.dumps({**_CHUNK, "choices": [], "usage": usage})


def chat(
    *texts: str | float | threading.Event,
    finish: str | None = "stop",
    usage: tuple[int, int] | None = (9, 3),
    ending: Ending = Ending.COMPLETE,
) -> Reply:
    """A streamed answer: its pieces, or seconds or an event to wait for between them."""
    events: list[str | float | threading.Event] = [chunk("", role="assistant")]
    events += [chunk(text) if isinstance(text, str) else text for text in texts]
    if ending is Ending.COMPLETE:
        events += [chunk(finish=finish)] if finish else []
        events += [usage_chunk(*usage)] if usage else []
        events += ["[DONE]"]
    return sse_reply(*events, ending=ending)


def calling(name: str, **arguments: object) -> Reply:
    """A reply that calls a tool."""
    call = {"index": 0, "id": name, "function": {"name": name, "arguments": json.dumps(arguments)}}
    choice = {"index": 0, "delta": {"content": "", "tool_calls": [call]}, "finish_reason": "tool_calls"}
    return sse_reply(chunk(choices=[choice]), "[DONE]")


def handing_over(*sources: str) -> Reply:
    """A reply in which a model hands over source words; what follows is its answer."""
    return calling("evidence", verdict="answer", items=[{"passage": 1, "text": source} for source in sources])


def embeddings(vectors: Sequence[Sequence[float]], encoding: str = "base64") -> Reply:
    """Vectors, as base64 of little-endian float32 or as lists."""
    data = [
        {"object": "embedding", "index": index, "embedding": encoded(vector) if encoding == "base64" else list(vector)}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return json_reply({"object": "list", "data": data, "model": "scripted", "usage": usage})


def encoded(vector: Sequence[float]) -> str:
    """A vector in base64."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


_CHUNK = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
