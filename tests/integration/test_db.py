"""Setting up the schema, whoever comes first, and transactions over connections that break."""

from __future__ import annotations

import asyncio
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import conninfo as pg_conninfo
from psycopg import sql

from reverie_indexer.database.database import Database
from reverie_indexer.database.faults import start_errors
from reverie_indexer.database.messages import Statement
from reverie_indexer.database.preparing import DatabaseReport, inspect_database, prepare_database
from reverie_indexer.errors import DatabaseUnavailable, SetupError, ValidationFailed

ROLE = (
    b"SELECT current_user::text AS role, current_setting('reverie.tenant') AS tenant,"
    b" current_setting('transaction_isolation') AS isolation, current_setting('transaction_read_only') AS read_only"
)
PID = b"SELECT pg_backend_pid() AS pid"


@pytest.fixture
def empty(server_conninfo: str) -> Iterator[str]:
    """A database with nothing in it."""
    name = f"empty_{secrets.token_hex(6)}"
    with psycopg.connect(server_conninfo, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield pg_conninfo.make_conninfo(server_conninfo, dbname=name)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def objects(conninfo: str) -> list[tuple[object, ...]]:
    """Every relation, policy and grant of the schema."""
    with psycopg.connect(conninfo) as connection:
        return connection.execute(
            "SELECT 'relation', relname::text, relkind::text, relacl::text FROM pg_class"
            " WHERE relnamespace = 'public'::regnamespace UNION ALL"
            " SELECT 'policy', polname::text, polrelid::regclass::text, pg_get_expr(polqual, polrelid) FROM pg_policy"
            " UNION ALL SELECT 'info', name, applied_at::text, '' FROM reverie_migrations ORDER BY 1, 2, 3"
        ).fetchall()


async def test_setting_up_twice_changes_nothing(empty: str) -> None:
    assert isinstance(await prepare_database(empty), DatabaseReport)
    first = objects(empty)
    report = await prepare_database(empty)
    assert (report.schema_current, objects(empty)) == (True, first)


async def test_programs_that_start_together_set_up_once(empty: str) -> None:
    reports = await asyncio.gather(*(prepare_database(empty) for _ in range(8)))
    assert {report.schema_current for report in reports} == {True}


async def test_processes_that_start_together_set_up_once(empty: str) -> None:
    code = (
        "import asyncio, sys; from reverie_indexer.database.preparing import prepare_database as p;"
        " asyncio.run(p(sys.argv[1]))"
    )
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", code, empty, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in processes:
        _, complaint = await process.communicate()
        assert (process.returncode, complaint) == (0, b"")
    assert objects(empty)


async def test_inspecting_changes_nothing(empty: str) -> None:
    report, problem = await inspect_database(empty)
    assert (report.schema_current, problem) == (False, None)
    with psycopg.connect(empty) as connection:
        assert connection.execute("SELECT to_regclass('schema_info')").fetchone() == (None,)


async def test_a_database_of_another_encoding_is_refused(server_conninfo: str) -> None:
    name = sql.Identifier(f"latin_{secrets.token_hex(6)}")
    with psycopg.connect(server_conninfo, autocommit=True) as connection:
        connection.execute(
            sql.SQL(
                "CREATE DATABASE {} ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0"
            ).format(name)
        )
        conninfo = pg_conninfo.make_conninfo(server_conninfo, dbname=name.as_string().strip('"'))
        with pytest.raises(SetupError, match="encoding is SQL_ASCII"):
            await prepare_database(conninfo)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


async def test_a_server_that_does_not_answer_is_said() -> None:
    with pytest.raises(DatabaseUnavailable, match="REVERIE_DATABASE_URL"):
        await prepare_database("host=127.0.0.1 port=1 dbname=x connect_timeout=2")


async def test_of_several_hosts_one_that_says_nothing_is_passed_over_in_seconds(conninfo: str) -> None:
    """As a machine does that stands still: its kernel takes the connection."""
    given = pg_conninfo.conninfo_to_dict(conninfo)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hosts = f"127.0.0.1,{given.get('host', '')}"
        ports = f"{silent.getsockname()[1]},{given.get('port', 5432)}"
        began = time.monotonic()
        async with Database(pg_conninfo.make_conninfo(conninfo, host=hosts, port=ports)) as database:
            await database.ping()
        assert time.monotonic() - began < 9


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"dbname": "no_such_database"}, 'has no database "no_such_database": create it'),
        ({"user": "no_such_role"}, 'has no role "no_such_role"|lets nobody in from here'),
    ],
)
async def test_a_server_that_answers_is_not_said_to_be_silent(
    server_conninfo: str, change: dict[str, str], sentence: str
) -> None:
    conninfo = pg_conninfo.make_conninfo(server_conninfo, **change)
    for check in (prepare_database, inspect_database):
        with pytest.raises(SetupError, match=sentence) as caught:
            await check(conninfo)
        assert "does not answer" not in caught.value.detail


