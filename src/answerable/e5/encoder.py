"""multilingual-e5-small on OpenVINO: text → token ids → the last hidden states, or the results of heads on them.

The tokenizer is SentencePiece's unigram model: Viterbi's algorithm finds the most probable segmentation (Kudo 2018,
arXiv:1804.10959) of each word, since no piece of this vocabulary spans a space. The package sentencepiece gives the
same tokens, but takes .5 s of CPU time to load the vocabulary, of which a question needs a tenth.

The graph is BERT's encoder (Devlin et al. 2019) with XLM-R's vocabulary, built from the weights of a `ModelFile`. Word
vectors are looked up outside the graph, in the 4-bit table: as a constant of the graph, they would take 384 MB.
"""

from __future__ import annotations

import itertools
import platform
import re
import threading
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from answerable.datatypes import FloatArray
from answerable.e5.network import Network, release
from answerable.e5.weights import BLOCK, MIDDLE, FourBits, Integers, ModelFile, dequantize
from answerable.text.characters import sendable

SPACE = "\u2581"
_SPACE = SPACE.encode()
START = 256  # added to the byte with which a word begins: above all bytes
CACHED_WORDS = 1 << 16  # words in the cache, about the vocabulary of a language: a guess, not measured
LONGEST_CACHED = 64  # characters of a cached word; longer words are mostly codes and addresses, which rarely recur
UNKNOWN_PENALTY = 10.0  # the value of SentencePiece (kUnkPenalty)

_SPACES = re.compile(" {2,}")
_Pieces = tuple[tuple[int, int], ...]
"""Pairs of a token id and the number of characters of that token."""


class Tokenizer:
    """Tokenizes with the model's vocabulary, whose pieces are loaded when a word begins or goes on like them."""

    def __init__(self, model: ModelFile) -> None:
        self.normalization = model.normalization
        self._pieces = model.piece_bytes
        self._ends = model.piece_offsets
        self._special = {model.bos, model.eos, model.pad, model.unknown}
        self._beginnings = _beginnings(self._pieces, self._ends)
        self._tables: dict[int, tuple[array[int], array[int]]] = {}
        self._scores = model.piece_scores.data
        self._lock = threading.Lock()
        self._longest = 0
        self._unknown = model.unknown
        self._unknown_score = float(model.piece_scores.min()) - UNKNOWN_PENALTY
        self._cached_word = lru_cache(CACHED_WORDS)(self._word)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, without the special tokens for begin and end."""
        return [[token for token, _ in self._tokens(self.normalize(text))] for text in texts]

    def spans(self, normal: str) -> Iterator[tuple[int, int, int]]:
        """Yield id, start and end of each token of a normalised text. Spans don't include the space before a word."""
        at = -1
        for token, length in self._tokens(normal):
            start = at + 1 if at < 0 or normal[at] == " " else at
            at += length
            yield token, min(start, at), at

    def normalize(self, text: str) -> str:
        """Normalise a text for the vocabulary; lone surrogates and NULs are replaced."""
        return _SPACES.sub(" ", sendable(text).translate(self.normalization)).strip(" ")

    def _tokens(self, normal: str) -> Iterator[tuple[int, int]]:
        for word in normal.split(" ") if normal else ():
            yield from self._cached_word(SPACE + word) if len(word) <= LONGEST_CACHED else self._word(SPACE + word)

    def _word(self, word: str) -> _Pieces:
        """Return the most probable pieces of a word. A character that is in no piece becomes the unknown token."""
        text = word.encode()
        beginnings = {*text, *(START + begun[0] for begun in text.split(_SPACE)[1:] if begun)}
        for beginning in beginnings - self._tables.keys():
            self._load(beginning)
        size = len(word)
        places = [0, *itertools.accumulate(len(each.encode()) for each in word)]
        best = [0.0, *(-np.inf for _ in range(size))]
        last = [(0, 0)] * (size + 1)
        for start in range(size):
            for end in range(start + 1, min(start + self._longest, size) + 1):
                token = self._id(text[places[start] : places[end]])
                if token is not None:
                    score = best[start] + self._scores[token]
                elif end == start + 1:
                    token, score = self._unknown, best[start] + self._unknown_score
                else:
                    continue
                if score > best[end]:
                    best[end], last[end] = score, (token, start)
        found: list[tuple[int, int]] = []
        end = size
        while end:
            token, start = last[end]
            if found and token == self._unknown == found[-1][0]:
                found[-1] = (token, found[-1][1] + end - start)
            else:
                found.append((token, end - start))
            end = start
        return tuple(reversed(found))

    def _id(self, text: bytes) -> int | None:
        """Return the id of a piece, if there is one whose beginning is loaded."""
        begins = len(text) > len(_SPACE) and text.startswith(_SPACE)
        hashes, ids = self._tables[START + text[len(_SPACE)] if begins else text[0]]
        hashed = hash(text)
        at = bisect_left(hashes, hashed)
        if at == len(hashes) or hashes[at] != hashed:
            return None
        token = ids[at]
        return token if self._pieces[self._ends[token] : self._ends[token + 1]] == text else None

    def _load(self, beginning: int) -> None:
        """Load the pieces with this beginning: hashes in order, and ids. A dict takes ten times the memory."""
        with self._lock:
            found = np.flatnonzero(self._beginnings == beginning).astype(np.int32)
            ids = found[[each not in self._special for each in found.tolist()]]
            pieces = [self._pieces[self._ends[each] : self._ends[each + 1]] for each in ids.tolist()]
            self._longest = max(self._longest, *(len(piece.decode()) for piece in pieces), 0)
            hashes = np.array(list(map(hash, pieces)), np.int64)
            order = np.argsort(hashes)
            self._tables[beginning] = array("q", hashes[order].tobytes()), array("i", ids[order].tobytes())


