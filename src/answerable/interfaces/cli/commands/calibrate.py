"""What `answerable calibrate` does: fits a gate to the embedder in use, and keeps it for every library made with it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from answerable.answering.gate import Gate
from answerable.disk.private import make_folder
from answerable.evaluation.calibration import Calibration, calibrate
from answerable.evaluation.sets import QuestionSet
from answerable.interfaces.cli import render
from answerable.settings import Settings
from answerable.wiring.build import build_embedder, gate_path


class Calibrating:
    """Question sets from folders, and the embedder that the settings name. Raises SourceError."""

    def __init__(self, settings: Settings, folders: Sequence[Path]) -> None:
        self._settings = settings
        self._sets = [QuestionSet.load(folder, str(folder)) for folder in folders]
        self._embedder = build_embedder(settings)

    def run(self) -> Calibration:
        """The fitted gate with its figures. Raises ValueError when the sets are too few or too small."""
        return calibrate(
            self._sets,
            self._embedder,
            self._settings.wrong_answers,
            on_progress=lambda name: render.working(f"asking the questions of {name}"),
        )

    def keep(self, gate: Gate) -> str:
        """Where the gate is kept from now on. The file is there whole or not at all."""
        path = gate_path(self._settings, self._embedder.fingerprint)
        make_folder(path.parent)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(gate.to_json(), indent=1) + "\n", "utf-8")
        os.replace(draft, path)
        return str(path)
