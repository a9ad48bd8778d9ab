"""Which spans of a text say what, by a linear layer on the last hidden states of a model's tokens (BIO tagging).

A label has two tags, for its first token and for those behind it, and one tag is of no label. The tags of a text are
the likeliest that make spans (Viterbi): what goes on stands behind what it goes on with. The layer and the adapter
under it are learnt from marked sentences (`python -m reverie_bench.marks.learn`).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_FOLDER = Path(__file__).parent / "adapters"


@dataclass(frozen=True, slots=True)
class Mark:
    """A span of a text, in characters, what it says, and how likely it is that it says that, from 0 to 1."""

    start: int
    end: int
    label: str
    probability: float


@dataclass(frozen=True, slots=True)
class TagLayer:
    """Hidden states `[hidden]` to the scores of the tags: none, and for each label its first token and the others.

    `weights` is `[hidden, 1 + 2 · labels]`, `offsets` has one for each tag.
    """

    labels: tuple[str, ...]
    weights: NDArray[np.float32]
    offsets: NDArray[np.float32]

    def log_shares(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        """The logarithm of how likely each tag is, of states `[…, hidden]`."""
        scores = states @ self.weights + self.offsets
        scores -= scores.max(axis=-1, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True)), np.float32)


def tag_layer_file(model: str) -> Path:
    """Where the layer of a built-in model is."""
    return _FOLDER / f"{model}.tags.npz"


def read_tag_layer(content: bytes) -> TagLayer:
    """The layer that `packed_tag_layer` made the content of."""
    with np.load(io.BytesIO(content), allow_pickle=False) as source:
        labels = tuple(str(label) for label in source["labels"])
        return TagLayer(labels, source["weights"].astype(np.float32), source["offsets"].astype(np.float32))


def packed_tag_layer(layer: TagLayer) -> bytes:
    """A layer as the content of a file, its weights as halves."""
    content = io.BytesIO()
    weights = layer.weights.astype(np.float16)
    np.savez_compressed(content, labels=np.array(layer.labels), weights=weights, offsets=layer.offsets)
    return content.getvalue()


def marks_of(
    text: str, pieces: Sequence[tuple[int, int]], log_shares: NDArray[np.float32], labels: Sequence[str]
) -> list[Mark]:
    """The marks of a text, in its order: of its tokens' places and of how likely each tag is, `[tokens, tags]`."""
    found: list[Mark] = []
    tags = _likeliest(log_shares) if pieces else []
    at = 0
    while at < len(tags):
        tag, first = tags[at], at
        at += 1
        if tag == 0:
            continue
        while at < len(tags) and tags[at] == tag + 1:
            at += 1
        start, end = pieces[first][0], pieces[at - 1][1]
        start += len(text[start:end]) - len(text[start:end].lstrip())
        share = float(np.exp(np.mean([log_shares[place, tags[place]] for place in range(first, at)])))
        if start < end:
            found.append(Mark(start, end, labels[(tag - 1) // 2], share))
    return found


def _likeliest(log_shares: NDArray[np.float32]) -> list[int]:
    """The likeliest tags of which each inner one stands behind the first or an inner one of its label."""
    count = log_shares.shape[1]
    inner = np.arange(2, count, 2)
    best = log_shares[0].copy()
    best[inner] = -np.inf
    back = np.zeros(log_shares.shape, np.int64)
    for place in range(1, len(log_shares)):
        back[place] = best.argmax()
        begun = best[inner - 1] >= best[inner]
        back[place, inner] = np.where(begun, inner - 1, inner)
        best = best[back[place]] + log_shares[place]
    tags = [int(best.argmax())]
    for place in range(len(log_shares) - 1, 0, -1):
        tags.append(int(back[place, tags[-1]]))
    return tags[::-1]
