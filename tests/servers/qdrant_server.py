"""A stand-in for a Qdrant server: real HTTP on loopback, in front of the in-process mode of Qdrant's own client.

Requests are read and replies are written with the client's own models. What it can't show: in-process mode compares
all vectors one by one (the graph, its parameters and `exact` mean nothing to it), scans payloads (indexes are only
noted, and asked for where a server would refuse to work without), keeps nothing when it ends, has no replicas, and
never leaves an operation half done. For large libraries Qdrant's engine takes its place (see `qdrant_engine`).
`TEST_QDRANT_URL` and `TEST_QDRANT_API_KEY` name a real server to take instead.
"""

from __future__ import annotations

import atexit
import os
import re
import threading
import uuid
from collections.abc import Callable
from functools import cache
from http.server import ThreadingHTTPServer
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from qdrant_client import QdrantClient, models
from qdrant_engine import EdgeEngine
from qdrant_http import Fault, Refusal, handler

__all__ = ["Fault", "StandIn", "api_key", "new_library", "shared", "which"]

LARGEST = 32 * 1024 * 1024
VERSION = "1.16.0"

_UPSERT: TypeAdapter[models.PointInsertOperations] = TypeAdapter(models.PointInsertOperations)
_SELECTOR: TypeAdapter[models.PointsSelector] = TypeAdapter(models.PointsSelector)
_READING = re.compile(r"GET .*|POST .*/(points|points/(scroll|count|query)|facet)")


class StandIn:
    """A server on a port of its own. `key` and `reading_key` are asked for where they are given.

    `meddle` is called with the number of each request, before it is carried out (False) and after (True), and may say
    what to answer instead; `requests` are method and path of all.
    """

    def __init__(
        self, key: str = "", reading_key: str = "", version: str = VERSION, engine: EdgeEngine | None = None
    ) -> None:
        self.key, self.reading_key, self.version = key, reading_key, version
        self.meddle: Callable[[int, bool], Fault | None] = lambda number, is_done: None
        self.requests: list[str] = []
        self.bodies: list[bytes] = []
        self._engine: Any = engine or QdrantClient(":memory:")
        self._indexes: dict[str, dict[str, models.PayloadIndexInfo]] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def address(self, name: str = "") -> str:
        """The address of a library that isn't there yet, or of the one with this name."""
        return f"qdrant+{self.url}/{name or _new_name()}"

    def close(self) -> None:
        """Listens no more."""
        self._server.shutdown()
        self._server.server_close()

    def begin(self, request: str, body: bytes) -> int:
        """Notes a request and gives its number, from 1."""
        with self._lock:
            self.requests.append(request)
            self.bodies.append(body)
            return len(self.requests)

    def allow(self, request: str, key: str) -> None:
        """Raises Refusal where the key is wrong, or not for writing."""
        if request == "GET /" or not self.key or key == self.key:
            return
        if not self.reading_key or key != self.reading_key:
            raise Refusal(401, "Must provide an API key or an Authorization bearer token")
        if not _READING.fullmatch(request):
            raise Refusal(403, "Forbidden: Global manage access is required")

    def answer(self, method: str, path: str, body: bytes) -> Any:
        """What a request gives. Raises Refusal."""
        if (method, path) == ("GET", "/"):
            return {"title": "qdrant - vector search engine", "version": self.version}
        if len(body) > LARGEST:
            raise Refusal(413, f"Payload Too Large: {len(body)}")
        for (wanted, pattern), work in _ROUTES.items():
            match = re.fullmatch(pattern, path)
            if method == wanted and match:
                with self._lock:
                    return {"result": _plain(self._run(work, match.groups(), body)), "status": "ok", "time": 0.0}
        raise Refusal(404, "")

    def _run(self, work: Callable[..., Any], names: tuple[str, ...], body: bytes) -> Any:
        try:
            return work(self, *names, body)
        except ValidationError as error:
            raise Refusal(400, f"Format error in JSON body: {str(error)[:300]}") from error
        except ValueError as error:
            missing = "not found" in str(error)
            raise Refusal(404 if missing else 400, f"{'Not found' if missing else 'Wrong input'}: {error}") from error

    def _change_aliases(self, body: bytes) -> Any:
        operations = models.ChangeAliasesOperation.model_validate_json(body)
        return self._engine.update_collection_aliases(operations.actions)

    def _describe(self, name: str, body: bytes) -> Any:
        indexes = self._indexes.get(self._physical(name), {})
        return self._engine.get_collection(name).model_copy(update={"payload_schema": indexes})

    def _create(self, name: str, body: bytes) -> Any:
        if self._engine.collection_exists(name):
            raise Refusal(409, f"Wrong input: Collection `{name}` already exists!")
        wanted = models.CreateCollection.model_validate_json(body)
        return self._engine.create_collection(
            name, vectors_config=wanted.vectors, sparse_vectors_config=wanted.sparse_vectors
        )

    def _delete_collection(self, name: str, body: bytes) -> Any:
        self._indexes.pop(name, None)
        return self._engine.delete_collection(name)

    def _index(self, name: str, body: bytes) -> Any:
        wanted = models.CreateFieldIndex.model_validate_json(body)
        kind = getattr(wanted.field_schema, "type", wanted.field_schema)
        info = models.PayloadIndexInfo(data_type=models.PayloadSchemaType(str(getattr(kind, "value", kind))), points=0)
        self._engine.get_collection(name)
        if isinstance(self._engine, EdgeEngine):
            self._engine.create_payload_index(name, wanted.field_name, info.data_type)
        self._indexes.setdefault(self._physical(name), {})[wanted.field_name] = info
        return models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)

    def _upsert(self, name: str, body: bytes) -> Any:
        wanted = _UPSERT.validate_json(body)
        assert isinstance(wanted, models.PointsList), "batches aren't sent"
        return self._engine.upsert(
            name, wanted.points, update_filter=wanted.update_filter, update_mode=wanted.update_mode
        )

    def _delete(self, name: str, body: bytes) -> Any:
        return self._engine.delete(name, _SELECTOR.validate_json(body))

    def _retrieve(self, name: str, body: bytes) -> Any:
        wanted = models.PointRequest.model_validate_json(body)
        return self._engine.retrieve(name, wanted.ids, wanted.with_payload or False, wanted.with_vector or False)

    def _scroll(self, name: str, body: bytes) -> Any:
        wanted = models.ScrollRequest.model_validate_json(body)
        points, following = self._engine.scroll(
            name,
            wanted.filter,
            wanted.limit or 10,
            offset=wanted.offset,
            with_payload=wanted.with_payload or False,
            with_vectors=wanted.with_vector or False,
        )
        return {"points": _plain(points), "next_page_offset": following}

    def _count(self, name: str, body: bytes) -> Any:
        wanted = models.CountRequest.model_validate_json(body)
        return self._engine.count(name, wanted.filter, exact=wanted.exact or False)

    def _facet(self, name: str, body: bytes) -> Any:
        wanted = models.FacetRequest.model_validate_json(body)
        if wanted.key not in self._indexes.get(self._physical(name), {}):
            raise ValueError(f"No appropriate index for faceting: `{wanted.key}`")
        return self._engine.facet(name, wanted.key, wanted.filter, wanted.limit or 10, exact=wanted.exact or False)

    def _query(self, name: str, body: bytes) -> Any:
        wanted = models.QueryRequest.model_validate_json(body)
        return self._engine.query_points(
            name,
            query=wanted.query,
            using=wanted.using,
            query_filter=wanted.filter,
            limit=wanted.limit or 10,
            with_payload=wanted.with_payload or False,
        )

    def _physical(self, name: str) -> str:
        aliases = self._engine.get_aliases().aliases
        return next((alias.collection_name for alias in aliases if alias.alias_name == name), name)


