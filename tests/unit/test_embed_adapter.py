"""The files of adapters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reverie_indexer.embed.adapter import Adapter, LowRank, adapter_file, packed, read_adapter
from reverie_indexer.embed.built_in import BUILT_IN


def _adapter(rank: int, seed: int, names: tuple[str, ...] = ("a", "b")) -> Adapter:
    generator = np.random.default_rng(seed)
    return {
        name: LowRank(
            generator.normal(size=(6, rank)).astype(np.float32), generator.normal(size=(rank, 4)).astype(np.float32)
        )
        for name in names
    }


def test_what_is_packed_is_read_within_its_steps() -> None:
    adapter = _adapter(3, seed=1)
    # A rank that nothing was learnt for stays one.
    adapter = {**adapter, "b": replace(adapter["b"], up=np.zeros((6, 3), np.float32))}
    found = read_adapter(packed(adapter))
    assert found.keys() == adapter.keys()
    for name, matrices in adapter.items():
        assert np.abs(found[name].up - matrices.up).max() <= np.abs(matrices.up).max() / 127
        assert np.abs(found[name].down - matrices.down).max() <= np.abs(matrices.down).max() / 127
    assert not found["b"].up.any()
    assert packed(found) == packed(found)


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_adapters_of_a_built_in_model_are_beside_each_dense_layer_of_the_upper_half(name: str) -> None:
    model = BUILT_IN[name]
    assert {"question", "message"} <= set(model.adapted)
    for role in model.adapted:
        adapter = read_adapter(adapter_file(name, role).read_bytes())
        assert len(adapter) == 6 * (model.shape.layers // 2)
        assert all(model.shape.is_adapted(each) for each in adapter)
        assert {each.removesuffix(".dense").rpartition(".")[2] for each in adapter} == {
            *("query", "key", "value", "output", "intermediate"),
        }
        assert all(matrices.up.any() and matrices.down.any() for matrices in adapter.values())
