"""Make question sets in which every document has facts of its own and a question on each fact."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

SYLLABLES = "ba ce di fo gu la me ni po ru sa te vi zo".split()
THINGS = "river mill tower garden bridge museum harbour library station market".split()


def make_set(folder: Path, articles: int, seed: str, per_article: int = 2) -> Path:
    """A folder in BEIR's layout: articles of a few documents, with two facts and a question on each of them."""
    draw = random.Random(seed)

    def name() -> str:
        return "".join(draw.choices(SYLLABLES, k=3)).capitalize()

    corpus: list[dict[str, Any]] = []
    queries: list[dict[str, Any]] = []
    grades: list[tuple[str, str, int]] = []
    for article in range(articles):
        title = f"{name()} {seed}"
        for number in range(per_article):
            document = f"{seed}-{article}-{number}"
            place, person, thing = name(), name(), draw.choice(THINGS)
            year, length = draw.randrange(1500, 2000), draw.randrange(10, 900)
            corpus.append(
                {
                    "_id": document,
                    "title": title,
                    "text": f"The {thing} of {place} was built in {year}. "
                    f"It belongs to {person} and is {length} metres long.",
                }
            )
            for query, text, answer in (
                (f"{document}-a", f"When was the {thing} of {place} built?", str(year)),
                (f"{document}-b", f"How long is the {thing} that belongs to {person}?", str(length)),
            ):
                queries.append({"_id": query, "text": text, "answers": [answer]})
                grades.append((query, document, 1))
        queries.append(
            {
                "_id": f"{seed}-{article}-none",
                "text": f"Who painted the door of {title}?",
                "answerable": False,
                "paragraph": f"{seed}-{article}-0",
            }
        )
    return write_set(folder, corpus, queries, grades)


def write_set(
    folder: Path, corpus: list[dict[str, Any]], queries: list[dict[str, Any]], grades: list[tuple[str, str, int]]
) -> Path:
    """The files of a set."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    for file, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        (folder / file).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    lines = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, grade)) for grade in grades)]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return folder
