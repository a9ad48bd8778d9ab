"""What every embedder must do, whichever it is. `sentence` needs the torch-based models."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.sentence_models import minilm_directory

from reverie_indexer.embed import Embedder, Embedding
from reverie_indexer.embed.built_in import E5, MINILM
from reverie_indexer.embed.deterministic import HashingEmbedder, hashed_vector
from reverie_indexer.embed.endpoint import EndpointConfig, connect_endpoint
from reverie_indexer.embed.local import LocalEmbedder, load_local
from reverie_indexer.embed.sentence import SentenceEmbedder, load_sentence
from reverie_indexer.embed.tokenisers import WordPieceTokeniser
from reverie_indexer.errors import EmbedderUnavailable
from reverie_server.search.search import MIN_FAMILIARITY

TEXTS = [
    "The deployment failed because the certificate had expired.",
    "",
    "   \n\t ",
    "Grüße aus Zürich, naïve façade",
    "東京は日本の首都です。今日はとても暑い。",
    "مرحبا بالعالم",
    "👩‍👩‍👧‍👦 🏳️‍🌈 \U0001f9ea",
    "\x00\x07 control \u200b\u202e characters \ufeff",
    "half a pair \ud83d here",
    "x" * 20_000,
    "word " * 3_000,
    "def rotate_keys(old: Key) -> Key:\n    return Key(old.id + 1)\n",
    "a\u0301" * 400,
    "The deployment failed because the certificate had expired.",
]


class HashingHandler(BaseHTTPRequestHandler):
    """A healthy endpoint: hashed vectors three times too long, as no provider promises unit length."""

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        data = [
            {"object": "embedding", "index": index, "embedding": (hashed_vector(text, 64) * 3).tolist()}
            for index, text in enumerate(texts)
        ]
        body = json.dumps({"object": "list", "data": data, "model": "m"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEmbedder]:
    embedder = load_local(tmp_path_factory.mktemp("graphs"), MINILM)
    yield embedder
    asyncio.run(embedder.aclose())


@pytest.fixture(scope="session")
def e5(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEmbedder]:
    embedder = load_local(tmp_path_factory.mktemp("graphs"), E5)
    yield embedder
    asyncio.run(embedder.aclose())


@pytest.fixture(scope="session")
def sentence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SentenceEmbedder]:
    directory = minilm_directory(tmp_path_factory.mktemp("models") / "minilm")
    embedder = load_sentence(str(directory), device="cpu", threads=1)
    yield embedder
    asyncio.run(embedder.aclose())


@pytest.fixture(scope="session")
def healthy_endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), HashingHandler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


REAL = ["e5", "minilm", pytest.param("sentence", marks=pytest.mark.models)]


@pytest.fixture(params=["hashing", "endpoint", *REAL])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    if request.param in ("e5", "minilm", "sentence"):
        yield request.getfixturevalue(request.param)
    elif request.param == "hashing":
        hashing = HashingEmbedder()
        yield hashing
        await hashing.aclose()
    else:
        address = request.getfixturevalue("healthy_endpoint")
        endpoint = await connect_endpoint(EndpointConfig(base_url=address, model="m", batch_texts=5))
        yield endpoint
        await endpoint.aclose()


async def matrix(embedder: Embedder, texts: list[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
    answers: list[Embedding] = await embedder.embed(texts)
    assert all(isinstance(answer, np.ndarray) for answer in answers)
    return np.stack(answers)


async def test_vectors_have_length_1_and_the_dimension_and_type_that_are_promised(embedder: Embedder) -> None:
    vectors = await matrix(embedder, TEXTS)
    assert (len(TEXTS), embedder.identity.dimension) == vectors.shape
    assert np.float32 == vectors.dtype
    assert embedder.identity.normalised
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


async def test_nothing_in_nothing_out(embedder: Embedder) -> None:
    assert await embedder.embed([]) == []


async def test_a_text_alone_has_the_vector_it_has_in_a_batch_at_its_place(embedder: Embedder) -> None:
    together = await matrix(embedder, TEXTS)
    alone = np.concatenate([await matrix(embedder, [text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)


async def test_the_order_of_the_texts_is_the_order_of_the_vectors(embedder: Embedder) -> None:
    texts = [f"{'filler ' * (i % 7)}entry number {i}" for i in range(40)]
    forward, backward = await matrix(embedder, texts), await matrix(embedder, texts[::-1])
    np.testing.assert_allclose(forward, backward[::-1], atol=1e-5)


async def test_equal_texts_have_equal_vectors_and_different_texts_different_ones(embedder: Embedder) -> None:
    vectors = await matrix(embedder, TEXTS)
    np.testing.assert_array_equal(vectors[0], vectors[-1])
    assert float(vectors[0] @ vectors[3]) < 0.9


async def test_concurrent_calls_get_their_own_answers(embedder: Embedder) -> None:
    texts = [f"question number {i}" for i in range(8)]
    apart = await asyncio.gather(*(matrix(embedder, [text, "filler"]) for text in texts))
    np.testing.assert_allclose(np.stack([rows[0] for rows in apart]), await matrix(embedder, texts), atol=1e-5)


@pytest.mark.parametrize("embedder", REAL, indirect=True)
async def test_a_paraphrase_is_closer_than_anything_unrelated(embedder: Embedder) -> None:
    question, paraphrase, unrelated = await matrix(
        embedder,
        ["How do I reset my password?", "I forgot my login secret", "The cake needs three eggs and butter."],
    )
    assert float(question @ paraphrase) > float(question @ unrelated) + 0.3


@pytest.mark.parametrize("kind", ["hashing", "endpoint", "local"])
async def test_a_closed_embedder_says_so(kind: str, healthy_endpoint: str, tmp_path: Path) -> None:
    embedder: Embedder
    if kind == "local":
        tokenizer = (MINILM.find_weights() / "tokenizer.json").read_bytes()
        embedder = LocalEmbedder(MINILM, None, WordPieceTokeniser(tokenizer, 8), {"passage": {}})
    elif kind == "hashing":
        embedder = HashingEmbedder()
    else:
        embedder = await connect_endpoint(EndpointConfig(healthy_endpoint, "m", dimension=64))
    await embedder.aclose()
    await embedder.aclose()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        await embedder.embed(["text"])


async def test_the_identities_tell_the_embedders_apart(minilm: LocalEmbedder, e5: LocalEmbedder) -> None:
    hashing = HashingEmbedder()
    assert str(minilm.identity) == "local:all-MiniLM-L6-v2@53aa51172d14 (384-d)"
    assert str(e5.identity).startswith("local:multilingual-e5-small@")
    assert e5.identity.revision != E5.files["e5-small-q4.bin"][:12], "the means are part of it"
    assert str(hashing.identity) == "hashing:words-pairs-trigrams@1 (384-d)"
    await hashing.aclose()


async def test_familiarity_is_a_share_whatever_the_text(embedder: Embedder) -> None:
    assert all(0.0 <= embedder.familiarity(text) <= 1.0 for text in TEXTS)


@pytest.mark.parametrize(
    ("text", "is_known"),
    [
        ("When is the review with Ada?", True),
        ("¿Cuándo es la revisión con Ada?", True),
        ("Wann ist die Überprüfung mit Ada?", True),
        ("Where does 李明 live?", True),
        ("4711?", True),
        ("A?", True),
        ("李明住在哪里?", False),
        ("เอด้าอาศัยอยู่ที่ไหน", False),
        ("Где живёт Ада?", False),
        ("우리 개 이름은?", False),
        ("أين تعيش آدا", False),
    ],
)
def test_minilm_tells_the_scripts_it_knows_from_those_it_spells(
    minilm: LocalEmbedder, text: str, is_known: bool
) -> None:
    assert (minilm.familiarity(text) >= MIN_FAMILIARITY) == is_known
