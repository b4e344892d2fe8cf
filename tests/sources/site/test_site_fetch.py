"""Fetching from a real server that misbehaves."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from providers.scripted_server import Ending, Reply, ScriptedServer

from answerable.errors import (
    AddressRefused,
    DamagedSource,
    SiteUnreachable,
    SourceError,
    SourceNotFound,
    SourceTooLarge,
    UnsupportedSource,
)
from answerable.sources.site.connection import AddressGuard, gunzip
from answerable.sources.site.fetch import Fetcher, FetchPolicy, Validators

QUICK = FetchPolicy(timeout=2, total=15, retries=2, first_wait=0.01, delay=0, max_bytes=100_000)


def page(text: str = "hello", status: int = 200, **headers: str) -> Reply:
    """A reply of text; underscores in the names of headers stand for hyphens."""
    return Reply(status, {name.replace("_", "-"): value for name, value in headers.items()}, (text.encode(),))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server on loopback that plays what the test tells it to."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    """A fetcher that may ask loopback, and `localhost` by that name."""
    with Fetcher(AddressGuard(["127.0.0.1", "localhost"], lambda host, port: ["127.0.0.1"]), QUICK) as fetcher:
        yield fetcher


def elsewhere(server: ScriptedServer) -> str:
    """The same server under another name."""
    return server.url.replace("127.0.0.1", "localhost")


def test_a_page_comes_with_its_type_and_validators(server: ScriptedServer, fetcher: Fetcher) -> None:
    server.script("/a%20b?c=d", page(Content_Type="text/html; charset=utf-8", ETag='"1"', Last_Modified="yesterday"))
    found = fetcher.fetch(f"{server.url}/a b?c=d#e")
    assert (found.body, found.content_type) == (b"hello", "text/html; charset=utf-8")
    assert found.validators == Validators(f"{server.url}/a%20b?c=d", '"1"', "yesterday")
    assert found.url == f"{server.url}/a%20b?c=d"
    assert server.requests[0].headers["user-agent"] == "answerable"
    assert server.requests[0].headers["accept-encoding"] == "gzip"


def test_an_unchanged_page_is_not_sent_again(server: ScriptedServer, fetcher: Fetcher) -> None:
    server.script("/", page(ETag='W/"1"', Last_Modified="yesterday"), Reply(304), page("new"))
    first = fetcher.fetch(server.url)
    again = fetcher.fetch(server.url, first.validators)
    assert again.is_unchanged
    assert (again.body, again.validators) == (b"", first.validators)
    assert server.requests[1].headers["if-none-match"] == 'W/"1"'
    assert server.requests[1].headers["if-modified-since"] == "yesterday"
    assert not fetcher.fetch(server.url, first.validators).is_unchanged


def test_conditions_are_put_only_where_the_validators_came_from(server: ScriptedServer, fetcher: Fetcher) -> None:
    server.script("/old", page(status=301, Location="/new"))
    server.script("/new", page(ETag="1"), Reply(304), Reply(304))
    first = fetcher.fetch(f"{server.url}/old")
    assert fetcher.fetch(f"{server.url}/old", first.validators).is_unchanged
    assert [request.headers.get("if-none-match") for request in server.requests] == [None, None, None, "1"]
    with pytest.raises(SourceError, match="304"):
        fetcher.fetch(f"{server.url}/new")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed_whatever_its_form(server: ScriptedServer, fetcher: Fetcher, status: int) -> None:
    server.script("/a/b", page(status=status, Location="../a\xc3\xb1o"))
    server.script("/a%C3%B1o", page("moved"))
    found = fetcher.fetch(f"{server.url}/a/b")
    assert (found.body, found.url) == (b"moved", f"{server.url}/a%C3%B1o")


def test_redirects_are_bounded_and_each_is_checked(server: ScriptedServer, fetcher: Fetcher) -> None:
    server.script("/", page(status=302, Location="/"))
    seen: list[str] = []
    with pytest.raises(SourceError, match="redirects over 5 times"):
        fetcher.fetch(server.url, check=seen.append)
    assert seen == [f"{server.url}/"] * 6
    assert len(server.requests) == 6


def test_a_redirect_to_a_private_address_is_refused(server: ScriptedServer) -> None:
    with Fetcher(AddressGuard([server.url.removeprefix("http://")]), QUICK) as fetcher:
        for location in (
            "http://127.0.0.2/",
            elsewhere(server),
            "//169.254.169.254/",
            "http://2130706433/",
            "file:///",
        ):
            server.script("/", page(status=302, Location=location))
            before = len(server.requests)
            with pytest.raises(AddressRefused):
                fetcher.fetch(server.url)
            assert len(server.requests) == before + 1


def test_cookies_are_never_kept(server: ScriptedServer) -> None:
    server.script("/", page(status=302, Location=f"{elsewhere(server)}/b", Set_Cookie="a=b"))
    server.script("/b", page(Set_Cookie="c=d"))
    guard = AddressGuard(["127.0.0.1", "localhost"], lambda host, port: ["127.0.0.1"])
    with Fetcher(guard, QUICK) as fetcher:
        fetcher.fetch(server.url)
        fetcher.fetch(f"{server.url}/b")
    assert len(server.requests) == 3
    assert not [request for request in server.requests if "cookie" in request.headers]


@pytest.mark.parametrize(
    ("status", "error", "tries"),
    [
        *((404, SourceNotFound, 1), (410, SourceNotFound, 1), (401, SourceError, 1), (403, SourceError, 1)),
        *((204, SourceError, 1), (206, SourceError, 1), (300, SourceError, 1), (400, SourceError, 1)),
        *((408, SiteUnreachable, 3), (429, SiteUnreachable, 3), (500, SiteUnreachable, 3), (503, SiteUnreachable, 3)),
    ],
)
def test_each_status_has_its_error(
    server: ScriptedServer, fetcher: Fetcher, status: int, error: type[SourceError], tries: int
) -> None:
    server.script("/", Reply(status))
    with pytest.raises(error, match=str(status)) as caught:
        fetcher.fetch(server.url)
    assert type(caught.value) is error
    assert len(server.requests) == tries


@pytest.mark.parametrize(
    "failure",
    [
        Reply(500),
        Reply(429, {"Retry-After": "0"}),
        Reply(None, ending=Ending.CUT),
        Reply(None, ending=Ending.HANG),
        Reply(200, {}, (b"half",), Ending.CUT),
        Reply(200, {}, (b"half", b"more"), Ending.CUT),
        Reply(200, {}, (b"half",), Ending.HANG),
        Reply(200, {}, (b"half", 5.0, b"more")),
    ],
)
def test_what_fails_for_a_while_is_tried_again(server: ScriptedServer, fetcher: Fetcher, failure: Reply) -> None:
    server.script("/", failure, page("whole"))
    assert fetcher.fetch(server.url).body == b"whole"
    assert len(server.requests) == 2


def test_the_wait_that_a_server_asks_for_is_kept_and_bounded(server: ScriptedServer) -> None:
    waits: list[float] = []
    with Fetcher(AddressGuard(["127.0.0.1"]), replace(QUICK, total=300), sleep=waits.append) as fetcher:
        server.script("/", Reply(429, {"Retry-After": "200"}), page())
        assert fetcher.fetch(server.url).body == b"hello"
        # But for the time that has passed since it was asked for.
        assert [round(wait, -1) for wait in waits] == [200]
        server.script("/long", Reply(503, {"Retry-After": "3600"}), page())
        with pytest.raises(SiteUnreachable) as caught:
            fetcher.fetch(f"{server.url}/long")
    assert caught.value.retry_after == 3600


def test_a_server_that_drips_gains_no_time() -> None:
    hasty = replace(QUICK, total=3)
    with Fetcher(AddressGuard(["127.0.0.1"]), hasty) as fetcher, socket.create_server(("127.0.0.1", 0)) as listening:
        stop = threading.Event()

        def drip() -> None:
            accepted = listening.accept()[0]
            with accepted:
                for byte in b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000:
                    if stop.wait(0.05):
                        return
                    try:
                        accepted.send(bytes([byte]))
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        start = time.monotonic()
        with pytest.raises(SiteUnreachable, match="time"):
            fetcher.fetch(f"http://127.0.0.1:{listening.getsockname()[1]}/")
        stop.set()
        thread.join()
    # All that it has to say takes five minutes.
    assert time.monotonic() - start < 10 * hasty.total


def test_nobody_listening_is_unreachable(fetcher: Fetcher) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(SiteUnreachable, match="try again later"):
        fetcher.fetch(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize(
    "reply", [b"no HTTP at all\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 2000, b"\0" * 99999]
)
def test_what_is_no_http_is_unreachable(reply: bytes, fetcher: Fetcher) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            for _ in range(QUICK.retries + 1):
                with listening.accept()[0] as accepted:
                    accepted.recv(10_000)
                    accepted.sendall(reply)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(SiteUnreachable):
            fetcher.fetch(f"http://127.0.0.1:{listening.getsockname()[1]}/")
        thread.join()


def test_packed_pages_are_unpacked(server: ScriptedServer, fetcher: Fetcher) -> None:
    for name in ("gzip", "X-GZIP"):
        server.script("/", Reply(200, {"Content-Encoding": name}, (gzip.compress(b"a") + gzip.compress(b"b"),)))
        assert fetcher.fetch(server.url).body == b"ab"


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(200, {"Content-Encoding": "gzip"}, (gzip.compress(bytes(50_000_000)),)), SourceTooLarge),
        (Reply(200, {}, (bytes(100_001),)), SourceTooLarge),
        (Reply(200, {}, (bytes(60_000), bytes(60_000))), SourceTooLarge),
        (Reply(200, {"Content-Encoding": "gzip"}, (gzip.compress(b"hello")[:-9],)), DamagedSource),
        (Reply(200, {"Content-Encoding": "gzip"}, (b"hello",)), DamagedSource),
        (Reply(200, {"Content-Encoding": "gzip"}, (gzip.compress(b"hello") + b"more",)), DamagedSource),
        (Reply(200, {"Content-Encoding": "br"}, (b"hello",)), UnsupportedSource),
        (Reply(200, {"Content-Encoding": "gzip, gzip"}, (b"hello",)), UnsupportedSource),
    ],
)
def test_bombs_and_broken_packing_are_refused(
    server: ScriptedServer, fetcher: Fetcher, reply: Reply, error: type[SourceError]
) -> None:
    server.script("/", reply)
    with pytest.raises(error):
        fetcher.fetch(server.url)
    assert len(server.requests) == 1


def test_the_limit_is_exact() -> None:
    assert gunzip(gzip.compress(bytes(1000)) + b"\0\0", 1000, "x") == bytes(1000)
    with pytest.raises(SourceTooLarge):
        gunzip(gzip.compress(bytes(1001)), 1000, "x")
    with pytest.raises(DamagedSource):
        gunzip(zlib.compress(b"not gzip"), 1000, "x")


def test_an_idle_connection_that_the_server_dropped_costs_no_try(server: ScriptedServer) -> None:
    server.script("/", page())
    server.script("/cut", Reply(None, ending=Ending.CUT), page("again"))
    server.script("/fresh", page(Connection="close"), Reply(None, ending=Ending.CUT), page("again"))
    with Fetcher(AddressGuard(["127.0.0.1"]), FetchPolicy(retries=0, delay=0)) as fetcher:
        fetcher.fetch(server.url)
        assert fetcher.fetch(f"{server.url}/cut").body == b"again"
        fetcher.fetch(f"{server.url}/fresh")
        # What a new connection gives no answer to is a failure.
        with pytest.raises(SiteUnreachable):
            fetcher.fetch(f"{server.url}/fresh")


def test_requests_are_spaced_and_few_at_once(server: ScriptedServer) -> None:
    server.script("/", Reply(200, {}, (0.05, b"hello")))
    policy = FetchPolicy(delay=0.2, concurrency=2)
    started = time.monotonic()
    with Fetcher(AddressGuard(["127.0.0.1"]), policy) as fetcher, ThreadPoolExecutor(6) as threads:
        list(threads.map(fetcher.fetch, [server.url] * 8))
    assert time.monotonic() - started >= 0.2 * 7
    assert server.most_at_once <= 2


def test_https_checks_the_name_at_the_pinned_address(tmp_path: Path) -> None:
    (tmp_path / "both.pem").write_text(CERTIFICATE)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(tmp_path / "both.pem")
    names: list[str | None] = []
    serving.sni_callback = lambda connection, name, context: names.append(name)
    trusting = ssl.create_default_context(cafile=str(tmp_path / "both.pem"))
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            for _ in range(3):
                accepted = listening.accept()[0]
                try:
                    with serving.wrap_socket(accepted, server_side=True) as secure:
                        secure.recv(10_000)
                        secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
                except OSError:
                    accepted.close()

        thread = threading.Thread(target=answer)
        thread.start()
        port = listening.getsockname()[1]
        guard = AddressGuard(["book.test", "other.test"], lambda host, port: ["127.0.0.1"])
        with Fetcher(guard, QUICK, tls=trusting) as fetcher:
            assert fetcher.fetch(f"https://book.test:{port}/").body == b"hello"
            with pytest.raises(SourceError, match="certificate"):
                fetcher.fetch(f"https://other.test:{port}/")
        with Fetcher(guard, QUICK) as fetcher, pytest.raises(SourceError, match="certificate"):
            fetcher.fetch(f"https://book.test:{port}/")
        thread.join()
    assert names == ["book.test", "other.test", "book.test"]


# Of a host that exists nowhere, made for this test, good from 2000 until 2126: a machine's clock may be wrong.
CERTIFICATE = """-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgGA5I8iV5doRc79DK
YOVOIqLSGRgPYwqiqqbUyOdcfkahRANCAAQqHbg/W3DZAt3cRM27HiMAtvOcZMSs
31+AJ41dCDXmmsfPNGRqbVA2drTo//gaBEI6fQ5UGg1O3D1+8hHgn6TP
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBljCCATugAwIBAgIUVXN/N3UbPWnDL19q6zVqUojY0PswCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJYm9vay50ZXN0MCAXDTAwMDEwMTAwMDAwMFoYDzIxMjYwMTAx
MDAwMDAwWjAUMRIwEAYDVQQDDAlib29rLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQqHbg/W3DZAt3cRM27HiMAtvOcZMSs31+AJ41dCDXmmsfPNGRqbVA2
drTo//gaBEI6fQ5UGg1O3D1+8hHgn6TPo2kwZzAdBgNVHQ4EFgQUtC40aiNY7uSj
PTGeHUgefseJ2E8wHwYDVR0jBBgwFoAUtC40aiNY7uSjPTGeHUgefseJ2E8wDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglib29rLnRlc3QwCgYIKoZIzj0EAwID
SQAwRgIhAI9f5TNL3NTtY5DzkP29d9Syeh4QzrIX9PBY9/g0XYWqAiEA0TzS9syo
gTf3NJ6X8UGHo0c3SWGr17gK47vU1S8tuL0=
-----END CERTIFICATE-----
"""
