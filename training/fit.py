"""Fits a network to batches: AdamW with a higher rate for the heads, warm-up, a falling rate, and a moving average."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import nn

WARM_UP = 60
"""Steps of rising rate."""
CONSTANT = 0.4
"""Share of the steps with the whole rate; then it falls to a fiftieth (WSD, Hu et al. 2024, arXiv:2404.06395)."""


class Fit:
    """Fits the parameters of a network that need gradients; `factor` is how much higher the rate of the heads is."""

    def __init__(self, net: nn.Module, heads: Iterable[nn.Module], rate: float, factor: float, steps: int) -> None:
        of_heads = [p for part in heads for p in part.parameters()]
        known = {id(p) for p in of_heads}
        body = [p for p in net.parameters() if p.requires_grad and id(p) not in known]
        groups = [{"params": body, "lr": rate}, {"params": of_heads, "lr": factor * rate}]
        self._optimizer = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98), fused=True)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._optimizer,
            lambda step: min(1.0, (step + 1) / WARM_UP, max(0.02, (steps - step) / ((1 - CONSTANT) * steps))),
        )
        self._fitted = [*body, *of_heads]
        self._average = [p.detach().clone() for p in self._fitted]
        self._step = 0

    def step(self, loss: torch.Tensor) -> float:
        """Change the parameters by one step; return the loss."""
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._fitted, 1.0)
        self._optimizer.step()
        self._schedule.step()
        self._step += 1
        with torch.no_grad():
            torch._foreach_lerp_(self._average, self._fitted, 1 - min(0.995, (1 + self._step) / (10 + self._step)))
        value: float = loss.item()
        return value

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Give the network the moving average of its parameters, and at the end its own ones again."""
        own = [p.detach().clone() for p in self._fitted]
        with torch.no_grad():
            torch._foreach_copy_(self._fitted, self._average)
        try:
            yield
        finally:
            with torch.no_grad():
                torch._foreach_copy_(self._fitted, own)
