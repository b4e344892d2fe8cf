"""A statement about a passage."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, its passage, and whether that supports it; `evidence` is the sentence that does, if it is one."""

    text: str
    passage: str
    language: str
    is_true: bool
    kind: str
    evidence: str = ""
    passage_language: str = ""