@pytest.mark.parametrize(
    ("words", "kind", "sentence"),
    [
        ('FATAL:  password authentication failed for user "ada"', SetupError, 'does not take the password of "ada"'),
        ("fe_sendauth: no password supplied", SetupError, "wants a password"),
        ('FATAL:  no pg_hba.conf entry for host "10.1.1.1", user "ada"', SetupError, "pg_hba.conf"),
        ("FATAL:  sorry, too many clients already", DatabaseUnavailable, "no free connection"),
        ("FATAL:  the database system is starting up", DatabaseUnavailable, "still starting"),
        ("connection refused", DatabaseUnavailable, "does not answer"),
    ],
)
def test_each_refusal_has_a_sentence_of_its_own(words: str, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind, match=sentence), start_errors():
        raise psycopg.OperationalError(words)


@pytest.mark.parametrize("conninfo", ["hunter2", "postgresql://u:hunter2@[", "password=hunter2 hunter2"])
async def test_a_string_that_is_no_connection_is_said_without_its_secret(conninfo: str) -> None:
    for check in (prepare_database, inspect_database):
        with pytest.raises((SetupError, DatabaseUnavailable), match="REVERIE_DATABASE_URL") as caught:
            await check(conninfo)
        assert "hunter2" not in caught.value.detail


async def test_broken_connections_of_the_pool_are_replaced(conninfo: str) -> None:
    """Whatever the pool holds when the server drops all its connections, the next transactions work."""
    async with Database(conninfo, pool_size=4) as database:
        await asyncio.gather(*(database.ping() for _ in range(8)))
        for _ in range(3):
            with psycopg.connect(conninfo, autocommit=True) as admin:
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            await asyncio.gather(*(database.ping() for _ in range(8)))


async def test_a_connection_that_breaks_inside_a_transaction_is_an_error_and_not_repeated(conninfo: str) -> None:
    async with Database(conninfo, pool_size=1) as database:
        with pytest.raises(DatabaseUnavailable, match="not known"):
            await _break_inside(database, conninfo)
        await database.ping()


async def _break_inside(database: Database, conninfo: str) -> None:
    async with database.maintenance() as connection:
        with psycopg.connect(conninfo, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s::int)", (connection.info.backend_pid,))
        await connection.execute("SELECT 1")


async def test_a_value_that_cannot_be_stored_is_the_callers_fault(database: Database) -> None:
    with pytest.raises(ValidationFailed):
        await _divide_by_zero(database)
    await database.ping()


async def _divide_by_zero(database: Database) -> None:
    async with database.maintenance() as connection:
        await connection.execute("SELECT 1 / 0")


