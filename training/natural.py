"""Windows of questions that people asked without looking at the answer, in the form of `training.windows`.

    python -m training.natural OUT ../shared/data/natural

NoMIRACL in German and French (English is kept for measuring) and Quati in Portuguese judge whole passages: each
question is asked of its own passages, and the best window of a passage that answers is the right one. NoMIRACL has the
passages that answer first, but not how many: the second half of an answerable question's passages is taken as not
answering it. FriendsQA and Molweni are dialogues, here chats with a message each minute; a message answers.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import answerable
from answerable.answering.reading import best_windows, read
from answerable.datatypes import Document, DocumentType
from training.windows import mined

KEPT = 10
"""Scenes of FriendsQA at its beginning on which the quality tests measure."""
BEGINNING = datetime(2024, 3, 12, 9, 5)
"""When the first message of a dialogue was sent."""


def judged(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions of NoMIRACL and Quati with the windows of their passages."""
    for language in ("de", "fr"):
        with gzip.open(folder / f"nomiracl-{language}.jsonl.gz", "rt", encoding="utf-8") as file:
            for one in map(json.loads, file):
                passages = one["passages"]
                right = {0} if one["answerable"] else set[int]()
                wrong = list(range(len(passages) // 2 if right else 0, len(passages)))
                yield from _asked(f"nomiracl-{language}", one["question"], passages, right, wrong)
    by_question = defaultdict(list)
    with gzip.open(folder / "quati-240.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            by_question[row["query"].strip('"')].append((int(row["score"]), row["passage"]))
    for question, judgements in by_question.items():
        right = {number for number, (score, _) in enumerate(judgements) if score == 3}
        wrong = [number for number, (score, _) in enumerate(judgements) if score == 0]
        # These have no titles.
        yield from _asked("quati", question, [f": {passage}" for _, passage in judgements], right, wrong)


def _asked(
    name: str, question: str, passages: Sequence[str], right: set[int], wrong: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Yield the question with a window of a right passage first, if there is one, and the best of the wrong ones."""
    order = random.Random(question).sample(range(len(passages)), len(passages))
    with answerable.open(":memory:") as library:
        # Nothing that the reader sees may tell the number: those that answer come first.
        library.add_documents([_document(number, passages[number]) for number in order])
        ranked = read(library.evidence(question), None)
        windows = list(best_windows(ranked, len(passages)))
    of = [int(window.sentences[0].result.document.id) for window in windows]
    answering = next((window.text for window, number in zip(windows, of, strict=True) if number in right), None)
    others = [window.text for window, number in zip(windows, of, strict=True) if number in wrong]
    if right and answering is None:
        return
    texts = [*([answering] if answering else []), *others]
    answer = [0, 0, len(answering)] if answering else None
    kind = "answered" if answering else "near"
    yield {"file": name, "q": question, "kind": kind, "words": "", "differs": "", "windows": texts, "answer": answer}


def _document(number: int, passage: str) -> Document:
    """Return the document of a passage that begins with its title and a colon."""
    title, _, text = passage.partition(": ")
    return Document(str(number), text, f"{number}.txt", title, DocumentType.TEXT)


def dialogues(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the dialogues of FriendsQA and Molweni as papers with questions, each with the name of its set."""
    with gzip.open(folder / "friendsqa-dev.json.gz", "rt", encoding="utf-8") as file:
        for scene in json.load(file)["data"][KEPT:]:
            for part in scene["paragraphs"]:
                said = [(", ".join(each["speakers"]), each["utterance"]) for each in part["utterances:"]]
                asked = [(each["question"], each["answers"][0]["utterance_id"]) for each in part["qas"]]
                yield "friendsqa", _paper(scene["title"], said, asked)
    with gzip.open(folder / "molweni.jsonl.gz", "rt", encoding="utf-8") as file:
        for number, talk in enumerate(map(json.loads, file)):
            said = [(each["speaker"], each["text"]) for each in talk["edus"]]
            ends, end = list[int](), 0
            for speaker, text in said:
                end += len(f"{speaker}: {text} ")
                ends.append(end)
            asked = [
                (each["question"], next(n for n, end in enumerate(ends) if each["answers"][0]["answer_start"] < end))
                if each["answers"]
                else (each["question"], None)
                for each in talk["qas"]
            ]
            yield "molweni", _paper(f"channel {number}", said, asked)


def _paper(name: str, said: Sequence[tuple[str, str]], asked: Sequence[tuple[str, int | None]]) -> dict[str, Any]:
    lines = [
        f"[{BEGINNING + timedelta(minutes=number):%d/%m/%y, %H:%M}] {speaker or 'All'}: {' '.join(text.split())}"
        for number, (speaker, text) in enumerate(said)
    ]
    questions = [
        {"q": question, "kind": "near", "quote": ""}
        if number is None
        else {"q": question, "kind": "answered", "quote": " ".join(said[number][1].split())}
        for question, number in asked
    ]
    return {"name": f"{name}.txt", "text": "\n".join(lines), "questions": questions}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    with given.out.open("w", encoding="utf-8") as out:
        for line in judged(given.folder):
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
        for name, paper in dialogues(given.folder):
            for line in mined([paper]):
                out.write(json.dumps({"file": name, **line}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
