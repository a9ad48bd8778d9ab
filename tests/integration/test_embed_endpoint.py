"""The OpenAI-compatible embedder against a real HTTP server that misbehaves in every way we know of."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time as time_module
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from reverie_indexer.embed.endpoint import EndpointConfig, EndpointEmbedder, connect_endpoint
from reverie_indexer.embed.endpoint_client import Clock
from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected

KEY = "sk-very-secret-key"


@dataclass
class Reply:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    seconds_a_byte: float = 0.0


Script = Callable[[list[str]], Reply]


def vector_of(text: str) -> list[float]:
    return [float(len(text)), 1.0, 0.0]


def healthy(texts: list[str]) -> Reply:
    data = [{"index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)]
    return Reply(body={"object": "list", "data": data})


class ScriptedServer(ThreadingHTTPServer):
    """Answers by `script`; `planned` replies go first. Remembers what was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ScriptedHandler)
        self.script: Script = healthy
        self.planned: list[Reply] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.released = threading.Event()
        self.released.set()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def batches(self) -> list[list[str]]:
        return [request["input"] for request in self.requests]


class ScriptedHandler(BaseHTTPRequestHandler):
    server: ScriptedServer

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({**asked, "path": self.path})
        self.server.keys.append(self.headers["Authorization"])
        self.server.released.wait(10)
        reply = self.server.planned.pop(0) if self.server.planned else self.server.script(asked["input"])
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body or {}).encode()
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if reply.seconds_a_byte:
            self._drip(body, reply.seconds_a_byte)
        else:
            with contextlib.suppress(ConnectionError):  # the client may not want to read it all
                self.wfile.write(body)

    def _drip(self, body: bytes, seconds: float) -> None:
        with contextlib.suppress(ConnectionError):  # the client is expected to hang up
            for byte in body:
                self.wfile.write(bytes([byte]))
                time_module.sleep(seconds)

    def log_message(self, *args: Any) -> None:
        pass


class FakeTime:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []
        self.on_sleep: Callable[[], None] = lambda: None

    async def sleep(self, seconds: float) -> None:
        self.on_sleep()
        self.slept.append(seconds)
        self.now += seconds

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now, self.sleep)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


Connect = Callable[..., Any]


@pytest.fixture
async def connect(server: ScriptedServer, time: FakeTime) -> Any:
    opened: list[EndpointEmbedder] = []

    async def connect(**settings: Any) -> EndpointEmbedder:
        settings = {"base_url": server.address, "model": "m", "api_key": KEY, "dimension": 3, **settings}
        opened.append(await connect_endpoint(EndpointConfig(**settings), clock=time.clock))
        return opened[-1]

    yield connect
    for embedder in opened:
        await embedder.aclose()


def lengths(answers: list[Any]) -> list[Any]:
    """Undo the normalisation of `vector_of`: the length of the text each vector was made from."""
    return ["rejected" if isinstance(a, EmbeddingRejected) else round(float(a[0] / a[1])) for a in answers]


async def test_the_request_is_what_the_api_documents(server: ScriptedServer, connect: Connect) -> None:
    embedder = await connect(dimension=None)
    assert embedder.identity.dimension == 3
    assert str(embedder.identity) == "endpoint:m@unversioned (3-d)"
    await embedder.embed(["one", "three"])
    assert server.requests[1] == {
        "input": ["one", "three"],
        "model": "m",
        "encoding_format": "float",
        "path": "/v1/embeddings",
    }
    assert {f"Bearer {KEY}"} == set(server.keys)


async def test_vectors_are_normalised_by_us(connect: Connect) -> None:
    [answer] = await (await connect()).embed(["four"])
    np.testing.assert_allclose(answer, np.array([4.0, 1.0, 0.0]) / np.sqrt(17), atol=1e-7)