async def test_a_server_that_cannot_be_started_again_is_unavailable_and_its_files_are_not_named(
    conninfo: str,
) -> None:
    async def recover() -> None:
        raise SetupError("the log /secret/place/postgres.log ends with: PANIC")

    async with Database(conninfo, pool_size=1, recover=recover) as database:
        with psycopg.connect(conninfo, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        with pytest.raises(DatabaseUnavailable) as caught:
            await database.ping()
        assert "/secret" not in caught.value.detail


async def test_transactions_that_fail_give_their_connections_back(conninfo: str) -> None:
    async with Database(conninfo, pool_size=2) as database:
        for _ in range(6):
            with pytest.raises(ValidationFailed):
                await _divide_by_zero(database)
        task = asyncio.create_task(_sleep_inside(database))
        await asyncio.sleep(0.2)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.gather(*(database.ping() for _ in range(6)))


async def _sleep_inside(database: Database) -> None:
    async with database.maintenance() as connection:
        await connection.execute("SELECT pg_sleep(30)")


async def test_a_connection_that_takes_no_writes_is_given_up_for_one_that_may(conninfo: str) -> None:
    """With several hosts in the URL, or behind a proxy, the next one may lead to another server."""
    async with Database(conninfo, pool_size=1) as database:
        async with database.maintenance() as connection:
            pid = connection.info.backend_pid
            await connection.execute("SET default_transaction_read_only = on")
        assert await database.state(30) == "read_only"
        with pytest.raises(DatabaseUnavailable, match="read-only"):
            await _delete_inside(database)
        async with database.maintenance() as connection:
            assert connection.info.backend_pid != pid
        await _delete_inside(database)
        assert await database.state(30) == "ok"


async def _delete_inside(database: Database) -> None:
    async with database.maintenance() as connection:
        await connection.execute("DELETE FROM recalls")


async def test_a_statement_that_takes_too_long_is_ended(conninfo: str) -> None:
    async with Database(conninfo, pool_size=1, statement_timeout_seconds=0.2) as database:
        with pytest.raises(DatabaseUnavailable):
            await _sleep_inside(database)
        await database.ping()


async def test_a_snapshot_begins_with_its_first_statements(database: Database) -> None:
    statements = [Statement(b"SELECT %(text)s AS text", {"text": "a; 'b' 100%"}), Statement(ROLE, {})]
    async with database.snapshot("default", statements) as (connection, answers):
        assert answers == [
            [{"text": "a; 'b' 100%"}],
            [{"role": "reverie_app", "tenant": "default", "isolation": "repeatable read", "read_only": "on"}],
        ]
        cursor = await connection.execute(ROLE)
        assert await cursor.fetchall() == answers[1]
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            await connection.execute("DELETE FROM slices")
        await connection.rollback()
    async with database.tenant("default") as connection:
        assert await (await connection.execute(ROLE)).fetchone() != answers[1][0]


async def test_a_first_statement_that_is_refused_leaves_a_whole_connection(conninfo: str) -> None:
    async with Database(conninfo, pool_size=1, statement_timeout_seconds=0.1) as database:
        for refused, error in ((b"SELECT pg_sleep(5)", DatabaseUnavailable), (b"SELECT 1/0", psycopg.DataError)):
            with pytest.raises(error):
                async with database.snapshot("default", [Statement(refused, {}), Statement(ROLE, {})]):
                    pytest.fail("it was let in")
        async with database.snapshot("default", [Statement(ROLE, {})]) as (_, answers):
            assert answers[0][0]["role"] == "reverie_app"


async def test_a_broken_connection_is_replaced_before_a_snapshot(conninfo: str) -> None:
    async with Database(conninfo, pool_size=1) as database:
        async with database.snapshot("default", [Statement(PID, {})]) as (_, before):
            pass
        async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as other:
            await other.execute("SELECT pg_terminate_backend(%s::int)", [before[0][0]["pid"]])
        async with database.snapshot("default", [Statement(PID, {})]) as (_, after):
            assert after[0][0]["pid"] != before[0][0]["pid"]


async def test_statements_that_only_read_are_one_snapshot_and_leave_nothing_behind(conninfo: str) -> None:
    async with Database(conninfo, pool_size=1) as database:
        statements = [Statement(b"SELECT %(text)s AS text", {"text": "a; 'b' 100%"}), Statement(ROLE, {})]
        assert await database.read("default", statements) == [
            [{"text": "a; 'b' 100%"}],
            [{"role": "reverie_app", "tenant": "default", "isolation": "repeatable read", "read_only": "on"}],
        ]
        with pytest.raises(DatabaseUnavailable, match="read-only"):
            await database.read("default", [Statement(b"DELETE FROM slices", {}), Statement(ROLE, {})])
        async with database.tenant("default") as connection:
            [after] = await (await connection.execute(ROLE)).fetchall()
        assert (after["isolation"], after["read_only"]) == ("read committed", "off")


async def test_a_broken_connection_is_replaced_before_statements_that_only_read(conninfo: str) -> None:
    async with Database(conninfo, pool_size=1) as database:
        [[before]] = await database.read("default", [Statement(PID, {})])
        async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as other:
            await other.execute("SELECT pg_terminate_backend(%s::int)", [before["pid"]])
        [[after]] = await database.read("default", [Statement(PID, {})])
        assert after["pid"] != before["pid"]
