"""The files that are read, each with probes: words that a person sees in it, and where they are."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import tomllib

PUBLIC = Path(__file__).with_name("public.toml")


@dataclass(frozen=True)
class Probe:
    """Words of a file, and their place in it, all of whose facts have to be right.

    A place has `page`, `slide`, `cell` (`Sheet!B4`), `notebook` (the number of a cell), `line`, `lines` (the first and
    the last), `heading` (the one above), `time` and `sender`, `second`, `member` (of an archive or a message), or
    `point` (left and top in a picture, as fractions of its size). An empty place isn't tested.
    """

    text: str
    place: Mapping[str, Any]


@dataclass(frozen=True)
class State:
    """What a file shows of some words of it other than by words; `states.py` has the kinds, and what counts as said."""

    kind: str
    text: str
    value: str = ""


@dataclass(frozen=True)
class Sample:
    """A file with its probes or states. `words` is all that a person reads in it, where that is known."""

    name: str
    kind: str
    probes: tuple[Probe, ...]
    data: bytes = b""
    words: str = ""
    repository: str = ""
    commit: str = ""
    path: str = ""
    sha256: str = ""
    states: tuple[State, ...] = ()

    @property
    def address(self) -> str:
        """Where a public file can be had."""
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{quote(self.path)}"

    def found_in(self, folder: Path) -> Path:
        """The place of a public file in the folder of public files."""
        return folder / self.repository / self.path


def probe(text: str, **place: Any) -> Probe:
    """A probe."""
    return Probe(text, place)


def public_samples() -> list[Sample]:
    """The files of public projects, without their bytes."""
    listed = tomllib.loads(PUBLIC.read_text("utf-8"))
    return [
        Sample(
            Path(each["path"]).name,
            each["kind"],
            tuple(Probe(one.pop("text"), one) for one in each["probes"]),
            repository=each["repository"],
            commit=listed["commits"][each["repository"]],
            path=each["path"],
            sha256=each["sha256"],
        )
        for each in listed["files"]
    ]


def problem(sample: Sample, folder: Path) -> str:
    """What is wrong with a public file in this folder, or nothing."""
    path = sample.found_in(folder)
    if not path.is_file():
        return f"{path} isn't there"
    if hashlib.sha256(path.read_bytes()).hexdigest() != sample.sha256:
        return f"{path} isn't the file of {sample.commit[:12]}"
    return ""