_ROUTES: dict[tuple[str, str], Callable[..., Any]] = {
    ("GET", r"/aliases"): lambda self, body: self._engine.get_aliases(),
    ("POST", r"/collections/aliases"): StandIn._change_aliases,
    ("GET", r"/collections"): lambda self, body: self._engine.get_collections(),
    ("GET", r"/collections/([^/]+)/exists"): lambda self, name, body: {"exists": self._engine.collection_exists(name)},
    ("GET", r"/collections/([^/]+)"): StandIn._describe,
    ("PUT", r"/collections/([^/]+)"): StandIn._create,
    ("DELETE", r"/collections/([^/]+)"): StandIn._delete_collection,
    ("PUT", r"/collections/([^/]+)/index"): StandIn._index,
    ("PUT", r"/collections/([^/]+)/points"): StandIn._upsert,
    ("POST", r"/collections/([^/]+)/points/delete"): StandIn._delete,
    ("POST", r"/collections/([^/]+)/points"): StandIn._retrieve,
    ("POST", r"/collections/([^/]+)/points/scroll"): StandIn._scroll,
    ("POST", r"/collections/([^/]+)/points/count"): StandIn._count,
    ("POST", r"/collections/([^/]+)/facet"): StandIn._facet,
    ("POST", r"/collections/([^/]+)/points/query"): StandIn._query,
}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return [_plain(item) for item in value] if isinstance(value, list) else value


@cache
def shared(is_large: bool = False) -> StandIn:
    """The stand-in that all tests of this process share; one that large libraries can be searched on."""
    return StandIn(engine=EdgeEngine() if is_large else None)


def new_library(is_large: bool = False) -> str:
    """The address of a library that isn't there yet; of one that will be large and searched much."""
    url = os.environ.get("TEST_QDRANT_URL")
    if not url:
        return shared(is_large).address()
    name = _new_name()
    atexit.register(_drop, url, name)
    return f"qdrant+{url.rstrip('/')}/{name}"


def api_key() -> str:
    """The key for `new_library`."""
    return os.environ.get("TEST_QDRANT_API_KEY", "") if os.environ.get("TEST_QDRANT_URL") else ""


def which() -> str:
    """What these tests run on, for people."""
    url = os.environ.get("TEST_QDRANT_URL")
    return f"the server {url}" if url else "a loopback stand-in over qdrant-client's in-process mode (no real server)"


def _new_name() -> str:
    return f"test_{uuid.uuid4().hex}"


def _drop(url: str, name: str) -> None:
    client = QdrantClient(url=url, api_key=api_key() or None)
    for collection in client.get_collections().collections:
        if collection.name.startswith(f"{name}."):
            client.delete_collection(collection.name)
    client.close()
