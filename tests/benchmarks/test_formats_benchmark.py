"""The comparison of formats: its files, what counts as found, and what counts as the right place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module", autouse=True)
def benchmarks() -> Iterator[None]:
    """The folder of the benchmarks, which are no package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
        yield


def test_what_is_made_is_read_and_its_places_are_right(tmp_path: Path) -> None:
    from format_files.made import documents
    from format_files.running import read_ours

    for sample in (each for each in documents() if each.kind in ("xlsx", "mbox")):
        path = tmp_path / sample.name
        path.write_bytes(sample.data)
        result = read_ours(sample, path)
        assert (result.words, result.places, result.failed) == (1, len(sample.probes), ""), sample.name


def test_a_public_file_that_is_missing_or_another_is_named(tmp_path: Path) -> None:
    from format_files.sample import problem, public_samples

    listed = public_samples()
    assert len({each.sha256 for each in listed}) == len(listed) == 36
    sample = listed[0]
    assert "isn't there" in problem(sample, tmp_path)
    sample.found_in(tmp_path).parent.mkdir(parents=True)
    sample.found_in(tmp_path).write_bytes(b"another")
    assert sample.commit[:12] in problem(sample, tmp_path)
    assert sample.address.startswith(f"https://raw.githubusercontent.com/{sample.repository}/{sample.commit}/")


def test_words_are_found_whatever_marks_stand_around_them() -> None:
    from format_files.words import passages, share, words

    text = "# A **bold** [link](http://x.org/a) | cell |\nand 170, not 1709"
    assert [text[start:end] for start, end in passages(text, "bold link cell and")] == [
        "bold** [link](http://x.org/a) | cell |\nand"
    ]
    assert len(passages(text, "170")) == 1
    assert share("bold bold link", words(text)) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("markdown", "words", "place", "is_told"),
    [
        ("one\n\ftwo\n\f", "two", {"page": 2}, True),
        ("one\n\ntwo", "two", {"page": 2}, False),
        ("<!-- Slide number: 2 -->\n# T\nhello", "hello", {"slide": 2}, True),
        ("## Costs\n| a | b |\n| --- | --- |\n| c | d |", "d", {"cell": "Costs!B2"}, True),
        ("## Costs\n| a | b |\n| --- | --- |\n| c | d |", "d", {"cell": "Costs!B3"}, False),
        ("## Costs\n| a | b |\n| --- | --- |\n| c | d |", "d", {"cell": "People!B2"}, False),
        ("a\nb\nc", "c", {"line": 3}, True),
        ("# One\n\n## Two\n\nhere", "here", {"heading": "Two"}, True),
        ("# One\n\nhere\n\n## Two", "here", {"heading": "Two"}, False),
        ("links ### One : a ### Two : here", "here", {"heading": "Two"}, True),
        ('<?xml version="1.0"?><a t="One"><a t="Two"><b t="x"/><b t="here"/>', "here", {"heading": "Two"}, True),
        ('<?xml version="1.0"?><a t="One"><a t="Two"></a><b t="here"/>', "here", {"heading": "Two"}, False),
        ("[9:05 PM] Ana: hello", "hello", {"time": "2024-03-05 21:05", "sender": "Ana"}, True),
        ("[9:15 PM] Ana: hello", "hello", {"time": "2024-03-05 21:05", "sender": "Ana"}, False),
        ("00:00:49.603 --> 00:00:53.363\nhello", "hello", {"second": 50}, True),
        ("## File: b.txt\n\nhello", "hello", {"member": "b.txt"}, True),
        ("hello", "hello", {"point": [0.5, 0.5]}, False),
    ],
)
def test_what_markdown_tells(markdown: str, words: str, place: dict[str, object], is_told: bool) -> None:
    from format_files.judging import told
    from format_files.sample import Probe
    from format_files.words import passages

    assert told(markdown, passages(markdown, words), Probe(words, place)) is is_told


