"""Learns how the built-in models embed questions and messages: `python -m reverie_bench.answers [model] [role]` (which
needs `reverie[models]`).

What somebody sends is to be nearer to the lines that are relevant to it than to the others of the same life or talk
(`adapt.learn`). A question is put to a memory that has what it asks for. A message may need nothing, and is then to be
near to no line, of the same life or of somebody else's; what others ask about long talks is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from torch import Tensor

from reverie_bench.adapt.encoder import AdaptableEncoder
from reverie_bench.adapt.learn import RANK, Ids, Task, ids_of, learn, vectors_of
from reverie_bench.answers import IDLE, KINDS, Kind, Life, Message, messages, needs_nothing
from reverie_bench.sentence_fit import vectors_by
from reverie_indexer.embed.adapter import adapter_file, packed
from reverie_indexer.embed.built_in import BUILT_IN, BuiltInModel

Asked = Literal["question", "message"]
SCALE = 0.8
"""How much is taken of what is learnt."""
_ROUNDS: Mapping[Asked, int] = {"question": 3, "message": 2}
_RANKS: Mapping[Asked, int] = {"question": RANK, "message": 2 * RANK}
# What is asked about long talks is for questions alone: messages that learn from it, too, find less.
_LONG_TALK = 45
_SEED, _TOP = 20261129, 5
# Models that read English alone learn from English.
_ENGLISH = frozenset({"all-MiniLM-L6-v2"})


@dataclass(frozen=True, slots=True)
class Sent:
    """The ids of a message's tokens, the life that it is about, and the places of what is relevant in it."""

    ids: Ids
    life: Life
    relevant: Sequence[int]
    kind: Kind


async def main(only: str | None = None, only_as: str | None = None) -> None:
    """Write the adapters where the models look for them, and print what each finds in held lives."""
    for name, model in BUILT_IN.items():
        if only not in (None, name):
            continue
        sent = _sent(model, None if name not in _ENGLISH else "english")
        lines = await _lines(name, sent)
        held = [each for each in sent if each.life.is_held]
        for asked in _ROUNDS:
            if only_as not in (None, asked):
                continue
            encoder = AdaptableEncoder(model, _RANKS[asked])
            print(f"{name} as it is: {how_well(encoder, held, lines)}", flush=True)
            seen = [each for each in sent if not each.life.is_held]
            if asked == "message":
                seen = [each for each in seen if each.life.is_own or len(each.life.lines) < _LONG_TALK]
            fit(encoder, seen, lines, asked)
            encoder.scale = SCALE
            print(f"{name} as a {asked}: {how_well(encoder, held, lines)}", flush=True)
            adapter_file(name, asked).write_bytes(packed(encoder.adapter()))


def fit(encoder: AdaptableEncoder, sent: Sequence[Sent], lines: Mapping[str, Tensor], asked: Asked) -> None:
    """Learn the adapter of an encoder from what was sent; `lines` are the vectors of each life's. Deterministic."""
    names: dict[str, dict[str, None]] = {}
    for each in sent:
        names.setdefault(each.life.language, {})[each.life.name] = None
    others = {language: list(of_language) for language, of_language in names.items()}

    def questions(generator: np.random.Generator) -> list[Task]:
        del generator
        return [Task(each.ids, [lines[each.life.name]], each.relevant) for each in sent if each.relevant]

    def messages(generator: np.random.Generator) -> list[Task]:
        found = []
        for each in sent:
            other = str(generator.choice(others[each.life.language]))
            beside = [lines[other]] if other != each.life.name else []
            found.append(Task(each.ids, [lines[each.life.name], *beside], each.relevant))
        return found

    learn(encoder, questions if asked == "question" else messages, _ROUNDS[asked])


def how_well(encoder: AdaptableEncoder, sent: Sequence[Sent], lines: Mapping[str, Tensor]) -> str:
    """What of what is relevant is among the nearest lines, and how well the nearest line tells a message that needs
    something from one that needs nothing (the area under the ROC curve)."""
    vectors = vectors_of(encoder, [each.ids for each in sent])
    cosines = [(lines[each.life.name] @ vector).numpy() for each, vector in zip(sent, vectors, strict=True)]
    best = np.array([each.max() for each in cosines])
    kinds = np.array([each.kind for each in sent])
    needs = np.isin(kinds, ("direct", "indirect"))
    is_own = np.array([each.life.is_own for each in sent])
    parts = []
    for kind in KINDS:
        of_kind = np.flatnonzero(kinds == kind).tolist()
        if of_kind and needs[of_kind].all():
            for of, some in (("lives", is_own), ("talks", ~is_own)):
                shares = [_found(cosines[at], sent[at].relevant) for at in of_kind if some[at]]
                if shares:
                    parts.append(f"{len(shares)} {kind} of {of}, relevant in the top {_TOP}: {np.mean(shares):.3f}")
        elif of_kind:
            area = roc_auc_score(np.r_[needs[needs], needs[of_kind]], np.r_[best[needs], best[of_kind]])
            parts.append(f"{len(of_kind)} {kind}, told from those that need something: {area:.3f}")
    return "; ".join(parts)


def _found(cosines: NDArray[np.float32], relevant: Sequence[int]) -> float:
    nearest = np.argsort(-cosines, kind="stable")[:_TOP]
    return len(set(nearest.tolist()) & set(relevant)) / len(set(relevant))


def _sent(model: BuiltInModel, language: str | None) -> list[Sent]:
    """The messages, and those that need nothing of any life: each of these is of some life that is not held, of its
    language where there are any."""
    some = [each for each in messages() if language in (None, each.life.language)]
    seen = list({each.life.name: each.life for each in some if each.life.is_own and not each.life.is_held}.values())
    generator = np.random.default_rng(_SEED)
    for of in IDLE if language is None else (language,):
        able = [life for life in seen if life.language == of] or seen
        some += [
            Message(text, able[generator.integers(len(able))], (), (), "unrelated")
            for text in needs_nothing(of, is_learnt=True)
        ]
    # The model is loaded once for all.
    ids = ids_of(model, [each.text for each in some], "question")
    return [Sent(of_text, each.life, each.relevant, each.kind) for of_text, each in zip(ids, some, strict=True)]


async def _lines(name: str, sent: Sequence[Sent]) -> dict[str, Tensor]:
    lives = {each.life.name: each.life for each in sent}
    texts = sorted({line for life in lives.values() for line in life.lines})
    rows = dict(zip(texts, (await vectors_by(name, texts, "passage")).astype(np.float32), strict=True))
    return {life.name: torch.tensor(np.stack([rows[line] for line in life.lines])) for life in lives.values()}
