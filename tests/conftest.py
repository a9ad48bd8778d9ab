"""A real PostgreSQL for every test that asks for one: a fresh database cloned from a template.

`REVERIE_TEST_DATABASE_URL` points at a server of one's own (a login that may create databases); without it the
embedded one is started, once for all workers of a run. A PostgreSQL that is missing fails the tests.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import shutil
import socket
import ssl
import tempfile
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
import structlog
import uvicorn
from hypothesis import HealthCheck, settings
from psycopg import conninfo as pg_conninfo
from psycopg import sql
from tests.citus.nodes import NodeDatabases, started_nodes
from tests.clusters import Databases, clusters_root
from tests.reaper import start_reaper
from tests.scripted_model import ScriptedModel, scripted_model

from reverie_indexer.database.database import Database
from reverie_indexer.database.preparing import prepare_database
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.postgres.embedded import EmbeddedPostgres
from reverie_indexer.resources import read_resource, resource
from reverie_server.app.http_app import create_app
from reverie_server.app.wiring import assemble
from reverie_server.cli.main import tcp_socket
from reverie_server.files.files import Workspace
from reverie_server.http.server import http_server
from reverie_server.runtime import Runtime
from reverie_server.search.search import Search
from reverie_server.settings.server import Settings

# Tests start the program dozens of times; where its bytecode is not kept, each start compiles all of it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# How long an example takes says nothing on a busy machine.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# Lost on a crash, which is right for databases that live as long as one test. Tests of crashes start their own.
FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    # It lies in memory, where a gigabyte of log is not for the asking.
    "max_wal_size": "256MB",
}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The canaries take a minute: begun last, they would keep one worker busy when the others are done."""
    items.sort(key=lambda item: "canary" not in item.path.parts)
    if os.environ.get("REVERIE_TEST_ON_NODES"):
        left_out = [item for item in items if item.get_closest_marker("one_node")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def server_conninfo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """How to reach the test server's `postgres` database."""
    if url := os.environ.get("REVERIE_TEST_DATABASE_URL"):
        yield url
        return
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", uuid.uuid4().hex)
    data_dir = clusters_root() / f"reverie-tests-{run[:12]}"
    start_reaper(str(data_dir))
    server = EmbeddedPostgres(data_dir, options=FAST)
    try:
        yield server.start()
    finally:
        server.stop()
        # The last worker to leave has stopped the server; then nobody needs the directory any more.
        if not (data_dir / "postgres" / "postmaster.pid").exists():
            shutil.rmtree(data_dir, ignore_errors=True)


@pytest.fixture(scope="session")
def template_database(server_conninfo: str) -> str:
    """The name of a database with the schema, made once for all workers.

    There, whoever changes what a search ranks by without a revision of its slice fails.
    """
    checks = (Path(__file__).parent / "revision_checks.sql").read_bytes()
    migrations = sorted(path.name for path in resource("migrations").glob("*.sql"))
    made_of = [read_resource("schema.sql"), *migrations, checks.decode()]
    sha256 = hashlib.sha256("\n".join(made_of).encode()).hexdigest()
    name = f"reverie_template_{sha256[:12]}"
    lock_name = hashlib.sha256(server_conninfo.encode()).hexdigest()[:16]
    with (Path(tempfile.gettempdir()) / f"reverie-template-{lock_name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with psycopg.connect(server_conninfo, autocommit=True) as connection:
            known = connection.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).fetchone()
            if known is None:
                building = f"{name}_building"
                connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(building)))
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(building)))
                building_conninfo = pg_conninfo.make_conninfo(server_conninfo, dbname=building)
                asyncio.run(prepare_database(building_conninfo))
                with psycopg.connect(building_conninfo) as building_connection:
                    building_connection.execute(checks)
                connection.execute(
                    sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(building), sql.Identifier(name))
                )
    return name


