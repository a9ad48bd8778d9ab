"""The Python client where a real server cannot be made to play along: broken connections, proxies, newer servers."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

import reverie_client
from reverie_client import AsyncReverie, Reverie, ReverieError
from reverie_client.answer import retry_after_seconds

WRITTEN = {
    "path": "a.md", "created": True, "overwritten": False, "enabled": False, "bytes_written": 1, "version": 1,
    "chunk_count": 1, "embedded": True,
}  # fmt: skip
FOUND: dict[str, Any] = {"results": [], "count": 0, "mode": "text", "fallback": None, "warnings": []}
Handler = Callable[[httpx.Request], httpx.Response]


class Server:
    """Gives its answers in turn, raising those that are exceptions, and keeps the requests."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self._answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        # A response belongs to one client; the answer may be given again.
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


def problem(status: int, code: str, headers: dict[str, str] | None = None, **extra: Any) -> httpx.Response:
    body = {"type": "about:blank", "title": "t", "status": status, "detail": "a sentence", "code": code, **extra}
    return httpx.Response(status, json=body, headers=headers)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client waited; it does not."""
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr(time, "sleep", found.append)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    return found


Call = Callable[[Any], Any]
Run = Callable[..., Any]


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Run:
    """Do something with an agent's memory on a client of a made-up server."""

    async def do(server: Handler, call: Call, **options: Any) -> Any:
        transport = httpx.MockTransport(server)
        if request.param == "sync":
            with Reverie("http://reverie.test", transport=transport, **options) as reverie:
                return call(reverie.agent("me", owner_key="user:42"))
        async with AsyncReverie("http://reverie.test", transport=transport, **options) as reverie:
            return await call(reverie.agent("me", owner_key="user:42"))

    return do


def read(me: Any) -> Any:
    return me.search("lantern")


def write(me: Any) -> Any:
    return me.append("a.md", "x")


BROKEN = [
    httpx.ReadError("reset"),
    httpx.RemoteProtocolError("Server disconnected without sending a response."),
    httpx.WriteError("broken pipe"),
]


@pytest.mark.parametrize("error", BROKEN, ids=lambda error: type(error).__name__)
async def test_a_read_is_repeated_over_a_broken_connection(run: Run, waits: list[float], error: Exception) -> None:
    server = Server(error, error, httpx.Response(200, json=FOUND))
    assert len(await run(server, read)) == 0
    assert len(server.requests) == 3
    assert waits == [0.1, 0.2]


@pytest.mark.parametrize("error", BROKEN, ids=lambda error: type(error).__name__)
async def test_a_write_that_may_have_arrived_is_not_repeated(run: Run, waits: list[float], error: Exception) -> None:
    server = Server(error)
    with pytest.raises(reverie_client.ConnectionFailed) as caught:
        await run(server, write)
    assert caught.value.may_have_arrived
    assert (len(server.requests), waits) == (1, [])


async def test_a_write_that_never_left_is_repeated(run: Run, waits: list[float]) -> None:
    server = Server(httpx.ConnectError("refused"), httpx.Response(201, json=WRITTEN))
    assert (await run(server, write)).version == 1
    assert len(server.requests) == 2


async def test_a_dry_run_is_a_read_and_the_real_one_a_write(run: Run, waits: list[float]) -> None:
    report = httpx.Response(200, json={"dry_run": True, "removed": {}})
    await run(Server(httpx.ReadError("reset"), report), lambda me: me.clear())
    with pytest.raises(reverie_client.ConnectionFailed):
        await run(Server(httpx.ReadError("reset"), report), lambda me: me.clear(dry_run=False))


async def test_long_work_has_a_longer_time_out(run: Run) -> None:
    done = {"documents": 0, "chunks": 0, "embedded": 0, "reused": 0}
    server = Server(*[httpx.Response(200, json=answer) for answer in (done, done, FOUND)])
    await run(server, lambda me: me.reindex(), timeout=5)
    await run(server, lambda me: me.reindex(timeout_seconds=7), timeout=5)
    await run(server, read, timeout=5)
    seen = [(r.extensions["timeout"]["connect"], r.extensions["timeout"]["read"]) for r in server.requests]
    assert seen == [(30.0, 600.0), (7, 7), (5, 5)]


