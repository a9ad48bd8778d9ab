"""Traces: parts of a request and of a job that follows from it, by names and numbers, and no word of anybody's."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Sequence

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.conftest import PLAIN, ServeRuntime
from tests.scripted_model import Reply, ScriptedModel

from reverie_indexer import tracing
from reverie_indexer.database.database import Database
from reverie_indexer.database.traced import TracedCursor
from reverie_indexer.errors import SetupError
from reverie_server.app.open_telemetry import OpenTelemetry
from reverie_server.app.pending_jobs import drain
from reverie_server.app.traces import traced
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Work
from reverie_server.llm.errors import LanguageModelUnavailable
from reverie_server.llm.prompts import load_prompt
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

CANARY = "zyxquince"
AGENT = "/api/v1/agents/wren"


class Spans:
    """What was traced."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def __call__(self) -> Sequence[ReadableSpan]:
        return self._exporter.get_finished_spans()

    def named(self, name: str) -> ReadableSpan:
        """The last span of a name."""
        assert name in {span.name for span in self()}, sorted({span.name for span in self()})
        return [span for span in self() if span.name == name][-1]

    def trace(self, root: ReadableSpan) -> dict[tuple[str, ...], ReadableSpan]:
        """The spans of a root's trace by the names from the root down."""
        own = {span.context.span_id: span for span in self() if span.context.trace_id == root.context.trace_id}

        def path(span: ReadableSpan) -> tuple[str, ...]:
            above = own.get(span.parent.span_id) if span.parent else None
            return (*(path(above) if above else ()), span.name)

        return {path(span): span for span in own.values()}


