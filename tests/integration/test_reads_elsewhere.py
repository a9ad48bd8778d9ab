"""What requests only read is read on a standby, as it would be on the primary; and there where that cannot be."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from structlog.testing import capture_logs
from tests.conftest import PLAIN, ServeRuntime
from tests.pooler import pooler
from tests.rows import leftovers
from tests.standbys import (
    HANGS_SECONDS,
    Node,
    Pair,
    comes_about,
    fallbacks_of,
    reading,
    reads_of,
    started_pair,
    until_read_there,
    whole,
)
from typer.testing import CliRunner

from reverie_client import AsyncReverie
from reverie_indexer.database.messages import Statement
from reverie_indexer.database.request_reads import begins_to_read, of_request
from reverie_server.app.pending_jobs import drain
from reverie_server.cli.main import cli
from reverie_server.runtime import Runtime

POSITION = "X-Reverie-Position"
ATTEMPTS = 10


@pytest.fixture(scope="module")
def servers() -> Iterator[Pair]:
    with started_pair() as pair:
        yield pair


@pytest.fixture
def fresh() -> Iterator[Pair]:
    """One for a test alone."""
    with started_pair() as pair:
        yield pair


@pytest.fixture
def pair(servers: Pair) -> Iterator[Pair]:
    with whole(servers) as pair:
        yield pair


@asynccontextmanager
async def served(runtime: Runtime, serve: ServeRuntime) -> AsyncIterator[httpx.AsyncClient]:
    """A client whose paths begin with those of an agent of its own."""
    base_url = f"{await serve(runtime)}/api/v1/agents/a{uuid4().hex}"
    async with httpx.AsyncClient(base_url=base_url, timeout=HANGS_SECONDS, verify=PLAIN) as client:
        yield client


async def put(client: httpx.AsyncClient, path: str, content: str) -> str:
    """Write a file; the position that the answer tells."""
    answer = await client.put(f"files/{path}", json={"content": content})
    assert answer.is_success, answer.text
    return answer.headers[POSITION]


async def found(client: httpx.AsyncClient, query: str) -> list[str]:
    answer = await client.post("memory/search", json={"query": query})
    assert answer.status_code == 200, answer.text
    return [result["text"] for result in answer.json()["results"]]


async def test_reads_go_to_the_standby_and_see_what_anybody_wrote_before(
    pair: Pair, serve_runtime: ServeRuntime
) -> None:
    async with reading(pair) as runtime, served(runtime, serve_runtime) as client:
        for number in range(8):
            text = f"The lantern number {number} hangs in the harbour."
            await put(client, "a.md", text)
            assert (await client.get("files/a.md")).json()["content"] == text
            assert await found(client, "lantern") == [text]
        await until_read_there(runtime, lambda: client.get("files/a.md"))
        await until_read_there(runtime, lambda: client.post("memory/search", json={"query": "lantern"}))


async def test_what_a_standby_has_not_replayed_is_read_on_the_primary(pair: Pair, serve_runtime: ServeRuntime) -> None:
    async with reading(pair) as runtime, served(runtime, serve_runtime) as client:
        await put(client, "a.md", "The lantern hangs in the harbour.")
        await until_read_there(runtime, lambda: client.get("files/a.md"))
        pair.pause()
        await put(client, "a.md", "The lantern is gone.")
        there = reads_of(runtime)[0]
        assert (await client.get("files/a.md")).json()["content"] == "The lantern is gone."
        assert await found(client, "lantern") == ["The lantern is gone."]
        assert reads_of(runtime)[0] == there
        assert fallbacks_of(runtime)["behind"] >= 2
        pair.resume()
        await until_read_there(runtime, lambda: client.get("files/a.md"))


ME = "user:1"
SECRET = "My locker code at the climbing gym is quince-4711."
TALK = (f"Remember that: {SECRET}", "My name is Ada Lind and I work at Norrhavn Shipyard in Oslo.")
# What shows memory, each as a client asks for it that has not written.
LOOKS: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    ("POST", "memory/search", {"query": "locker code climbing gym"}),
    ("POST", "memory/search", {"query": "quince", "mode": "text"}),
    ("POST", "memory/keyword-search", {"query": "locker"}),
    ("POST", "memory/inject", {"message": "What is my locker code at the climbing gym?"}),
    ("POST", "context", {"message": "What is my locker code at the climbing gym?", "session_id": "web:1"}),
    ("POST", "tools/memory_search", {"arguments": {"query": "locker code climbing gym"}}),
    ("POST", "tools/search_workspace_memory", {"arguments": {"query": "locker"}}),
    ("POST", "graph/search", {"query": "climbing gym"}),
    ("POST", "episodes/search", {"query": "locker code climbing gym"}),
    ("GET", "files/notes.md", None),
    ("GET", "files/MEMORY.md", None),
    ("GET", "files/notes.md/versions", None),
    ("GET", "files", None),
    ("GET", "facts", None),
    ("GET", "episodes", None),
    ("GET", "graph/entities", None),
    ("GET", "sessions", None),
    ("GET", "sessions/web:1/messages", None),
    ("GET", "timeline", None),
    ("GET", "turns", None),
)


async def look(client: httpx.AsyncClient) -> list[tuple[str, int, str]]:
    """What each look shows: its path, the status and the text of the answer."""
    shown = []
    for method, path, body in LOOKS:
        if body is None:
            answer = await client.request(method, path, params={"owner_key": ME})
        else:
            answer = await client.request(method, path, json={"owner_key": ME, **body})
        shown.append((path, answer.status_code, answer.text))
    return shown


async def test_a_forgotten_text_that_the_standby_still_has_is_shown_nowhere(
    pair: Pair, serve_runtime: ServeRuntime
) -> None:
    async with reading(pair) as runtime, served(runtime, serve_runtime) as client:
        await put(client, "notes.md", "# Notes\n\n- Ada likes skiing.\n")
        notes = {"content": f"# Notes\n\n- {SECRET}\n- Ada likes skiing.\n", "owner_key": ME}
        assert (await client.put("files/notes.md", json=notes)).is_success
        said = [{"role": "user", "content": text} for text in TALK]
        answer = await client.post("sessions/web:1/messages", json={"owner_key": ME, "messages": said})
        assert answer.is_success, answer.text
        await client.post("sessions/web:1/complete", json={"owner_key": ME, "trigger_source": "web"})
        await drain(runtime, until=datetime.now(UTC) + timedelta(days=3))
        before = await look(client)
        assert [each for each in before if each[1] != 200] == []
        showing = [path for path, _, text in before if "quince" in text]
        assert len(showing) >= 6, showing
        pair.pause()
        forgotten = await client.post("memory/forget", json={"owner_key": ME, "text": "quince-4711", "dry_run": False})
        assert forgotten.status_code == 200, forgotten.text
        there = reads_of(runtime)[0]
        after = await look(client)
        assert [each for each in after if each[1] != 200] == []
        assert [path for path, _, text in after if "quince" in text] == []
        assert reads_of(runtime)[0] == there
        # All of it is on the standby still.
        assert len(leftovers(pair.standby.conninfo, "quince")) > 4
        assert leftovers(pair.primary.conninfo, "quince") == []


async def test_a_revoked_key_is_refused_whatever_the_standby_has(pair: Pair, serve_runtime: ServeRuntime) -> None:
    async with reading(pair) as runtime, served(runtime, serve_runtime) as client:
        await put(client, "a.md", "The lantern hangs in the harbour.")
        key_id, key = await runtime.keys.create("default", "viewer")
        # Without it the server would be open again.
        _, other = await runtime.keys.create("default", "viewer")
        client.headers["Authorization"] = f"Bearer {key}"
        try:
            await until_read_there(runtime, lambda: client.get("files/a.md"))
            pair.pause()
            await runtime.keys.revoke(key_id)
            assert (await client.get("files/a.md")).status_code == 401
            assert (await client.post("memory/search", json={"query": "lantern"})).status_code == 401
            assert pair.standby.ask(f"SELECT revoked_at IS NULL FROM keys WHERE key_id = '{key_id}'") is True
            client.headers["Authorization"] = f"Bearer {other}"
            assert (await client.get("files/a.md")).status_code == 200
        finally:
            pair.primary.ask("WITH gone AS (DELETE FROM keys RETURNING 1) SELECT count(*) FROM gone")


async def test_what_a_read_writes_is_the_primarys(pair: Pair, serve_runtime: ServeRuntime) -> None:
    async with reading(pair) as runtime, served(runtime, serve_runtime) as client:
        await put(client, "a.md", "The lantern hangs in the harbour.")
        recalls = "SELECT count(*) FROM recalls"
        before = pair.primary.ask(recalls)
        await until_read_there(runtime, lambda: client.post("memory/search", json={"query": "lantern harbour"}))

        async def are_written() -> bool:
            return pair.primary.ask(recalls) > before

        await comes_about(are_written)
        assert runtime.recalls.lost == 0


async def test_a_standby_that_is_killed_fails_no_request_and_is_used_again(
    pair: Pair, serve_runtime: ServeRuntime
) -> None:
    async with reading(pair) as runtime, served(runtime, serve_runtime) as client:
        text = "The lantern hangs in the harbour."
        await put(client, "a.md", text)
        await until_read_there(runtime, lambda: client.get("files/a.md"))
        ended = asyncio.Event()
        statuses: list[int] = []

        async def ask_on() -> None:
            while not ended.is_set():
                statuses.append((await client.get("files/a.md")).status_code)
                statuses.append((await client.post("memory/search", json={"query": "lantern"})).status_code)
                message = {"message": "Where does the lantern hang?"}
                statuses.append((await client.post("memory/inject", json=message)).status_code)

        asking = [asyncio.create_task(ask_on()) for _ in range(3)]
        pair.standby.signal(signal.SIGKILL)
        already = len(statuses)

        async def has_gone_on() -> bool:
            return len(statuses) > already + 30

        await comes_about(has_gone_on)
        ended.set()
        await asyncio.gather(*asking)
        assert set(statuses) == {200}
        assert fallbacks_of(runtime).keys() & {"away", "interrupted"}
        await asyncio.to_thread(pair.standby.start)
        await until_read_there(runtime, lambda: client.get("files/a.md"))


async def test_a_standby_that_stands_still_fails_no_request(pair: Pair, serve_runtime: ServeRuntime) -> None:
    async with reading(pair) as runtime, served(runtime, serve_runtime) as client:
        await put(client, "a.md", "The lantern hangs in the harbour.")
        await until_read_there(runtime, lambda: client.get("files/a.md"))
        # How far it was is known of its connection: it is read without a question before.
        pair.standby.signal(signal.SIGSTOP)
        for _ in range(3):
            assert (await client.get("files/a.md")).status_code == 200
            assert await found(client, "lantern") == ["The lantern hangs in the harbour."]
        pair.standby.signal(signal.SIGCONT)
        await until_read_there(runtime, lambda: client.get("files/a.md"))


async def test_a_read_that_ends_with_its_connection_is_done_again_on_the_primary(
    pair: Pair, serve_runtime: ServeRuntime
) -> None:
    """Whatever its method, since it wrote nothing: the tables are locked on the primary, and the lock is replayed."""
    async with reading(pair) as runtime, served(runtime, serve_runtime) as client:
        text = "The lantern hangs in the harbour."
        await put(client, "a.md", text)
        await until_read_there(runtime, lambda: client.get("files/a.md"))
        reads = (
            lambda: client.get("files/a.md"),
            lambda: client.post("memory/search", json={"query": "lantern"}),
            lambda: client.post("memory/inject", json={"message": "Where does the lantern hang?"}),
            lambda: client.post("memory/keyword-search", json={"query": "lantern"}),
            lambda: client.post("tools/memory_search", json={"arguments": {"query": "lantern"}}),
            lambda: client.post("tools/read_workspace_memory_file", json={"arguments": {"filename": "a.md"}}),
        )
        for number, read in enumerate(reads):
            for _ in range(ATTEMPTS):
                await until_read_there(runtime, read)
                response = await _interrupted(pair, read)
                assert response.status_code == 200, response.text
                assert "lantern" in response.text
                if fallbacks_of(runtime).get("interrupted", 0) > number:
                    break
            assert fallbacks_of(runtime).get("interrupted", 0) > number, (number, fallbacks_of(runtime))


async def _lock(holder: psycopg.AsyncConnection[Any], tables: str) -> None:
    """All at once or none: who waits with one of them locked can meet somebody who reads them in another order."""
    until = asyncio.get_running_loop().time() + HANGS_SECONDS
    while True:
        try:
            await holder.execute(f"LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE NOWAIT")
        except psycopg.errors.LockNotAvailable:
            assert asyncio.get_running_loop().time() < until
            await holder.rollback()
            await asyncio.sleep(0.02)
        else:
            return


async def _interrupted(pair: Pair, read: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
    """The answer to a read whose connection to the standby was ended meanwhile, where it had one to it."""
    waiting = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND backend_type = 'client backend'"
    async with await psycopg.AsyncConnection.connect(pair.primary.conninfo) as holder:
        await _lock(holder, "documents, versions, chunks")
        pair.primary.ask("SELECT pg_switch_wal()")
        pair.until_followed()
        answer = asyncio.create_task(read())
        # Where the standby was behind for a moment, it is the primary that is waited for.
        until = asyncio.get_running_loop().time() + 3
        while not pair.standby.ask(f"SELECT count(pg_terminate_backend(pid)) {waiting}"):
            if asyncio.get_running_loop().time() > until:
                break
            await asyncio.sleep(0.05)
        await holder.rollback()
    return await answer


async def test_a_client_that_has_seen_more_than_the_primary_is_not_the_standbys(
    pair: Pair, serve_runtime: ServeRuntime
) -> None:
    """As after a change of the primary of which this server has not heard."""
    async with reading(pair) as runtime, served(runtime, serve_runtime) as client:
        position = await put(client, "a.md", "The lantern hangs in the harbour.")
        await until_read_there(runtime, lambda: client.get("files/a.md", headers={POSITION: position}))
        assert POSITION not in (await client.get("files/a.md")).headers
        there = reads_of(runtime)[0]
        for seen in ("00000002-0000000000000000", "nowhere"):
            assert (await client.get("files/a.md", headers={POSITION: seen})).status_code == 200
        assert reads_of(runtime)[0] == there
        assert "behind" not in fallbacks_of(runtime)


class Watched(httpx.AsyncHTTPTransport):
    """Sends requests, and keeps the position that each has."""

    def __init__(self) -> None:
        super().__init__(verify=PLAIN)
        self.positions: list[str | None] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.positions.append(request.headers.get(POSITION))
        return await super().handle_async_request(request)


async def test_the_client_sends_the_position_of_its_last_write(pair: Pair, serve_runtime: ServeRuntime) -> None:
    async with reading(pair) as runtime:
        transport = Watched()
        async with AsyncReverie(await serve_runtime(runtime), transport=transport) as reverie:
            me = reverie.agent(f"a{uuid4().hex}")
            for number in range(2):
                await me.write("a.md", f"The lantern number {number} hangs in the harbour.")
                assert [each.text for each in (await me.search("lantern")).results] == [
                    f"The lantern number {number} hangs in the harbour."
                ]
        first, of_first, again, of_second = transport.positions
        assert (first, again) == (None, of_first)
        assert of_first is not None
        assert of_second is not None
        assert of_second > of_first


@pytest.mark.parametrize("other", ["the primary", "another database"])
async def test_what_is_no_standby_of_the_database_is_not_read(
    pair: Pair, serve_runtime: ServeRuntime, other: str
) -> None:
    conninfo = (
        pair.primary.conninfo if other == "the primary" else make_conninfo(pair.standby.conninfo, dbname="postgres")
    )
    if other == "another database":
        # Only what looks like ours is connected to.
        with psycopg.connect(make_conninfo(pair.primary.conninfo, dbname="postgres"), autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        pair.until_followed()
    async with reading(pair, conninfo) as runtime, served(runtime, serve_runtime) as client:
        await put(client, "a.md", "The lantern hangs in the harbour.")

        async def is_known() -> bool:
            assert (await client.get("files/a.md")).status_code == 200
            assert reads_of(runtime)[0] == 0
            return "not_a_standby" in fallbacks_of(runtime)

        await comes_about(is_known)


async def test_only_what_requests_read_is_read_there(pair: Pair) -> None:
    """Whatever else the server reads, and what a request reads once it has begun to write, is read on the primary."""
    standby, primary = (
        "SELECT true AS there WHERE pg_is_in_recovery()",
        "SELECT true AS there WHERE NOT pg_is_in_recovery()",
    )
    async with reading(pair) as runtime:
        database = runtime.database

        async def is_there() -> bool:
            async with database.tenant("default", snapshot=True) as connection:
                return await (await connection.execute(standby.encode())).fetchone() is not None

        assert not await is_there()
        with of_request("") as reads:
            assert not await is_there()
            begins_to_read()
            await comes_about(is_there)
            assert (await database.read("default", [Statement(primary.encode(), {})])) != []
            async with database.tenant("default") as connection:
                assert await (await connection.execute(primary.encode())).fetchone() is not None
            assert reads.wrote
            assert not await is_there()


async def test_metrics_say_how_far_the_standby_is_and_who_reads(pair: Pair, serve_runtime: ServeRuntime) -> None:
    async with reading(pair) as runtime, served(runtime, serve_runtime) as client:
        metrics = client.base_url.copy_with(path="/metrics")

        async def shown() -> dict[str, float]:
            text = (await client.get(metrics)).text
            return {
                line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if line[0] != "#"
            }

        await put(client, "a.md", "The lantern hangs in the harbour.")
        await until_read_there(runtime, lambda: client.get("files/a.md"))
        pair.until_followed()

        async def follows() -> bool:
            now = await shown()
            return now['reverie_standby{state="follows"}'] == 1 and now["reverie_standby_lag_bytes"] == 0

        await comes_about(follows)
        pair.pause()
        await put(client, "a.md", "The lantern is gone.")
        assert (await client.get("files/a.md")).status_code == 200
        now = await shown()
        assert now['reverie_reads_total{server="standby"}'] >= 1
        assert now['reverie_reads_total{server="primary"}'] >= 1
        assert now['reverie_reads_fallback_total{reason="behind"}'] >= 1

        async def is_behind() -> bool:
            now = await shown()
            return now.get("reverie_standby_lag_bytes", 0) > 0 and now["reverie_standby_lag_seconds"] > 0

        await comes_about(is_behind)
        pair.standby.signal(signal.SIGKILL)

        async def is_away() -> bool:
            now = await shown()
            return now['reverie_standby{state="away"}'] == 1 and "reverie_standby_lag_bytes" not in now

        await comes_about(is_away)


async def test_a_standby_of_an_abandoned_timeline_is_not_read_though_it_is_further(
    fresh: Pair, serve_runtime: ServeRuntime
) -> None:
    """Another one was promoted, which never had what this one has: the new primary's log is another history."""
    old, new = fresh.primary, fresh.standby
    ahead = old.new_standby(old.home.parent / "c")
    try:
        async with reading(Pair(old, ahead)) as runtime, served(runtime, serve_runtime) as client:
            await put(client, "a.md", "The lantern hangs in the harbour.")
            base_url = client.base_url
            fresh.until_followed()
            new.stop()
            await put(client, "a.md", "The lantern was lost with the old primary.")
        # The log goes on by three files of 16 MB.
        for number in range(3):
            old.ask(f"SELECT pg_logical_emit_message(false, 'test', '{number}')")
            old.ask("SELECT pg_switch_wal()")
        Pair(old, ahead).until_followed()
        old.signal(signal.SIGKILL)
        new.start()
        assert new.ask("SELECT pg_promote()")
        async with reading(Pair(new, ahead)) as runtime, served(runtime, serve_runtime) as client:
            client.base_url = client.base_url.copy_with(path=base_url.path)
            assert (await client.get("files/a.md")).json()["content"] == "The lantern hangs in the harbour."
            is_further = ahead.ask("SELECT pg_last_wal_replay_lsn() - '0/0'")
            assert new.ask("SELECT pg_current_wal_flush_lsn() - '0/0'") < is_further

            async def is_looked_at() -> bool:
                assert await found(client, "lantern") == ["The lantern hangs in the harbour."]
                return "behind" in fallbacks_of(runtime)

            await comes_about(is_looked_at)
            assert reads_of(runtime)[0] == 0
    finally:
        ahead.stop()


