"""What a reader of an application's README has, all of it on this machine: a book on the web, servers, keys, a PDF."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from apps.book import book_parts
from apps.pdf_chat import pdf_chat_parts
from apps.readme_sessions import Surroundings
from apps.textbook import textbook_parts
from postgres_server import private_server
from providers.real_servers import free_port
from providers.scripted_server import ScriptedServer
from qdrant_server import StandIn
from site_server import SiteServer
from sources.conftest import build_pdf

_ROS = """---
title: Nodes, Topics, and Services
---

## What Are Nodes?

In ROS2, a node is an independent process responsible for a single task.
"""


class Make(Protocol):
    """Makes surroundings in a folder."""

    def __call__(self, folder: Path) -> AbstractContextManager[Surroundings]: ...


@contextmanager
def nothing(folder: Path) -> Iterator[Surroundings]:
    """A README that can be followed to the letter."""
    yield Surroundings()


@contextmanager
def a_published_book(folder: Path) -> Iterator[Surroundings]:
    """A Docusaurus book, Cohere and Qdrant."""
    qdrant = book_parts.BookQdrant(key="qdrant-Secret-0123456789")
    with SiteServer(base="/book/") as site, ScriptedServer() as cohere:
        cohere.script(book_parts.EMBED, book_parts.embed)
        for title in ("Forward kinematics", "Inverse kinematics"):
            page = book_parts.make_page(title, f"<p>{title} of arms.</p>")
            site.put(f"/book/docs/{title.split()[0].lower()}", page)
        for path in ("tags", "tags/arms"):
            site.put(f"/book/docs/{path}", book_parts.make_page("Tags", "<p>Tags</p>", kind="docs-tags-list-page"))
        host = site.url.removeprefix("http://")
        yield Surroundings(
            here={
                "COHERE_API_KEY=…": f"COHERE_API_KEY={book_parts.KEY} CO_API_URL={cohere.url}",
                "QDRANT_URL=https://….cloud.qdrant.io:6333": f"QDRANT_URL={qdrant.url} ANSWERABLE_ALLOW_HOSTS={host}",
                "QDRANT_API_KEY=…": f"QDRANT_API_KEY={qdrant.key}",
                "https://username.github.io/repo-name": site.home.rstrip("/"),
                "Pages: 52 of 138": "Pages: 2 of 4",
                "86 pages": "2 pages",
                "Chunks: 209": "Chunks: 2",
                "Tokens: 140726": "Tokens: …",
                "$0.0141": "$…",
            }
        )
    qdrant.close()


@contextmanager
def a_pdf(folder: Path) -> Iterator[Surroundings]:
    """A PDF of a company's figures, PostgreSQL and OpenAI."""
    (folder / "document.pdf").write_bytes(build_pdf(["O faturamento foi de 10 milhões de reais em 2023."]))
    with private_server() as postgres, ScriptedServer() as openai:
        openai.script(pdf_chat_parts.EMBEDDINGS, pdf_chat_parts.embed)
        pdf_chat_parts.answers(openai, "O faturamento foi de 10 milhões de reais em 2023.")
        settings = {
            "DATABASE_URL": postgres.address,
            "PDF_PATH": folder / "document.pdf",
            "OPENAI_API_KEY": pdf_chat_parts.KEY,
            "OPENAI_BASE_URL": f"{openai.url}/v1",
        }
        filled_in = r"\n".join(f"{name}={value}" for name, value in settings.items())
        yield Surroundings(
            here={"# and fill it in": f"&& printf '{filled_in}' >> .env", "128 chunks": "1 chunks"},
            typed=("Qual foi o faturamento em 2023?", "sair"),
        )


@contextmanager
def a_textbook(folder: Path) -> Iterator[Surroundings]:
    """The Markdown of a textbook, OpenAI and Qdrant."""
    textbook_parts.write_book(folder / "docs", {**textbook_parts.BOOK, "module1/ros.md": _ROS})
    qdrant, port = StandIn(), free_port()
    with ScriptedServer() as openai:
        openai.script(textbook_parts.EMBEDDINGS, textbook_parts.embed)
        openai.script(textbook_parts.COMPLETIONS, textbook_parts.writes("In ROS2, a node is an independent process."))
        model = f"OPENAI_EMBEDDING_MODEL=text-embedding-3-small-{uuid.uuid4().hex}"
        yield Surroundings(
            here={
                "OPENAI_API_KEY=…": f"OPENAI_API_KEY={textbook_parts.KEY} OPENAI_BASE_URL={openai.url} {model}",
                "http://localhost:6333": qdrant.url,
                "ADMIN_API_KEY=…": f"ADMIN_API_KEY={textbook_parts.ADMIN}",
                "../../../book/docs": str(folder / "docs"),
                "uvicorn src.main:app": f"uvicorn src.main:app --port {port}",
                "localhost:8000": f"localhost:{port}",
                "803 chunks of 52 pages": "7 chunks of 4 pages",
                '"ingested_count":803': '"ingested_count":7',
            },
            servers={"uvicorn": "Application startup complete"},
        )
    qdrant.close()


SURROUNDINGS: dict[str, Make] = {"book": a_published_book, "pdf_chat": a_pdf, "textbook": a_textbook}
