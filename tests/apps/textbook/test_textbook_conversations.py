"""The conversations of `conversations.txt`: what the model is given at each turn, and what the reader gets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from pathlib import Path

import httpx
import pytest
from providers.scripted_server import ScriptedServer
from textbook_parts import COMPLETIONS, asked, passages, say, write_book, writes

from answerable.datatypes import Exchange
from answerable.providers.usage import count_tokens
from src.services.history import History
from src.settings import load

REFUSALS = ("The textbook doesn't say.", "El libro no lo dice.", "O livro não diz.")
HINT = "The reader has selected this text, and the question is about it:"
LIMIT = 3
MOST_TURNS = 20
MODEL = "gpt-5-nano"
SESSION = "s1"

MORE_PAGES = {
    "module1/actions.md": """# Actions

An action is a long task with feedback. The client can cancel it before it ends. Walking to the kitchen is an action.
""",
    "module2/urdf.md": """# Describing a robot

## Links and joints

A URDF file describes a robot. A link is a rigid part; a joint connects two links and says how they move.

## Sensors

A lidar measures distances of up to thirty metres with laser light. An IMU measures acceleration and rotation two
hundred times per second.
""",
    "module3/simulation.md": """# Simulation

## Gazebo

Gazebo simulates physics: gravity, friction and collisions. It costs nothing when a simulated robot falls.

## The reality gap

A policy that was trained in simulation may fail on the real robot, because friction and sensor noise differ. Domain
randomization varies them during training.
""",
    "module4/voice.md": """# Voice commands

## From speech to action

Whisper turns speech into text. A language model plans the steps, and each step becomes a ROS 2 action.

### Safety

The robot asks before it executes a plan that moves its arms near people.
""",
}

_ENTRY = re.compile(r"^(reader|selected|section|model): (.*(?:\n+  .*)*)", re.MULTILINE)
_PASSAGE = re.compile(r'<passage number="\d+">\n(.+?)\n(.+?)\n</passage>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Turn:
    """What a reader writes and the model answers; the model must be given a passage of `section`, if it isn't empty."""

    message: str
    selected: str
    section: str
    answer: str

    @property
    def is_refused(self) -> bool:
        """Whether the model refuses to answer."""
        return self.answer.replace("’", "'") in REFUSALS

    @property
    def spoken(self) -> list[dict[str, str]]:
        """The turn as messages of the history."""
        return [{"role": "user", "content": self.message}, {"role": "assistant", "content": self.answer}]


@dataclass(frozen=True, slots=True)
class Exchanged:
    """What became of a turn: the messages that the model was given, and what the reader got."""

    turn: Turn
    before: list[dict[str, str]]
    rules: str
    message: dict[str, str]
    response: str
    sources: list[str] | None

    @property
    def given(self) -> list[tuple[str, str]]:
        """The label and the text of each passage in the prompt."""
        return _PASSAGE.findall(self.rules)

    @property
    def sections(self) -> list[str]:
        """The sections of these passages, each once."""
        return list(dict.fromkeys(label for label, _ in self.given))


def read_conversations() -> dict[str, list[Turn]]:
    """The turns of each conversation by its title."""
    text = Path(__file__).with_name("conversations.txt").read_text("utf-8")
    parts = (part.partition("\n") for part in text.split("\n=== ")[1:])
    return {title: list(read_turns(lines)) for title, _, lines in parts}


def read_turns(lines: str) -> Iterator[Turn]:
    """The turns of a conversation; each ends with what the model answers."""
    said: dict[str, str] = {}
    for name, text in _ENTRY.findall(lines):
        said[name] = text.replace("\n  ", "\n")
        if name == "model":
            yield Turn(said["reader"], said.get("selected", ""), said.get("section", ""), said["model"])
            said = {}


CONVERSATIONS = read_conversations()


