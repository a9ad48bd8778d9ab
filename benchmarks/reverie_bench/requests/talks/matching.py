"""Fits how well a statement answers to what a request says of it (`reverie_server.search.asked.matching`).

The vectors of what is meant are brought nearer to those of their requests than what else was heard: by a softmax over
all of a case, with parts of the vectors left out at random, since there are few cases and many dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from reverie_server.search.asked.matching import Matching

RANK = 16
_ROUNDS, _BATCH, _LEFT_OUT, _SEED = 5, 16, 0.5, 20261128
_RATE, _RATE_OF_KIND, _RATE_OF_WEIGHTS, _DECAY = 2e-3, 1e-2, 1e-2, 1.0
# Brings what is learnt to the size of the log-odds, and the start to that of the inner products.
_OF_FORM, _OF_KIND, _AT_FIRST, _BEGIN = 20.0, 5.0, 10.0, 0.02


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with the vectors of what was heard (statements, d), and which of these are meant.

    `request` is without what all requests have in common.
    """

    request: NDArray[np.float32]
    named: NDArray[np.float32]
    statements: NDArray[np.float32]
    is_meant: NDArray[np.bool_]


def fit_matching(some: Sequence[Asked]) -> Matching:
    """The form by which what is meant comes first."""
    some = [each for each in some if each.is_meant.any() and not each.is_meant.all()]
    made = torch.Generator().manual_seed(_SEED)
    size = some[0].request.shape[0]
    ours, theirs = (torch.nn.Parameter(torch.randn(size, RANK, generator=made) * _BEGIN) for _ in range(2))
    kind, weights = torch.nn.Parameter(torch.zeros(size)), torch.nn.Parameter(torch.full((2,), _AT_FIRST))
    steps = torch.optim.AdamW(
        [
            {"params": [ours, theirs], "lr": _RATE, "weight_decay": _DECAY},
            {"params": [kind], "lr": _RATE_OF_KIND, "weight_decay": _DECAY},
            {"params": [weights], "lr": _RATE_OF_WEIGHTS, "weight_decay": 0.0},
        ]
    )
    rows = [tuple(map(torch.from_numpy, (each.request, each.named, each.statements, each.is_meant))) for each in some]

    def loss_of(number: int) -> torch.Tensor:
        request, named, statements, is_meant = rows[number]
        left = [(torch.rand(size, generator=made) > _LEFT_OUT) / (1 - _LEFT_OUT) for _ in range(2)]
        scores = statements @ (weights[0] * request + weights[1] * named) + (statements * left[0]) @ kind * _OF_KIND
        scores = scores + _OF_FORM * (statements * left[0] @ theirs) @ (request * left[1] @ ours)
        return torch.logsumexp(scores, 0) - torch.logsumexp(scores[is_meant], 0)

    for _ in range(_ROUNDS):
        order = torch.randperm(len(rows), generator=made).tolist()
        for start in range(0, len(order), _BATCH):
            steps.zero_grad()
            batch = order[start : start + _BATCH]
            loss = torch.stack([loss_of(number) for number in batch]).mean()
            torch.autograd.backward(loss)
            steps.step()
    of_request, of_named = weights.detach().tolist()
    return Matching(
        (ours.detach() * _OF_FORM).numpy(),
        theirs.detach().numpy(),
        (kind.detach() * _OF_KIND).numpy(),
        (of_request, of_named),
    )
