"""Learns how a built-in model embeds a sentence that may tell a change: `python -m reverie_bench.changes.adapter`
(which needs `reverie[models]`).

The sentence is to be nearest to what it ends of all that the same person said before, or to nothing where it ends
nothing (`adapt.learn`). One fold of the lives is left out, of which `changes.fit` learns how far it is to be believed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from reverie_bench.adapt.encoder import AdaptableEncoder
from reverie_bench.adapt.learn import RANK, Task, ids_of, learn, vectors_of
from reverie_bench.changes.pairs import (
    LEFT_OUT,
    ChangeCase,
    cases_of_groups,
    cases_of_lives,
    fold_of,
    labelled_groups,
)
from reverie_bench.sentence_fit import vectors_by
from reverie_indexer.embed.adapter import adapter_file, packed
from reverie_indexer.embed.built_in import E5

_ROUNDS = 3
# Of sentences that end nothing, which are most, so many come to one that ends something; each round has others.
_WITHOUT = 1.5


async def main() -> None:
    """Write the adapter where the model looks for it, and print what it finds in held lives."""
    cases = [*cases_of_lives(held=False), *cases_of_groups(labelled_groups())]
    seen = [case for case in cases if case.earlier and fold_of(case.of) != LEFT_OUT]
    held = [case for case in cases_of_lives(held=True) if case.earlier]
    texts = sorted({text for case in (*seen, *held) for text in case.earlier})
    rows = (await vectors_by(E5.name, texts, "passage")).astype(np.float32)
    vectors = {text: torch.tensor(row) for text, row in zip(texts, rows, strict=True)}
    encoder = AdaptableEncoder(E5, RANK)
    print(f"as it is: {how_well(encoder, held, vectors)}", flush=True)
    nothing = fit(encoder, seen, vectors)
    print(f"adapted: {how_well(encoder, held, vectors)}; nothing is as near as {nothing:.3f}")
    adapter_file(E5.name, "change").write_bytes(packed(encoder.adapter()))


def fit(encoder: AdaptableEncoder, cases: Sequence[ChangeCase], vectors: Mapping[str, Tensor]) -> float:
    """Learn the adapter of an encoder from cases; the cosine that stands for nothing. Deterministic."""
    ids = ids_of(E5, [case.new for case in cases], "change")
    ending = [at for at, case in enumerate(cases) if case.ends]
    others = [at for at, case in enumerate(cases) if not case.ends]
    count = min(int(_WITHOUT * len(ending)), len(others))

    def tasks(generator: np.random.Generator) -> list[Task]:
        chosen = [*ending, *generator.choice(others, count, replace=False).tolist()]
        return [
            Task(ids[at], [vectors[text][None] for text in cases[at].earlier], sorted(cases[at].ends)) for at in chosen
        ]

    return learn(encoder, tasks, _ROUNDS)


def how_well(encoder: AdaptableEncoder, cases: Sequence[ChangeCase], vectors: Mapping[str, Tensor]) -> str:
    """How often what a sentence ends is nearest to it of all that was said before."""
    some = [case for case in cases if case.ends]
    found = vectors_of(encoder, ids_of(E5, [case.new for case in some], "change"))
    first = [
        int(torch.stack([vectors[text] for text in case.earlier]).mv(vector).argmax()) in case.ends
        for case, vector in zip(some, found, strict=True)
    ]
    return f"of {len(first)} changes {np.mean(first):.3f} are nearest to what they end"


if __name__ == "__main__":
    asyncio.run(main())
