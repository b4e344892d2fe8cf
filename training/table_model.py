"""The table reader in torch: the reader's encoder with heads for a table and for each token of its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from answerable.computing.parse import LIMITS, OPERATIONS, TOKEN, USES, WHOLE, Choices, parts
from answerable.computing.plan import Plan
from answerable.computing.table_text import TableText, placed, table_text
from answerable.datatypes import FloatArray
from answerable.e5.encoder import Tokenizer, tokens_of
from answerable.e5.readers import QUESTION
from answerable.e5.weights import ModelFile, ReaderWeights
from training.model import Reader, load_tensors, tensors_of
from training.table_plans import Question, plan_of, rows_of

TABLE = 288  # tokens of a table's text
READER_FROZEN = 4  # layers of the reader that are the embedder's


class TableNet(Reader):
    """`forward` takes the states of the frozen layers; it gives logits of the whole and of each token."""

    def __init__(self, model: ModelFile, frozen: int, begin: str = "reader.npz") -> None:
        super().__init__(model, READER_FROZEN)
        load_tensors(self, ReaderWeights(begin))
        self.answers = nn.Linear(model.hidden, sum(WHOLE.values()))
        self.span = nn.Linear(model.hidden, sum(TOKEN.values()))
        self.frozen = frozen
        for layer in self.layers[:frozen]:
            for parameter in layer.parameters():
                parameter.requires_grad = False

    def load(self, weights: ReaderWeights) -> None:
        """Begin from the weights of a table reader."""
        frozen, self.frozen = self.frozen, READER_FROZEN
        load_tensors(self, weights)
        self.frozen = frozen

    def tensors(self) -> dict[str, FloatArray]:
        """Return the tensors that aren't the embedder's, by their names in `ReaderWeights`."""
        frozen, self.frozen = self.frozen, READER_FROZEN
        found = tensors_of(self)
        self.frozen = frozen
        return found

    def lower(self, ids: np.ndarray, present: torch.Tensor) -> torch.Tensor:
        """Return the states after the frozen layers, in bfloat16."""
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            state = self.ln(self.embed(ids))
            for layer in self.layers[: self.frozen]:
                state = layer(state, _bias(present), 0.0)
        return state.to(torch.bfloat16)

    def forward(self, state: torch.Tensor, present: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]
        for layer in self.layers[self.frozen :]:
            state = layer(state, _bias(present), self.dropout)
        state = state.float()
        pooled = functional.dropout(torch.tanh(self.pool(state[:, 0])), self.dropout, self.training)
        return self.answers(pooled).float(), self.span(state).float()


def _bias(present: torch.Tensor) -> torch.Tensor:
    return torch.where(present, 0.0, -1e4)[:, None, None, :].to(torch.bfloat16)


@dataclass(slots=True, eq=False)
class Example:
    """A question beside a table as token ids, and what the logits should say; see `table_parse`.

    `whole` has the labels that the plan says, `limits` and `uses` those of tokens. `state` is the frozen layers'.
    """

    question: Question
    plan: Plan | None
    read: TableText
    ids: np.ndarray
    offset: int
    starts: np.ndarray
    whole: dict[str, int]
    columns: list[tuple[int, int]]
    limits: list[tuple[int, int]]
    uses: list[tuple[int, int]]
    targets: list[int]
    state: torch.Tensor | None = None


def example(question: Question, model: ModelFile, tokenizer: Tokenizer) -> Example:
    """Return a question as an example. Raise WrongPlan if its plan isn't one of the table."""
    plan, read = plan_of(question), table_text(question.text, question.source)
    head = [model.bos, *tokens_of(question.text, tokenizer).ids[:QUESTION].tolist(), model.eos, model.eos]
    tokens = tokens_of(read.text, tokenizer)
    ids, starts = tokens.ids[:TABLE], tokens.starts[:TABLE]
    columns = [(item.column, len(head) + at) for item, at in placed(read.columns, starts.tolist())]
    limits, uses = _labels(question, read)
    values = [(len(head) + at, uses.get(item.start, 0)) for item, at in placed(read.values, starts.tolist())]
    names = [column for column, _ in columns]
    wanted = (plan.column, plan.group) if plan else ()
    return Example(
        question,
        plan,
        read,
        np.array([*head, *ids.tolist(), model.eos]),
        len(head),
        starts,
        _whole(question, plan),
        columns,
        [(at, limits.get(column, 0)) for column, at in columns],
        values,
        [names.index(each) + 1 if each in names else 0 for each in wanted],
    )