def _beginnings(pieces: bytes, ends: npt.NDArray[np.uint32]) -> npt.NDArray[np.int16]:
    """Return each piece's first byte; for a piece that begins a word, the first byte after the space, plus START."""
    text = np.frombuffer(pieces, np.uint8)
    starts = ends[:-1].astype(np.int64)
    begins = np.diff(ends) > len(_SPACE)
    begins[begins] = np.all([text[starts[begins] + step] == byte for step, byte in enumerate(_SPACE)], axis=0)
    return np.where(begins, text[np.where(begins, starts + len(_SPACE), starts)] + np.int16(START), text[starts])


@lru_cache(maxsize=1)
def tokenizer_of(model: ModelFile) -> Tokenizer:
    """Return a model's tokenizer, which all embedders and readers of a process share."""
    return Tokenizer(model)


def vocabulary(model: ModelFile) -> list[str]:
    """Return the pieces of the vocabulary, cut at the file's offsets, which count bytes."""
    begins = (np.frombuffer(model.piece_bytes, np.uint8) & 0xC0) != 0x80
    characters = np.concatenate(([0], np.cumsum(begins)))[model.piece_offsets].tolist()
    text = model.piece_bytes.decode()
    return [text[start:end] for start, end in itertools.pairwise(characters)]


Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token ids of a text, and the start and end of each token in the text: three arrays of equal length."""

    ids: Ints
    starts: Ints
    ends: Ints


def tokens_of(text: str, tokenizer: Tokenizer) -> Tokens:
    """Tokenize a text like the embedder. The space before a word is not in its first token's span."""
    normal, origins = _normalized(text, tokenizer.normalization)
    pieces = np.array(list(tokenizer.spans(normal)), np.int32).reshape(-1, 3)
    places = np.array([*origins, len(text)], np.int32)
    ids, starts, ends = pieces.T
    # Normalisation may make several characters from one, and a token may end between them.
    return Tokens(ids, places[starts], np.where(ends > starts, places[ends - 1] + 1, places[starts]).astype(np.int32))