@pytest.fixture
def spans() -> Iterator[Spans]:
    """Tracing, switched on before there is a connection to the database."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.install(OpenTelemetry(provider))
    yield Spans(exporter)
    tracing.install(None)
    provider.shutdown()


@pytest.fixture
async def http(spans: Spans, talking: Runtime, serve_runtime: ServeRuntime) -> AsyncIterator[httpx.AsyncClient]:
    base = await serve_runtime(talking)
    async with httpx.AsyncClient(base_url=base, timeout=60, verify=PLAIN) as client:
        yield client


async def test_a_search_is_traced_by_its_parts_and_statements(spans: Spans, http: httpx.AsyncClient) -> None:
    await http.put(f"{AGENT}/files/a.md", json={"content": "Ada likes tea in the morning."})
    caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    answer = await http.post(f"{AGENT}/memory/search", json={"query": "tea"}, headers={"traceparent": caller})
    assert answer.status_code == 200
    request = spans.named("POST /agents/{a}/memory/search")
    assert dict(request.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": "/agents/{a}/memory/search",
        "http.response.status_code": 200,
    }
    # It goes on with the caller's trace.
    assert (f"{request.context.trace_id:032x}", request.kind.name) == (caller.split("-")[1], "SERVER")
    trace = spans.trace(request)
    top = request.name
    assert {*trace} >= {
        (top, "authenticate", "access.keys.authenticate"),
        (top, "gate", "access.gate.agent"),
        (top, "search", "embed"),
        (top, "search", "analyse"),
        (top, "search", "rank"),
        (top, "respond"),
    }
    statements = {path[-1]: span for path, span in trace.items() if (span.attributes or {}).get("db.system.name")}
    assert "unnamed" not in statements
    opening = statements["database.database.visible_slices"]
    assert (opening.attributes or {})["db.operation.name"] == (
        "database.database.begin_snapshot, database.database.enter_tenant, search.store.active_model_id, "
        "database.database.act_for, database.database.visible_slices"
    )
    write = spans.trace(spans.named("PUT /agents/{a}/files/{path:file}"))
    [embedded] = [span for path, span in write.items() if path[-1] == "embed"]
    assert dict(embedded.attributes or {}) == {"texts": 1}


async def test_a_job_is_a_trace_of_its_own_that_is_linked_to_its_request(
    spans: Spans, http: httpx.AsyncClient, talking: Runtime
) -> None:
    said = [{"role": "user", "content": f"Number {number} of the harbour is mine."} for number in range(4)]
    await http.post(f"{AGENT}/sessions/web:1/messages", json={"messages": said})
    await http.get(f"{AGENT}/sessions/web:1/messages")
    await http.post(f"{AGENT}/sessions/web:1/complete", json={})
    await drain(talking)
    complete = spans.named("POST /agents/{a}/sessions/{s}/complete")
    job = spans.named("job episodic")
    [link] = job.links
    assert job.parent is None
    assert link.context.trace_id == complete.context.trace_id != job.context.trace_id
    assert link.context.span_id in {span.context.span_id for span in spans.trace(complete).values()}
    assert {name: (job.attributes or {})[name] for name in ("attempt", "status", "method", "fallback")} == {
        "attempt": 1,
        "status": "completed",
        "method": "extractive",
        "fallback": "unusable",
    }
    trace = spans.trace(job)
    call = trace["job episodic", "model call"]
    attributes = dict(call.attributes or {})
    assert attributes["gen_ai.request.model"] == "scripted"
    assert attributes["gen_ai.usage.input_tokens"] == 3
    assert attributes["gen_ai.usage.output_tokens"] == 2
    # What follows from a job is linked to that.
    [of_episode] = spans.named("job semantic").links
    assert of_episode.context.trace_id == job.context.trace_id
    # A message to PostgreSQL has the name of what it is for, and not of the end of its transaction.
    assert "sessions.sessions.messages" in {span.name for span in spans()}
    assert "database.database.end" not in {span.name for span in spans()}


async def test_no_span_has_a_word_of_anybody(
    spans: Spans, http: httpx.AsyncClient, talking: Runtime, scripted: ScriptedModel
) -> None:
    text, owner = f"The {CANARY} vault opens in the morning.", f"user:{CANARY}"
    scripted.script = lambda _: Reply(f"About the {CANARY}.")
    said = [{"role": "user", "content": text}] * 4
    asked = {"query": CANARY, "owner_key": owner}
    for method, path, body in (
        ("PUT", f"files/{CANARY}.md?owner_key={owner}", {"content": text}),
        ("GET", f"files/{CANARY}.md?owner_key={owner}", None),
        ("GET", f"files/none-{CANARY}.md?owner_key={owner}", None),
        ("POST", "memory/search", asked),
        ("POST", "memory/keyword-search", asked),
        ("POST", "memory/search", {"query": f"{CANARY} " * 5000}),
        ("POST", f"sessions/{CANARY}/messages", {"messages": said, "owner_key": owner}),
        ("POST", "context", {"session_id": CANARY, "owner_key": owner, "message": text}),
        ("POST", f"sessions/{CANARY}/complete", {"owner_key": owner}),
    ):
        await http.request(method, f"{AGENT}/{path}", json=body)
    await http.get(f"/api/v1/agents/{CANARY}/summary", headers={"X-Request-Id": CANARY, "tracestate": f"a={CANARY}"})
    await http.get(f"/{CANARY}")
    await drain(talking)
    await http.post(f"{AGENT}/memory/forget", json={"text": text, "owner_key": owner, "dry_run": False})
    await http.delete(f"/api/v1/owners/{owner}?dry_run=false")
    with pytest.raises(ValueError, match=CANARY), tracing.root("job", "consumer"), tracing.part("part"):
        raise ValueError(CANARY)
    shown = [span.to_json() for span in spans()]
    assert len(shown) > 100
    assert any(span.status.description == "NotFound" for span in spans())
    assert [each for each in shown if CANARY in each or "SELECT" in each] == []


async def test_a_model_that_does_not_answer_is_told_by_a_code(
    spans: Spans, talking: Runtime, scripted: ScriptedModel
) -> None:
    scripted.plan(Reply(CANARY, status=401))
    assert talking.llm is not None
    with pytest.raises(LanguageModelUnavailable), tracing.root("job", "consumer"):
        await talking.llm.complete(
            "default", load_prompt("summary"), {"previous": "", "transcript": "Tea.", "max_words": "9"}, max_tokens=10
        )
    attributes = dict(spans.named("model call").attributes or {})
    assert (attributes["error.type"], attributes["http.response.status_code"]) == ("rejected", 401)


async def test_when_it_is_off_nothing_is_made(database: Database, runtime: Runtime) -> None:
    assert tracing.root("request", "server") is tracing.part("gate") is tracing.NOTHING
    async with database.tenant("default") as connection:
        assert connection.cursor_factory is not TracedCursor
        await defer(connection, Work("dedup", "default", "wren", None))
    rows = await database.maintenance_query(b"SELECT args FROM procrastinate_jobs", {})
    assert ["traceparent" in row["args"] for row in rows] == [False]


async def test_what_is_traced_is_sent_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[tuple[bytes, bytes]] = []

    async def collect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        received.append((head.split(b"\r\n")[0], await reader.readexactly(size)))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(collect, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://{host}:{port}")
        async with traced(Settings(traces_enabled=True), "worker"):
            assert tracing.is_on()
            with tracing.root("job dedup", "consumer", attempt=1):
                pass
        assert not tracing.is_on()
        async with traced(Settings(), "worker"):
            assert not tracing.is_on()
    [(line, body)] = received
    assert line == b"POST /v1/traces HTTP/1.1"
    assert all(word in body for word in (b"service.name", b"reverie", b"worker", b"job dedup", b"attempt"))


async def test_without_the_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(SetupError, match=r"pip install reverie\[otel\]"):
        async with traced(Settings(traces_enabled=True), "server"):
            pass
