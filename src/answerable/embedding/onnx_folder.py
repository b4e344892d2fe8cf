"""Read a folder with a sentence-embedding model in ONNX: its files, pooling, prefixes and maximum number of tokens.

The layout is that of sentence-transformers and of Optimum: `model.onnx`, in the folder or in `onnx/`, `tokenizer.json`,
and, if they exist, `config.json`, `tokenizer_config.json`, `modules.json`, `1_Pooling/config.json`,
`sentence_bert_config.json` and `config_sentence_transformers.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from pathlib import Path
from typing import Any

from answerable.embedding.vectors import prefixes
from answerable.errors import EmbeddingError

# Tokens that the model reads if no file gives the number; and the maximum: no passage has more.
USUAL_TOKENS, MOST_TOKENS = 512, 8192
# These types of models count positions from 2.
_OFFSET_POSITIONS = frozenset(("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet"))
_LARGEST_JSON = 100_000_000  # bytes of a JSON file: ten times a typical tokenizer.json
# Files up to this size (bytes) are hashed whole; of larger files, _BLOCKS evenly spaced blocks of _BLOCK bytes.
_HASHED_WHOLE, _BLOCKS, _BLOCK = 32_000_000, 256, 1 << 16
_POINTER = b"version https://git-lfs"


class Pooling(str, Enum):
    """How the vectors of a text's tokens are combined into one vector."""

    MEAN = "mean"
    CLS = "cls"
    MAX = "max"
    LAST = "last"


_MODE = "pooling_mode_"
_ALSO_CALLED = {"lasttoken": "last", "mean_tokens": "mean", "cls_token": "cls", "max_tokens": "max"}


@dataclass(frozen=True, slots=True)
class OnnxFolder:
    """A model's files and how to use it. Without a file that gives them, `pooling` is None and `dimension` is 0.

    `is_whole` is true if layers follow the pooling; then the graph must pool itself.
    """

    model: Path
    tokenizer: Path
    name: str
    pooling: Pooling | None
    prefixes: tuple[str, str]
    most_tokens: int
    padding: int | None
    dimension: int
    is_whole: bool

    def revision(self) -> str:
        """Return a hash of the model, its tokenizer, pooling and prefixes."""
        digest = sha256(repr((self.pooling and self.pooling.value, self.prefixes, self.most_tokens)).encode())
        beside = [path for path in _external(self.model) if path.is_file()]
        for path in (self.model, *beside, self.tokenizer):
            _hash(path, digest)
        return digest.hexdigest()[:16]


def read_folder(place: Path, pooling: str = "", query_prefix: str = "", passage_prefix: str = "") -> OnnxFolder:
    """Read a model's folder, or the folder of an `.onnx` file; pooling and prefixes passed here override the files.

    Raises EmbeddingError that names the missing or damaged file.
    """
    model = _model_file(place.expanduser())
    folder = model.parent.parent if model.parent.name == "onnx" else model.parent
    tokenizers = [path for path in (folder / "tokenizer.json", model.parent / "tokenizer.json") if path.is_file()]
    if not tokenizers:
        raise EmbeddingError(
            f"{folder} has no tokenizer.json. Export the model with its fast tokenizer, or copy that file there."
        )
    config = _read(folder / "config.json")
    modules = _modules(folder)
    pooled = _read(_pooling_file(folder, modules))
    is_whole = any(not kind.endswith(("Transformer", "Pooling", "Normalize")) for kind, _ in modules)
    own = prefixes(folder.resolve().name, _prompts(folder))
    return OnnxFolder(
        model,
        tokenizers[0],
        folder.resolve().name,
        Pooling(pooling) if pooling else _pooling(folder, pooled),
        (query_prefix or own[0], passage_prefix or own[1]),
        _most_tokens(folder, config),
        _whole_number(config.get("pad_token_id")),
        0 if is_whole or not modules else _whole_number(pooled.get("word_embedding_dimension")) or 0,
        is_whole,
    )


def _model_file(place: Path) -> Path:
    if place.is_file():
        return _checked(place)
    if not place.is_dir():
        raise EmbeddingError(f"There is no folder {place}. Name a folder that holds model.onnx and tokenizer.json.")
    for folder in (place, place / "onnx"):
        if (folder / "model.onnx").is_file():
            return _checked(folder / "model.onnx")
    found = sorted(path for folder in (place, place / "onnx") for path in folder.glob("*.onnx") if path.is_file())
    if len(found) == 1:
        return _checked(found[0])
    if not found:
        raise EmbeddingError(f"{place} holds no model.onnx, nor does {place / 'onnx'}. Export the model to ONNX first.")
    names = ", ".join(str(path.relative_to(place)) for path in found)
    raise EmbeddingError(f"{place} holds several models: {names}. Name one: onnx:{found[0]}")


