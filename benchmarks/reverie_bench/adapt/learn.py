"""Learns what a text is to be near to: the adapter of a built-in model for one role.

Of some candidates a text is to be nearest to those that are wanted, or, where none is, to none of them: the cross
entropy of the softmax of the cosines over a temperature, and of one number that stands for nothing, which is learnt too
(InfoNCE). The matrices of the adapter alone are learnt beside it, by AdamW; what is learnt may then be scaled down
(Wortsman et al. 2022), so that a text stays near to what it was near to before.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from reverie_bench.adapt.encoder import AdaptableEncoder
from reverie_indexer.embed.built_in import BuiltInModel
from reverie_indexer.embed.local import load_local
from reverie_indexer.embed.protocol import Role

RANK = 8
_TEMPERATURE = 0.07
_BATCH, _MOST_TOKENS, _ABOUT_AS_LONG = 32, 64, 8
_RATE, _DECAY, _WARM, _LONGEST_STEP = 1e-3, 0.1, 50, 1.0
# What stands for nothing at first, in units of the temperature.
_NOTHING = 3.0
_SEED = 20261129

Ids = Sequence[int]
Tasks = Callable[[np.random.Generator], Sequence["Task"]]


@dataclass(frozen=True, slots=True)
class Task:
    """The ids of a text's tokens, the vectors of the candidates, by rows in one or more parts, and the places of those
    that it is to be near to."""

    ids: Ids
    candidates: Sequence[Tensor]
    wanted: Sequence[int]


def learn(encoder: AdaptableEncoder, tasks: Tasks, rounds: int) -> float:
    """Learn the adapter of an encoder from the tasks of each of some rounds, as many in each. Deterministic.

    Returns the cosine that stands for nothing, which counts where any task wants nothing.
    """
    torch.manual_seed(_SEED)
    generator = np.random.default_rng(_SEED)
    first = tasks(generator)
    can_want_nothing = any(not task.wanted for task in first)
    nothing = nn.Parameter(torch.tensor(_NOTHING if can_want_nothing else -math.inf), requires_grad=can_want_nothing)
    parameters = [each for each in (*encoder.parameters(), nothing) if each.requires_grad]
    optimiser = torch.optim.AdamW(parameters, lr=_RATE, weight_decay=_DECAY)
    steps = rounds * (len(first) // _BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / _WARM) * max(0.0, 1 - step / steps)
    )
    for _ in range(rounds):
        for batch in _batches(tasks(generator), generator):
            vectors = encoder([task.ids for task in batch])
            losses = [_loss(task, vector, nothing) for task, vector in zip(batch, vectors, strict=True)]
            optimiser.zero_grad()
            torch.stack(losses).mean().backward()
            nn.utils.clip_grad_norm_(parameters, _LONGEST_STEP)
            optimiser.step()
            schedule.step()
    return float(nothing.detach()) * _TEMPERATURE


def _loss(task: Task, vector: Tensor, nothing: Tensor) -> Tensor:
    scores = torch.cat([part @ vector for part in task.candidates]) / _TEMPERATURE
    wanted = scores[list(task.wanted)].logsumexp(0) if task.wanted else nothing
    return torch.cat([scores, nothing[None]]).logsumexp(0) - wanted


def _batches(tasks: Sequence[Task], generator: np.random.Generator) -> Iterator[Sequence[Task]]:
    """The tasks, but for fewer than a batch of them, those together that are about as long, in random order."""
    chosen = [tasks[at] for at in generator.permutation(len(tasks))[: len(tasks) // _BATCH * _BATCH]]
    in_order = sorted(chosen, key=lambda task: len(task.ids) + generator.uniform(0, _ABOUT_AS_LONG))
    for start in generator.permutation(range(0, len(in_order), _BATCH)):
        yield in_order[start : start + _BATCH]


@torch.no_grad()
def vectors_of(encoder: AdaptableEncoder, texts: Sequence[Ids]) -> list[Tensor]:
    """The vectors of texts by an encoder as it is now."""
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    found: dict[int, Tensor] = {}
    for start in range(0, len(order), _BATCH):
        some = order[start : start + _BATCH]
        found |= dict(zip(some, encoder([texts[at] for at in some]), strict=True))
    return [found[at] for at in range(len(texts))]


def ids_of(model: BuiltInModel, texts: Sequence[str], role: Role) -> list[Ids]:
    """The ids of the tokens of texts; of a long text the first and the mark of the end."""
    with tempfile.TemporaryDirectory() as directory:
        embedder = load_local(Path(directory), model)
        found = [embedder.ids(text, role) for text in texts]
    return [ids if len(ids) <= _MOST_TOKENS else [*ids[: _MOST_TOKENS - 1], ids[-1]] for ids in found]