def first_of(pair: Pair, other: Node) -> str:
    """A URL of two standbys, of which the second is read only where the first does not answer."""
    hosts = ",".join(str(node.home / "run") for node in (other, pair.standby))
    return make_conninfo(pair.standby.conninfo, host=hosts)


async def test_of_several_standbys_another_is_read_when_one_dies(fresh: Pair, serve_runtime: ServeRuntime) -> None:
    other = fresh.primary.new_standby(fresh.primary.home.parent / "c")
    try:
        async with reading(fresh, first_of(fresh, other)) as runtime, served(runtime, serve_runtime) as client:
            await put(client, "a.md", "The lantern hangs in the harbour.")
            await until_read_there(runtime, lambda: client.get("files/a.md"))
            sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'reverie' AND pid <> pg_backend_pid()"
            assert (other.ask(sessions) > 0, fresh.standby.ask(sessions)) == (True, 0)
            other.signal(signal.SIGKILL)
            await until_read_there(runtime, lambda: client.get("files/a.md"))
            assert fresh.standby.ask(sessions) > 0
            # What is written now is read at once, whoever reads it.
            await put(client, "a.md", "The lantern is gone.")
            assert await found(client, "lantern") == ["The lantern is gone."]
            await until_read_there(runtime, lambda: client.get("files/a.md"))
    finally:
        other.stop()


