"""Counts and times for Prometheus, without text of questions, answers or documents."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.sharing import Stopped

CONTENT_TYPE = CONTENT_TYPE_LATEST
# Bucket limits in seconds, each about 2.5 times the last: from the time of a list to that of a model's slow answer.
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


@dataclass(slots=True)
class Asked:
    """The outcome of a question: the reason of its answer, or "" before the answer."""

    outcome: str = ""


class Metrics:
    """Counters and timers of one server."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        counter, gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry)
        histogram = partial(Histogram, registry=registry, buckets=_SECONDS)
        self.requests = counter("answerable_requests", "Requests answered.", ("method", "route", "status"))
        self.request_seconds = histogram("answerable_request_seconds", "Time to the end of the response.", ("route",))
        self.asks = counter("answerable_asks", "Questions by outcome.", ("outcome",))
        self.ask_seconds = histogram("answerable_ask_seconds", "Time from question to answer.")
        self.streams = gauge("answerable_streams_open", "Open event streams.")
        self.jobs_running = gauge("answerable_jobs_running", "Running ingestion jobs.")
        self.jobs = counter("answerable_jobs", "Ended ingestion jobs.", ("state",))

    @contextmanager
    def asking(self) -> Iterator[Asked]:
        """Count and time a question; the `with` block sets the outcome."""
        asked, started = Asked(), time.perf_counter()
        try:
            yield asked
        except (GeneratorExit, Stopped):
            asked.outcome = asked.outcome or "stopped"
            raise
        finally:
            self.asks.labels(asked.outcome or "failed").inc()
            self.ask_seconds.observe(time.perf_counter() - started)

    def text(self) -> bytes:
        """Return the metrics in Prometheus' text format."""
        return generate_latest(self._registry)


class CountRequests:
    """ASGI middleware that counts requests by route, never by requested path."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            method = scope["method"] if route != "none" else "any"
            self._metrics.requests.labels(method, route, str(status)).inc()
            self._metrics.request_seconds.labels(route).observe(time.perf_counter() - started)
