"""Chunks measured in tokens: never too long, never in the middle of what people see as one."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from property_settings import examples

from answerable.datatypes import Chunk, Document, DocumentType, Location, Part, PartKind
from answerable.errors import SettingsError
from answerable.settings import load_settings
from answerable.splitting.by_type import SplitterByType
from answerable.splitting.make_chunks import evidence_spans
from answerable.splitting.recursive import VOCABULARIES, TokenSplitter
from answerable.wiring.build import build_splitter

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="toktok-rs has no wheel for Python 3.10")

WORDS = """a Word palabras coração Dr. end. ¿qué? 这是第一句。 好吗好吗 हिन्दी 👩‍👩‍👧 👍🏽 🇪🇸 🇧🇷🇵 don't'll # | ĳﬁ ﷽ 𝔘
antidisestablishmentarianism <|endoftext|> 0123456789""".split()
WORDS += ["e\u0301", "\u0301\u0301", "\0", "\u2028", "\ufffd", "\u200d", "\U000e0067", "\ufeff", "\xa0", "\U0001d160"]
WORDS += ["x" * 50, "ab" * 40, "字" * 30]
GAPS = ["", "", " ", "  ", "\n", "\n\n", "\n \t\n", "\f", "\r\n", "\t", ". ", "! ", "。", " " * 90]

texts = st.one_of(
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=40).map(
        lambda pairs: "".join(word + gap for word, gap in pairs)
    ),
    st.text(max_size=150),
    st.text(alphabet=" \n\0a'Z1é\u0301👩\u200d🇪🇸这。", max_size=150),
)


def tokens(text: str, vocabulary: str = "cl100k_base") -> int:
    """A count by another way than the splitter's."""
    from toktok import batch_count

    count: int = batch_count([text], vocabulary)[0]
    return count


def split(text: str, size: int, overlap: int = 0) -> list[str]:
    """What the chunks say."""
    return [chunk.content for chunk in TokenSplitter("cl100k_base", size, overlap).split(Document.from_text(text))]


def check(document: Document, chunks: list[Chunk], splitter: TokenSplitter) -> None:
    """Everything that holds for chunks of tokens."""
    content, covered = document.content, 0
    for number, chunk in enumerate(chunks):
        assert content[chunk.start : chunk.end] == chunk.content == chunk.content.strip() != ""
        assert tokens(chunk.content, splitter.vocabulary) <= splitter.chunk_size
        assert not content[covered : max(chunk.start, covered)].strip()
        assert chunk.sequence == number
        covered = chunk.end
    assert not content[covered:].strip()
    for one, other in pairwise(chunks):
        assert one.start < other.start
        assert one.end < other.end
        assert tokens(content[other.start : one.end], splitter.vocabulary) <= splitter.chunk_overlap
    assert len({chunk.id for chunk in chunks}) == len(chunks)


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@examples(300)
@given(text=texts, size=st.integers(4, 40), data=st.data())
def test_chunks_are_exact_complete_ordered_and_never_too_long(
    vocabulary: str, text: str, size: int, data: st.DataObject
) -> None:
    splitter = TokenSplitter(vocabulary, size, data.draw(st.integers(0, size - 1)))
    document = Document.from_text(text)
    chunks = splitter.split(document)
    check(document, chunks, splitter)
    assert splitter.split(document) == chunks


@examples(300)
@given(text=texts, size=st.integers(4, 40), data=st.data())
@example(text="a " * 3 + "antidisestablishmentarianism " * 3, size=8, data=None)
def test_a_word_that_fits_in_a_chunk_is_whole(text: str, size: int, data: st.DataObject | None) -> None:
    overlap = data.draw(st.integers(0, size - 1)) if data else 3
    words = [match.span() for match in re.finditer(r"[^\s。！？]+[。！？]*|[。！？]+", text)]
    for chunk in TokenSplitter("cl100k_base", size, overlap).split(Document.from_text(text)):
        for start, end in words:
            if start < chunk.start < end or start < chunk.end < end:
                assert tokens(text[start:end]) > size


@examples(300)
@given(text=texts, vocabulary=st.sampled_from(VOCABULARIES))
def test_counts_are_those_of_the_vocabulary(text: str, vocabulary: str) -> None:
    assert TokenSplitter(vocabulary).count(text) == tokens(text, vocabulary)


