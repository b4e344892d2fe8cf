"""A small book as Docusaurus builds it, a server that plays Cohere, and the scripts as processes of their own."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
from forked import run_forked
from helpers import HashEmbedder
from providers.scripted_server import Reply, Request, ScriptedServer, json_reply
from qdrant_client import models
from qdrant_server import StandIn
from site_server import SiteServer

from book.models import IngestionResult
from book.store import StoredPage, open_collection
from main import main as ingestion_main
from retrieval import main as retrieval_main

APP = Path(__file__).parents[3] / "apps" / "book"
KEY = "co-Secret-0123456789abcdef"
EMBED = "/v2/embed"
DIMENSION = 1024
PUBLIC = "https://robots.example/book/"
LEFT_OUT = f"1 page left out, lists of other pages (tags): {PUBLIC}docs/tags"
PAGES = [f"{PUBLIC}docs/{name}" for name in ("arm", "leg", "long")]

_EMBEDDER = HashEmbedder(DIMENSION)


class BookQdrant(StandIn):
    """The stand-in for Qdrant, which also changes payloads."""

    def answer(self, method: str, path: str, body: bytes) -> Any:
        """What a request gives. Raises Refusal."""
        match = re.fullmatch(r"/collections/([^/]+)/points/payload", path)
        if method != "POST" or match is None:
            return super().answer(method, path, body)
        wanted = models.SetPayload.model_validate_json(body)
        with self._lock:
            self._engine.set_payload(match[1], wanted.payload, points=wanted.points or [])
        return {"result": {"operation_id": 0, "status": "completed"}, "status": "ok", "time": 0.0}


def make_page(title: str, body: str, chapter: str = "Motion", kind: str = "docs-doc-page") -> bytes:
    """A page of a Docusaurus site, with navigation around its text."""
    return f"""<!doctype html><html lang="en" class="docs-wrapper plugin-docs {kind}"><head>
<meta name="generator" content="Docusaurus v3.9.2"><title>{title} | Robots</title></head><body>
<nav class="navbar"><a href="/book/">Navigation</a></nav><main><article>
<nav class="theme-doc-breadcrumbs" aria-label="Breadcrumbs"><ul class="breadcrumbs">
<li class="breadcrumbs__item"><span class="breadcrumbs__link">{chapter}</span></li>
<li class="breadcrumbs__item breadcrumbs__item--active"><span class="breadcrumbs__link">{title}</span></li></ul></nav>
<div class="theme-doc-markdown markdown"><header><h1>{title}</h1></header>{body}</div>
<footer class="theme-doc-footer">Edit this page</footer></article></main></body></html>""".encode()


def make_section(heading: str, anchor: str, text: str) -> str:
    """A section of a page."""
    return f'<h2 class="anchor" id="{anchor}">{heading}<a href="#{anchor}" class="hash-link"></a></h2><p>{text}</p>'


def words(count: int, seed: str = "w") -> str:
    """So many different words, two tokens and more each."""
    return " ".join(f"{seed}{number}" for number in range(count))


ARM = make_section("Forward kinematics", "forward", "It finds the pose of the hand from the angles of the joints.")
LEG = make_section("Gait", "gait", "A gait is the pattern of steps of a walking machine.")


def vector(text: str) -> list[float]:
    """Texts that share words are near to each other."""
    return [float(value) for value in _EMBEDDER.embed_query(text)]


def embed(request: Request) -> Reply:
    """Cohere's reply to a request for embeddings."""
    meta = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 1}}
    vectors = [vector(text) for text in request.body["texts"]]
    return json_reply({"id": "1", "embeddings": {"float": vectors}, "texts": [], "meta": meta})


def refusal(status: int, message: str = "no", **headers: str) -> Reply:
    """Cohere's reply when it doesn't embed."""
    return json_reply(
        {"id": "1", "message": message}, status, {name.replace("_", "-"): headers[name] for name in headers}
    )


def embedded(cohere: ScriptedServer) -> list[str]:
    """The texts that vectors were asked for, in order."""
    return [text for request in cohere.requests for text in request.body["texts"]]


def stored() -> dict[str, StoredPage]:
    """What the default collection holds, by address."""
    with open_collection("book_embeddings") as collection:
        return collection.pages()


def counts(result: IngestionResult) -> tuple[int, ...]:
    """Discovered, scraped; chunks, embeddings, vectors, duplicates; every other page is named as left out."""
    assert result.success
    assert result.pages_discovered - result.pages_scraped == sum(error.count(PUBLIC) for error in result.errors)
    return tuple(asdict(result)[field.name] for field in fields(result)[1:7])


def make_long(site: SiteServer, pages: int) -> None:
    """Adds pages to a book, of which two take more than one call of Cohere's and more than one writing to the store."""
    for number in range(pages):
        site.put(f"/book/docs/part{number}", make_page(f"Part {number}", f"<p>{words(8000, f'n{number}x')}</p>"))


@contextmanager
def serve_book() -> Iterator[SiteServer]:
    """A book of three pages, the last one of three chunks, and a page of tags; published under another address."""
    with SiteServer(base="/book/", public=PUBLIC) as site:
        site.put("/book/docs/arm", make_page("Arms", ARM))
        site.put("/book/docs/leg", make_page("Legs", LEG))
        site.put("/book/docs/long", make_page("Sensors", make_section("Cameras", "cameras", words(700, "lens"))))
        site.put("/book/docs/tags", make_page("Tags", "<p>All tags</p>", kind="docs-tags-list-page"))
        yield site


def set_variables(patch: pytest.MonkeyPatch, site: SiteServer, cohere: ScriptedServer, folder: Path) -> None:
    """Sets every variable of the application, with a folder for Qdrant."""
    for name in ("QDRANT_API_KEY", "BOOK_BASE_URL", "LOG_LEVEL", "CO_API_KEY"):
        patch.delenv(name, raising=False)
    for name, value in {
        "COHERE_API_KEY": KEY,
        "CO_API_URL": cohere.url,
        "QDRANT_URL": f"path:{folder}",
        "ANSWERABLE_ALLOW_HOSTS": site.url.removeprefix("http://"),
        "ANSWERABLE_REQUESTS_PER_SECOND": "1000",
    }.items():
        patch.setenv(name, value)


def run_script(name: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A script, run in its folder; an empty value takes a variable away."""
    variables = {key: value for key, value in {**os.environ, **environment}.items() if value}
    main = {"main.py": ingestion_main, "retrieval.py": retrieval_main}[name]
    return run_forked(main, list(arguments), variables, APP)