async def test_without_a_key_no_key_of_the_environment_is_sent(
    server: ScriptedServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-meant-for-another-host")
    await (await connect(api_key=None)).embed(["text"])
    assert server.keys == ["Bearer none"]


async def test_a_shorter_vector_is_asked_for_only_when_configured(server: ScriptedServer, connect: Connect) -> None:
    await (await connect(request_dimension=True)).embed(["text"])
    assert server.requests[0]["dimensions"] == 3


async def test_batches_keep_to_the_cap_and_equal_texts_are_sent_once(server: ScriptedServer, connect: Connect) -> None:
    texts = [f"{'x' * i}" for i in range(1, 8)] + ["x", "xx"]
    answers = await (await connect(batch_texts=3)).embed(texts)
    assert [len(batch) for batch in server.batches] == [3, 3, 1]
    assert lengths(answers) == [1, 2, 3, 4, 5, 6, 7, 1, 2]


async def test_retry_after_in_seconds_is_waited_for_and_the_batch_resumed(
    server: ScriptedServer, connect: Connect, time: FakeTime
) -> None:
    server.planned = [healthy(["a"]), Reply(429, headers={"Retry-After": "7"}), Reply(503)]
    answers = await (await connect(batch_texts=1)).embed(["a", "bb"])
    assert lengths(answers) == [1, 2]
    assert server.batches == [["a"], ["bb"], ["bb"], ["bb"]]
    assert time.slept[0] == 7.0
    assert 0.25 <= time.slept[1] <= 0.5


async def test_retry_after_as_a_date_is_waited_for(server: ScriptedServer, connect: Connect, time: FakeTime) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    server.planned = [Reply(429, headers={"Retry-After": date})]
    await (await connect()).embed(["a"])
    assert 15.0 < time.slept[0] <= 20.0


async def test_retry_after_is_capped(server: ScriptedServer, connect: Connect, time: FakeTime) -> None:
    server.planned = [Reply(429, headers={"Retry-After": "86400"})]
    await (await connect(max_retry_after_seconds=5.0)).embed(["a"])
    assert time.slept == [5.0]


async def test_failures_that_go_on_end_at_the_deadline(
    server: ScriptedServer, connect: Connect, time: FakeTime
) -> None:
    server.script = lambda _: Reply(503)
    embedder = await connect(deadline_seconds=20.0)
    with pytest.raises(EmbedderUnavailable, match=r"127\.0\.0\.1:\d+ answered HTTP 503") as caught:
        await embedder.embed(["a"])
    assert caught.value.extra == {"retry_after_seconds": None}
    assert sum(time.slept) < 19.5, "an attempt that hardly has time is not begun"
    assert 4 <= len(server.requests) <= 8, "the pauses grow"


async def test_a_wait_beyond_the_deadline_is_not_begun(
    server: ScriptedServer, connect: Connect, time: FakeTime
) -> None:
    server.script = lambda _: Reply(429, headers={"Retry-After": "25"})
    embedder = await connect(deadline_seconds=20.0)
    with pytest.raises(EmbedderUnavailable) as caught:
        await embedder.embed(["a"])
    assert caught.value.extra == {"retry_after_seconds": 25.0}
    assert time.slept == []


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_the_one_refused_text_is_found_and_the_others_succeed(
    status: int, server: ScriptedServer, connect: Connect
) -> None:
    server.script = lambda texts: Reply(status) if "bad" in texts else healthy(texts)
    answers = await (await connect(batch_texts=8)).embed(["a", "bb", "ccc", "dddd", "eeeee", "bad", "ggggggg"])
    assert lengths(answers) == [1, 2, 3, 4, 5, "rejected", 7]
    assert f"HTTP {status}" in answers[5].detail
    assert [len(batch) for batch in server.batches] == [7, 3, 4, 2, 2, 1, 1]


async def test_a_cap_of_the_server_below_ours_is_found_by_halving(server: ScriptedServer, connect: Connect) -> None:
    server.script = lambda texts: Reply(413) if len(texts) > 2 else healthy(texts)
    assert lengths(await (await connect()).embed(["x" * i for i in range(1, 7)])) == [1, 2, 3, 4, 5, 6]


async def test_a_lone_refused_text_is_blamed_only_if_the_endpoint_takes_another(
    server: ScriptedServer, connect: Connect
) -> None:
    embedder = await connect()
    server.script = lambda texts: Reply(400) if "bad" in texts else healthy(texts)
    assert lengths(await embedder.embed(["bad"])) == ["rejected"]
    server.script = lambda _: Reply(400)
    with pytest.raises(EmbedderUnavailable, match="no vector for any text"):
        await embedder.embed(["good"])


@pytest.mark.parametrize("value", [[0.0, 0.0, 0.0], [float("nan"), 1.0, 0.0], [None, 1.0, 0.0]])
async def test_a_vector_that_is_no_direction_rejects_its_text_alone(
    value: list[float], server: ScriptedServer, connect: Connect
) -> None:
    server.planned = [healthy(["a", "bb", "ccc"])]
    server.planned[0].body["data"][1]["embedding"] = value
    assert lengths(await (await connect()).embed(["a", "bb", "ccc"])) == [1, "rejected", 3]


async def test_vectors_are_matched_by_index(server: ScriptedServer, connect: Connect) -> None:
    server.planned = [healthy(["a", "bb", "ccc"])]
    server.planned[0].body["data"].reverse()
    assert lengths(await (await connect()).embed(["a", "bb", "ccc"])) == [1, 2, 3]


def broken(change: Callable[[list[Any]], Any]) -> Script:
    def script(texts: list[str]) -> Reply:
        reply = healthy(texts)
        change(reply.body["data"])
        return reply

    return script


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (broken(lambda data: data.pop()), "1 embeddings with 1 different indexes to 2 texts"),
        (broken(lambda data: data.append(dict(data[0]))), "3 embeddings with 2 different indexes"),
        (broken(lambda data: data[1].update(index=0)), "2 embeddings with 1 different indexes"),
        (broken(lambda data: data[0].pop("index")), "not a list of embeddings"),
        (broken(lambda data: data[0].update(embedding="AAAA")), "not a list of embeddings"),
        (broken(lambda data: data[0].update(embedding=[1.0] * 8)), "8 dimensions where 3 are expected"),
        (lambda _: Reply(body=b"<html>portal</html>"), "not a list of embeddings"),
        (lambda _: Reply(body={"error": "m"}), "not a list of embeddings"),
        (lambda _: Reply(body=[1]), "not a list of embeddings"),
    ],
)
async def test_an_answer_that_does_not_fit_is_never_taken(
    script: Script, message: str, server: ScriptedServer, connect: Connect
) -> None:
    server.script = script
    embedder = await connect()
    with pytest.raises(EmbedderUnavailable, match=message):
        await embedder.embed(["a", "bb"])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply(401), "refuses the API key"),
        (Reply(403), "does not allow"),
        (Reply(404), "no such address or model"),
        (Reply(405), "cannot be used"),
        (Reply(429, {"error": {"code": "insufficient_quota"}}), "no quota"),
    ],
)
async def test_what_will_not_pass_is_told_at_once_and_without_the_key(
    reply: Reply, message: str, server: ScriptedServer, connect: Connect, time: FakeTime
) -> None:
    error = {"message": f"Incorrect API key provided: {KEY}", **((reply.body or {}).get("error") or {})}
    server.script = lambda _: Reply(reply.status, {"error": error})
    embedder = await connect()
    with pytest.raises(EmbedderUnavailable, match=message) as caught:
        await embedder.embed(["a", "bb"])
    assert KEY not in caught.value.detail
    assert len(server.requests) == 1
    assert time.slept == []


