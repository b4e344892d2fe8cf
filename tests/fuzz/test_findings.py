"""Regression tests of all fuzzing findings, each reduced to its smallest form."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest
from helpers import HashEmbedder, make_document
from made_files import epub, zipped
from providers.scripted_server import Ending, Reply, ScriptedServer
from reading_here import read_file

from answerable.answering.decide import Answering
from answerable.errors import AddressRefused, DamagedSource, FilterError, MalformedResponse, SourceNotFound
from answerable.filters import parse_filter
from answerable.interfaces.cli.filters import build_filter, read_conditions
from answerable.interfaces.cli.options import FilterOptions
from answerable.library import Library
from answerable.protocols import Message
from answerable.providers.calling import CallPolicy
from answerable.providers.openai import OpenAIChatModel
from answerable.sources.file_reader import FileReader
from answerable.sources.html.web_address import parse_address
from answerable.sources.office.epub import read_epub
from answerable.sources.whatsapp.read import parse_chat
from answerable.splitting.by_type import SplitterByType
from answerable.stores.memory import MemoryStore

LIBRARY = Library(MemoryStore(), HashEmbedder(), SplitterByType(), FileReader(), Answering())


def test_a_message_that_ends_in_blanks() -> None:
    chat = f"12/03/24, 10:15 - Ana: Hi. See you{' ' * 50}\n12/03/24, 10:16 - Bob: ok"
    assert [(message.sender, message.text.strip()) for message in parse_chat(chat)] == [
        ("Ana", "Hi. See you"),
        ("Bob", "ok"),
    ]


def test_a_member_whose_lzma_is_broken(tmp_path: Path) -> None:
    data = bytearray(zipped({"a.md": "# Title\n" * 100}, zipfile.ZIP_LZMA))
    start = 30 + len("a.md") + 12
    data[start : start + 20] = b"\xff" * 20
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(DamagedSource, match=r"damaged at its member 'a\.md'"):
        read_file(tmp_path / "a.zip")


def test_a_member_without_a_name(tmp_path: Path) -> None:
    nameless = _without_name(zipped({"a": "text"}))
    (tmp_path / "a.zip").write_bytes(nameless)
    with pytest.raises(DamagedSource, match="has no name"):
        read_file(tmp_path / "a.zip")
    with pytest.raises(DamagedSource, match="has no name"):
        read_epub(nameless, "a.epub")


def _without_name(data: bytes) -> bytes:
    """The archive of one member by the name of one character, without that character."""
    directory = data.index(b"PK\1\2")
    end = data.index(b"PK\5\6")
    local = data[:26] + struct.pack("<H", 0) + data[28:30] + data[31:directory]
    entry = data[directory : directory + 28] + struct.pack("<H", 0) + data[directory + 30 : directory + 46]
    entry += data[directory + 47 : end]
    sizes = struct.pack("<II", len(entry), len(local))
    return local + entry + data[end : end + 12] + sizes + data[end + 20 :]


def test_a_member_by_another_name_than_its_directory_says() -> None:
    """The name in front of the data, as long as it likes to be, is no part of the message."""
    data = epub()
    place = data.index(b"META-INF/container.xml") - 4
    data = data[:place] + struct.pack("<H", 900) + data[place + 2 :]
    with pytest.raises(DamagedSource) as raised:
        read_epub(data, "a.epub")
    assert len(str(raised.value)) < 500


def test_an_address_with_a_lone_surrogate() -> None:
    with pytest.raises(AddressRefused) as raised:
        parse_address("https://example.org/\udcff")
    str(raised.value).encode("utf-8")


@pytest.mark.parametrize("where", [{"\ud800": []}, {"x" * 10_000: []}, {"page": {"gte": "x" * 10_000}}])
def test_a_filter_s_message_is_short_and_printable(where: dict[str, object]) -> None:
    with pytest.raises(FilterError) as raised:
        parse_filter(where)
    assert len(str(raised.value).encode("utf-8")) < 500


@pytest.mark.parametrize("name", ["\ud800", "c:\\\udc00", "\udfff/a", "\U0010ffff" * 1_000, "~ana\0/a"])
def test_a_source_to_filter_by_that_is_no_name(name: str) -> None:
    library = Library(MemoryStore(), HashEmbedder(), SplitterByType(), FileReader(), Answering())
    library.add_documents([make_document("text", source="/a.md")])
    with pytest.raises(FilterError, match="No document comes from") as raised:
        build_filter(library, FilterOptions(source=[name]))
    assert len(str(raised.value).encode("utf-8")) < 3_000


def test_a_file_to_add_that_is_no_name() -> None:
    with pytest.raises(SourceNotFound, match="check the path"):
        LIBRARY.add("~ana\0/a")


@pytest.mark.parametrize("text", ["[" * 100_000, f'{{"page": {"9" * 5_000}}}'])
def test_a_filter_whose_json_is_too_deep_or_too_long(text: str) -> None:
    with pytest.raises(FilterError, match="not valid JSON"):
        build_filter(LIBRARY, FilterOptions(where=text))


def test_an_error_of_a_model_s_server_that_is_cut() -> None:
    with ScriptedServer() as server:
        server.script("/v1/chat/completions", Reply(400, {}, (b'{"error"', b": 1"), Ending.CUT))
        policy = CallPolicy(retries=0)
        model = OpenAIChatModel("m", "key", f"{server.url}/v1", policy)
        with pytest.raises(MalformedResponse, match="cut off"):
            list(model.stream([Message("user", "Hello?")]))
        model.close()


def test_a_condition_that_is_typed_is_shown_in_short() -> None:
    with pytest.raises(FilterError) as raised:
        read_conditions("\U0010ffff" * 500, {})
    assert len(str(raised.value)) < 1_200
