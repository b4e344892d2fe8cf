"""Which addresses may be asked: every trick ends before a connection."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from providers.scripted_server import Reply, ScriptedServer

from answerable.errors import AddressRefused, SettingsError, SiteUnreachable, SourceError
from answerable.sources.html.web_address import parse_address
from answerable.sources.site.connection import AddressGuard, is_public
from answerable.sources.site.fetch import Fetcher, FetchPolicy

QUICK = FetchPolicy(timeout=2, total=5, retries=0, delay=0)
_connections: list[object] = []
_hooked = False


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server on loopback that plays what the test tells it to."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def connections() -> list[object]:
    """Every connection that this process tries to open from now on, whatever code does."""
    global _hooked
    if not _hooked:
        sys.addaudithook(lambda event, given: _connections.append(given[1]) if event == "socket.connect" else None)
        _hooked = True
    _connections.clear()
    return _connections


TRICKS = [
    *("http://127.0.0.1/", "http://127.0.0.1:3000/", "http://127.1/", "http://127.0.1/", "http://2130706433/"),
    *("http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://017700000001/", "http://0/"),
    *("http://127.0.0.01/", "http://127.0.0.1./", "http://0x/", "http://1.2.3.4.5/", "http://256.1.1.1/"),
    *(
        "http://①②⑦.0.0.1/",
        "http://127。0。0。1/",
        "http://１２７.0.0.1/",
        "http://127%2e0.0.1/",
        "http://%6cocalhost/",
    ),
    *(
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[::127.0.0.1]/",
    ),
    *("http://[64:ff9b::7f00:1]/", "http://[64:ff9b::169.254.169.254]/", "http://[64:ff9b:1::a00:1]/"),
    *("http://[2002:7f00:1::]/", "http://[2001:0:7f00:1::]/", "http://[fe80::1]/", "http://[fe80::1%25lo]/"),
    *("http://[fc00::1]/", "http://[fd00:ec2::254]/", "http://[fec0::1]/", "http://[ff02::1]/", "http://[v1.x]/"),
    *("http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.0.1/", "http://100.100.100.200/", "http://0.0.0.0/"),
    *("http://169.254.169.254/latest/meta-data/", "http://168.63.129.16/", "http://192.0.0.192/", "http://224.0.0.1/"),
    *("http://255.255.255.255/", "http://240.0.0.1/", "http://198.18.0.1/", "http://203.0.113.1/"),
    *("http://93.184.216.34@127.0.0.1/", "http://127.0.0.1\\@93.184.216.34/", "http://a:b@93.184.216.34/"),
    *("http://127.0.0.1#@93.184.216.34/", "http://127.0.0.1?@93.184.216.34/", "http://93.184.216.34:80@127.0.0.1/"),
    *("http://93.184.216.34\\.127.0.0.1/", "http:///127.0.0.1/", "http:127.0.0.1", "http:/127.0.0.1/", "//127.0.0.1/"),
    *("http://93.184.216.34:22/", "http://93.184.216.34:0/", "http://93.184.216.34:99999/", "http://93.184.216.34:٨٠/"),
    *("file:///etc/passwd", "ftp://93.184.216.34/", "gopher://93.184.216.34/", "javascript:alert(1)", "data:,x", ""),
    *("http://93.184.216.34/a\r\nHost: x", "http://93.184.216.34/a\0b", "http://exam ple.com/", "http://-.-/../x"),
    "http://93.184.216.34/book/%2e%2E/admin",
]


@pytest.mark.parametrize("url", TRICKS)
def test_no_trick_leads_to_a_connection(url: str, connections: list[object]) -> None:
    with Fetcher(policy=QUICK) as fetcher, pytest.raises(AddressRefused) as caught:
        fetcher.fetch(url)
    assert "not fetched" in str(caught.value)
    assert "a:b" not in str(caught.value)
    assert connections == []


@pytest.mark.parametrize("url", TRICKS)
def test_no_redirect_leads_there_either(url: str, server: ScriptedServer, connections: list[object]) -> None:
    location = url.encode("utf-8").decode("latin-1").replace("\r\n", "\x01").replace("\0", "\x01")
    server.script("/", Reply(302, {"Location": location}, (b"",)))
    host = server.url.removeprefix("http://")
    # Some are relative to the page that redirects, and then lead to what isn't there at its own host.
    with Fetcher(AddressGuard([host]), QUICK) as fetcher, pytest.raises(SourceError):
        fetcher.fetch(server.url)
    assert connections
    assert [place for place in connections if f"{place[0]}:{place[1]}" != host] == []  # type: ignore[index]


@pytest.mark.parametrize(
    "answers",
    [
        ["127.0.0.1"],
        ["93.184.216.34", "127.0.0.1"],
        ["::1"],
        ["::ffff:10.0.0.1"],
        ["64:ff9b::a00:1"],
        ["fe80::1%2"],
        ["169.254.169.254"],
        ["no address"],
    ],
)
def test_a_name_that_resolves_to_any_private_address_is_refused(answers: list[str], connections: list[object]) -> None:
    guard = AddressGuard(resolve=lambda host, port: answers)
    with (
        Fetcher(guard, QUICK) as fetcher,
        pytest.raises(AddressRefused, match=r"HOSTS=book\.test:3000$"),
    ):
        fetcher.fetch("http://book.test:3000/")
    assert connections == []


def test_a_name_is_looked_up_once_and_connected_to_at_that_very_address(
    server: ScriptedServer, connections: list[object]
) -> None:
    port = int(server.url.rpartition(":")[2])
    asked = []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    server.script("/", Reply(200, {}, (b"hello",)))
    with Fetcher(AddressGuard([f"book.test:{port}"], rebinding), QUICK) as fetcher:
        assert fetcher.fetch(f"http://book.test:{port}/").body == b"hello"
    assert asked == ["book.test"]
    assert connections == [("127.0.0.1", port)]
    assert server.requests[0].headers["host"] == f"book.test:{port}"


def test_answers_that_change_to_a_private_address_are_refused_at_the_next_look_up(connections: list[object]) -> None:
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])
    guard = AddressGuard(resolve=lambda host, port: next(answers))
    address = parse_address("http://book.test/")
    assert guard.locate(address) == ["93.184.216.34"]
    with pytest.raises(AddressRefused):
        guard.locate(address)
    assert connections == []


def test_naming_a_host_allows_that_host_and_port_only() -> None:
    guard = AddressGuard(["127.0.0.1:3000", "[::1]:3000", "Localhost", "fd00::1"], lambda host, port: ["127.0.0.1"])
    for allowed in ("127.0.0.1:3000", "[::1]:3000", "[0:0::1]:3000", "localhost", "LOCALHOST.:99", "[fd00::1]:22"):
        assert guard.locate(parse_address(f"http://{allowed}/"))
    for other in (
        "127.0.0.1",
        "127.0.0.1:3001",
        "[::1]",
        "127.0.0.2:3000",
        "evil.test:3000",
        "[::ffff:127.0.0.1]:3000",
    ):
        with pytest.raises(AddressRefused):
            guard.locate(parse_address(f"http://{other}/"))


@pytest.mark.parametrize("entry", ["", "http://localhost", "a:b:c", "user@host", "127.1", "host:70000", "[::1"])
def test_a_host_that_cannot_be_read_is_a_settings_error(entry: str) -> None:
    with pytest.raises(SettingsError, match="allow_hosts"):
        AddressGuard([entry])


def test_public_addresses_are_public() -> None:
    for ip in ("93.184.216.34", "1.1.1.1", "172.32.0.1", "2606:4700:4700::1111", "64:ff9b::101:101", "::ffff:1.1.1.1"):
        assert is_public(ip), ip


def test_a_name_without_an_address_is_unreachable() -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise OSError("Name or service not known")

    for guard in (AddressGuard(resolve=unknown), AddressGuard(resolve=lambda host, port: [])):
        with pytest.raises(SiteUnreachable, match=r"book\.test"):
            guard.locate(parse_address("http://book.test/"))


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("HTTP://Docs.Example.COM:80", "http://docs.example.com/"),
        ("https://docs.example.com:8443/a?b=c#d", "https://docs.example.com:8443/a?b=c"),
        (" https://docs.example.com./año/a b?q=ñ&x=%20\n", "https://docs.example.com/a%C3%B1o/a%20b?q=%C3%B1&x=%20"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("http://[2606:4700:0::1111]:80/", "http://[2606:4700::1111]/"),
    ],
)
def test_an_address_gets_its_plain_form(text: str, url: str) -> None:
    assert parse_address(text).url == url
    assert parse_address(url).url == url


@given(
    st.text(max_size=40)
    | st.builds("http://{}{}".format, st.text("0123456789.x[]:@\\%/?#aé。①-_ ", max_size=20), st.text(max_size=10))
)
def test_any_text_is_refused_or_has_one_plain_form(text: str) -> None:
    try:
        address = parse_address(text)
    except AddressRefused:
        return
    assert parse_address(address.url) == address
    assert address.url.isascii()
    assert not set(address.host) & set("@/\\?#% ")