async def test_a_server_that_does_not_answer_is_given_up(server: ScriptedServer, connect: Connect) -> None:
    server.released.clear()
    embedder = await connect(timeout_seconds=0.05, deadline_seconds=0.1)
    with pytest.raises(EmbedderUnavailable, match="did not answer in time"):
        await embedder.embed(["a"])


async def test_an_answer_that_drips_in_is_given_up_too(server: ScriptedServer, connect: Connect) -> None:
    """Every single read is quick, the whole is not."""
    server.script = lambda texts: Reply(body=healthy(texts).body, seconds_a_byte=0.02)
    embedder = await connect(timeout_seconds=0.2, deadline_seconds=0.3)
    with pytest.raises(EmbedderUnavailable, match="did not answer in time"):
        await embedder.embed(["a"])


async def test_a_slow_attempt_is_repeated(server: ScriptedServer, connect: Connect, time: FakeTime) -> None:
    server.released.clear()
    time.on_sleep = server.released.set
    embedder = await connect(timeout_seconds=0.2)
    assert lengths(await embedder.embed(["a"])) == [1]
    assert len(server.requests) >= 2


async def test_a_dead_port_is_given_up_at_the_deadline(connect: Connect, time: FakeTime) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    embedder = await connect(base_url=f"http://127.0.0.1:{port}/v1", deadline_seconds=5.0)
    with pytest.raises(EmbedderUnavailable, match=rf"127\.0\.0\.1:{port} cannot be reached"):
        await embedder.embed(["a"])
    assert time.slept


async def test_a_dimension_that_cannot_be_asked_for_stops_the_start(server: ScriptedServer, connect: Connect) -> None:
    server.script = lambda _: Reply(400)
    with pytest.raises(EmbedderUnavailable, match="configure the dimension"):
        await connect(dimension=None)


async def test_an_endpoint_that_did_not_answer_is_left_alone_for_a_while(
    server: ScriptedServer, connect: Connect, time: FakeTime
) -> None:
    embedder = await connect(deadline_seconds=5.0)
    server.script = lambda _: Reply(status=503)
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed(["a"])
    asked = len(server.requests)
    with pytest.raises(EmbedderUnavailable, match="not asked"):
        await embedder.embed(["a"])
    assert (len(server.requests), embedder.breaker.state) == (asked, "open")
    server.script = healthy
    time.now += 10
    assert lengths(await embedder.embed(["a"])) == lengths(await embedder.embed(["a"]))
    assert embedder.breaker.state == "closed"


@pytest.mark.parametrize("status", [200, 500])
async def test_an_answer_without_end_is_read_no_further(server: ScriptedServer, connect: Connect, status: int) -> None:
    server.planned.append(Reply(status=status, body=b" " * (32 * 1024 * 1024 + 1)))
    with pytest.raises(EmbedderUnavailable, match="too much"):
        await (await connect()).embed(["a"])
    assert len(server.requests) == 1
