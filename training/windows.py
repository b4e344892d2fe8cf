"""Windows of papers as the reader gets them: `python -m training.windows OUT FILE …` writes a line for each question.

The papers of a file are added eight at a time to a library, and each question is searched there. What is read are the
windows that the program would read, so that those without the answer are the ones that it confuses with it. A line is
`{"q", "kind", "windows": [text, …], "answer": [number, start, end] or null}`; `answer` is the quote's span in a window.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import answerable
from answerable import Library
from answerable.answering.reading import Window, best_windows, read
from answerable.answering.sentences import Sentence

TOGETHER = 8
"""Papers of a library: as many as a household's folder may have, so that other papers are near too."""
_TEXTS = (".md", ".txt")


def mined(papers: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the questions of papers with their windows."""
    for library, name, paper, asked in asked_together(papers):
        yield _asked(library, name, paper["text"], asked)


def asked_together(
    papers: Iterable[dict[str, Any]],
) -> Iterator[tuple[Library, str, dict[str, Any], dict[str, Any]]]:
    """Yield for each question: the library to ask, the name of its paper there, the paper, and the question."""
    lines = iter(papers)
    while together := list(islice(lines, TOGETHER)):
        with tempfile.TemporaryDirectory() as folder, answerable.open(":memory:") as library:
            names = [_written(Path(folder), number, paper) for number, paper in enumerate(together)]
            library.add(Path(folder))
            for name, paper in zip(names, together, strict=True):
                for asked in paper["questions"]:
                    yield library, name, paper, asked


def _written(folder: Path, number: int, paper: dict[str, Any]) -> str:
    name = f"{number} {paper['name'].replace('/', '-')}"
    name = name if name.endswith(_TEXTS) else f"{name}.txt"
    (folder / name).write_text(paper["text"], "utf-8")
    return name


def _asked(library: Library, name: str, text: str, asked: dict[str, Any]) -> dict[str, Any]:
    ranked = read(library.evidence(asked["q"]), None)
    quote = text.find(asked["quote"]) if asked["kind"] == "answered" else -1
    span = (quote, quote + len(asked.get("quote", "")))

    def answers(sentence: Sentence) -> bool:
        return quote >= 0 and sentence.result.document.source.endswith(name) and _overlap(sentence, span) > 0

    windows = list(best_windows(ranked))
    if quote >= 0 and not any(map(answers, (each for window in windows for each in window.sentences))):
        # The window that the search should have put among the first.
        right = sorted(filter(answers, ranked), key=lambda each: -_overlap(each, span))
        windows += best_windows([*right, *(each for each in ranked if not answers(each))], 1) if right else ()
    places = ((number, *found) for number, each in enumerate(windows) if (found := _place(each, answers)))
    line = {
        "q": asked["q"],
        "kind": asked["kind"],
        "words": asked.get("words", ""),
        "differs": asked.get("differs", ""),
    }
    return {**line, "windows": [window.text for window in windows], "answer": next(places, None)}


def _overlap(sentence: Sentence, span: tuple[int, int]) -> int:
    return min(sentence.end, span[1]) - max(sentence.start, span[0])


def _place(window: Window, answers: Any) -> tuple[int, int] | None:
    spans = [span for sentence, span in zip(window.sentences, window.spans, strict=True) if answers(sentence)]
    return (spans[0][0], spans[-1][1]) if spans else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    given = parser.parse_args()
    with given.out.open("w", encoding="utf-8") as out:
        for path in given.files:
            with path.open(encoding="utf-8") as papers:
                for line in mined(map(json.loads, papers)):
                    out.write(json.dumps({"file": path.stem, **line}, ensure_ascii=False) + "\n")
            out.flush()
            print(path.stem, flush=True)


if __name__ == "__main__":
    main()