def _checked(model: Path) -> Path:
    with _errors(model), model.open("rb") as file:
        if file.read(len(_POINTER)) == _POINTER:
            raise EmbeddingError(f"{model} is a pointer of Git LFS, not the model. Fetch it: git lfs pull")
    return model


def _external(model: Path) -> list[Path]:
    """Return the files next to a model that, by the names exporters use, may hold its weights."""
    return [model.with_name(f"{model.name}_data"), model.with_name(f"{model.name}.data")]


def _modules(folder: Path) -> list[tuple[str, str]]:
    """Return the type and folder of each step of a model of sentence-transformers."""
    path = folder / "modules.json"
    listed = _loaded(path) if path.is_file() else []
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise _damaged(path, "it is no list of modules")
    return [(str(each.get("type", "")), str(each.get("path", ""))) for each in listed]


def _pooling_file(folder: Path, modules: list[tuple[str, str]]) -> Path:
    named = [path for kind, path in modules if kind.endswith("Pooling")]
    path = folder / (named[0] if named else "1_Pooling") / "config.json"
    if not path.resolve().is_relative_to(folder.resolve()):
        raise _damaged(folder / "modules.json", "it names a folder outside the model's folder")
    return path


def _pooling(folder: Path, config: dict[str, Any]) -> Pooling | None:
    if not config:
        return None
    mode = config.get("pooling_mode")
    named = [mode] if isinstance(mode, str) else list(mode) if isinstance(mode, list) else []
    set_to = (key.removeprefix(_MODE) for key, value in config.items() if key.startswith(_MODE) and value)
    modes = [_ALSO_CALLED.get(each, each) for each in map(str, named or set_to)]
    mode = modes[0] if len(modes) == 1 else ""
    if mode not in {each.value for each in Pooling} or config.get("include_prompt") is False:
        said = "without the prompt's tokens" if config.get("include_prompt") is False else " and ".join(modes) or "none"
        raise EmbeddingError(
            f"The pooling of {folder} ({said}) isn't supported: mean, cls, max and last are. Use another model."
        )
    return Pooling(mode)


def _prompts(folder: Path) -> dict[str, str | None]:
    prompts = _read(folder / "config_sentence_transformers.json").get("prompts") or {}
    if not isinstance(prompts, dict) or not all(isinstance(text, str | None) for text in prompts.values()):
        raise _damaged(folder / "config_sentence_transformers.json", "its prompts are no texts")
    return prompts


def _most_tokens(folder: Path, config: dict[str, Any]) -> int:
    positions = _whole_number(config.get("max_position_embeddings"))
    if positions and config.get("model_type") in _OFFSET_POSITIONS:
        positions -= 2
    said = (
        positions,
        _whole_number(_read(folder / "sentence_bert_config.json").get("max_seq_length")),
        _whole_number(_read(folder / "tokenizer_config.json").get("model_max_length")),
    )
    # Tokenizers without a limit give a number with thirty digits.
    return min((each for each in said if each and 8 <= each <= MOST_TOKENS), default=USUAL_TOKENS)


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _read(path: Path) -> dict[str, Any]:
    """Return a JSON file's object; {} if there is no such file."""
    if not path.is_file():
        return {}
    read = _loaded(path)
    if not isinstance(read, dict):
        raise _damaged(path, "it is no JSON object")
    return read


def _loaded(path: Path) -> Any:
    with _errors(path):
        if path.stat().st_size > _LARGEST_JSON:
            raise ValueError("it is too large")
        return json.loads(path.read_text("utf-8"))


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Turn errors of reading a file into an EmbeddingError that names the file."""
    try:
        yield
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, why: str) -> EmbeddingError:
    return EmbeddingError(f"{path} can't be read ({why}). Copy the model's folder again.")


def _hash(path: Path, digest: Any) -> None:
    with _errors(path), path.open("rb") as file:
        size = path.stat().st_size
        digest.update(str(size).encode())
        if size <= _HASHED_WHOLE:
            digest.update(file.read())
            return
        for number in range(_BLOCKS):
            file.seek((size - _BLOCK) * number // (_BLOCKS - 1))
            digest.update(file.read(_BLOCK))