def _normalized(text: str, table: dict[int, str]) -> tuple[str, list[int]]:
    """Return the text as the vocabulary expects it, and the offset in `text` of each of its characters."""
    letters: list[str] = []
    origins: list[int] = []
    for number, character in enumerate(sendable(text)):
        for letter in table.get(ord(character), character):
            if letter != " " or (letters and letters[-1] != " "):
                letters.append(letter)
                origins.append(number)
    while letters and letters[-1] == " ":
        letters.pop()
        origins.pop()
    return "".join(letters), origins


LENGTHS = 16
"""The length of a batch in tokens is rounded up to a multiple of this, so that few shapes occur.

OpenVINO compiles kernels for each new shape: in bfloat16 that was a seventh of the embedding time.
"""

Weights = Callable[[str], "FloatArray | Integers | FourBits"]
"""Returns a tensor of the model by its name in the `ModelFile`. Only matrices of linear layers may be integers."""


class OpenVinoEncoder:
    """The compiled graph, in bfloat16 if the processor supports it, otherwise in float32.

    `threads` limits the processors (0: all); `cache_folder` stores the compiled graph for other processes. `weights`
    default to the model's own. `heads` builds the results from the last hidden states; by default, these are returned.
    `made_of` are the files of other weights, and of the code that builds the heads.
    """

    def __init__(
        self,
        model: ModelFile,
        threads: int,
        cache_folder: Path | None,
        weights: Weights | None = None,
        heads: Callable[[Any], list[Any]] = lambda state: [state],
        made_of: Sequence[str] = (),
    ) -> None:
        self._model = model
        self._words = model.blocks("emb.word")
        self._places = model.tensor("emb.pos").reshape(-1, model.hidden) + model.tensor("emb.type")[: model.hidden]
        self._network = Network(
            lambda _, precision: _build_graph(model, weights or _own_weights(model, precision), heads),
            threads,
            cache_folder,
            (model.path, *made_of),
            # Where weights passed to this class are integers, a layer's inputs are also rounded to integers, per token.
            DYNAMIC_QUANTIZATION_GROUP_SIZE=model.hidden if weights else 0,
        )
        self.precision = self._network.precision

    def hidden_states(self, windows: Sequence[Sequence[int]]) -> list[FloatArray]:
        """Return the hidden states of each window of token ids, shape (tokens, 384)."""
        results = self.results(windows)
        return [states[: len(window)] for (states,), window in zip(results, windows, strict=True)]

    def results(self, windows: Sequence[Sequence[int]]) -> list[tuple[FloatArray, ...]]:
        """Return the results of the heads for each window of token ids. Results per token may end in padding."""
        found = self._network.each(self._compute, windows)
        release(self._model.mapped)
        return found

    def _compute(self, ids: Sequence[Sequence[int]]) -> Iterator[tuple[FloatArray, ...]]:
        longest = -(-max(map(len, ids)) // LENGTHS) * LENGTHS
        mask = np.zeros((len(ids), longest), bool)
        padded = np.zeros((len(ids), longest), np.int64)
        for row, tokens in enumerate(ids):
            padded[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = True
        words = dequantize(self._words[padded.reshape(-1)]).reshape(*padded.shape, -1) + self._places[:longest]
        bias = np.where(mask, np.float32(0), np.float32(-1e4))[:, None, None, :]
        found = self._network.infer({0: words, 1: bias})
        return zip(*(found[number] for number in range(len(found))), strict=True)


def linear(value: Any, weights: Weights, name: str) -> Any:
    """Add a linear layer to a graph; its tensors are `name.w` and `name.b`."""
    from openvino import opset13 as ops

    product = ops.matmul(value, _matrix(weights(f"{name}.w")), False, True)
    return ops.add(product, ops.constant(weights(f"{name}.b")))


def pooled(state: Any, weights: Weights, name: str) -> Any:
    """Add BERT's pooler to a graph: a linear layer and tanh on the first token's state."""
    from openvino import opset13 as ops

    begin, end, step, axis = (ops.constant([each]) for each in (0, 1, 1, 1))
    first = ops.squeeze(ops.slice(state, begin, end, step, axis), ops.constant([1]))
    return ops.tanh(linear(first, weights, name))


def _own_weights(model: ModelFile, precision: str) -> Weights:
    # In float32 on x86, OpenVINO unpacks 4-bit weights as fast as it reads floats, and needs 190 MB less. For other
    # processors, this hasn't been measured.
    is_packed = precision == "f32" and platform.machine() in ("x86_64", "AMD64")
    return model.packed if is_packed else model.tensor


def _matrix(values: FloatArray | Integers | FourBits) -> Any:
    import openvino
    from openvino import opset13 as ops

    if isinstance(values, Integers) and len(values.scales) == 1:
        # In bfloat16 on several streams, OpenVINO 2026.4 ignores the scale of a matrix with one row.
        values = values.exact()
    if isinstance(values, Integers):
        return ops.multiply(ops.convert(ops.constant(values.values), "f32"), ops.constant(values.scales[:, None]))
    if not isinstance(values, FourBits):
        return ops.constant(values)
    rows, groups = values.scales.shape
    packed = openvino.Tensor(openvino.Type.u4, openvino.Shape([rows, groups, BLOCK]))
    packed.data[:] = values.values.reshape(packed.data.shape)
    centred = ops.subtract(
        ops.convert(ops.constant(packed), "f32"), ops.constant(np.full((1, 1, 1), MIDDLE, np.float32))
    )
    scaled = ops.multiply(centred, ops.constant(values.scales[:, :, None]))
    return ops.reshape(scaled, ops.constant(np.array([rows, groups * BLOCK])), False)


def _build_graph(model: ModelFile, weights: Weights, heads: Callable[[Any], list[Any]]) -> Any:
    import openvino
    from openvino import opset13 as ops

    float32 = openvino.Type.f32
    size, count = model.hidden, model.heads

    def layer_norm(value: Any, name: str) -> Any:
        normal = ops.mvn(value, ops.constant(np.array([-1])), True, model.epsilon, "inside_sqrt")
        scaled = ops.multiply(normal, ops.constant(weights(f"{name}.w")))
        return ops.add(scaled, ops.constant(weights(f"{name}.b")))

    def split_heads(value: Any) -> Any:
        shaped = ops.reshape(value, ops.constant(np.array([0, 0, count, size // count])), True)
        return ops.transpose(shaped, ops.constant(np.array([0, 2, 1, 3])))

    def attention(value: Any, layer: int, bias: Any) -> Any:
        query, key, content = (split_heads(linear(value, weights, f"l{layer}.{name}")) for name in "qkv")
        mixed = ops.scaled_dot_product_attention(query, key, content, bias)
        joined = ops.transpose(mixed, ops.constant(np.array([0, 2, 1, 3])))
        return linear(ops.reshape(joined, ops.constant(np.array([0, 0, size])), True), weights, f"l{layer}.ao")

    words = ops.parameter(openvino.PartialShape([-1, -1, size]), float32)
    bias = ops.parameter(openvino.PartialShape([-1, 1, 1, -1]), float32)
    state = layer_norm(words, "emb.ln")
    for layer in range(model.layers):
        state = layer_norm(ops.add(state, attention(state, layer, bias)), f"l{layer}.aln")
        inner = ops.gelu(linear(state, weights, f"l{layer}.fi"), "erf")
        state = layer_norm(ops.add(state, linear(inner, weights, f"l{layer}.fo")), f"l{layer}.oln")
    return openvino.Model([ops.result(result) for result in heads(state)], [words, bias], "multilingual-e5-small")
