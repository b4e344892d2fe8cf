"""Votes on answers, kept as a question list that `answerable eval` reads (docs/evaluation.md).

An answer voted up names its documents and the words that answer, or that there is no answer. Of one voted down only
what it was is known: its line has no expected answer until somebody writes one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from answerable.disk.free_space import is_full, no_room
from answerable.disk.private import make_folder, replace_file
from answerable.errors import LibraryError

_lock = threading.Lock()


def keep_vote(path: Path, turn: Mapping[str, Any], vote: str | None) -> None:
    """Write the vote on a turn into a list, in place of an earlier one; None removes it. Other lines stay as they are.

    Raise LibraryError or DiskFull if the file can't be written.
    """
    try:
        with _lock:
            _write(path, turn["turn"], json.dumps(_line(turn, vote), ensure_ascii=False) if vote else None)
    except (OSError, ValueError) as error:
        if is_full(error, path):
            raise no_room(path) from error
        raise LibraryError(f"Can't write votes to {path} ({error}). Check its permissions and content.") from error


def _write(path: Path, turn: str, line: str | None) -> None:
    make_folder(path.parent)
    # Not splitlines: a text may have line ends of its own, such as U+2028.
    lines = [each for each in path.read_text("utf-8-sig").split("\n") if each.strip()] if path.exists() else []
    kept = [each for each in lines if _id(each) != turn]
    if line is None and len(kept) == len(lines):
        return
    replace_file(path, "".join(f"{each}\n" for each in (*kept, *([line] if line else ()))))


def _id(line: str) -> str | None:
    """Return the id in a line; None for a line that people broke."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found.get("id") if isinstance(found, dict) else None


def _line(turn: Mapping[str, Any], vote: str) -> dict[str, Any]:
    answer = turn["answer"]
    citations = answer["citations"]
    about = {
        "id": turn["turn"],
        "question": answer["question"],
        "judgement": vote,
        # Follow-up questions were completed from the conversation.
        **({"asked": turn["question"]} if turn["question"] != answer["question"] else {}),
        "given": answer["text"],
        "quotes": [{"document": each["source"], "quote": each["quote"]} for each in citations],
    }
    if vote == "down":
        return about
    if not answer["answered"]:
        return {**about, "unanswerable": True}
    documents = list(dict.fromkeys(_name(each) for each in citations))
    words = next(filter(None, map(_answering, citations)), None)
    return {**about, "document": documents, **({"answer": [words]} if words else {})}


def _name(citation: Mapping[str, Any]) -> str:
    """Return the source of a citation, or the document's id if a list would change its white space."""
    source: str = citation["source"]
    return source if source and " ".join(source.split()) == source else str(citation["document_id"])


def _answering(citation: Mapping[str, Any]) -> str:
    if not citation.get("answer"):
        return ""
    first, last = (place - citation["start"] for place in citation["answer"])
    return " ".join(str(citation["quote"])[first:last].split())
