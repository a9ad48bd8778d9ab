"""Makes the trees that weigh what the model of pairs says in whole lives: `python -m reverie_bench.changes.whole_lives`
(which needs `reverie[models]`), after `changes.fit`.

They learn from the lives of `bench truth` that one may look at, but for those of one fold. There a sentence ends an
earlier one where the earlier one is tagged as over, gives a superseded answer to a question, and the later one gives
the current answer, or another superseded one. With how well they tell it in lives that they were not made of: each of
the other folds is judged by the rest, then the fold that is left out by all.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from reverie_bench.changes.pairs import FOLDS, LEFT_OUT, fold_of
from reverie_bench.sentence_fit import Floats, vectors_by
from reverie_bench.tree_fit import TreeSizes, fit_trees, trees_file_of
from reverie_bench.truth.judge import holds
from reverie_bench.truth.life import Life, Question, Statement, Tag, load_lives
from reverie_indexer.embed.built_in import E5
from reverie_indexer.embed.protocol import Role
from reverie_server.heuristics.changes.change_pairs import COLUMNS, TREES_FILE, PairModel, pair_models, units_of
from reverie_server.heuristics.changes.judged_pairs import EarlierSentence, NewSentence, nearness_of, pair_rows
from reverie_server.heuristics.changes.paired_changes import APART
from reverie_server.heuristics.spoken_sentences import spoken_sentences

LIMIT, LIKELY, CERTAIN = -2.4, -0.9, 0.9
"""From these log-odds on a pair is a change, a likely one, and one whatever the words say against it."""
SHARE_OF_PAIR = 0.3
"""What the model of pairs says counts so much beside trees: where half are found 41 that hold are marked, else 47"""
_SIZES = TreeSizes(trees=250, depth=4, fewest=20)
_COMPARED = 20
# Pairs of lower log-odds by themselves are no changes, of which the trees would learn nothing else.
_LEAST_OF_PAIR = -6.5
# What is over by what another sentence says is no example of what holds.
_WEIGHT_OF_OVER = 0.3
_HOLDS: frozenset[Tag] = frozenset({"worth", "true", "remember", "kin"})
_RECALLS = (0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75)

Vectors = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of a life as the server reads it, and its number there.

    `is_over` and `holds` are what the tags of its statements say; `over` are the questions to which it gives an answer
    that is over, `answers` those to which it gives any.
    """

    sentence: str
    number: int
    said_at: datetime
    is_over: bool
    holds: bool
    over: frozenset[int]
    answers: frozenset[int]


@dataclass(frozen=True, slots=True)
class LifePair:
    """A later sentence of a life with an earlier one, which it `ends` or not; `row` is what the trees weigh."""

    life: str
    old: Said
    new: Said
    row: NDArray[np.float32]

    @property
    def ends(self) -> bool:
        """Whether the later sentence gives another answer to a question than the earlier one, which is over."""
        return bool(self.old.over & self.new.answers)


async def main() -> None:
    """Write the trees beside the module that uses them, and print how well they do."""
    lives = load_lives()
    of_lives = {life.name: said_in(life) for life in lives}
    sentences = sorted({each.sentence for said in of_lives.values() for each in said})
    passages = await _vectors(sorted({*sentences, *(part for text in sentences for part in units_of(text))}), "passage")
    as_changes = await _vectors(sentences, "change")
    model = pair_models()[E5.name]
    pairs = [pair for life in lives for pair in pairs_of(life, of_lives[life.name], passages, as_changes, model)]
    rows = np.stack([pair.row for pair in pairs])
    ends = np.array([pair.ends for pair in pairs])
    weights = np.array([_WEIGHT_OF_OVER if pair.old.is_over and not pair.ends else 1.0 for pair in pairs])
    folds = np.array([fold_of(pair.life) for pair in pairs])
    others = folds != LEFT_OUT
    odds = np.zeros(len(pairs))
    for fold in range(FOLDS):
        if fold != LEFT_OUT:
            some = others & (folds != fold)
            odds[folds == fold] = fit_trees(rows[some], ends[some], _SIZES, weights[some]).log_odds(rows[folds == fold])
    fitted = fit_trees(rows[others], ends[others], _SIZES, weights[others])
    odds[~others] = fitted.log_odds(rows[~others])
    for name, chosen in (("by fold", others), ("lives of the fold that is left out", ~others)):
        some_pairs = [pair for pair, is_chosen in zip(pairs, chosen, strict=True) if is_chosen]
        print(f"{name}:")
        print(f"  the model of pairs: {how_well(some_pairs, rows[chosen, COLUMNS.index('of_pair')])}")
        print(f"  the trees: {how_well(some_pairs, odds[chosen])}")
        both = SHARE_OF_PAIR * rows[chosen, COLUMNS.index("of_pair")] + (1 - SHARE_OF_PAIR) * odds[chosen]
        print(f"  both: {how_well(some_pairs, both)}")
    weights_of = {"share_of_pair": SHARE_OF_PAIR, "limit": LIMIT, "likely": LIKELY, "certain": CERTAIN}
    TREES_FILE.write_text(json.dumps({E5.name: {**trees_file_of(fitted), **weights_of}}) + "\n", encoding="utf-8")


