"""The converted model on disk: made once, by whoever comes first, from the published weights only."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from reverie_indexer.embed.built_in import MINILM
from reverie_indexer.embed.cached_file import is_sealed
from reverie_indexer.embed.local import load_local
from reverie_indexer.errors import SetupError

LOAD_AND_EMBED = """
import asyncio, pathlib, sys
from reverie_indexer.embed.built_in import MINILM
from reverie_indexer.embed.local import load_local
[vector] = asyncio.run(load_local(pathlib.Path(sys.argv[1]), MINILM).embed(["hello"]))
print(vector.shape)
"""


@pytest.fixture(scope="session")
def graph_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good cache. Tests copy it, never change it."""
    directory = tmp_path_factory.mktemp("good-graph")
    load_local(directory, MINILM)
    [file] = directory.iterdir()
    return file


@pytest.fixture
def cache(graph_file: Path, tmp_path: Path) -> Path:
    directory = tmp_path / "cache"
    directory.mkdir()
    shutil.copy(graph_file, directory)
    return directory


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A directory as `reverie models fetch` leaves it, of its own."""
    directory = tmp_path / "weights" / MINILM.name
    directory.mkdir(parents=True)
    for name in MINILM.files:
        shutil.copy(MINILM.find_weights() / name, directory)
    return directory.parent


def flip_a_byte(file: Path, position: int) -> None:
    with file.open("r+b") as stream:
        stream.seek(position)
        byte = stream.read(1)[0]
        stream.seek(position)
        stream.write(bytes([byte ^ 1]))


def test_the_cached_file_is_an_ordinary_valid_onnx_model(graph_file: Path) -> None:
    model = onnx.load(graph_file)
    onnx.checker.check_model(model, full_check=True)
    first, second, *adapter = [value.name for value in model.graph.input]
    assert [first, second] == ["input_ids", "attention_mask"]
    # Beside each of the six dense layers of each layer of the upper half.
    assert len(adapter) == len(set(adapter)) == 2 * 6 * (MINILM.shape.layers // 2)
    assert all(MINILM.shape.is_adapted(each) for each in adapter)
    assert {name.rpartition(".")[2] for name in adapter} == {"down", "up"}
    assert [value.name for value in model.graph.output] == ["embedding", "states"]


def test_a_second_load_uses_the_cache_and_needs_no_weights(cache: Path, weights: Path) -> None:
    flip_a_byte(weights / MINILM.name / "model.safetensors", 1_000_000)
    before = next(cache.iterdir()).stat().st_mtime_ns
    load_local(cache, MINILM, weights_dir=weights)
    assert before == next(cache.iterdir()).stat().st_mtime_ns


@pytest.mark.parametrize("damage", ["a flipped bit", "cut short", "emptied", "tail lost"])
def test_a_damaged_cache_is_rebuilt(damage: str, cache: Path, graph_file: Path) -> None:
    [file] = cache.iterdir()
    size = file.stat().st_size
    if damage == "a flipped bit":
        flip_a_byte(file, size // 2)
    else:
        with file.open("r+b") as stream:
            stream.truncate({"cut short": size // 3, "emptied": 0, "tail lost": size - 1}[damage])
    assert not is_sealed(file)
    load_local(cache, MINILM)
    assert [file] == list(cache.iterdir())
    assert file.read_bytes() == graph_file.read_bytes()


def test_several_processes_may_build_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOAD_AND_EMBED, str(tmp_path)]
    builders = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [builder.communicate(timeout=120)[0].strip() for builder in builders]
    assert answers == ["(384,)", "(384,)"]
    [file] = tmp_path.iterdir()
    assert is_sealed(file)


@pytest.mark.parametrize("name", list(MINILM.files))
def test_files_that_are_not_the_published_ones_are_refused(name: str, weights: Path, tmp_path: Path) -> None:
    flip_a_byte(weights / MINILM.name / name, 200_000)
    with pytest.raises(SetupError, match="reverie models fetch") as caught:
        load_local(tmp_path / "new-cache", MINILM, weights_dir=weights)
    assert MINILM.files[name] in caught.value.detail
    assert len(re.findall(r"\b[0-9a-f]{64}\b", caught.value.detail)) == 2
    assert name == "tokenizer.json" or not (tmp_path / "new-cache").exists()


def test_without_weights_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    for directory in (None, tmp_path):
        with pytest.raises(SetupError, match="reverie models fetch"):
            load_local(tmp_path / "cache", MINILM, weights_dir=directory)


def test_a_cache_that_cannot_be_written_is_a_setup_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SetupError, match="cache directory"):
        load_local(tmp_path / "file", MINILM)


def test_what_a_killed_build_left_is_removed_and_what_a_running_one_writes_is_not(
    cache: Path, graph_file: Path
) -> None:
    [file] = cache.iterdir()
    file.unlink()
    old, new = (cache / f".{file.stem}-{kind}.partial" for kind in ("old", "new"))
    old.touch()
    os.utime(old, (1, 1))
    new.touch()
    load_local(cache, MINILM)
    assert {file, new} == set(cache.iterdir())


async def test_a_text_of_40_mb_is_not_tokenised_to_its_end(cache: Path) -> None:
    """Only its first 256 tokens matter to the model; all of them would take minutes and gigabytes."""
    embedder = load_local(cache, MINILM)
    head = "the quick brown fox " * 100
    short, long = await embedder.embed([head, head + "x " * 20_000_000])
    assert isinstance(short, np.ndarray)
    assert isinstance(long, np.ndarray)
    np.testing.assert_allclose(short, long, atol=1e-6)
    await embedder.aclose()


async def test_a_query_is_answered_while_a_large_job_runs(cache: Path) -> None:
    embedder = load_local(cache, MINILM)
    job = asyncio.create_task(embedder.embed([f"{i} " + "some longer text " * 40 for i in range(64)]))
    await asyncio.sleep(0)
    await embedder.embed(["query"])
    assert not job.done()
    await embedder.aclose()
    with pytest.raises(Exception, match="closed"):
        await job
