"""Decoding: every encoding a text comes in, and everything that is no text."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.datatypes import DocumentType
from answerable.errors import EmptySource, SourceError, UnsupportedSource
from answerable.sources.text import decode, read_text

SPANISH = "El niño comió piñas «muy» dulces — ¿cuántas?\nTres…\n"
RUSSIAN = "Съешь же ещё этих мягких французских булок да выпей чаю, сказал он и ушёл домой.\n" * 3
CHINESE = "我们明天早上八点在火车站门口见面，请大家准时到达，不要忘记带身份证。\n" * 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [SPANISH, RUSSIAN, CHINESE, "plain\nASCII, long enough to tell\n"])
def test_unicode_with_and_without_mark(text: str, encoding: str) -> None:
    if text == CHINESE and encoding in ("utf-16-le", "utf-16-be"):
        text += "and some ASCII, whose NULs tell it apart " * 4
    assert decode(text.encode(encoding), "a.txt") == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (SPANISH, "cp1252"),
        ("Não há pão à mesa, só café.", "latin-1"),
        ("naïve", "cp1252"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (CHINESE, "gb18030"),
        # Too few words to tell the language by, but no Western text.
        ("名前,年齢\n佐藤太郎,30\n三木英子,25\n", "cp932"),
    ],
)
def test_older_encodings(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), "a.txt") == text


def test_line_ends_and_nothing_else_change() -> None:
    assert decode(b"a\r\nb\rc\n\td \xc2\xa0\x0c", "a.txt") == "a\nb\nc\n\td \xa0\x0c"


def test_a_mark_alone_is_no_text() -> None:
    assert decode(codecs.BOM_UTF8, "a.txt") == ""
    assert decode(b"", "a.txt") == ""


def test_a_few_broken_characters_do_not_change_the_encoding_of_the_rest() -> None:
    broken = ("ñandú " * 20).encode() + b"\xff" + "años".encode()[:-2] + b"\xc3"
    assert decode(broken, "a.txt").startswith("ñandú ñandú")
    assert decode("día".encode() + b"\xc3", "a.txt") == "día\ufffd"


def test_lone_surrogates_become_replacement_characters() -> None:
    assert decode(codecs.BOM_UTF16_LE + b"a\x00\x00\xd8b\x00", "a.txt") == "a\ufffdb"


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00",
        b"%PDF-1.7\n1 0 obj",
        b"PK\x03\x04rest",
        b"text with a\x00NUL in it",
        bytes(range(256)) * 20,
        b"\x01\x02\x03\x04\x05\x06\x0e\x0f" * 50,
        b"\x7fELF\x02\x01\x01\x00",
    ],
)
def test_binary_data_is_refused_with_what_to_do(data: bytes) -> None:
    with pytest.raises(UnsupportedSource, match=r"photo\.txt is a binary file.*convert it to PDF.*or leave it out"):
        decode(data, "photo.txt")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("book.MOBI", "convert it to EPUB"),
        ("mail.pst", r"export its messages .* as \.mbox"),
        ("scans.djvu", "export it as PDF"),
        ("all.rar", "unpack it and add the folder"),
        ("films.sqlite", r"export its tables as \.csv"),
    ],
)
def test_a_well_known_format_that_is_not_read_says_how_to_convert_it(name: str, advice: str) -> None:
    with pytest.raises(UnsupportedSource, match=rf"{name} is a binary file.*{advice}.*or leave it out"):
        decode(bytes(range(256)) * 20, name)


@given(st.binary() | st.text().map(lambda text: text.encode("utf-16-le", "surrogatepass")))
def test_any_bytes_decode_cleanly_or_are_a_source_error(data: bytes) -> None:
    try:
        text = decode(data, "a.txt")
    except SourceError as error:
        assert "a.txt" in str(error)
    else:
        text.encode("utf-8")
        assert "\r" not in text
        assert "\0" not in text


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_utf8_comes_back_as_it_was(text: str) -> None:
    assert decode(text.encode(), "a.txt") == text.removeprefix("\ufeff")


def test_plain_text_document() -> None:
    document = read_text("Hello\n", "/notes/My file.txt")
    assert (document.title, document.type, document.source) == ("My file", DocumentType.TEXT, "/notes/My file.txt")
    assert read_text("x", "/a.zip!/dir/inner.txt").title == "inner"


def test_blank_text_is_empty() -> None:
    with pytest.raises(EmptySource, match=r"a\.txt holds no text: check"):
        read_text(" \n", "a.txt")
