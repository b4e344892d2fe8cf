"""The files of the web page, looked up by name, so that a requested path never becomes a path on disk."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from answerable.interfaces.http.guards.heads import PAGE_POLICY

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
    ".wasm": "application/wasm",
}
_FOLDER = Path(__file__).with_name("page")
_INDEX = "index.html"
_PDF_WORKER = "pdf.worker.min.mjs"
_SERVICE_WORKER = "service_worker.js"
# The policy of the PDF worker's file, which applies to the worker: it decodes scanned images in WebAssembly.
_WORKER_POLICY = PAGE_POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    headers: dict[str, str]

    def response(self, request: Request) -> Response:
        """Return the file, or 304 if the browser already has it."""
        known = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
        if self.headers["ETag"] in known:
            return Response(status_code=304, headers={"ETag": self.headers["ETag"]})
        return Response(self.content, headers=self.headers)


def page_router() -> APIRouter:
    """Return a router for the page at `/` and its files under `/page/`. Read all files now."""
    router = APIRouter(include_in_schema=False)
    found = {path.relative_to(_FOLDER).as_posix(): _file(path) for path in _FOLDER.rglob("*") if path.suffix in _TYPES}

    # Proxies and monitors send HEAD requests.
    @router.api_route("/", methods=["GET", "HEAD"])
    async def index(request: Request) -> Response:
        return found[_INDEX].response(request)

    @router.api_route("/page/{name:path}", methods=["GET", "HEAD"])
    async def file(name: str, request: Request) -> Response:
        if name == _INDEX or name not in found:
            raise HTTPException(404, "There is no such file. The page is at the server's root.")
        return found[name].response(request)

    return router


def _file(path: Path) -> _File:
    content = path.read_bytes()
    headers = {"Content-Type": _TYPES[path.suffix], "ETag": f'"{sha256(content).hexdigest()[:32]}"'}
    if path.name == _PDF_WORKER:
        headers["Content-Security-Policy"] = _WORKER_POLICY
    if path.name == _SERVICE_WORKER:
        # Allow the service worker to serve the page, which is in the folder above it.
        headers["Service-Worker-Allowed"] = "../"
    return _File(content, headers)
