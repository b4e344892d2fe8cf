"""The reader in torch: the encoder of multilingual-e5-small with a head for "answers" and one for the span.

It starts from the embedder's weights, dequantised. Word vectors and the first layers stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from answerable.datatypes import FloatArray
from answerable.e5.weights import ModelFile, ReaderWeights, dequantize

QKV = ("q", "k", "v")
HEADS = ("pool", "answers", "span")


class Layer(nn.Module):
    def __init__(self, model: ModelFile, number: int) -> None:
        super().__init__()
        self.heads = model.heads

        def linear(name: str) -> nn.Linear:
            weights = torch.from_numpy(model.tensor(f"l{number}.{name}.w").copy())
            made = nn.Linear(weights.shape[1], weights.shape[0])
            made.weight.data = weights
            made.bias.data = torch.from_numpy(model.tensor(f"l{number}.{name}.b").copy())
            return made

        def norm(name: str) -> nn.LayerNorm:
            made = nn.LayerNorm(model.hidden, eps=model.epsilon)
            made.weight.data = torch.from_numpy(model.tensor(f"l{number}.{name}.w").copy())
            made.bias.data = torch.from_numpy(model.tensor(f"l{number}.{name}.b").copy())
            return made

        query, key, value = linear("q"), linear("k"), linear("v")
        self.qkv = nn.Linear(model.hidden, 3 * model.hidden)
        self.qkv.weight.data = torch.cat([query.weight.data, key.weight.data, value.weight.data])
        self.qkv.bias.data = torch.cat([query.bias.data, key.bias.data, value.bias.data])
        self.ao, self.fi, self.fo = linear("ao"), linear("fi"), linear("fo")
        self.aln, self.oln = norm("aln"), norm("oln")

    def forward(self, state: torch.Tensor, mask: torch.Tensor, dropout: float) -> torch.Tensor:
        rows, length, size = state.shape
        query, key, value = (
            part.view(rows, length, self.heads, size // self.heads).transpose(1, 2).flatten(0, 1)
            for part in self.qkv(state).split(size, dim=-1)
        )
        # Faster than torch's fused attention, whose backward pass takes a third of a step at this size.
        scores = torch.bmm(query * query.shape[-1] ** -0.5, key.transpose(1, 2)).view(rows, -1, length, length)
        shares = torch.softmax(scores + mask, -1).to(value.dtype).flatten(0, 1)
        mixed = torch.bmm(shares, value).view(rows, -1, length, size // self.heads)
        mixed = self.ao(mixed.transpose(1, 2).reshape(rows, length, size))
        state = self.aln(state + self._dropped(mixed, dropout))
        inner = self.fo(functional.gelu(self.fi(state)))
        return self.oln(state + self._dropped(inner, dropout))

    def _dropped(self, state: torch.Tensor, dropout: float) -> torch.Tensor:
        """Drop a share of the numbers, by one random byte for each: torch's own draw is slow."""
        if not self.training or not dropout:
            return state
        words = torch.empty(-(-state.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
        keeps = words.view(torch.uint8)[: state.numel()].view_as(state) >= round(256 * dropout)
        return state * keeps / (1 - dropout)


class Reader(nn.Module):
    """`forward` gives logits: answers (rows,), start and end (rows, tokens)."""

    def __init__(self, model: ModelFile, frozen: int = 4, dropout: float = 0.1) -> None:
        super().__init__()
        self.words = model.blocks("emb.word")
        places = model.tensor("emb.pos").reshape(-1, model.hidden) + model.tensor("emb.type")[: model.hidden]
        self.register_buffer("places", torch.from_numpy(places), persistent=False)
        self.ln = nn.LayerNorm(model.hidden, eps=model.epsilon)
        self.ln.weight.data = torch.from_numpy(model.tensor("emb.ln.w").copy())
        self.ln.bias.data = torch.from_numpy(model.tensor("emb.ln.b").copy())
        self.layers = nn.ModuleList(Layer(model, number) for number in range(model.layers))
        self.pool = nn.Linear(model.hidden, model.hidden)
        self.answers = nn.Linear(model.hidden, 1)
        self.span = nn.Linear(model.hidden, 2)
        self.dropout = dropout
        self.frozen = frozen
        for part in (self.ln, *self.layers[:frozen]):
            for parameter in part.parameters():
                parameter.requires_grad = False

    def embed(self, ids: np.ndarray) -> torch.Tensor:
        rows, length = ids.shape
        unique, inverse = np.unique(ids.reshape(-1), return_inverse=True)
        words = torch.from_numpy(dequantize(self.words[unique])[inverse].reshape(rows, length, -1))
        return words + self.places[:length]

    def forward(self, words: torch.Tensor, present: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        bias = torch.where(present, 0.0, -1e4)[:, None, None, :].to(torch.bfloat16)
        with torch.no_grad():
            state = self.ln(words)
            for layer in self.layers[: self.frozen]:
                state = layer(state, bias, 0.0)
        for layer in self.layers[self.frozen :]:
            state = layer(state, bias, self.dropout)
        state = state.float()
        pooled = functional.dropout(
            torch.tanh(self.pool(state[:, 0].to(self.pool.weight.dtype))), self.dropout, self.training
        )
        spans = self.span(state.to(self.span.weight.dtype)).float()
        return self.answers(pooled).float()[:, 0], spans[..., 0], spans[..., 1]


def padded(rows: Sequence[np.ndarray], pad: int) -> tuple[np.ndarray, torch.Tensor]:
    """Return token ids of shape (rows, longest), and a mask that is false for padding."""
    longest = max(map(len, rows))
    ids = np.full((len(rows), longest), pad, np.int64)
    present = np.zeros((len(rows), longest), bool)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        present[number, : len(row)] = True
    return ids, torch.from_numpy(present)


def tensors_of(reader: Reader) -> dict[str, FloatArray]:
    """Return the trained tensors by their names in `ReaderWeights`."""
    found: dict[str, FloatArray] = {}
    for number, layer in enumerate(reader.layers):
        if number < reader.frozen:
            continue
        for name, part in layer.named_children():
            for suffix, values in (("w", part.weight), ("b", part.bias)):
                pieces = np.split(_array(values), len(QKV)) if name == "qkv" else [_array(values)]
                for piece, own in zip(pieces, QKV if name == "qkv" else (name,), strict=True):
                    found[f"l{number}.{own}.{suffix}"] = piece
    for name in HEADS:
        part = getattr(reader, name)
        found[f"{name}.w"], found[f"{name}.b"] = _array(part.weight), _array(part.bias)
    return found


def load_tensors(reader: Reader, weights: ReaderWeights) -> None:
    """Give a reader the tensors of `weights`: the inverse of `tensors_of`."""

    def tensor(names: Sequence[str]) -> torch.Tensor:
        pieces = [weights.tensor(name) for name in names]
        return torch.from_numpy(np.concatenate([p if isinstance(p, np.ndarray) else p.exact() for p in pieces]))

    found = reader.state_dict()
    for suffix, kind in (("w", "weight"), ("b", "bias")):
        for number in range(reader.frozen, len(reader.layers)):
            for name, _ in reader.layers[number].named_children():
                owns = QKV if name == "qkv" else (name,)
                found[f"layers.{number}.{name}.{kind}"] = tensor([f"l{number}.{own}.{suffix}" for own in owns])
        for name in HEADS:
            found[f"{name}.{kind}"] = tensor([f"{name}.{suffix}"])
    reader.load_state_dict(found)


def _array(values: torch.Tensor) -> FloatArray:
    array: FloatArray = values.detach().float().numpy()
    return array
