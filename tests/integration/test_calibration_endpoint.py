"""An endpoint whose model nobody knows: relevance is learnt beside everything else, and tells near from far."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import SecretStr
from tests.conftest import PLAIN, ServeRuntime

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.embed.deterministic import hashed_vector
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_server.app.embedders import embedder_loader
from reverie_server.app.upkeep import upkeep
from reverie_server.app.wiring import assemble
from reverie_server.cli.doctor import examine
from reverie_server.runtime import Runtime
from reverie_server.search.calibration.renew import Calibration
from reverie_server.search.calibration.store import measured_slices
from reverie_server.settings.server import Settings

ADA = Place("default", "wren", "personal", "user:ada")
WORDS, HEIGHT = 256, 2.0
NOTES = [
    "Marta keeps her sailing boat in the harbour of Lisbon",
    "The boiler in the cellar is serviced every May by the firm Kowalski",
    "Paul is allergic to walnuts and always carries an injector",
    "The spare key of the summer house lies below the third flower pot",
    "Grandfather repaired clocks in a workshop behind the church",
    "The dentist moved to the second floor above the bakery",
    "On Thursdays the choir rehearses in the old school",
    "The cat takes half a pill against its thyroid every morning",
]


def rotation(dimension: int) -> NDArray[np.float64]:
    return np.linalg.qr(np.random.default_rng(5).normal(size=(dimension, dimension)))[0]


TURNED = rotation(WORDS + 1)


def strange_vector(text: str) -> list[float]:
    """Hashed words, turned, three times as long, and in one narrow cone: the cosine of two is 0.6 or more."""
    vector: list[float] = (3 * TURNED @ np.append(hashed_vector(text, WORDS), HEIGHT)).tolist()
    return vector


class StrangeServer(ThreadingHTTPServer):
    """Serves embeddings unless it is `down`; counts the texts."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), StrangeHandler)
        self.down = False
        self.texts = 0


class StrangeHandler(BaseHTTPRequestHandler):
    server: StrangeServer

    def do_POST(self) -> None:
        texts: list[str] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        self.server.texts += len(texts)
        data = [{"index": i, "embedding": strange_vector(text)} for i, text in enumerate(texts)]
        body = json.dumps({"object": "list", "data": data}).encode()
        self.send_response(503 if self.server.down else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[StrangeServer]:
    server = StrangeServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def settings(endpoint: StrangeServer, conninfo: str) -> Settings:
    """Of a server with the endpoint. The model has the name of a built-in one, and is another."""
    return Settings(
        embedder="openai",
        embedder_model="multilingual-e5-small",
        embedder_base_url=f"http://127.0.0.1:{endpoint.server_port}/v1",
        backfill_interval_seconds=0.05,
        database_url=SecretStr(conninfo),
    )


@pytest.fixture
async def runtime(database: Database, settings: Settings) -> AsyncIterator[Runtime]:
    slot = ModelSlot(embedder_loader(settings))
    await slot.fill(database)
    assert slot.error is None
    runtime = assemble(settings, database, slot)
    yield runtime
    await runtime.compactions.aclose()
    await slot.aclose()


async def top(client: httpx.AsyncClient, query: str) -> float:
    answer = await client.post("agents/wren/memory/search", json={"query": query, "owner_key": "user:ada"})
    assert answer.status_code == 200, answer.text
    return max((result["relevance"] for result in answer.json()["results"]), default=0.0)


async def test_relevance_by_an_unknown_endpoint_is_learnt_beside_everything_else(
    runtime: Runtime,
    serve_runtime: ServeRuntime,
    endpoint: StrangeServer,
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
) -> None:
    await runtime.pipeline.write(ADA, overwrite("notes/a.md", "\n\n".join(NOTES) + "\n", by="user", reason="put"))
    base_url = await serve_runtime(runtime)
    near = "who keeps her sailing boat in the harbour"
    far = "explain why leaves turn red and yellow in autumn"
    async with httpx.AsyncClient(base_url=f"{base_url}/api/v1", timeout=30, verify=PLAIN) as client:
        asked = endpoint.texts
        assert await top(client, near) > 0
        assert endpoint.texts == asked + 1
        metrics = partial(client.get, f"{base_url}/metrics")
        assert 'reverie_relevance{constants="learnt"} 0.0' in (await metrics()).text
        task = asyncio.create_task(upkeep(runtime))
        model_id = runtime.models.ready.model_id if runtime.models.ready else 0
        async with asyncio.timeout(120):
            while await measured_slices(runtime.database, model_id) != (1, 1):  # noqa: ASYNC110 - it is a row
                await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert 'reverie_relevance{constants="learnt"} 1.0' in (await metrics()).text
        asked = endpoint.texts
        assert await top(client, near) >= 0.5
        assert await top(client, far) < 0.3
        assert endpoint.texts == asked + 1
    assert await examine(settings) == []
    assert "learnt from labelled messages; 1 of 1 memories measured" in capsys.readouterr().out
    # After a restart nothing is asked for again.
    asked = endpoint.texts
    calibration = Calibration(runtime.database)
    assert (await calibration.renew(runtime.models.ready), calibration.state) == (0, "learnt")
    assert endpoint.texts == asked