@pytest.fixture
def own_log() -> Iterator[None]:
    """For commands in this process: each says where the log goes, which here is a stream that is closed after it."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.fixture(scope="session")
def databases(request: pytest.FixtureRequest) -> Iterator[Databases | NodeDatabases]:
    """What makes and drops the tests' databases: with REVERIE_TEST_ON_NODES distributed ones."""
    if os.environ.get("REVERIE_TEST_ON_NODES"):
        with started_nodes(Path(os.environ["REVERIE_TEST_CITUS"]).resolve()) as nodes:
            yield NodeDatabases(nodes)
        return
    server, template = (request.getfixturevalue(name) for name in ("server_conninfo", "template_database"))
    with Databases(server, template) as databases:
        yield databases


@pytest.fixture
def conninfo(databases: Databases | NodeDatabases) -> Iterator[str]:
    """A fresh database with the schema, gone after the test."""
    name = f"test_{uuid.uuid4().hex[:16]}"
    yield databases.create(name)
    databases.drop(name)


@pytest.fixture
async def database(conninfo: str) -> AsyncIterator[Database]:
    """The program's database on a fresh PostgreSQL database."""
    async with Database(conninfo, pool_size=8, patience_seconds=5) as database:
        yield database


@pytest.fixture
async def models(database: Database) -> AsyncIterator[ModelSlot]:
    """A model that is ready at once: feature hashing, which finds words and their like."""

    async def load() -> HashingEmbedder:
        return HashingEmbedder(64)

    slot = ModelSlot(load)
    await slot.fill(database)
    yield slot
    await slot.aclose()


@pytest.fixture
async def runtime(database: Database, models: ModelSlot) -> AsyncIterator[Runtime]:
    """Everything wired, on the test's database, with the hashing model."""
    runtime = assemble(Settings(embedder="hashing", events_stream_seconds=0.5), database, models)
    yield runtime
    await runtime.compactions.aclose()


@pytest.fixture
async def scripted() -> AsyncIterator[ScriptedModel]:
    """A language model's endpoint that does as it is told."""
    async with scripted_model() as model:
        yield model


@pytest.fixture
async def talking(database: Database, models: ModelSlot, scripted: ScriptedModel) -> AsyncIterator[Runtime]:
    """As `runtime`, with the scripted language model."""
    settings = Settings(
        embedder="hashing", llm_base_url=scripted.base_url, llm_model="scripted", events_stream_seconds=0.5
    )
    runtime = assemble(settings, database, models)
    yield runtime
    assert runtime.llm is not None
    assert runtime.proxy is not None
    await runtime.proxy.aclose()
    await runtime.compactions.aclose()
    await runtime.llm.aclose()


@pytest.fixture
def pipeline(runtime: Runtime) -> Pipeline:
    """The write pipeline."""
    return runtime.pipeline


@pytest.fixture
def search(runtime: Runtime) -> Search:
    """Search with the default rules."""
    return runtime.search


@pytest.fixture
def workspace(runtime: Runtime) -> Workspace:
    """Workspace files."""
    return runtime.workspace


# For http:// alone: without it a client loads the machine's certificates, which takes 20 ms.
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
ServeRuntime = Callable[[Runtime], Awaitable[str]]


@pytest.fixture
async def serve_runtime() -> AsyncIterator[ServeRuntime]:
    """Serve a runtime over real HTTP on a free port; the base URL."""
    running: list[tuple[uvicorn.Server, asyncio.Task[None], socket.socket]] = []

    async def serve(runtime: Runtime) -> str:
        listener = tcp_socket("127.0.0.1")
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        server = http_server(create_app(runtime), runtime.settings)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        running.append((server, task, listener))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield serve
    for server, task, listener in running:
        server.should_exit = True
        await task
        listener.close()


@pytest.fixture
async def client(serve_runtime: ServeRuntime, runtime: Runtime) -> AsyncIterator[httpx.AsyncClient]:
    """An HTTP client of a server with an empty memory; paths are relative to `/api/v1`."""
    base_url = await serve_runtime(runtime)
    async with httpx.AsyncClient(base_url=f"{base_url}/api/v1", timeout=30, verify=PLAIN) as client:
        yield client
