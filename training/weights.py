"""Tensors → a file of a reader's weights (`answerable.e5.weights`)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from answerable.datatypes import FloatArray
from answerable.e5.weights import rounded


def write_weights(path: str | os.PathLike[str], tensors: Mapping[str, FloatArray], about: Mapping[str, Any]) -> None:
    """Write tensors for `ReaderWeights`: matrices as integers, the rest in half precision."""
    written: dict[str, Any] = {"about": np.frombuffer(json.dumps(about).encode(), np.uint8)}
    for name, tensor in tensors.items():
        if tensor.ndim < 2:
            written[name] = tensor.astype(np.float16)
            continue
        matrix = rounded(tensor)
        written[name], written[f"{name}.scale"] = matrix.values, matrix.scales
    np.savez(path, **written)