@pytest.mark.parametrize(
    ("text", "vocabulary", "count"),
    [
        ("", "cl100k_base", 0),
        ("hello world", "cl100k_base", 2),
        ("tiktoken is great!", "cl100k_base", 6),  # the example of tiktoken's own guide
        ("antidisestablishmentarianism", "cl100k_base", 6),
        ("antidisestablishmentarianism", "o200k_base", 6),
        ("お誕生日おめでとう", "cl100k_base", 9),
        ("お誕生日おめでとう", "o200k_base", 8),
        ("2 + 2 = 4", "cl100k_base", 7),
        ("🧠", "cl100k_base", 3),
        ("<|endoftext|>", "cl100k_base", 7),
        ("hello world", "o200k_harmony", 2),
    ],
)
def test_known_counts(text: str, vocabulary: str, count: int) -> None:
    assert TokenSplitter(vocabulary).count(text) == count


def test_no_character_has_more_tokens_than_the_smallest_chunk() -> None:
    from toktok import batch_count

    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for vocabulary in VOCABULARIES:
        assert max(batch_count(characters, vocabulary)) == 4


@pytest.mark.parametrize(
    ("text", "size", "chunks"),
    [
        (
            "O prazo é de dez dias úteis.\n\nA multa é de dois por cento ao mês. Não há outra penalidade.",
            18,
            ["O prazo é de dez dias úteis.", "A multa é de dois por cento ao mês.", "Não há outra penalidade."],
        ),
        (
            "La clínica abre a las ocho. Los sábados cierra a mediodía. Los domingos no atiende a nadie.",
            21,
            ["La clínica abre a las ocho. Los sábados cierra a mediodía.", "Los domingos no atiende a nadie."],
        ),
        (
            "The boiler was serviced\nin March 2021 by a licensed engineer from Porto who left a note",
            10,
            ["The boiler was serviced", "in March 2021 by a licensed engineer from", "Porto who left a note"],
        ),
        ("这是第一句话。这是第二句话好吗好吗好吗", 10, ["这是第一句话。", "这是第二句话好吗", "好吗好吗"]),
        ("one two three four", 4, ["one two three four"]),
        ("one two three four five", 4, ["one two three four", "five"]),  # what fits exactly is not cut short
        ("one two three four   \n five", 4, ["one two three four", "five"]),
        ("I am antidisestablishmentarianism", 7, ["I am", "antidisestablishmentarianism"]),
        ("a\0b \0", 5, ["a\0b \0"]),
        (" \n\f \u2003", 4, []),
        ("", 4, []),
    ],
)
def test_cuts_fall_where_people_would_cut(text: str, size: int, chunks: list[str]) -> None:
    assert split(text, size) == chunks


def test_neighbours_share_whole_words_up_to_the_overlap() -> None:
    text = " ".join(f"the house number {number} stands empty" for number in range(60))
    splitter = TokenSplitter(chunk_size=40, chunk_overlap=10)
    document = Document.from_text(text)
    chunks = splitter.split(document)
    check(document, chunks, splitter)
    assert len(chunks) > 8
    for one, other in pairwise(chunks):
        assert tokens(one.content) > 36
        assert 8 <= tokens(text[other.start : one.end]) <= 10
        assert text[other.start - 1] == text[one.end] == " "


def test_neighbours_share_characters_where_there_are_no_words() -> None:
    text = "字" * 500
    chunks = TokenSplitter(chunk_size=40, chunk_overlap=10).split(Document.from_text(text))
    assert len(chunks) > 8
    for one, other in pairwise(chunks):
        assert one.end - other.start > 3


@pytest.mark.parametrize(
    "cluster", ["👩‍👩‍👧", "👍🏽", "🇪🇸", "e\u0301", "हि", "1️⃣", "🏴\U000e0067\U000e0062\U000e007f", "字"]
)
@pytest.mark.parametrize("overlap", [0, 14, 29])
def test_what_people_see_as_one_character_stays_whole(cluster: str, overlap: int) -> None:
    for shift in range(6):
        for content in split("x" * shift + cluster * 30, 30, overlap):
            assert not content.lstrip("x").replace(cluster, "")