async def test_a_pooler_of_transactions_before_the_standby_is_not_read_through(
    pair: Pair, serve_runtime: ServeRuntime
) -> None:
    socket_path = str(pair.standby.home / "run" / ".s.PGSQL.5432")
    with capture_logs() as logs:
        async with pooler(socket_path, "transaction") as port:
            pooled = make_conninfo(pair.standby.conninfo, host="127.0.0.1", port=port)
            async with reading(pair, pooled) as runtime, served(runtime, serve_runtime) as client:
                await put(client, "a.md", "The lantern hangs in the harbour.")

                async def is_known() -> bool:
                    assert await found(client, "lantern") == ["The lantern hangs in the harbour."]
                    assert reads_of(runtime)[0] == 0
                    return "not_a_standby" in fallbacks_of(runtime)

                await comes_about(is_known)
    details = {each["detail"] for each in logs if each["event"] == "standby_behind_a_pooler"}
    assert len(details) == 1
    assert "its pool_mode to session" in details.pop()


@pytest.mark.usefixtures("own_log")
def test_doctor_looks_at_each_standby(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    home, gone = str(pair.standby.home / "run"), str(pair.standby.home / "nobody")
    monkeypatch.setenv("REVERIE_DATABASE_URL", pair.primary.conninfo)
    monkeypatch.setenv("REVERIE_EMBEDDER", "none")

    behind: list[int] = []

    def told(host: str, **parameters: str) -> list[str]:
        url = make_conninfo(pair.standby.conninfo, host=host, password="very-secret", **parameters)
        monkeypatch.setenv("REVERIE_READ_DATABASE_URL", url)
        done = CliRunner().invoke(cli, ["doctor"])
        assert "very-secret" not in done.output
        lines = [line.partition(" ")[2].strip() for line in done.stdout.splitlines() if line.startswith("standby")]
        assert any("PROBLEM" in line for line in lines) is (done.exit_code == 1), done.output
        behind.extend(int(found.replace(",", "")) for found in re.findall(r"([\d,]+) bytes", "".join(lines)))
        return [re.sub(r"[\d,]+ bytes", "some bytes", line) for line in lines]

    follows = f"{home}:5432 follows, some bytes behind"
    assert told(home) == [follows]
    problem = "PROBLEM: read_database_url: no standby of this database answers at {}:5432; it is not read"
    assert told(f"{home},{gone}") == [follows, problem.format(gone)]
    primary = str(pair.primary.home / "run")
    assert told(primary) == [problem.format(primary)]
    # All hosts of a cluster, one of which is the primary, whichever that is.
    standbys_alone = {"target_session_attrs": "standby"}
    assert told(f"{primary},{home}", **standbys_alone) == [
        follows,
        f"{primary}:5432 is a primary, which is passed over",
    ]
    assert told(f"{primary},{home}") == [follows, problem.format(primary)]
    assert told(primary, **standbys_alone) == [problem.format(primary)]
    pair.pause()
    pair.primary.ask("SELECT pg_logical_emit_message(false, 'test', repeat('x', 1000), true)")
    assert told(home) == [follows]
    assert len(behind) == 5
    assert behind[-1] >= 1000
