"""A cross-encoder of sentence-transformers: a tiny one with random weights, made here."""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_indexer.errors import SetupError
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.keys import OPERATOR
from reverie_server.app.wiring import assemble
from reverie_server.search.request import SearchOutcome, request_for
from reverie_server.search.rerank.cross_encoder import CrossEncoderReranker, load_cross_encoder
from reverie_server.search.rerank.protocol import RerankFailed
from reverie_server.search.rerank.reranking import Reranking
from reverie_server.settings.server import Settings

WORDS = ["the", "lantern", "of", "pier", "is", "red", "blue", "green", "hangs", "over", "deep", "water", "which"]
TEXTS = ["the lantern of pier is red", "deep water", "blue", "", "the lantern hangs over deep water " * 200]
QUERY = "which lantern is red"


def tiny_cross_encoder(directory: Path, *, labels: int = 1) -> Path:
    """A BERT of two layers that reads words of its own vocabulary."""
    transformers: Any = importlib.import_module("transformers")
    importlib.import_module("torch").manual_seed(7)
    directory.mkdir()
    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])}
    transformers.BertTokenizer(vocab=vocabulary, model_max_length=64).save_pretrained(directory)
    config = transformers.BertConfig(
        vocab_size=5 + len(WORDS),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        num_labels=labels,
        initializer_range=0.5,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(directory)
    return directory


@pytest.mark.models
async def test_its_scores_are_those_of_the_model_text_by_text(tmp_path: Path) -> None:
    path = str(tiny_cross_encoder(tmp_path / "tiny"))
    library: Any = importlib.import_module("sentence_transformers")
    reference = library.CrossEncoder(path, device="cpu")
    expected = [float(reference.predict([(QUERY, text)])[0]) for text in TEXTS]
    reranker = load_cross_encoder(path, device="cpu")
    assert await reranker.scores(QUERY, TEXTS) == pytest.approx(expected, abs=1e-5)
    assert len(set(expected)) == len(TEXTS)
    assert await reranker.scores(QUERY, []) == []
    await reranker.aclose()


@pytest.mark.models
async def test_it_orders_a_search_by_its_scores(tmp_path: Path, database: Database, models: ModelSlot) -> None:
    path = str(tiny_cross_encoder(tmp_path / "tiny"))
    settings = Settings(
        embedder="hashing",
        embedder_device="cpu",
        reranker="cross-encoder",
        reranker_model=path,
        reranker_timeout_seconds=60,
    )
    runtime = assemble(settings, database, models)
    assert runtime.reranking is not None
    await Talk(runtime).put("notes.md", "\n\n".join(f"The lantern is {words}." for words in WORDS))

    async def find() -> SearchOutcome:
        return await runtime.memory_search.find(OPERATOR, "wren", "user:ada", QUERY, path_prefix="notes.md")

    await runtime.reranking.wait()
    found = await find()
    grant = await runtime.gate.read(OPERATOR, "wren", "user:ada")
    plain = await runtime.search.search(request_for(grant, QUERY, path_prefix="notes.md", max_results=30))
    reference = load_cross_encoder(path, device="cpu")
    scores = await reference.scores(QUERY, [result.text for result in plain.results])
    best = sorted(zip(scores, [result.text for result in plain.results], strict=True), reverse=True)
    assert [result.text for result in found.results] == [text for _, text in best[:6]]
    assert [result.rerank_score for result in found.results] == pytest.approx(
        [score for score, _ in best[:6]], abs=1e-5
    )
    assert found.warnings == []
    await reference.aclose()
    await runtime.reranking.aclose()
    await runtime.compactions.aclose()


@pytest.mark.models
def test_what_is_no_cross_encoder_is_told_of_by_its_name_alone(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SetupError, match="The cross-encoder empty cannot be loaded"):
        load_cross_encoder(str(tmp_path / "empty"), device="cpu")
    with pytest.raises(SetupError, match="The cross-encoder three gives 3 scores for a text"):
        load_cross_encoder(str(tiny_cross_encoder(tmp_path / "three", labels=3)), device="cpu")


class SlowModel:
    """Scores a text by its length, a batch at a time as it is let."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.entered = threading.Event()
        self.may_go = threading.Semaphore(0)

    def predict(self, pairs: Sequence[tuple[str, str]], **_: Any) -> list[float]:
        self.batches.append([text for _, text in pairs])
        self.entered.set()
        self.may_go.acquire(timeout=30)
        if any(text == "bad" for _, text in pairs):
            raise IndexError("index out of range in self")
        return [float(len(text)) for _, text in pairs]


async def test_who_gives_up_leaves_the_thread_after_a_batch() -> None:
    model = SlowModel()
    reranker = CrossEncoderReranker(model)
    given_up = asyncio.create_task(reranker.scores("q", ["x" * length for length in range(30)]))
    await asyncio.to_thread(model.entered.wait)
    never_begun = asyncio.create_task(reranker.scores("q", ["never"]))
    await asyncio.sleep(0)
    for task in (given_up, never_begun):
        task.cancel()
    await asyncio.gather(given_up, never_begun, return_exceptions=True)
    last = asyncio.create_task(reranker.scores("q", ["abc", "a"]))
    await asyncio.sleep(0)
    for _ in range(2):
        model.may_go.release()
    assert await last == [3.0, 1.0]
    assert [len(batch) for batch in model.batches] == [8, 2]
    await reranker.aclose()


async def test_while_it_loads_it_is_not_waited_for() -> None:
    may_load = asyncio.Event()

    async def load() -> CrossEncoderReranker:
        await may_load.wait()
        return CrossEncoderReranker(SlowModel())

    reranking = Reranking(load)
    with pytest.raises(RerankFailed, match="is still loading"):
        await reranking.scores("q", ["good"])
    may_load.set()
    await reranking.wait()
    assert reranking.unusable() is None
    await reranking.aclose()


async def test_a_model_that_raises_fails_and_goes_on() -> None:
    model = SlowModel()
    reranker = CrossEncoderReranker(model)
    for _ in range(2):
        model.may_go.release()
    with pytest.raises(RerankFailed, match="failed"):
        await reranker.scores("q", ["bad"])
    assert await reranker.scores("q", ["good"]) == [4.0]
    await reranker.aclose()
