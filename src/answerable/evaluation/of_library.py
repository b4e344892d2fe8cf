"""Evaluate a library on a list of questions whose answers are known."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Any

from answerable.evaluation.evaluation import Plan, evaluate
from answerable.evaluation.question_lists import find_documents, read_questions
from answerable.evaluation.report import SetReport
from answerable.settings import Settings, load_settings
from answerable.wiring.build import build_embedder, build_store, without_password


def evaluate_library(
    questions: str | os.PathLike[str],
    address: str | os.PathLike[str] | None = None,
    plan: Plan | None = None,
    **settings: Any,
) -> SetReport:
    """Ask a library the questions of a list (docs/evaluation.md), and return the figures.

    `address` and `settings` are those of `answerable.open`; `plan` says what to compare, by default nothing. Raise
    SourceError if the list can't be read or names documents that aren't there, SettingsError and LibraryError.
    """
    if address is not None:
        settings["library"] = os.fspath(address)
    return evaluate_list(load_settings(settings), Path(questions), plan or Plan())[0]


def evaluate_list(settings: Settings, path: Path, plan: Plan) -> tuple[SetReport, int, int]:
    """Return the figures of a list on the settings' library, its length, and how many votes were passed over."""
    listed = read_questions(path)
    with closing(build_store(settings.library_address, False, settings.qdrant_api_key)) as store:
        asked = find_documents(listed, list(store.documents()), path)
        embedder = build_embedder(settings, store.fingerprint)
        name = f"{path.name} on {without_password(settings.library_address)}"
        return evaluate(name, asked, settings, store, embedder, plan), len(listed), len(listed) - len(asked)
