"""Fits the model of what a sentence is worth, and shows what it finds of lives that it was not fitted to:
`python -m reverie_bench.worth`; with `--held` nothing is fitted, and it shows that of the lives which are held back.
"""

from __future__ import annotations

import asyncio
import json
import sys
import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from reverie_bench.changes.pairs import labelled_groups
from reverie_bench.recall.logistic import logit
from reverie_bench.sentence_fit import FittedKind, Floats, file_of, fit_kind, vectors_of
from reverie_bench.tagged import tagged_lives
from reverie_server.heuristics.worth_model import KINDS, MODEL_FILE, WorthKind, model
from reverie_server.search.labelled_messages import Label, labelled_messages

_FOLDS, _RIDGE = 8, 0.3
# Of the plain sentences one of so many: with more of them any such sentence counts as lasting.
_PLAIN_OF = 4
# So much of what people say is of a kind in the lives by which its thresholds were chosen.
_SHARES: Mapping[WorthKind, float] = {"passing": 0.329, "person": 0.175}
_THRESHOLDS = (-0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
_BY_WORDS = "words"
_LABELS: tuple[Label, ...] = ("personal", "others", "small_talk", "general", "neutral")


async def main() -> None:
    """Write the model beside the module that reads it, unless the held lives are asked for, and print what it finds."""
    is_held = "--held" in sys.argv
    lives = [life for life in tagged_lives() if life.is_held == is_held]
    lines = [(life, line) for life in lives for line in life.lines]
    texts, tags = [line.text for _, line in lines], np.array([line.tag for _, line in lines])
    if is_held:
        odds = await _log_odds(texts)
    else:
        others = _others()
        vectors = await vectors_of([*texts, *others])
        folds = np.array([_fold(life.name) for life, _ in lines] + [_fold(text) for text in others])
        fitted: dict[str, FittedKind] = {}
        for kind in KINDS:
            is_of_kind = (tags == kind) * 1.0
            if kind == "passing":
                # Of the person nothing is known of these.
                is_of_kind = np.r_[is_of_kind, [float(each) for each in others.values()]]
            count = len(is_of_kind)
            rows = {name: each[:count] for name, each in vectors.items()}
            of_kind = fit_kind([*texts, *others][:count], rows, is_of_kind, folds[:count], _RIDGE)
            fitted[kind] = _at_share(of_kind, _SHARES[kind], float((tags == kind).mean()))
        MODEL_FILE.write_text(json.dumps(file_of(fitted)) + "\n")
        model.cache_clear()
        odds = {(kind, _BY_WORDS): fitted[kind].by_words[: len(texts)] for kind in KINDS}
        odds |= {(kind, name): rows[: len(texts)] for kind in KINDS for name, rows in fitted[kind].by_meaning.items()}
    print(f"{len(lives)} lives, {len(lines)} lines")
    labelled = {label: await _log_odds(labelled_messages(label)) for label in _LABELS}
    for (kind, by), of_lines in odds.items():
        print(f"{kind}, by {by}: from some log-odds on, precision, recall, and what is taken of others")
        for least in _THRESHOLDS:
            shares = _shares(labelled, kind, by, least)
            print(f"  {least:4.1f}: {_figures(kind, tags, of_lines, least)}; of messages {shares}")


def _at_share(fitted: FittedKind, share: float, fitted_share: float) -> FittedKind:
    """A model as of lives of which a share is of the kind, fitted to lives of which another share is."""
    shift = logit(share) - logit(fitted_share)
    words = {**fitted.words, "calibrated_offset": round(fitted.words["calibrated_offset"] + shift, 4)}
    meaning = {
        name: {**one, "joint_offset": round(one["joint_offset"] + shift, 4)} for name, one in fitted.meaning.items()
    }
    by_meaning = {name: rows + shift for name, rows in fitted.by_meaning.items()}
    return FittedKind(words, meaning, fitted.by_words + shift, by_meaning)


def _others() -> dict[str, bool]:
    """Further sentences, each with whether it is passing: small talk, and plain ones that say how something is."""
    plain = [text for group in labelled_groups() if group.replaced for text in (*group.said, *group.replaced)]
    found = {text: False for text in plain if zlib.crc32(text.encode()) % _PLAIN_OF == 0}
    return found | dict.fromkeys(labelled_messages("small_talk"), True)


def _fold(name: str) -> int:
    return zlib.crc32(f"fold {name}".encode()) % _FOLDS


async def _log_odds(texts: Sequence[str]) -> dict[tuple[WorthKind, str], Floats]:
    """The log-odds of texts, as the server has them, by kind and by words or an embedding model."""
    fitted = model()
    found = {(kind, _BY_WORDS): np.array([fitted.by_words(kind, text) for text in texts]) for kind in KINDS}
    for name, rows in (await vectors_of(texts)).items():
        for kind in KINDS:
            each = [
                fitted.by_meaning(kind, text, row.astype(np.float32), name)
                for text, row in zip(texts, rows, strict=True)
            ]
            found[kind, name] = np.array(each, np.float64)
    return found


def _figures(kind: WorthKind, tags: np.typing.NDArray[np.str_], odds: Floats, least: float) -> str:
    taken = odds > least
    precision = (tags[taken] == kind).mean() if taken.any() else float("nan")
    shares = [f"{tag} {taken[tags == tag].mean():.3f}" for tag in ("person", "lasting", "passing") if tag != kind]
    return f"{precision:.3f}, {taken[tags == kind].mean():.3f}, {', '.join(shares)}"


def _shares(
    labelled: Mapping[Label, Mapping[tuple[WorthKind, str], Floats]], kind: WorthKind, by: str, least: float
) -> str:
    return ", ".join(f"{label} {(odds[kind, by] > least).mean():.2f}" for label, odds in labelled.items())


if __name__ == "__main__":
    asyncio.run(main())