@pytest.mark.parametrize(
    "unit", ["e\u0301", "👩\u200d", "🇪🇸", "\0", "Ab, cd. \n", "x", "<|endoftext|>", "x" + " " * 200]
)
def test_long_texts_of_anything(unit: str) -> None:
    splitter, document = TokenSplitter(), Document.from_text((unit * 60_000)[:60_000])
    chunks = splitter.split(document)
    check(document, chunks, splitter)
    # Nothing is cut finer than it has to be.
    assert (
        len(chunks) < 3 * splitter.count(document.content.strip()) / (splitter.chunk_size - splitter.chunk_overlap) + 2
    )


def test_chunks_have_places_parts_and_context() -> None:
    content = "# Caldera\n\nSe revisa una vez cada año.\n\n# Tejado\n\nSe revisa cada dos años.\n"
    half = content.index("# Tejado")
    parts = (
        Part(0, half, PartKind.SECTION, headings=("Caldera",), anchor="caldera"),
        Part(half, len(content), PartKind.SECTION, headings=("Tejado",), anchor="tejado"),
    )
    document = Document("d", content, title="Casa", type=DocumentType.MARKDOWN, language="es", parts=parts)
    first, second = TokenSplitter(chunk_size=14, chunk_overlap=0).split(document)
    assert (first.content, second.content) == (content[:half].strip(), content[half:].strip())
    assert first.location == Location(lines=(1, 3), headings=("Caldera",), anchor="caldera")
    assert second.context == "Casa › Tejado"
    assert second.parts == parts[1:]


@examples(100)
@given(text=texts, size=st.integers(4, 12))
def test_evidence_lies_within_a_chunk_wherever_a_message_was_cut(text: str, size: int) -> None:
    body = "01/02/2024, 10:00 - Ana María: "
    content = (body + text + "\n") * 2
    half = len(content) // 2
    parts = tuple(
        Part(start, start + half, PartKind.MESSAGE, sender="Ana María", body=start + len(body)) for start in (0, half)
    )
    document = Document("d", content, type=DocumentType.CHAT, language="es", parts=parts)
    for chunk in TokenSplitter(chunk_size=size, chunk_overlap=2).split(document):
        for start, end in evidence_spans(chunk, "es"):
            assert 0 <= start < end <= len(chunk.content)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("p50k_base",), "There is no vocabulary 'p50k_base'. Use one of cl100k_base, o200k_base, o200k_harmony."),
        (("cl100k_base", 3, 0), "chunk_size is 3: it must be at least 4 tokens"),
        (("cl100k_base", 10, 10), "chunk_overlap is 10"),
        (("cl100k_base", 10, -1), "chunk_overlap is -1"),
    ],
)
def test_what_makes_no_sense_is_said(arguments: tuple[str, int, int], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        TokenSplitter(*arguments)


def test_the_setting_chooses_tokens_for_every_type(tmp_path: Path) -> None:
    splitter = build_splitter(load_settings({"splitter": "tokens"}, {}, tmp_path))
    assert isinstance(splitter, TokenSplitter)
    assert (splitter.vocabulary, splitter.chunk_size, splitter.chunk_overlap) == ("cl100k_base", 400, 50)
    given = {"splitter": "tokens", "token_vocabulary": "o200k_base", "chunk_size": 100, "chunk_overlap": 0}
    splitter = build_splitter(load_settings(given, {}, tmp_path))
    assert isinstance(splitter, TokenSplitter)
    assert (splitter.vocabulary, splitter.chunk_size, splitter.chunk_overlap) == ("o200k_base", 100, 0)
    settings = load_settings({}, {}, tmp_path)
    assert isinstance(build_splitter(settings), SplitterByType)
    assert (settings.chunk_size, settings.chunk_overlap) == (1800, 200)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("token_vocabulary", "gpt-4", "Use one of cl100k_base, o200k_base, o200k_harmony."),
        ("chunk_size", 3, "chunk_size is 3: it must be at least 4 tokens"),
        ("chunk_overlap", 400, "it must be below chunk_size (400)"),
        ("splitter", "words", "splitter is 'words'; it must be auto or tokens."),
    ],
)
def test_wrong_settings_are_said(name: str, value: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=re.escape(message)):
        build_splitter(load_settings({"splitter": "tokens", "chunk_overlap": 0, name: value}, {}, tmp_path))


def test_a_missing_package_is_named_with_its_command() -> None:
    code = "import sys; sys.modules['toktok'] = None; import answerable.splitting.recursive as t; t.TokenSplitter()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "MissingPackage: Counting tokens needs the package toktok-rs" in done.stderr
    assert done.stderr.strip().endswith("pip install toktok-rs")
