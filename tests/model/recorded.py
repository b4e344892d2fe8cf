"""A model played from a recording: what a person wrote who saw only what a model sees.

`questions.jsonl` has the questions on the libraries beside it, `played/LIBRARY.jsonl` a line for each turn of a player:
`{"id", "text", "calls": [{"name", "arguments"}]}`, in order, and for each part of a document that was read whole a line
`{"id", "part", "text"}`. Calls name documents by their file: the names d1, d2, … follow the order of a search, which
may differ between machines. As a program, this module shows players what to reply to:

    python tests/model/recorded.py LIBRARY [--replies FILE] [--only ID ...]

adds the replies in FILE to the recording, asks every question again, and prints what waits for a reply.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import answerable
from answerable.answering.decide import Answering, Writer
from answerable.answering.prompt import prompt
from answerable.datatypes import Answer, Exchange, Usage
from answerable.errors import ProviderError
from answerable.protocols import Delta, Message, Tool, ToolCall

FOLDER = Path(__file__).parent
PLAYED = FOLDER / "played"
NOW = datetime(2025, 11, 28, 12)
"""The time of the questions, which ask about "last week" or "next year"."""


class Waiting(ProviderError):
    """The recording has no further turn."""


@dataclass
class RecordedModel:
    """Replies with recorded turns; `seen` has the messages of each call. A check without a recording doubts nothing."""

    recorded: list[Mapping[str, Any]]
    doubts: str = "[]"
    name: str = "recorded:person"
    seen: list[list[Message]] = field(default_factory=list)
    checked: list[Message] = field(default_factory=list)
    parts: dict[str, list[Message]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.turns = [each for each in self.recorded if "part" not in each]
        self._read = {each["part"]: each["text"] for each in self.recorded if "part" in each}

    def converse(
        self, messages: Sequence[Message], tools: Sequence[Tool], max_tokens: int | None = None
    ) -> Generator[Delta, None, None]:
        self.seen.append(list(messages))
        if len(self.seen) > len(self.turns) or self.parts:
            raise Waiting("The recording ends here.")
        turn = _named(self.turns[len(self.seen) - 1], messages)
        for word in str(turn.get("text", "")).splitlines(keepends=True):
            yield Delta(word)
        calls = turn.get("calls") or ()
        yield Delta("", calls=tuple(_call(number, each) for number, each in enumerate(calls)))
        yield Delta("", Usage(0, 0))

    def stream(self, messages: Sequence[Message], max_tokens: int | None = None) -> Generator[Delta, None, None]:
        if messages[0].content == prompt("check"):
            self.checked = list(messages)
            yield Delta(self.doubts, Usage(0, 0))
            return
        assert messages[0].content == prompt("collect")
        part = sha256(_NUMBERS.sub("", messages[1].content).encode()).hexdigest()[:12]
        if part not in self._read:
            self.parts[part] = list(messages)
        yield Delta(self._read.get(part, ""), Usage(0, 0))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) // 4 + 1 for text in texts]

    def close(self) -> None:
        pass


_NUMBERS = re.compile(r' (?:number|document)="d?\d+"')
"""What differs between machines: the numbers of passages and documents, by the order of a search."""
_SOURCE = re.compile(r'source="([^"]+)"[^>\n]*document="(d\d+)"|^(d\d+) · .*?([^ ·]+\.\w+) ·', re.MULTILINE)


def _named(turn: Mapping[str, Any], messages: Sequence[Message]) -> Mapping[str, Any]:
    """Return a turn whose calls name documents as the messages do: `a.md` is d2."""
    found = [each for message in messages for each in _SOURCE.findall(message.content)]
    names = {source or file: name or listed for source, name, listed, file in found}
    written = json.dumps(turn.get("calls") or (), ensure_ascii=False)
    for file in sorted(names, key=len, reverse=True):
        written = written.replace(json.dumps(file, ensure_ascii=False), f'"{names[file]}"')
    return {**turn, "calls": json.loads(written)}


def _call(number: int, call: Mapping[str, Any]) -> ToolCall:
    arguments = call.get("arguments", {})
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(str(number), str(call["name"]), written)


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file with one JSON object a line; none if there is no such file."""
    text = path.read_text("utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def questions(library: str) -> list[dict[str, Any]]:
    return [each for each in lines(FOLDER / "questions.jsonl") if each["library"] == library]


def turns(library: str) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for turn in lines(PLAYED / f"{library}.jsonl"):
        found[turn["id"]].append(turn)
    return found


def doubts() -> dict[str, str]:
    """What a second reader doubts, by the question's id, as a model would list it."""
    return {each["id"]: json.dumps(each["doubts"]) for each in lines(PLAYED / "doubts.jsonl")}


def ask(library: answerable.Library, question: Mapping[str, Any], model: RecordedModel) -> Answer:
    """Ask a question of a library whose answers this model writes."""
    library.use_answerer(Answering(writer=Writer(model)))
    history = [Exchange(asked, asked, answer) for asked, answer in question.get("history", ())]
    return library.ask(question["question"], history=history)


def opened(name: str, where: Path) -> answerable.Library:
    """The library of a folder beside this module, made anew unless `where` has it."""
    library = answerable.open(where / name)
    if not library.origins():
        library.add(FOLDER / "libraries" / name)
    library.now = lambda: NOW
    return library


def shown(messages: Iterable[Message]) -> str:
    return "\n\n".join(
        f"<<< {message.role}{' result of ' + message.call_id if message.call_id else ''} >>>\n{message.content}"
        for message in messages
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--replies", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--kept", type=Path, default=Path(tempfile.gettempdir()) / "recorded-libraries")
    given = parser.parse_args()
    PLAYED.mkdir(exist_ok=True)
    if given.replies:
        with (PLAYED / f"{given.library}.jsonl").open("a", encoding="utf-8") as file:
            for reply in lines(given.replies):
                file.write(json.dumps(reply, ensure_ascii=False) + "\n")
    played, waiting = turns(given.library), 0
    with opened(given.library, given.kept) as library:
        for question in questions(given.library):
            if given.only and question["id"] not in given.only:
                continue
            model = RecordedModel(played[question["id"]])
            answer = ask(library, question, model)
            for part, messages in model.parts.items():
                print(f"===== {question['id']}: part {part}\n{shown(messages)}\n")
            if model.parts:
                waiting += len(model.parts)
                continue
            if len(model.seen) <= len(model.turns):
                print(f"===== {question['id']}: ended ({answer.reason})\n")
                continue
            waiting += 1
            messages = model.seen[-1]
            # Print only what is new. The rules are the same for every question: print them once, on standard error.
            since = max((at for at, each in enumerate(messages) if each.role == "assistant"), default=0)
            new = messages[since + 1 :] if model.turns else messages[1:]
            print(f"===== {question['id']}: turn {len(model.seen)}\n{shown(new)}\n")
            if waiting == 1:
                print(f"{messages[0].content}\n", file=sys.stderr)
    print(f"{waiting} wait for a reply")


if __name__ == "__main__":
    main()
