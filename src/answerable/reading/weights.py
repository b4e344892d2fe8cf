"""The own weights of a reader: one 8-bit integer a weight, with a scale for each output.

A file is a NumPy archive: of each matrix `name.w` the integers and `name.w.scale`, other tensors in half precision, and
`about`, JSON on how the weights were made.
"""

from __future__ import annotations

import json
import os
from importlib.resources import as_file, files
from typing import Any
from zipfile import BadZipFile

import numpy as np

from answerable.datatypes import FloatArray
from answerable.e5.integers import Integers
from answerable.errors import EmbeddingError


class ReaderWeights:
    """The weights in a file: a packaged one by its name, or any other by its path. `about` says how they were made."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        if isinstance(file, str):
            with as_file(files("answerable.reading").joinpath(file)) as packaged:
                self._read(packaged)
        else:
            self._read(file)

    def _read(self, path: str | os.PathLike[str]) -> None:
        try:
            with np.load(path, allow_pickle=False) as tensors:
                self._tensors = dict(tensors)
            self.about: dict[str, Any] = json.loads(self._tensors.pop("about").tobytes())
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise EmbeddingError(f"The reader's weights in {path} can't be read ({error}). Install again.") from error

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def tensor(self, name: str) -> FloatArray | Integers:
        """Return a tensor; matrices have the shape (outputs, inputs). Raise KeyError if it isn't here."""
        values = self._tensors[name]
        if f"{name}.scale" in self._tensors:
            return Integers(values, self._tensors[f"{name}.scale"])
        numbers: FloatArray = values.astype(np.float32)
        return numbers
