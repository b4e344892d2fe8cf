"""Small JSON files of the server, written whole: a crash leaves the old one or the new one."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from answerable.disk.private import make_folder
from answerable.errors import SettingsError


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a file, empty if there is no file. Raise SettingsError."""
    try:
        found = json.loads(path.read_bytes())
        if not isinstance(found, dict):
            raise ValueError(f"a {type(found).__name__}")
        return found
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path} can't be read ({error}). Correct it, or move it away.") from error


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replace a file by an object, readable by this account only. Raise SettingsError."""
    try:
        make_folder(path.parent)
        # mkstemp makes files only the owner may read.
        descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(value, file, ensure_ascii=False, indent=1)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SettingsError(f"{path} can't be written ({error}). Check the folder and its disk.") from error