def test_a_citation_may_name_no_more_than_the_place() -> None:
    from format_files.judging import cited
    from format_files.sample import probe

    place = {"place": "Costs!A2:C2", "pages": [2, 3], "unit": "page", "times": [], "senders": ["Ana", "Ben"]}
    assert cited([place], probe("x", cell="Costs!B2"))
    assert not cited([{**place, "place": "Costs!A2:C9"}], probe("x", cell="Costs!B2"))
    assert not cited([place], probe("x", page=2))
    assert not cited([place], probe("x", sender="Ana"))


def test_states_that_are_made_are_read(tmp_path: Path) -> None:
    from format_files.made_state_pages import page_states
    from format_files.made_states import office_states
    from format_files.states import says
    from reading_here import read_file

    samples = [*office_states(), *page_states()]
    assert sum(len(each.states) for each in samples) >= 60
    for sample in samples:
        path = tmp_path / sample.name
        path.write_bytes(sample.data)
        text = "\n".join(document.content for document in read_file(path))
        assert [state for state in sample.states if not says(text, state)] == [], sample.name


@pytest.mark.parametrize(
    ("text", "state", "is_said"),
    [
        ("costs ~~9 euros~~ 8", ("struck", "9 euros"), True),
        ("~~Dogs are~~ **~~forbidden~~** here", ("struck", "Dogs are forbidden"), False),
        ("~~Dogs are~~ ~~forbidden~~ here", ("struck", "Dogs are forbidden"), True),
        ("<p>costs <s>9 euros</s> 8", ("struck", "9 euros"), True),
        ("~~costs 9 euros~~ 8", ("struck", "9 euros"), False),
        ("- [x] Paid\n- [ ] Sent", ("box", "Paid", "ticked"), True),
        ("- [x] Paid\n- [ ] Sent", ("box", "Sent", "empty"), True),
        ("\\[x\\] Paid", ("box", "Paid", "ticked"), True),
        ("Lunch: ☐ soup ☒ bread", ("box", "soup", "empty"), True),
        ("Paid: ☒", ("box", "Paid", "ticked"), True),
        ("| Paid | yes |", ("box", "Paid", "ticked"), True),
        ("☒ Sent Paid", ("box", "Paid", "ticked"), False),
        ("Paid", ("box", "Paid", "empty"), False),
        ("| Owner | Eva Lund |", ("field", "Owner", "Eva Lund"), True),
        ("Owner:\n\nTree\nEva Lund", ("field", "Owner", "Eva Lund"), False),
        ("- 6.1. The boiler", ("number", "The boiler", "6.1"), True),
        ("## (a) Keys", ("number", "Keys", "a"), True),
        ("   1. The boiler", ("number", "The boiler", "6.1"), False),
        ("gives 10⁶ joules", ("raised", "gives 10", "6"), True),
        ("gives 10^{6} joules", ("raised", "gives 10", "6"), True),
        ("gives 10<sup>6</sup> joules", ("raised", "gives 10", "6"), True),
        ("gives 106 joules", ("raised", "gives 10", "6"), False),
        ("gives 10 6 joules", ("raised", "gives 10", "6"), False),
        ("gives 10⁶⁴ joules", ("raised", "gives 10", "6"), False),
        ("emits CO~2~", ("lowered", "CO", "2"), True),
        ("emits CO2", ("lowered", "CO", "2"), False),
        ("Pets[[1]](#f-1) stay\n\n1. Cats only. [↑](#r)", ("note", "Pets", "Cats only."), True),
        ("Pets[^1] stay\n\n[^1]: Cats only.", ("note", "Pets", "Cats only."), True),
        ("Pets[^2] stay\n\n[^1]: Cats only.", ("note", "Pets", "Cats only."), False),
        ("Pets (Cats only.) stay", ("note", "Pets", "Cats only."), True),
        ("Pets1 stay\n\n1 Cats only.", ("note", "Pets", "Cats only."), False),
    ],
)
def test_what_says_a_state(text: str, state: tuple[str, ...], is_said: bool) -> None:
    from format_files.sample import State
    from format_files.states import says

    assert says(text, State(*state)) is is_said
