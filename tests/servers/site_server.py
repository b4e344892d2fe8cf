"""A web site on loopback: a folder of pages, served as a static host does it, that can change and misbehave.

    with SiteServer(folder, "/book/") as site:
        site.script("/book/docs/a", Reply(503), Reply(429, {"Retry-After": "1"}), site.serve)
        site.script("/book/docs/b", site.slowly(2))
        site.script("/book/docs/c", redirect("http://169.254.169.254/"))
        site.put("/book/docs/new", b"<html>...")
        site.remove("/book/docs/old")
        ...
        assert site.asked()["/book/docs/a"] == 3

Paths are those that are asked for; `/a`, `/a/` and `/a.html` are one page. Sitemaps follow what is put and removed.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lxml import etree  # type: ignore[import-untyped]
from providers.scripted_server import Ending, Reply, Request, ScriptedServer, Step

_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


@dataclass(frozen=True)
class ServedFile:
    """What a path serves, and when it last changed (seconds since 1970)."""

    body: bytes
    content_type: str
    changed: int

    @property
    def etag(self) -> str:
        """The strong validator of these bytes."""
        return f'"{hashlib.sha256(self.body).hexdigest()[:20]}"'


class SiteServer(ScriptedServer):
    """Serves a folder under the path `base`; what is scripted for a path comes first.

    `public` is the address that stands for `base` in sitemaps, by default the server's own. Without `has_validators`
    pages have neither ETag nor Last-Modified, and nothing is ever answered with 304.
    """

    def __init__(
        self, folder: Path | None = None, base: str = "/", public: str = "", has_validators: bool = True
    ) -> None:
        super().__init__()
        self.base = base
        self.public = public or self.home
        self.has_validators = has_validators
        self.statuses: Counter[int] = Counter()
        self._files = _files(folder, base) if folder else {}
        self._sitemap = f"{base}sitemap.xml"
        self._changed = int(time.time())

    @property
    def home(self) -> str:
        """The address of the site's start."""
        return self.url + self.base

    def asked(self) -> Counter[str]:
        """How often each path was asked for since the last `forget`."""
        return Counter(request.path for request in self.requests)

    def forget(self) -> None:
        """Empties `requests` and `statuses`, as before a second visit."""
        self.requests.clear()
        self.statuses.clear()

    def body(self, path: str) -> bytes:
        """What a path serves now. Raises KeyError when there is nothing."""
        return self._files[_key(path)].body

    def put(self, path: str, body: bytes, content_type: str = "text/html; charset=utf-8") -> None:
        """Adds or changes what a path serves; a page is in the sitemap from then on, changed today."""
        # Last-Modified counts in seconds: two changes within one must not look alike.
        self._changed = max(self._changed + 1, int(time.time()))
        self._files[_key(path)] = ServedFile(body, content_type, self._changed)
        if content_type.startswith("text/html"):
            self._enter(_key(path))

    def remove(self, path: str) -> None:
        """Takes a path and its entries in sitemaps away; from then on it answers 404. Raises KeyError."""
        del self._files[_key(path)]
        self._changed += 1
        for sitemap in self._sitemaps():
            root = etree.fromstring(self.body(sitemap))
            for entry in [each for each in root if self._path_of(each) == _key(path)]:
                root.remove(entry)
            self._write(sitemap, root)

    def unscripted(self, request: Request) -> Reply:
        """What the path serves: the file, 304 to a condition that holds, or 404."""
        file = self._files.get(_key(urlsplit(request.path).path))
        if file is None:
            return Reply(404, {"Content-Type": "text/html"}, (b"<html><title>Page Not Found</title></html>",))
        headers = {"Content-Type": file.content_type}
        if not self.has_validators:
            return Reply(200, headers, (file.body,))
        date = datetime.fromtimestamp(file.changed, timezone.utc)
        headers |= {"ETag": file.etag, "Last-Modified": format_datetime(date, usegmt=True)}
        return Reply(304, headers) if _holds(request.headers, file) else Reply(200, headers, (file.body,))

    serve = unscripted

    def slowly(self, seconds: float) -> Step:
        """A step that serves the page after a wait; in between nothing is sent but the headers."""
        return lambda request: _slowed(self.serve(request), seconds)

    def drop_half_way(self, request: Request) -> Reply:
        """A step that sends half of the page and cuts the connection."""
        reply = self.serve(request)
        return replace(reply, pieces=tuple(piece[: len(piece) // 2] for piece in _bytes(reply)), ending=Ending.CUT)

    def with_wrong_length(self, request: Request) -> Reply:
        """A step that announces half of the bytes that it sends."""
        reply = self.serve(request)
        return replace(reply, headers={**reply.headers, "Content-Length": str(sum(map(len, _bytes(reply))) // 2)})

    def _next(self, request: Request) -> Reply:
        reply = super()._next(request)
        with self._lock:
            self.statuses[reply.status or 0] += 1
        return reply

    def _sitemaps(self) -> list[str]:
        """The paths of the sitemaps, the deepest first."""
        found = [path for path in self._files if path.endswith("/sitemap.xml")]
        return sorted(found, key=lambda path: -path.count("/"))

    def _enter(self, path: str) -> None:
        """Notes a page's change in the sitemap that names it, otherwise in the deepest one above it."""
        if not self._sitemaps():
            self._write(self._sitemap, etree.fromstring(f'<urlset xmlns="{_NAMESPACE}"/>'))
        roots = {sitemap: etree.fromstring(self.body(sitemap)) for sitemap in self._sitemaps()}
        named = [(at, entry) for at, root in roots.items() for entry in root if self._path_of(entry) == path]
        if named:
            sitemap, entry = named[0]
        else:
            above = [each for each in roots if f"{path}/".startswith(each.removesuffix("sitemap.xml"))]
            sitemap = above[0] if above else list(roots)[-1]
            entry = etree.SubElement(roots[sitemap], f"{{{_NAMESPACE}}}url")
            etree.SubElement(entry, f"{{{_NAMESPACE}}}loc").text = self.public + f"{path}/".removeprefix(
                self.base
            ).rstrip("/")
        lastmod = entry.find(f"{{{_NAMESPACE}}}lastmod")
        if lastmod is None:
            lastmod = etree.SubElement(entry, f"{{{_NAMESPACE}}}lastmod")
        lastmod.text = datetime.fromtimestamp(self._changed, timezone.utc).isoformat()
        self._write(sitemap, roots[sitemap])

    def _write(self, sitemap: str, root: etree._Element) -> None:
        self._files[sitemap] = ServedFile(etree.tostring(root), "application/xml", self._changed)

    def _path_of(self, entry: etree._Element) -> str:
        """The path that a sitemap's entry is served at."""
        url = entry.findtext(f"{{{_NAMESPACE}}}loc", "").strip()
        return _key(self.base + url.removeprefix(self.public) if url.startswith(self.public) else urlsplit(url).path)


def redirect(location: str, status: int = 302) -> Reply:
    """A redirect, to whatever address."""
    return Reply(status, {"Location": location})


def huge(size: int) -> Reply:
    """A page of that many bytes."""
    return Reply(200, {"Content-Type": "text/html"}, (b"<p>" + b"long " * (size // 5),))


def gzip_bomb(size: int) -> Reply:
    """A page of that many bytes, packed into about a thousandth of them."""
    return Reply(200, {"Content-Type": "text/html", "Content-Encoding": "gzip"}, (gzip.compress(bytes(size)),))


def _files(folder: Path, base: str) -> dict[str, ServedFile]:
    """Every file of a folder by its key."""
    found = {}
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        file = ServedFile(path.read_bytes(), kind, int(path.stat().st_mtime))
        found[_key(base + path.relative_to(folder).as_posix())] = file
    return found


def _key(path: str) -> str:
    """What all paths of one page share: without escapes, `.html`, `index` and the slash at the end."""
    plain = unquote(path)
    if plain.endswith(".html"):
        plain = re.sub(r"(?<=/)index$", "", plain.removesuffix(".html"))
    return plain.rstrip("/") or "/"


def _bytes(reply: Reply) -> list[bytes]:
    return [piece for piece in reply.pieces if isinstance(piece, bytes)]


def _slowed(reply: Reply, seconds: float) -> Reply:
    return replace(reply, pieces=(seconds, *reply.pieces))


def _holds(headers: Mapping[str, str], file: ServedFile) -> bool:
    """Whether a request's conditions hold (RFC 9110, 13.2.2: an entity tag goes before a date)."""
    if tags := headers.get("if-none-match"):
        return file.etag in (tag.strip().removeprefix("W/") for tag in tags.split(","))
    try:
        return parsedate_to_datetime(headers["if-modified-since"]).timestamp() >= file.changed
    except (KeyError, ValueError):
        return False
