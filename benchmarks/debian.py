"""Text of the Debian project's documentation packages: much of it, real, in twenty languages, free to use.

Packages are downloaded by `apt-get`, unpacked by `dpkg-deb` and kept in the user's cache. What is between tags is taken
as the text of a page; reading pages well is measured elsewhere.
"""

from __future__ import annotations

import gzip
import html
import json
import random
import re
import shutil
import subprocess
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

import platformdirs

from answerable.datatypes import Document

PACKAGES = (
    *("vtk9-doc", "scala-doc", "rust-web-doc", "openjdk-17-doc", "petsc3.18-doc", "linux-doc-6.1"),
    *("debian-handbook", "cppreference-doc-en-html", "python3.11-doc", "installation-guide-amd64"),
)
CACHE = Path(platformdirs.user_cache_dir("answerable-benchmarks", appauthor=False)) / "debian"
GROUPS = (10, 100, 10_000)
LEAST = 200
MOST = 200_000
LEFT_OUT = re.compile(r"(?is)<(script|style|head|svg)\b.*?</\1\s*>|<!--.*?-->")
BREAK = re.compile(r"(?i)</?(p|div|li|tr|h[1-6]|pre|br|table|section|dt|dd)\b[^>]*>")
TAG = re.compile(r"<[^>]*>")
GAP = re.compile(r"\n\s*\n\s*")
SPACE = re.compile(r"[^\S\n]+")


class Texts(Sequence[Document]):
    """The documents of a file of texts that begin at these bytes, each read when it is asked for.

    Of the documents one in ten, in a hundred and in ten thousand has the number 7 as its `g10`, `g100`, `g10000`.
    """

    def __init__(self, path: Path, starts: Sequence[int]) -> None:
        self._path = path
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts)

    def of(self, numbers: Iterable[int]) -> Texts:
        """Those of these numbers."""
        return Texts(self._path, array("q", (self._starts[number] for number in numbers)))

    @overload
    def __getitem__(self, number: int) -> Document: ...
    @overload
    def __getitem__(self, number: slice) -> Texts: ...
    def __getitem__(self, number: int | slice) -> Document | Texts:
        if isinstance(number, slice):
            return Texts(self._path, self._starts[number])
        with self._path.open("rb") as file:
            file.seek(self._starts[number])
            source, text = json.loads(file.readline())
        drawn = random.Random(source)
        groups = {f"g{count}": drawn.randrange(count) for count in GROUPS}
        return Document.from_text(text, source=source, package=source.partition("/")[0], **groups)


def texts() -> tuple[Texts, list[int]]:
    """All documents in an order of chance, the same each time, and how many characters each has."""
    path = CACHE / "texts.jsonl"
    if not path.exists():
        _write(path)
    starts, sizes = array("q"), []
    with path.open("rb") as file:
        start = 0
        for line in file:
            starts.append(start)
            sizes.append(len(line))
            start += len(line)
    return Texts(path, starts), sizes


def _write(path: Path) -> None:
    files = sorted(file for package in PACKAGES for file in _files(_unpacked(package)))
    random.Random(1).shuffle(files)
    draft = path.with_suffix(".draft")
    seen: set[int] = set()
    with draft.open("w", encoding="utf-8") as out:
        for file in files:
            text = plain_text(file)[:MOST]
            # The same page stands in several languages' folders and releases.
            if len(text) >= LEAST and hash(text) not in seen:
                seen.add(hash(text))
                out.write(json.dumps([file.relative_to(CACHE).as_posix(), text], ensure_ascii=False) + "\n")
    draft.replace(path)


def plain_text(file: Path) -> str:
    """What stands in a page or a text, paragraphs apart."""
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    text = data.decode("utf-8", "ignore").replace("\r\n", "\n")
    if ".html" in file.suffixes:
        text = html.unescape(TAG.sub("", BREAK.sub("\n\n", LEFT_OUT.sub("", text))))
        text = SPACE.sub(" ", GAP.sub("\n\n", text))
    return text.encode("utf-8", "ignore").decode("utf-8").strip()


def _files(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        # The source listings of a program's documentation are another kind of text, and most of the bytes.
        is_text = file.name.removesuffix(".gz").endswith((".html", ".txt", ".rst"))
        is_listing = file.name.endswith(("_source.html", "-members.html"))
        if is_text and not is_listing and file.is_file() and not file.is_symlink():
            yield file


def _unpacked(package: str) -> Path:
    folder = CACHE / package
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", package], cwd=CACHE, check=True, stdout=subprocess.DEVNULL)
        (archive,) = CACHE.glob(f"{package}_*.deb")
        draft = CACHE / f"{package}.draft"
        shutil.rmtree(draft, ignore_errors=True)
        subprocess.run(["dpkg-deb", "-x", archive, draft], check=True)
        draft.rename(folder)
    return folder
