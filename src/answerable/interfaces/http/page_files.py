"""The files of the web page, looked up by name, so that a requested path never becomes a path on disk."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, join, normpath

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
_MAIN = "main.js"
_STYLES = "styles.css"
# The only forms in which the page's own modules and style sheets name others and export: a test holds it.
_PATH = re.compile(r'(?<=")\.{1,2}/[\w./]+\.m?js(?=")')
_IMPORT = re.compile(r'^import (?:(\{[^}]*\}) from )?"([^"]+)";', re.MULTILINE)
_LATER = re.compile(r'\bimport\("([^"]+)"\)')
_EXPORT = re.compile(r"^export (?:(?=(?:const|class|async function\*) (\w+))|\{([^}]*)\};)", re.MULTILINE)
_COMMENT = re.compile(r"^ *(?://.*|/\*\*(?:.|\n)*?\*/)\n", re.MULTILINE)
_SHEET = re.compile(r'@import "([^"]+)";')
# The beginning of `main.js`: what all modules export, and how they import others later.
_START = "export const modules = {}, later = (name) => import(`./${name}`).then((it) => modules[name] ?? it);\n"
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
    files = {path.relative_to(_FOLDER).as_posix(): path.read_bytes() for path in _FOLDER.rglob("*.*")}
    sources = {name: content.decode() for name, content in files.items() if name.endswith((".js", ".css"))}
    files |= {name: text.encode() for name, text in joined(sources).items()}
    found = {name: _file(name, content) for name, content in files.items() if Path(name).suffix in _TYPES}

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


def joined(sources: Mapping[str, str]) -> dict[str, str]:
    """Return the page's style sheet, `main.js` and each module that is imported later, with all that these import.

    Browsers take milliseconds of CPU for each file. In these scripts, a module is a function that returns its exports,
    without comments. A later script has only the modules that `main.js` lacks. Vendored modules stay files.
    """

    def resolved(name: str) -> str:
        return _PATH.sub(lambda path: normpath(join(dirname(name), path[0])), sources[name])

    @cache
    def needed(name: str) -> dict[str, None]:
        imported = [needed(each[2]) for each in _IMPORT.finditer(texts.get(name, ""))]
        return {each: None for names in imported for each in names} | {name: None}

    def script(name: str) -> str:
        up = "../" * name.count("/") or "./"
        start = _START if name == _MAIN else f'import {{ later, modules }} from "{up}{_MAIN}";\n'
        missing = [each for each in needed(name) if name == _MAIN or each not in needed(_MAIN)]
        return start + "".join(_module(each, texts.get(each), up) for each in missing)

    texts = {name: resolved(name) for name in sources if name.endswith(".js")}
    later = {name for text in texts.values() for name in _LATER.findall(text) if name in texts}
    style = _SHEET.sub(lambda sheet: sources[sheet[1]], sources[_STYLES])
    return {_STYLES: style} | {name: script(name) for name in {_MAIN, *later}}


def _module(name: str, text: str | None, up: str) -> str:
    if text is None:  # vendored
        return f'import * as {Path(name).stem} from "{up}{name}";\nmodules["{name}"] ??= {Path(name).stem};\n'
    exports = ", ".join(each.strip(" \n,") for found in _EXPORT.findall(text) for each in found if each)
    body = _IMPORT.sub(lambda found: f'const {found[1] or "{}"} = modules["{found[2]}"];'.replace(" as ", ": "), text)
    body = _LATER.sub(r'later("\1")', _EXPORT.sub("", _COMMENT.sub("", body)))
    return f'modules["{name}"] ??= (() => {{\n{body}\nreturn {{ {exports} }};\n}})();\n'


def _file(name: str, content: bytes) -> _File:
    headers = {"Content-Type": _TYPES[Path(name).suffix], "ETag": f'"{sha256(content).hexdigest()[:32]}"'}
    if name == "vendor/pdf.worker.min.mjs":
        headers["Content-Security-Policy"] = _WORKER_POLICY
    if name == "service_worker.js":
        # Allow the service worker to serve the page, which is in the folder above it.
        headers["Service-Worker-Allowed"] = "../"
    return _File(content, headers)
