"""Makes the model of changes of the labelled pairs: `python -m reverie_bench.changes.fit`.

With how well it tells pairs apart that it was not made of: each fifth of the subjects is judged by the other four.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reverie_bench.changes.pairs import LANGUAGES, Pair, labelled_groups, other_statements, pairs_of
from reverie_bench.recall.logistic import Fit, auc, fit
from reverie_indexer.embed.built_in import E5
from reverie_indexer.embed.local import load_local
from reverie_server.heuristics.changes.change_pairs import FEATURES, WEIGHTS_FILE, pair_features

Floats = NDArray[np.float64]
LIMIT = -1.7
"""From these log-odds on a pair is a change: less than even, since only what is nearest of all that was said is judged:
for other pairs the offset of the model is right."""
# The strength of the prior, as the scale of what is fitted: `logistic.fit` has one ridge for all slopes.
_SCALES = {"features": 0.1, "new": 0.15, "old": 0.1}
# Sentences about different things often share a name, which pairs of other groups here seldom do: so many of ten do.
_SHARING = 3
_NEARER = 0.08
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Rows:
    """Pairs as they are fitted: features, vectors of the old and the new sentence, and whether they are a change."""

    features: Floats
    old: Floats
    new: Floats
    is_change: NDArray[np.bool_]

    def scaled(self) -> Floats:
        """All columns, each with its prior."""
        return np.hstack([self.features * _SCALES["features"], self.new * _SCALES["new"], self.old * _SCALES["old"]])


async def main() -> None:
    """Write the model beside the module that uses it."""
    groups = labelled_groups()
    texts = {text for group in groups for text in (*group.said, *group.replaced, *group.holds)}
    texts |= {text for language in LANGUAGES for text in other_statements(language)}
    ordered = sorted(texts)
    with tempfile.TemporaryDirectory() as directory:
        embedder = load_local(Path(directory), E5)
        found = await embedder.embed(ordered)
        await embedder.aclose()
    vectors = {text: np.asarray(vector, np.float32) for text, vector in zip(ordered, found, strict=True)}
    pairs = pairs_of(groups, vectors)
    rows = rows_of(pairs, vectors)
    say_how_well(pairs, rows)
    fitted = fit(rows.scaled(), rows.is_change)
    weights = {E5.name: _weights(fitted)}
    WEIGHTS_FILE.write_text(json.dumps(weights) + "\n", encoding="utf-8")


def rows_of(pairs: Sequence[Pair], vectors: Mapping[str, NDArray[np.float32]]) -> Rows:
    """The pairs as they are fitted."""
    features = []
    for pair in pairs:
        similarity = float(vectors[pair.old] @ vectors[pair.new])
        seen = pair_features(pair.old, pair.new, pair.language, similarity)
        is_sharing = zlib.crc32(f"{pair.new}{pair.old}".encode()) % 10 < _SHARING
        if not pair.is_of_one and is_sharing and not seen[FEATURES.index("is_shared")]:
            seen = pair_features(pair.old, pair.new, pair.language, similarity + _NEARER)
            if zlib.crc32(pair.new.encode()) % 2:
                seen[FEATURES.index("shared")], seen[FEATURES.index("is_shared")] = 1 / 3, 1
            else:
                seen[FEATURES.index("shared_name")] = 1
        features.append(seen)
    return Rows(
        np.stack(features).astype(np.float64),
        np.stack([vectors[pair.old] for pair in pairs]).astype(np.float64),
        np.stack([vectors[pair.new] for pair in pairs]).astype(np.float64),
        np.array([pair.is_change for pair in pairs]),
    )


def say_how_well(pairs: Sequence[Pair], rows: Rows) -> None:
    """Print how well pairs about subjects that a model was not made of are told apart."""
    fold = np.array([zlib.crc32(pair.about.encode()) % _FOLDS for pair in pairs])
    columns, odds = rows.scaled(), np.zeros(len(pairs))
    for each in range(_FOLDS):
        fitted = fit(columns[fold != each], rows.is_change[fold != each])
        odds[fold == each] = columns[fold == each] @ np.array(fitted.slopes) + fitted.intercept
    is_found = odds >= LIMIT
    of_one = np.array([pair.is_of_one for pair in pairs])
    right = rows.is_change & is_found
    print(
        f"{len(pairs)} pairs, {rows.is_change.sum()} changes; of subjects not seen: area under the curve "
        f"{auc(odds, rows.is_change):.3f}; found {right.sum() / rows.is_change.sum():.2f}, of what is found right "
        f"{right.sum() / is_found.sum():.2f}; of what holds taken for changed "
        f"{is_found[of_one & ~rows.is_change].mean():.3f}, of what is about something else "
        f"{is_found[~of_one].mean():.4f}"
    )


def _weights(fitted: Fit) -> dict[str, object]:
    slopes = np.array(fitted.slopes)
    dimension = (len(slopes) - len(FEATURES)) // 2
    features, new, old = np.split(slopes, [len(FEATURES), len(FEATURES) + dimension])
    return {
        "features": {
            name: round(float(weight), 4) for name, weight in zip(FEATURES, features * _SCALES["features"], strict=True)
        },
        "new": [round(float(weight), 4) for weight in new * _SCALES["new"]],
        "old": [round(float(weight), 4) for weight in old * _SCALES["old"]],
        "offset": round(fitted.intercept, 4),
        "limit": LIMIT,
    }


if __name__ == "__main__":
    asyncio.run(main())
