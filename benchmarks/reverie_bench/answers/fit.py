"""Fits the map that moves the vector of a query towards what answers it: `python -m reverie_bench.answers`.

Each message is to be nearer to the lines that are relevant to it than to the others of the same life: the cross entropy
of the softmax of their cosines (InfoNCE), by AdamW with a strong decay. What is found is then taken by half: all of it
serves the messages that it was fitted to, half of it any other, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reverie_bench.answers import Message, messages
from reverie_bench.sentence_fit import packed_numbers, vectors_by
from reverie_indexer.embed.built_in import BUILT_IN
from reverie_server.search.query_adapter import ADAPTERS_FILE, QueryAdapter

RANK, SHARE = 64, 0.5
_TEMPERATURE, _ROUNDS, _BATCH = 0.07, 12, 64
_RATE, _DECAY, _MOMENTUM, _SCALE, _TINY = 2e-3, 3.0, 0.9, 0.999, 1e-8
_SEED, _TOP = 20261129, 5
# Models that read English alone learn from English.
_ENGLISH = frozenset({"all-MiniLM-L6-v2"})

Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Task:
    """A message as a vector, the vectors of the lines of its life, and which of them are relevant to it."""

    query: Rows
    lines: Rows
    is_relevant: NDArray[np.bool_]
    message: Message


async def main() -> None:
    """Write the adapters beside the module that reads them, and print what each finds in held lives."""
    source = {}
    for name in BUILT_IN:
        tasks = await _tasks(name)
        fitted = fit([task for task in tasks if not task.message.life.is_held])
        parts = {"up": fitted.up, "down": fitted.down}
        source[name] = {"rank": RANK, **{part: packed_numbers(np.round(each, 3)) for part, each in parts.items()}}
        _show(name, [task for task in tasks if task.message.life.is_held], fitted)
    ADAPTERS_FILE.write_text(json.dumps(source) + "\n")


async def _tasks(name: str) -> list[Task]:
    some = [each for each in messages() if name not in _ENGLISH or each.life.language == "english"]
    lives = {each.life.name: each.life for each in some}
    texts = sorted({line.text for life in lives.values() for line in life.lines})
    rows = (await vectors_by(name, texts, "passage")).astype(np.float32)
    row_of = {text: row for row, text in enumerate(texts)}
    lines = {key: rows[[row_of[line.text] for line in life.lines]] for key, life in lives.items()}
    queries = (await vectors_by(name, [each.text for each in some])).astype(np.float32)
    return [
        Task(query, lines[each.life.name], _flags(each, len(each.life.lines)), each)
        for each, query in zip(some, queries, strict=True)
    ]


def fit(tasks: Sequence[Task], share: float = SHARE) -> QueryAdapter:
    """The adapter for some tasks, of which so large a share is taken. Deterministic."""
    generator = np.random.default_rng(_SEED)
    dimensions = len(tasks[0].query)
    weights = np.stack([np.zeros((dimensions, RANK)), generator.normal(0, 0.05, (dimensions, RANK))])
    moments, squares, steps = np.zeros_like(weights), np.zeros_like(weights), 0
    for _ in range(_ROUNDS):
        order = generator.permutation(len(tasks))
        for batch in np.array_split(order, len(tasks) // _BATCH):
            slope = _slope([tasks[at] for at in batch], weights[0], weights[1])
            steps += 1
            moments = _MOMENTUM * moments + (1 - _MOMENTUM) * slope
            squares = _SCALE * squares + (1 - _SCALE) * slope**2
            mean, spread = moments / (1 - _MOMENTUM**steps), squares / (1 - _SCALE**steps)
            weights = weights * (1 - _RATE * _DECAY) - _RATE * mean / (np.sqrt(spread) + _TINY)
    return QueryAdapter((share * weights[0]).astype(np.float32), weights[1].astype(np.float32))


def _slope(tasks: Sequence[Task], up: NDArray[np.float64], down: NDArray[np.float64]) -> NDArray[np.float64]:
    """The derivatives of the mean cross entropy of tasks, by `up` and by `down`."""
    queries = np.stack([task.query for task in tasks])
    reduced = queries @ down
    moved = queries + reduced @ up.T
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    adapted = moved / lengths
    of_adapted = np.stack([_pull(task, query) for task, query in zip(tasks, adapted, strict=True)]) / len(tasks)
    of_moved = (of_adapted - adapted * (adapted * of_adapted).sum(axis=1, keepdims=True)) / lengths
    return np.stack([of_moved.T @ reduced, queries.T @ (of_moved @ up)])


def _pull(task: Task, adapted: NDArray[np.float64]) -> NDArray[np.float64]:
    """The derivative of the cross entropy of a task by its adapted query."""
    scores = task.lines @ adapted / _TEMPERATURE
    wanted = np.where(task.is_relevant, scores, -np.inf)
    return np.asarray(task.lines.T @ ((_softmax(scores) - _softmax(wanted)) / _TEMPERATURE))


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())


def _flags(message: Message, count: int) -> NDArray[np.bool_]:
    flags = np.zeros(count, np.bool_)
    flags[list(message.relevant)] = True
    return flags


def _show(name: str, tasks: Sequence[Task], fitted: QueryAdapter) -> None:
    ways: Mapping[str, Callable[[Rows], Rows]] = {"as it is": lambda query: query, "adapted": fitted.adapted}
    for is_indirect in (False, True):
        some = [task for task in tasks if task.message.is_indirect == is_indirect]
        found = ", ".join(f"{way} {np.mean([_found(task, move) for task in some]):.3f}" for way, move in ways.items())
        print(f"{name}: {len(some)} {'indirect' if is_indirect else 'direct'} messages, relevant in the top 5: {found}")


def _found(task: Task, move: Callable[[Rows], Rows]) -> float:
    """The share of what is relevant among the nearest lines."""
    nearest = np.argsort(-(task.lines @ move(task.query)), kind="stable")[:_TOP]
    return float(task.is_relevant[nearest].sum() / task.is_relevant.sum())