async def test_repeating_is_bounded(run: Run, waits: list[float]) -> None:
    server = Server(*[httpx.ReadError("reset")] * 9)
    with pytest.raises(reverie_client.ConnectionFailed):
        await run(server, read, max_retries=3)
    assert (len(server.requests), waits) == (4, [0.1, 0.2, 0.4])
    server = Server(httpx.ConnectError("refused"))
    with pytest.raises(reverie_client.ConnectionFailed):
        await run(server, read, max_retries=0)


@pytest.mark.parametrize(
    ("error", "may_have_arrived"),
    [
        (httpx.ReadTimeout("slow"), True),
        (httpx.WriteTimeout("slow"), True),
        (httpx.ConnectTimeout("slow"), False),
        (httpx.PoolTimeout("slow"), False),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_time_out_is_final(run: Run, waits: list[float], error: Exception, may_have_arrived: bool) -> None:
    with pytest.raises(reverie_client.TimedOut) as caught:
        await run(Server(error), read)
    assert (caught.value.code, caught.value.status) == ("timed_out", None)
    assert caught.value.may_have_arrived is may_have_arrived


async def test_a_read_waits_as_long_as_the_server_asks(run: Run, waits: list[float]) -> None:
    busy = problem(503, "database_unavailable", {"Retry-After": "2"})
    server = Server(busy, busy, httpx.Response(200, json=FOUND))
    await run(server, read)
    assert waits == [2.0, 2.0]


async def test_a_read_does_not_wait_for_long(run: Run, waits: list[float]) -> None:
    server = Server(problem(503, "database_unavailable", {"Retry-After": "3600"}))
    with pytest.raises(reverie_client.Unavailable) as caught:
        await run(server, read)
    assert (caught.value.code, caught.value.retry_after_seconds) == ("database_unavailable", 3600.0)
    assert waits == []


async def test_a_write_is_not_repeated_after_503(run: Run, waits: list[float]) -> None:
    """The database may have gone away while it committed: an append would stand there twice."""
    server = Server(problem(503, "database_unavailable", {"Retry-After": "1"}))
    with pytest.raises(reverie_client.Unavailable) as caught:
        await run(server, write)
    assert caught.value.retry_after_seconds == 1.0
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "code"), [(503, "overloaded"), (429, "too_many_requests"), (429, "a_code_of_tomorrow")]
)
async def test_a_write_that_was_refused_unseen_is_sent_again(
    run: Run, waits: list[float], status: int, code: str
) -> None:
    refused = problem(status, code, {"Retry-After": "1"})
    with pytest.raises(reverie_client.Overloaded) as caught:
        await run(Server(refused, refused, refused), write)
    assert (caught.value.code, waits) == (code, [1.0, 1.0])


