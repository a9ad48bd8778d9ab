"""Learns which spans of a message say what of people's lives: `python -m reverie_bench.marks.learn`.

Needs `reverie[models]`, and half an hour. The adapter of the model and a linear layer on its tokens are learnt
together, by the cross entropy of the tags (AdamW), and written where the model looks for them. What is found of held
messages is printed by label, at some probabilities from which a mark may be believed.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from reverie_bench.adapt.encoder import AdaptableEncoder
from reverie_bench.marks import MarkedText, Span, marked_texts
from reverie_indexer.embed.adapter import adapter_file, packed
from reverie_indexer.embed.built_in import E5
from reverie_indexer.embed.local import load_tokeniser
from reverie_indexer.embed.marks import Mark, TagLayer, marks_of, packed_tag_layer, tag_layer_file

RANK = 16
_ROUNDS, _BATCH, _MOST_TOKENS, _ABOUT_AS_LONG = 6, 16, 96, 8
_RATE, _RATE_OF_LAYER, _DECAY, _WARM, _LONGEST_STEP, _DROPPED = 1.5e-3, 3e-3, 0.05, 100, 1.0, 0.1
_SEED = 20261130
# A label with fewer spans is not learnt.
_FEWEST = 40
_FROM = (0.5, 0.6, 0.7, 0.8, 0.9)
_IGNORED = -100
_RARE = ("ex", "next", "over")


@dataclass(frozen=True, slots=True)
class _Case:
    """A text in tokens, with the tag of each but the marks at its ends."""

    text: str
    ids: Sequence[int]
    pieces: Sequence[tuple[int, int]]
    tags: Sequence[int]


def main() -> None:
    """Learn, write what was learnt, and print what is found of held messages."""
    texts = marked_texts()
    labels = labels_of(texts)
    encoder, layer = learn(cases_of([text for text in texts if not text.is_held], labels), len(labels))
    found = TagLayer(tuple(labels), layer.weight.detach().T.numpy().copy(), layer.bias.detach().numpy().copy())
    adapter_file(E5.name, "marks").write_bytes(packed(encoder.adapter()))
    tag_layer_file(E5.name).write_bytes(packed_tag_layer(found))
    print("\n".join(report(encoder, layer, [text for text in texts if text.is_held], labels)))


def labels_of(texts: Sequence[MarkedText]) -> list[str]:
    """The labels that are learnt, in alphabetical order; rarer ones of what is over, or to come, are one each."""
    counts = Counter(span.label for text in texts for span in text.spans)
    often = {label for label, count in counts.items() if count >= _FEWEST}
    return sorted({*often, *(_first(label) for label in counts if _first(label) in _RARE)})


def shortened(label: str, labels: Collection[str]) -> str:
    """What is learnt of a label."""
    return label if label in labels or _first(label) not in _RARE else _first(label)


def _first(label: str) -> str:
    return label.partition("_")[0]


def cases_of(texts: Sequence[MarkedText], labels: Sequence[str]) -> list[_Case]:
    """The texts in tokens, with their tags; of a long one the beginning."""
    tokeniser = load_tokeniser(E5, E5.find_weights(), Path(tempfile.gettempdir()))
    numbers = {label: 1 + 2 * at for at, label in enumerate(labels)}
    found = []
    for text in texts:
        ids, pieces = tokeniser.ids(text.text), tokeniser.pieces(text.text)
        if len(ids) != len(pieces) + 2:
            continue
        tags = [0] * len(pieces)
        for span in text.spans:
            tag = numbers.get(shortened(span.label, labels))
            inside = [at for at, (start, end) in enumerate(pieces) if start < span.end and end > span.start]
            inside = [at for at in inside if text.text[slice(*pieces[at])].strip()]
            if tag is not None and inside:
                tags[inside[0]] = tag
                tags[inside[0] + 1 : inside[-1] + 1] = [tag + 1] * (inside[-1] - inside[0])
        if len(ids) > _MOST_TOKENS:
            ids, pieces = [*ids[: _MOST_TOKENS - 1], ids[-1]], pieces[: _MOST_TOKENS - 2]
            tags = tags[: len(pieces)]
        found.append(_Case(text.text, ids, pieces, tags))
    return found


def learn(cases: Sequence[_Case], labels: int) -> tuple[AdaptableEncoder, nn.Linear]:
    """The adapted encoder and the layer, learnt from cases. Deterministic."""
    torch.manual_seed(_SEED)
    generator = np.random.default_rng(_SEED)
    encoder = AdaptableEncoder(E5, RANK)
    layer = nn.Linear(E5.shape.hidden, 1 + 2 * labels)
    drop = nn.Dropout(_DROPPED)
    of_encoder = [each for each in encoder.parameters() if each.requires_grad]
    groups = [{"params": of_encoder, "lr": _RATE}, {"params": layer.parameters(), "lr": _RATE_OF_LAYER}]
    optimiser = torch.optim.AdamW(groups, weight_decay=_DECAY)
    steps = _ROUNDS * (len(cases) // _BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / _WARM) * max(0.0, 1 - step / steps)
    )
    # The layers that nothing is learnt of do their work once.
    lower = {id(case): encoder.lower([case.ids])[0].half() for case in cases}
    for number in range(_ROUNDS):
        total = 0.0
        for batch in _batches(cases, generator):
            scores = layer(drop(encoder.upper([lower[id(case)] for case in batch])[0]))
            loss = cross_entropy(scores.flatten(0, 1), _tags(batch, scores).flatten(), ignore_index=_IGNORED)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*of_encoder, *layer.parameters()], _LONGEST_STEP)
            optimiser.step()
            schedule.step()
            total += float(loss.detach())
        print(f"round {number + 1}: {total / (len(cases) // _BATCH):.4f}", flush=True)
    return encoder, layer


def _tags(batch: Sequence[_Case], scores: Tensor) -> Tensor:
    tags = torch.full(scores.shape[:2], _IGNORED)
    for row, case in enumerate(batch):
        tags[row, 1 : len(case.tags) + 1] = torch.tensor(case.tags, dtype=torch.long)
    return tags


def _batches(cases: Sequence[_Case], generator: np.random.Generator) -> Iterator[Sequence[_Case]]:
    """The cases, but for fewer than a batch of them, those together that are about as long, in random order."""
    chosen = [cases[at] for at in generator.permutation(len(cases))[: len(cases) // _BATCH * _BATCH]]
    in_order = sorted(chosen, key=lambda case: len(case.ids) + generator.uniform(0, _ABOUT_AS_LONG))
    for start in generator.permutation(range(0, len(in_order), _BATCH)):
        yield in_order[start : start + _BATCH]


def report(
    encoder: AdaptableEncoder, layer: nn.Linear, texts: Sequence[MarkedText], labels: Sequence[str]
) -> Iterator[str]:
    """The lines that say how many spans are found, and how many that are found are right, exactly or nearly."""
    right: Counter[tuple[str, float]] = Counter()
    found: Counter[tuple[str, float]] = Counter()
    known: Counter[str] = Counter()
    by_text = {text.text: text for text in texts}
    for case in cases_of(texts, labels):
        with torch.no_grad():
            states = encoder.states([case.ids])[0][0, 1:-1]
            shares = torch.log_softmax(layer(states), -1).numpy()
        marks = marks_of(case.text, case.pieces, shares, labels)
        spans = by_text[case.text].spans
        known.update(label for span in spans if (label := shortened(span.label, labels)) in labels)
        for limit in _FROM:
            for mark in marks:
                if mark.probability >= limit:
                    found[mark.label, limit] += 1
                    right[mark.label, limit] += any(_is_same(mark, span, labels) for span in spans)
    for label in [*sorted(known, key=lambda each: -known[each]), "all"]:
        of_label = [label] if label != "all" else list(known)
        count = sum(known[each] for each in of_label)
        figures = []
        for limit in _FROM:
            is_right, of = (sum(counts[each, limit] for each in of_label) for counts in (right, found))
            figures.append(f"{is_right / max(count, 1):.2f}/{is_right / max(of, 1):.2f}")
        yield f"{label:12} {count:5}  recall/precision from {_FROM}: {'  '.join(figures)}"


def _is_same(mark: Mark, span: Span, labels: Collection[str]) -> bool:
    """Whether a mark has more than half of a span and of itself in common with one of its label."""
    common = min(mark.end, span.end) - max(mark.start, span.start)
    longer = max(mark.end - mark.start, span.end - span.start)
    return mark.label == shortened(span.label, labels) and common > 0 and 2 * common >= longer


if __name__ == "__main__":
    main()