def pairs_of(
    life: Life, said: Sequence[Said], passages: Vectors, as_changes: Vectors, model: PairModel
) -> list[LifePair]:
    """What is near to each sentence of a life, of what its person said so long before that it may be otherwise."""
    parts = [np.stack([passages[part] for part in units_of(each.sentence)]) for each in said]
    found: list[LifePair] = []
    for new in said:
        vector, as_change = passages[new.sentence], as_changes[new.sentence]
        before = [old for old in said if old.said_at <= new.said_at - APART]
        if not before or model.ends(new.sentence, vector) < model.least_ends:
            continue
        earlier = [
            EarlierSentence(
                old.sentence,
                passages[old.sentence],
                nearness_of(parts[new.number], parts[old.number]),
                old.said_at,
            )
            for old in before
        ]
        near = [max(each.nearness, float(each.vector @ as_change)) for each in earlier]
        compared = np.argsort(-np.array(near), kind="stable")[:_COMPARED].tolist()
        sentence = NewSentence(new.sentence, life.language, vector, as_change, new.said_at)
        rows = pair_rows(sentence, [earlier[at] for at in compared], len(before), model)
        found += [LifePair(life.name, before[at], new, row) for at, row in zip(compared, rows, strict=True)]
    return [pair for pair in found if pair.row[COLUMNS.index("of_pair")] >= _LEAST_OF_PAIR]


def said_in(life: Life) -> list[Said]:
    """The sentences of the person of a life, as the server reads them, in the order of their days."""
    questions = [each for each in life.questions if each.old and not each.about_past]
    texts = [
        (session.said_at, text, message.statements)
        for session in sorted(life.sessions, key=lambda each: each.said_at)
        for message in session.messages
        if message.role == "user"
        for text in (message.text[span.start : span.end].strip() for span in spoken_sentences(message.text))
        if text
    ]
    return [_said(text, number, at, of_message, questions) for number, (at, text, of_message) in enumerate(texts)]


def _said(
    text: str, number: int, said_at: datetime, of_message: Sequence[Statement], questions: Sequence[Question]
) -> Said:
    tags = {each.tag for each in of_message if each.text in text or text in each.text}
    is_over = "old" in tags
    answers = {at for at, each in enumerate(questions) if holds(text, each.current) or holds(text, each.old)}
    over = {at for at in answers if is_over and not holds(text, questions[at].current)}
    return Said(text, number, said_at, is_over, bool(tags & _HOLDS), frozenset(over), frozenset(answers))


def how_well(pairs: Sequence[LifePair], odds: Floats) -> str:
    """For some shares of the sentences with a superseded answer that are marked: how many are right of those marked
    that are over or hold, where each sentence marks the one that it likeliest ends."""
    likeliest: dict[tuple[str, int], tuple[float, LifePair]] = {}
    for pair, own in zip(pairs, odds.tolist(), strict=True):
        key = (pair.life, pair.new.number)
        if key not in likeliest or own > likeliest[key][0]:
            likeliest[key] = (own, pair)
    marked: dict[tuple[str, int], tuple[float, Said]] = {}
    for own, pair in likeliest.values():
        key = (pair.life, pair.old.number)
        if key not in marked or own > marked[key][0]:
            marked[key] = (own, pair.old)
    total = len({(pair.life, pair.old.number) for pair in pairs if pair.old.over})
    in_order = sorted(marked.values(), key=lambda each: -each[0])
    answers = np.cumsum([bool(old.over) for _, old in in_order])
    over = np.cumsum([old.is_over for _, old in in_order])
    holding = np.cumsum([old.holds and not old.is_over for _, old in in_order])
    found = []
    for recall in _RECALLS:
        at = int(np.searchsorted(answers, recall * total))
        if at < len(in_order):
            right = over[at] / (over[at] + holding[at])
            found.append(
                f"{recall:g} marked, right {right:.2f} ({holding[at]} that hold; from {in_order[at][0]:.1f} on)"
            )
    return f"{total} superseded; {'; '.join(found)}"


async def _vectors(texts: Sequence[str], role: Role) -> Vectors:
    return dict(zip(texts, (await vectors_by(E5.name, texts, role)).astype(np.float32), strict=True))


if __name__ == "__main__":
    asyncio.run(main())