@pytest.mark.parametrize("status", [502, 503, 504])
async def test_a_gateway_is_asked_again_for_reads_only(run: Run, waits: list[float], status: int) -> None:
    page = httpx.Response(status, html="<h1>Bad gateway</h1>")
    assert (await run(Server(page, httpx.Response(200, json=FOUND)), read)).mode == "text"
    with pytest.raises(reverie_client.Unavailable) as caught:
        await run(Server(page), write)
    assert caught.value.status == status


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (httpx.Response(404, html="<h1>Not Found</h1>"), reverie_client.UnexpectedAnswer),
        (httpx.Response(404, json={"detail": "Not Found"}), reverie_client.UnexpectedAnswer),
        (httpx.Response(500, text="oops"), reverie_client.UnexpectedAnswer),
        (httpx.Response(418, json=["code"]), reverie_client.UnexpectedAnswer),
        (httpx.Response(401, text=""), reverie_client.Unauthorized),
        (httpx.Response(403, html="<h1>No</h1>"), reverie_client.Forbidden),
        (httpx.Response(413, html="<h1>Too large</h1>"), reverie_client.PayloadTooLarge),
        (httpx.Response(302, headers={"Location": "https://login.test/"}), reverie_client.UnexpectedAnswer),
        (httpx.Response(200, html="<h1>Welcome</h1>"), reverie_client.UnexpectedAnswer),
        (httpx.Response(200, json=[]), reverie_client.UnexpectedAnswer),
        (httpx.Response(200, json={"results": [{}]}), reverie_client.UnexpectedAnswer),
        (httpx.Response(200, json={"results": {}, "mode": "text"}), reverie_client.UnexpectedAnswer),
        (httpx.Response(200, content=b"\xff"), reverie_client.UnexpectedAnswer),
    ],
)
async def test_answers_that_are_not_reveries_are_told_apart(
    run: Run, answer: httpx.Response, kind: type[ReverieError]
) -> None:
    """A 404 of a proxy or of another server must not look like a file that is not there."""
    with pytest.raises(kind) as caught:
        await run(Server(answer), read)
    assert type(caught.value) is kind
    assert caught.value.status == answer.status_code


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "unauthorized", reverie_client.Unauthorized),
        (403, "forbidden", reverie_client.Forbidden),
        (403, "read_only_member", reverie_client.ReadOnlyMember),
        (403, "memory_disabled", reverie_client.MemoryDisabled),
        (404, "not_found", reverie_client.NotFound),
        (409, "ambiguous_match", reverie_client.AmbiguousMatch),
        (409, "duplicate_detected", reverie_client.DuplicateDetected),
        (409, "conflict", reverie_client.Conflict),
        (412, "stale_version", reverie_client.StaleVersion),
        (413, "payload_too_large", reverie_client.PayloadTooLarge),
        (422, "validation_error", reverie_client.ValidationError),
        (400, "bad_request", reverie_client.ValidationError),
        (500, "internal_error", reverie_client.ServerFailed),
        (503, "embedder_unavailable", reverie_client.Unavailable),
        (409, "a_code_of_tomorrow", reverie_client.Conflict),
        (451, "a_code_of_tomorrow", ReverieError),
    ],
)
async def test_a_problem_is_the_error_of_its_code(run: Run, status: int, code: str, kind: type[ReverieError]) -> None:
    with pytest.raises(ReverieError) as caught:
        await run(Server(problem(status, code, hint="more")), write)
    error = caught.value
    assert type(error) is kind
    assert (error.code, error.status, error.detail) == (code, status, "a sentence")
    assert error.extra["hint"] == "more"
    assert str(error) == f"a sentence ({code}, HTTP {status})"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.args, again.extra) == (kind, error.args, error.extra)


async def test_newer_and_older_servers_are_understood(run: Run) -> None:
    hit = {
        "id": "1", "tier": "document", "path": "a.md", "start_line": 1, "end_line": 1, "text": "x", "score": 1,
        "text_score": 1, "vector_score": 0, "boost": 1, "scope": "team", "updated_at": "2026-04-03T09:30:00+02:00",
        "a_field_of_tomorrow": {"a": 1},
    }  # fmt: skip
    found = await run(Server(httpx.Response(200, json={"results": [hit], "mode": "text", "new": []})), read)
    assert found[0].updated_at == datetime(2026, 4, 3, 7, 30, tzinfo=UTC)
    assert (found[0].owner_key, found[0].explain, found.timing_ms, found.warnings) == (None, None, None, ())


async def test_only_what_is_given_is_sent(run: Run) -> None:
    """The server's defaults are the server's; and it refuses fields it does not know."""
    server = Server(httpx.Response(200, json=FOUND))
    await run(server, lambda me: me.search("ü"), api_key="rv_key")
    [request] = server.requests
    assert str(request.url) == "http://reverie.test/api/v1/agents/me/memory/search"
    assert json.loads(request.content) == {"query": "ü", "owner_key": "user:42", "explain": False}
    assert request.headers["Authorization"] == "Bearer rv_key"
    assert request.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    "call",
    [
        lambda me: me.read("\ud800.md"),
        lambda me: me.write("a.md", "\ud800"),
        lambda me: me.delete("a.md", scope="\ud800"),
        lambda me: me.write("a.md", "x", if_match='"1"\r\nX-Owner: other'),
        lambda me: me.read("a" * 70_000),
    ],
)
async def test_what_cannot_be_sent_is_refused_before(run: Run, call: Call) -> None:
    server = Server()
    with pytest.raises(reverie_client.ValidationError) as caught:
        await run(server, call)
    assert (caught.value.status, server.requests) == (None, [])


