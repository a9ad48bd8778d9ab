"""The vector of a query, moved towards what answers it; and the messages that this is learnt from."""

from __future__ import annotations

import numpy as np
import pytest

from reverie_bench.answers import messages
from reverie_bench.answers.fit import RANK, Task, fit
from reverie_indexer.embed.built_in import BUILT_IN
from reverie_indexer.model import ModelIdentity
from reverie_server.search.query_adapter import QueryAdapter, adapted, adapter_of


def _unit(*values: float) -> np.ndarray:
    vector = np.array(values, np.float32)
    return vector / np.linalg.norm(vector)


def _identity(provider: str, name: str, dimension: int = 384) -> ModelIdentity:
    return ModelIdentity(provider, name, "1", dimension, normalised=True)


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_built_in_model_has_an_adapter_of_its_dimensions(name: str) -> None:
    adapter = adapter_of(_identity("local", name))
    assert adapter is not None
    assert adapter.up.shape == adapter.down.shape == (384, RANK)
    generator = np.random.default_rng(1)
    queries = generator.normal(size=(3, 384)).astype(np.float32)
    adapted = adapter.adapted(queries)
    assert np.allclose(np.linalg.norm(adapted, axis=1), 1, atol=1e-5)
    assert np.allclose(adapted[1], adapter.adapted(queries[1]), atol=1e-5)
    # It moves a query, and not to somewhere else altogether.
    nearness = (adapted * queries / np.linalg.norm(queries, axis=1, keepdims=True)).sum(axis=1)
    assert (nearness < 0.999).all()
    assert (nearness > 0.5).all()


@pytest.mark.parametrize(
    "identity",
    [
        _identity("endpoint", "text-embedding-3-small"),
        _identity("endpoint", "multilingual-e5-small"),
        _identity("sentence-transformers", "all-MiniLM-L6-v2"),
        _identity("local", "all-MiniLM-L6-v2", 256),
    ],
    ids=str,
)
def test_a_query_of_a_model_that_nothing_was_learnt_for_stays_as_it_is(identity: ModelIdentity) -> None:
    query = np.ones(identity.dimension, np.float32)
    assert adapter_of(identity) is None
    assert adapted(query, identity) is query


def test_a_vector_of_nothing_stays_one() -> None:
    adapter = adapter_of(_identity("local", "multilingual-e5-small"))
    assert adapter is not None
    assert not adapter.adapted(np.zeros(384, np.float32)).any()


def test_the_adapter_moves_along_its_directions_alone() -> None:
    adapter = QueryAdapter(np.array([[0.0], [1.0], [0.0]], np.float32), np.array([[1.0], [0.0], [0.0]], np.float32))
    assert np.allclose(adapter.adapted(_unit(1, 0, 0)), _unit(1, 1, 0))
    assert np.allclose(adapter.adapted(_unit(0, 0, 1)), _unit(0, 0, 1))


def test_what_is_fitted_puts_what_is_relevant_first() -> None:
    message = messages()[0]
    generator = np.random.default_rng(2)
    lines = generator.normal(size=(8, 12)).astype(np.float32)
    lines /= np.linalg.norm(lines, axis=1, keepdims=True)
    # What answers stands always to one side of the message: by the message alone another line is nearer.
    tasks = []
    for at in range(1024):
        query = lines[at % 8] + 0.05 * generator.normal(size=12).astype(np.float32)
        is_relevant = np.arange(8) == (at + 1) % 8
        tasks.append(Task(query / np.linalg.norm(query), lines, is_relevant, message))
    adapter = fit(tasks, share=1.0)

    def first(move: bool) -> float:
        found = [task.lines @ (adapter.adapted(task.query) if move else task.query) for task in tasks]
        return float(np.mean([task.is_relevant[each.argmax()] for task, each in zip(tasks, found, strict=True)]))

    assert first(move=False) < 0.1
    assert first(move=True) > 0.9


def test_the_messages_are_of_four_languages_and_name_lines_that_there_are() -> None:
    some = messages()
    assert {each.life.language for each in some} == {"english", "german", "spanish", "chinese"}
    assert sum(each.is_indirect for each in some) > 2_000
    assert sum(bool(each.ended) for each in some) > 2_000
    held = [each for each in some if each.life.is_held]
    assert len(some) / 10 < len(held) < len(some) / 4
    # What has ended was said before what holds now.
    assert all(max(each.ended) < max(each.needed) for each in some if each.ended)
