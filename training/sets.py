"""The sets of `shared/data` → the corpus to train on, and the one to measure on.

Trained on: everything in `reader/`, and most of the half of SQuAD 2's development sets and of XQuAD that fits
the refusal gate (`evaluation.refusals.side`); on the rest the reader is as unsure as on users' documents, so
the gate learns from it what the logits mean. Measured on: the other half of SQuAD 2's development sets.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from answerable.evaluation.refusals import side
from training.corpus import Builder, Corpus, Question, Span

SQUAD2 = ("en", "es", "pt")
XQUAD = ("en", "es", "de", "ro", "el", "ru", "tr", "ar", "vi", "th", "zh", "hi")
SURE_SPAN = 2.0
AMBIGUOUS = "_ambiguous"
Row = dict[str, Any]


def read_sets(data: Path) -> tuple[Corpus, Corpus]:
    """Return the corpus to train on and the one to measure on."""
    trained, held = Builder(), Builder()
    for path in sorted((data / "reader").glob("*.jsonl.xz")):
        _add_reader_set(trained, path)
    titles = _article_titles(data)
    for language in SQUAD2:
        folder = data / "squad2" / f"{language}-dev"
        for row, document in _asked(folder):
            number = document["_id"].rsplit("-", 1)[0]
            article = titles.get(number, number)
            if side(article) or is_trained_on(article):
                target = held if side(article) else trained
                _add(target, row, document, language, f"squad2/{language}", row["answerable"])
        trained.corpus.hashes[f"squad2/{language}-dev"] = _hash(folder / "queries.jsonl", folder / "corpus.jsonl")
    english = {row["_id"]: row["title"] for row in _lines(data / "xquad" / "en" / "corpus.jsonl")}
    for language in XQUAD:
        folder = data / "xquad" / language
        for row, document in _asked(folder):
            if is_trained_on(english[document["_id"]]):
                _add(trained, row, document, language, f"xquad/{language}", True)
        trained.corpus.hashes[f"xquad/{language}"] = _hash(folder / "queries.jsonl", folder / "corpus.jsonl")
    return trained.corpus, held.corpus


def is_trained_on(article: str) -> bool:
    """Return whether the reader may learn from an article of a development set."""
    return not side(article) and sha256(article.encode()).digest()[5] % 4 != 0


def _add_reader_set(builder: Builder, path: Path) -> None:
    name = path.name.split(".")[0]
    builder.corpus.hashes[f"reader/{path.name}"] = _hash(path)
    is_ambiguous = name.endswith(AMBIGUOUS)
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            given = row["answers"] if row["answerable"] else []
            if row["answerable"] and not given:
                continue
            margin = row.get("span_margin")
            group = f"{name}/{row['part']}" if "part" in row else name.removesuffix(AMBIGUOUS)
            builder.corpus.questions.append(
                Question(
                    text=row["question"],
                    language=row["lang_q"],
                    passage=builder.passage(row["passage"], row["lang_p"], group),
                    answers=[(each["start"], each["start"] + len(each["text"])) for each in given],
                    texts=[each["text"] for each in given],
                    source=name,
                    has_span=not is_ambiguous and name != "clapnq_dev" and (margin is None or margin > SURE_SPAN),
                    weight=0.5 if is_ambiguous else 1.0,
                )
            )


def _add(builder: Builder, row: Row, document: Row, language: str, group: str, answerable: bool) -> None:
    answers = list(row.get("answers") or ())
    spans = [span for answer in answers if (span := _find(document["text"], answer))]
    if answerable and not spans:
        return
    builder.corpus.questions.append(
        Question(
            text=row["text"],
            language=language,
            passage=builder.passage(document["text"], language, group, document.get("title", "")),
            answers=spans if answerable else [],
            texts=answers,
            source=group,
            key=document["_id"],
            id=row["_id"],
        )
    )


def _asked(folder: Path) -> Iterator[tuple[Row, Row]]:
    """Yield each question with its paragraph."""
    documents = {row["_id"]: row for row in _lines(folder / "corpus.jsonl")}
    named: dict[str, str] = {}
    if (folder / "qrels" / "test.tsv").exists():
        rows = (folder / "qrels" / "test.tsv").read_text("utf-8").splitlines()[1:]
        named = {question: document for question, document, *_ in (row.split("\t") for row in rows)}
    for row in _lines(folder / "queries.jsonl"):
        document = documents.get(row.get("paragraph") or named.get(row["_id"], ""))
        if document is not None:
            yield row, document


def _article_titles(data: Path) -> dict[str, str]:
    titles: dict[str, str] = {}
    for name in ("xquad/en", "squad2/en-dev", "squad2/pt-dev"):
        for row in _lines(data / name / "corpus.jsonl"):
            titles.setdefault(row["_id"].rsplit("-", 1)[0], row["title"])
    return titles


def _find(text: str, answer: str) -> Span | None:
    at = text.find(answer)
    if at < 0 and len(text.lower()) == len(text):
        at = text.lower().find(answer.lower())
    return (at, at + len(answer)) if answer and at >= 0 else None


def _hash(*paths: Path) -> str:
    digest = sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _lines(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())