@pytest.mark.parametrize("kind", [Reverie, AsyncReverie])
@pytest.mark.parametrize("agent_id", ["", "a/files/b", "/"])
def test_an_agent_id_cannot_reach_into_another_path(kind: Any, agent_id: str) -> None:
    with pytest.raises(reverie_client.ValidationError):
        kind().agent(agent_id)


@pytest.mark.parametrize("kind", [Reverie, AsyncReverie])
def test_arguments_that_cannot_be_are_refused_at_once(kind: Any) -> None:
    for url in ("127.0.0.1:8077", "ftp://reverie.test", "http://", "http://reverie.test/?a=1", "reverie"):
        with pytest.raises(ValueError, match="base_url"):
            kind(url)
    with pytest.raises(ValueError, match="API key") as caught:
        kind(api_key="secret\nX-Evil: 1")
    assert "secret" not in str(caught.value)
    with pytest.raises(ValueError, match="max_retries"):
        kind(max_retries=-1)


@pytest.mark.parametrize("kind", [Reverie, AsyncReverie])
def test_a_client_does_not_show_its_key(kind: Any) -> None:
    made = kind("http://reverie.test/", api_key="rv_secret")
    assert "http://reverie.test'" in repr(made)
    assert "rv_secret" not in repr(made) + repr(made.agent("me"))


async def test_a_client_of_ones_own_is_used_and_left_open() -> None:
    server = Server(*[httpx.Response(200, json=FOUND) for _ in range(4)])
    with httpx.Client(transport=httpx.MockTransport(server)) as own:
        with Reverie("http://reverie.test", http_client=own) as reverie:
            reverie.agent("me").search("x")
        assert not own.is_closed
    async with httpx.AsyncClient(transport=httpx.MockTransport(server)) as own_async:
        async with AsyncReverie("http://reverie.test", http_client=own_async) as async_reverie:
            await async_reverie.agent("me").search("x")
        assert not own_async.is_closed
    with pytest.raises(ValueError, match="not both"):
        Reverie(http_client=own, transport=httpx.MockTransport(server))
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("3", 3.0),
        (" 3 ", 3.0),
        ("Fri, 03 Apr 2026 12:00:30 GMT", 30.0),
        ("Fri, 03 Apr 2026 11:00:00 GMT", 0.0),
        ("Fri, 03 Apr 2026 12:00:30 -0000", None),
        ("-1", None),
        ("soon", None),
        ("9" * 400, None),
    ],
)
def test_retry_after_is_read_in_both_forms(header: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(header, datetime(2026, 4, 3, 12, tzinfo=UTC)) == seconds


def public(kind: type) -> dict[str, list[tuple[str, Any]]]:
    renamed = {"aclose": "close"}
    return {
        renamed.get(name, name): [(p.name, p.default) for p in inspect.signature(method).parameters.values()]
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


@pytest.mark.parametrize(
    ("sync", "asynchronous"),
    [(Reverie, AsyncReverie), (reverie_client.AgentMemory, reverie_client.AsyncAgentMemory)],
)
def test_both_clients_have_the_same_methods(sync: type, asynchronous: type) -> None:
    assert public(sync) == public(asynchronous)
    assert public(sync)


def test_what_the_package_names_is_there() -> None:
    assert sorted(reverie_client.__all__) == reverie_client.__all__
    for name in reverie_client.__all__:
        assert getattr(reverie_client, name).__doc__, name


def test_a_password_in_the_url_is_shown_nowhere() -> None:
    assert "s3cret" not in repr(Reverie("http://ops:s3cret@reverie.test:8077"))
    with pytest.raises(ValueError, match="http or https") as refused:
        Reverie("ftp://ops:s3cret@reverie.test")
    assert "s3cret" not in str(refused.value)