def _whole(question: Question, plan: Plan | None) -> dict[str, int]:
    if plan is None or question.written is None:
        return {"operation": 0}
    limit = plan.limit
    found = {
        "operation": [each.value for each in OPERATIONS].index(plan.operation),
        "rank": 0 if not limit else 1 if limit == 1 else 2,
    }
    if "period" in question.written:
        found["grouping"] = ("day", "month", "year").index(question.written["period"])
    return found | ({"order": int(plan.is_least)} if limit else {})


def _labels(question: Question, read: TableText) -> tuple[dict[int, int], dict[int, int]]:
    """Return the limits by column, and the uses of values by their items' starts."""
    limits: dict[int, int] = {}
    uses: dict[int, int] = {}
    written, source = question.written or {}, question.source
    everything = frozenset(range(len(source.table.rows)))
    for each in (*written.get("filters", ()), *written.get("other", ())):
        column, rows = rows_of(source, each)
        kind, op = source.table.columns[column].kind, each["op"]
        if op == "empty":
            limits[column] = LIMITS.index("empty" if each.get("value", "true") != "false" else "filled")
        elif kind.value != "text":
            limits[column] = LIMITS.index("=" if op == "contains" else op)
        elif op in ("=", "contains", "!="):
            wanted = everything - rows if op == "!=" else rows
            same = [item for item in read.values if item.column == column and item.rows == wanted]
            if same:
                uses[same[0].start] = USES.index("!=" if op == "!=" else "=")
    return limits, uses


def loss_of(whole: torch.Tensor, tokens: torch.Tensor, batch: Sequence[Example]) -> torch.Tensor:
    """Return the mean loss of a batch: cross-entropies of all parts that the examples say."""
    return torch.stack([_loss(whole[row], tokens[row], one) for row, one in enumerate(batch)]).mean()


def _loss(whole: torch.Tensor, tokens: torch.Tensor, one: Example) -> torch.Tensor:
    named = parts(whole, WHOLE)
    losses = [
        (1.0 if name == "operation" else 0.5) * functional.cross_entropy(named[name][None], torch.tensor([label]))
        for name, label in one.whole.items()
    ]
    if one.plan is not None:
        of_tokens = parts(tokens, TOKEN)
        places = [at for _, at in one.columns]
        for which, label in enumerate(one.targets):
            logits = torch.cat([named["no"][which : which + 1], of_tokens["column"][places, which]])
            losses.append(functional.cross_entropy(logits[None], torch.tensor([label])))
        for name, labels in (("limit", one.limits), ("use", one.uses)):
            if labels:
                wanted = torch.tensor([label for _, label in labels])
                each = of_tokens[name][[at for at, _ in labels]]
                losses.append(0.7 * functional.cross_entropy(each, wanted, reduction="sum"))
    return torch.stack(losses).sum()


def weak_example(question: Question, choices: Choices, model: ModelFile, tokenizer: Tokenizer) -> Example:
    """Return a question as an example in which this is chosen of the model's outputs; see `table_weak`."""
    found = example(question, model, tokenizer)
    found.plan = Plan(question.source, OPERATIONS[choices.operation].value)
    names = {"operation", "rank", *(("grouping",) if choices.group else ()), *(("order",) if choices.rank else ())}
    found.whole = {name: getattr(choices, name) for name in sorted(names)}
    limits, uses = dict(choices.limits), dict(choices.uses)
    found.limits = [(at, limits.get(at - found.offset, 0)) for at, _ in found.limits]
    found.uses = [(at, uses.get(at - found.offset, 0)) for at, _ in found.uses]
    found.targets = [choices.column, choices.group]
    return found