@pytest.fixture
def book(put_book: Callable[[str], None], docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The small book with more pages, embedded on this machine, which finds them in three languages."""
    monkeypatch.setenv("ANSWERABLE_EMBEDDER", "local")
    write_book(docs, MORE_PAGES)
    put_book("with more pages")


def converse(client: httpx.Client, openai: ScriptedServer, turns: Sequence[Turn]) -> Iterator[Exchanged]:
    """Says all turns in one session; one call of the model each."""
    openai.script(COMPLETIONS, *(writes(*turn.answer.splitlines(keepends=True)) for turn in turns))
    for number, turn in enumerate(turns, 1):
        hint = {"selected_text": turn.selected} if turn.selected else {}
        reply = say(client, turn.message, SESSION, **hint)
        assert reply.status_code == 200, reply.text
        calls = asked(openai)
        assert len(calls) == number
        rules, *before, message = calls[-1]
        assert rules["role"] == "system"
        told = reply.json()
        yield Exchanged(turn, before, rules["content"], message, told["response"], told["sources"])


def history(turns: Sequence[Turn]) -> list[dict[str, str]]:
    """These turns as messages."""
    return [message for turn in turns for message in turn.spoken]


def check_context(told: Exchanged) -> None:
    """The prompt has passages of the book, and the hint if a text is selected."""
    assert 1 <= len(told.given) <= LIMIT
    assert set(told.given) <= {(passage.label, passage.text) for passage in passages()}
    if told.turn.section:
        assert told.turn.section in told.sections
    if told.turn.selected:
        assert told.rules.endswith(f"{HINT}\n\n<passage>\n{told.turn.selected}\n</passage>")
        assert told.sections == [told.turn.section]
    else:
        assert HINT not in told.rules


def check_reply(told: Exchanged) -> None:
    """The reader gets the model's answer, and the sections of the passages unless the model refuses."""
    assert told.response == told.turn.answer
    if told.turn.is_refused:
        assert told.sources is None
        asked_for = told.turn.answer.replace("’", "'")
        assert f"write this sentence and nothing else: {asked_for}" in told.rules
    else:
        assert told.sources == told.sections


def test_there_are_ten_conversations_of_eight_turns() -> None:
    assert [len(turns) for turns in CONVERSATIONS.values()] == [8] * 10


# One without English, one with a selected text, and one in all three languages.
SAMPLE = (
    "Español: en el teléfono, con prisa y sin tildes",
    "Português: um técnico lê sobre os sensores",
    "Español, English, português: a reader who changes languages",
)


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param(turns, id=title, marks=[] if title in SAMPLE else pytest.mark.long)
        for title, turns in CONVERSATIONS.items()
    ],
)
def test_each_turn_reaches_the_model_and_its_answer_the_reader(
    turns: list[Turn], book: None, client: httpx.Client, openai: ScriptedServer
) -> None:
    for number, told in enumerate(converse(client, openai, turns)):
        assert told.message == {"role": "user", "content": told.turn.message}
        assert told.before == history(turns[:number])
        check_context(told)
        check_reply(told)


def test_the_model_is_given_the_last_twenty_turns(
    book: None, client: httpx.Client, openai: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSWERABLE_HISTORY_TOKENS", "100000")
    turns = list(islice(chain(*CONVERSATIONS.values()), MOST_TURNS + 3))
    before = MOST_TURNS - 1
    with closing(History(load().sessions_path)) as kept:
        for turn in turns[:before]:
            kept.add(SESSION, Exchange(turn.message, turn.message, turn.answer))
    for number, told in enumerate(converse(client, openai, turns[before:]), before):
        assert told.before == history(turns[max(number - MOST_TURNS, 0) : number])
        check_reply(told)


def test_the_model_is_given_the_last_turns_that_fit(
    book: None, client: httpx.Client, openai: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = 100
    monkeypatch.setenv("ANSWERABLE_HISTORY_TOKENS", str(budget))
    turns = next(iter(CONVERSATIONS.values()))
    costs = [sum(count_tokens([turn.message, turn.answer], MODEL)) for turn in turns]
    for number, told in enumerate(converse(client, openai, turns)):
        fitting = sum(total <= budget for total in accumulate(reversed(costs[:number])))
        assert told.before == history(turns[number - fitting : number])
        check_reply(told)
    assert fitting < number
