"""Databases of former releases are brought up to date: to the schema of a fresh one, with all that is in them."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr
from tests.consistency import assert_index_consistent
from tests.releases.restore import RELEASES, ROLE, empty_database, restored
from tests.schema_facts import differences, schema_facts

from reverie_indexer.change import Change
from reverie_indexer.database import upgrade
from reverie_indexer.database.database import Database
from reverie_indexer.database.preparing import inspect_database, prepare_database
from reverie_indexer.database.upgrade import Program, Step, load_migrations, shipped_program
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.errors import SetupError
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.postgres.host import wheel_binaries
from reverie_server.access.gate import Grant
from reverie_server.access.keys import OPERATOR
from reverie_server.app.wiring import assemble
from reverie_server.cli.doctor import examine
from reverie_server.search.request import SearchRequest
from reverie_server.settings.server import Settings

FIRST = "0.1.0"


@pytest.fixture
def empty(server_conninfo: str) -> Iterator[str]:
    with empty_database(server_conninfo) as conninfo:
        yield conninfo


@pytest.fixture
def old(server_conninfo: str) -> Iterator[str]:
    """The database of release 0.1.0, with rows in each table."""
    with restored(server_conninfo, FIRST) as conninfo:
        yield conninfo


def rows(conninfo: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(conninfo) as connection:
        return connection.execute(query.encode()).fetchall()


def change(conninfo: str, statement: str) -> None:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(statement.encode())


def program_with(*steps: Step, jobs: tuple[Step, ...] = ()) -> Program:
    """The program as it ships, with more migrations."""
    shipped = shipped_program()
    return dataclasses.replace(
        shipped, migrations=(*shipped.migrations, *steps), jobs_migrations=(*shipped.jobs_migrations, *jobs)
    )


def step(number: int, *statements: str, in_transaction: bool = True) -> Step:
    return Step(f"{number}_test", "a test", tuple(s.encode() for s in statements), number, in_transaction)


# What a release indexed of seeds that nobody has edited.
SEEDS_OF_RELEASE = {FIRST: {"chunks": 7, "postings": 50, "vectors_0": 7}}


def counts(conninfo: str) -> dict[str, int]:
    tables = [str(name) for (name,) in rows(conninfo, "SELECT oid::regclass FROM pg_class WHERE relkind = 'r'"
              " AND relnamespace = 'public'::regnamespace")]  # fmt: skip
    return {table: int(str(rows(conninfo, f"SELECT count(*) FROM {table}")[0][0])) for table in tables}


def test_there_is_a_dump_of_each_release_with_rows_in_each_table(old: str) -> None:
    changelog = (Path(__file__).parents[2] / "CHANGELOG.md").read_text()
    assert set(re.findall(r"^## (\d+\.\d+\.\d+)", changelog, re.MULTILINE)) | {FIRST} == set(RELEASES)
    assert [table for table, count in counts(old).items() if count == 0] == []


@pytest.mark.parametrize("release", RELEASES)
async def test_an_upgraded_schema_is_the_fresh_one(release: str, server_conninfo: str, empty: str) -> None:
    """A change of schema.sql without a migration, or the other way round, is seen here."""
    with restored(server_conninfo, release) as upgraded:
        before = counts(upgraded)
        await prepare_database(empty)
        report = await prepare_database(upgraded)
        assert (report.schema_current, report.number) == (True, shipped_program().number)
        assert differences(empty, upgraded) == []
        after = counts(upgraded)
        # What was indexed of seeds that nobody has edited is gone (0011), and nothing else.
        index = {table for table in before if table in ("chunks", "postings") or table.startswith("vectors_")}
        assert {table: after[table] for table in before.keys() - index} == {t: before[t] for t in before.keys() - index}
        assert {table: before[table] - after[table] for table in index} == {
            **dict.fromkeys(index, 0),
            **SEEDS_OF_RELEASE[release],
        }


def test_a_difference_of_any_kind_would_be_seen(empty: str) -> None:
    asyncio.run(prepare_database(empty))
    before = schema_facts(empty)
    for statement in (
        "ALTER TABLE agents ADD COLUMN extra text",
        "ALTER TABLE agents ALTER COLUMN name DROP NOT NULL",
        "ALTER TABLE agents ALTER COLUMN name SET DEFAULT 'x'",
        "ALTER TABLE agents ALTER COLUMN name SET STORAGE EXTERNAL",
        "ALTER TABLE agents ADD CHECK (name <> '')",
        "CREATE INDEX ON agents (name)",
        "ALTER POLICY visible ON agents USING (true)",
        "ALTER TABLE agents NO FORCE ROW LEVEL SECURITY",
        "GRANT TRUNCATE ON agents TO reverie_app",
        "GRANT UPDATE (name) ON agents TO reverie_app",
        "ALTER FUNCTION own_jobs() RESET search_path",
        "GRANT EXECUTE ON FUNCTION own_jobs() TO PUBLIC",
        "ALTER TYPE memory_tier ADD VALUE 'other'",
        "ALTER SEQUENCE slices_slice_id_seq INCREMENT 2",
        "COMMENT ON TABLE agents IS 'x'",
        "ALTER TABLE chunks RESET (autovacuum_analyze_scale_factor)",
        "ALTER TABLE agents REPLICA IDENTITY FULL",
        "ALTER TABLE agents OWNER TO reverie_app",
        "ALTER FUNCTION wake_workers() OWNER TO reverie_app",
        "COMMENT ON CONSTRAINT agents_pkey ON agents IS 'x'",
        "CREATE STATISTICS of_agents ON agent_id, name FROM agents",
        "DELETE FROM reverie_migrations WHERE number = 1",
    ):
        change(empty, statement)
        after = schema_facts(empty)
        assert before != after, statement
        before = after


async def test_what_is_to_be_done_is_said_without_doing_it(old: str) -> None:
    before = counts(old)
    report, problem = await inspect_database(old)
    assert (report.number, report.schema_current, problem) == (0, False, None)
    assert [step.name for step in report.pending] == [step.name for step in shipped_program().migrations]
    assert counts(old) == before
    taken = (await prepare_database(old)).taken
    assert [step.name for step in taken] == [step.name for step in report.pending]
    assert (await prepare_database(old)).taken == ()


@contextmanager
def of_a_login(server_conninfo: str) -> Iterator[tuple[str, str, str]]:
    """The database of release 0.1.0 that belongs to a login without more rights: conninfos of both, and its name."""
    name = f"login_{secrets.token_hex(6)}"
    change(server_conninfo, ROLE.decode())
    change(server_conninfo, f"CREATE ROLE {name} LOGIN NOSUPERUSER PASSWORD 'x' IN ROLE reverie_app")
    try:
        with restored(server_conninfo, FIRST, owner=name) as conninfo:
            yield conninfo, make_conninfo(conninfo, user=name, password="x"), name
    finally:
        change(server_conninfo, f"DROP ROLE {name}")


async def test_an_ordinary_login_upgrades_its_own_database(server_conninfo: str, empty: str) -> None:
    """It owns the tables and is no superuser: forced row-level security holds for it too."""
    with of_a_login(server_conninfo) as (conninfo, as_login, name):
        await prepare_database(as_login)
        with psycopg.connect(conninfo) as connection:
            owners = connection.execute("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'")
            assert owners.fetchall() == [(name,)]
        await prepare_database(empty)
        kinds = {line.split(" | ")[0] for line in differences(empty, conninfo)}
        # Each names its owner.
        assert kinds <= {"relation", "policy", "function", "type"}


async def test_what_an_operator_upgrades_belongs_to_whom_the_rest_belongs_to(server_conninfo: str) -> None:
    """Else the login could use neither the new tables nor the functions, once it works itself."""
    with of_a_login(server_conninfo) as (as_operator, as_login, name):
        await prepare_database(as_operator)
        owners = "SELECT DISTINCT tableowner::text FROM pg_tables WHERE schemaname = 'public'"
        assert rows(as_operator, owners) == [(name,)]
        assert rows(as_operator, "SELECT count(*) FROM pg_policy WHERE polname = 'maintenance'"
                    f" AND pg_get_userbyid(polroles[1]) <> '{name}'") == [(0,)]  # fmt: skip
        definers = "SELECT DISTINCT proconfig FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace"
        assert rows(as_operator, definers) == [(["search_path=public, pg_temp"],)]
        assert (await prepare_database(as_login)).taken == ()
        assert rows(as_login, "SELECT count(*) FROM audit") == [(0,)]


async def test_a_login_that_may_not_work_as_the_owner_is_told_whose_the_tables_are(server_conninfo: str) -> None:
    stranger = f"stranger_{secrets.token_hex(6)}"
    change(server_conninfo, ROLE.decode())
    change(server_conninfo, f"CREATE ROLE {stranger} LOGIN NOSUPERUSER PASSWORD 'x' IN ROLE reverie_app")
    try:
        with of_a_login(server_conninfo) as (as_operator, _, name):
            as_stranger = make_conninfo(as_operator, user=stranger, password="x")
            message = f"the tables belong to the role {name}, as which {stranger} may not work"
            with pytest.raises(SetupError, match=message):
                await prepare_database(as_stranger)
            _, problem = await inspect_database(as_stranger)
            assert problem is not None
            assert re.match(message, problem)
            assert rows(as_operator, "SELECT to_regclass('reverie_migrations')") == [(None,)]
    finally:
        change(server_conninfo, f"DROP ROLE {stranger}")


def copy_as_login(source: str, target: str, *options: str) -> str:
    """By pg_dump and psql, as the README says; what psql complained of."""
    programs = wheel_binaries() / "bin"
    environment = {**os.environ, "PGOPTIONS": "-c reverie.maintenance=on"}
    dump = [programs / "pg_dump", "--enable-row-security", "--no-comments", *options, source]
    script = subprocess.run(dump, env=environment, capture_output=True, check=True).stdout
    return subprocess.run(
        [programs / "psql", "-q", target], input=script, capture_output=True, check=True
    ).stderr.decode()


async def test_a_login_makes_a_backup_that_has_all_rows_and_restores_it(server_conninfo: str) -> None:
    """Row-level security holds for the login too, and pg_dump by itself refuses to leave out what it hides."""
    with of_a_login(server_conninfo) as (source, as_login, name), empty_database(server_conninfo) as target:
        await prepare_database(as_login)
        change(target, "CREATE EXTENSION vector")
        change(target, f"GRANT CREATE ON SCHEMA public TO {name}")
        own = make_conninfo(target, user=name, password="x")
        complaints = await asyncio.to_thread(copy_as_login, as_login, own)
        assert "ERROR" not in complaints
        assert counts(target) == counts(source)
        assert (await prepare_database(own)).taken == ()
        assert differences(target, source) == []


async def test_what_another_role_restores_is_maintained_by_it(server_conninfo: str) -> None:
    """Else the policies let in the former role alone, and what runs at night finds nothing to do, without an error."""
    heir = f"heir_{secrets.token_hex(6)}"
    change(server_conninfo, ROLE.decode())
    change(server_conninfo, f"CREATE ROLE {heir} LOGIN NOSUPERUSER PASSWORD 'x' IN ROLE reverie_app")
    try:
        with of_a_login(server_conninfo) as (_, as_login, _), empty_database(server_conninfo) as target:
            await prepare_database(as_login)
            change(target, "CREATE EXTENSION vector")
            change(target, f"GRANT CREATE ON SCHEMA public TO {heir}")
            own = make_conninfo(target, user=heir, password="x")
            await asyncio.to_thread(copy_as_login, as_login, own, "--no-owner")
            await prepare_database(own)
            async with Database(own) as database:
                for table in ("messages", "chunks", "audit", "agents"):
                    found = await database.maintenance_query(f"SELECT count(*) AS n FROM {table}".encode(), {})
                    assert [(row["n"],) for row in found] == rows(target, f"SELECT count(*) FROM {table}"), table
    finally:
        change(server_conninfo, f"DROP ROLE {heir}")


async def test_a_new_foreign_key_is_checked_also_where_row_level_security_holds_for_the_login(
    server_conninfo: str,
) -> None:
    """PostgreSQL checks the rows that the login sees: without saying that it maintains, it sees none."""
    with of_a_login(server_conninfo) as (as_operator, as_login, _):
        change(as_operator, "UPDATE messages SET slice_id = slice_id + 1000 WHERE seq = 1")
        with pytest.raises(SetupError, match=r"migration 0003_slices_in_keys failed: .*violates foreign key"):
            await prepare_database(as_login)


async def test_programs_that_start_together_upgrade_once(old: str) -> None:
    reports = await asyncio.gather(*(prepare_database(old) for _ in range(6)))
    assert sorted(len(report.taken) for report in reports) == [0] * 5 + [len(shipped_program().migrations)]
    assert {report.schema_current for report in reports} == {True}


async def test_an_upgrade_that_fails_keeps_the_steps_before_and_goes_on_there(old: str) -> None:
    broken = program_with(
        step(9001, "CREATE TABLE first_of_two (n integer)"),
        step(9002, "CREATE TABLE second_of_two (n integer)", "SELECT 1 / 0"),
    )
    with pytest.raises(SetupError, match=r"migration 9002_test failed: division by zero; the database is at 9001_test"):
        await prepare_database(old, broken)
    assert rows(old, "SELECT to_regclass('first_of_two')::text, to_regclass('second_of_two')::text") == [
        ("first_of_two", None)
    ]
    mended = program_with(broken.migrations[-2], step(9002, "CREATE TABLE second_of_two (n integer)"))
    assert [taken.number for taken in (await prepare_database(old, mended)).taken] == [9002]


# Upgrades, and sleeps inside of the step at a position.
SLEEPER = """
import asyncio, dataclasses, sys
from reverie_indexer.database.preparing import prepare_database
from reverie_indexer.database.upgrade import shipped_program
program, at = shipped_program(), int(sys.argv[2])
steps = [dataclasses.replace(step, statements=(*step.statements, b'SELECT pg_sleep(60)')) if position == at else step
         for position, step in enumerate(program.migrations)]
asyncio.run(prepare_database(sys.argv[1], dataclasses.replace(program, migrations=tuple(steps))))
"""
SLEEPING = (
    " FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND datname = current_database()"
    " AND pid <> pg_backend_pid()"
)


def kill_inside_of_step(conninfo: str, position: int) -> None:
    process = subprocess.Popen([sys.executable, "-c", SLEEPER, conninfo, str(position)], stdout=subprocess.DEVNULL)
    try:
        while not rows(conninfo, f"SELECT{SLEEPING}"):
            assert process.poll() is None
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    # PostgreSQL notices that its client is gone when the statement ends.
    change(conninfo, f"SELECT pg_cancel_backend(pid){SLEEPING}")


async def test_an_upgrade_killed_inside_of_any_step_goes_on_there(old: str, empty: str) -> None:
    """By SIGKILL; what is lost is the step's own transaction."""
    migrations = shipped_program().migrations
    for position, migration in enumerate(migrations):
        await asyncio.to_thread(kill_inside_of_step, old, position)
        report, _ = await inspect_database(old)
        assert report.pending == migrations[position:], migration.name
    await prepare_database(old)
    await prepare_database(empty)
    assert differences(empty, old) == []


async def test_a_database_that_is_newer_is_refused(conninfo: str) -> None:
    newest = shipped_program().number
    change(conninfo, "INSERT INTO reverie_migrations (number, name) VALUES (9876, '9876_later')")
    message = rf"newer than this program: it has migration 9876, which the program, whose newest is {newest}, does not"
    with pytest.raises(SetupError, match=message):
        await prepare_database(conninfo)
    report, problem = await inspect_database(conninfo)
    assert report.schema_current is False
    assert problem is not None
    assert re.search(message, problem)


async def test_a_database_with_a_migration_that_came_between_is_newer_too(conninfo: str) -> None:
    """A later release may bring a migration with a number between those that this program has."""
    between = next(n for n in range(1, 9999) if n not in {step.number for step in shipped_program().migrations})
    assert between < shipped_program().number
    change(conninfo, f"INSERT INTO reverie_migrations (number, name) VALUES ({between}, 'between')")
    with pytest.raises(SetupError, match=f"newer than this program: it has migration {between}"):
        await prepare_database(conninfo)


async def test_an_upgrade_that_waits_for_a_table_lets_others_read_it(old: str) -> None:
    """Whoever waits for a lock on a table for good keeps everybody after it waiting, too."""
    with psycopg.connect(old) as reader, psycopg.connect(old, autocommit=True) as other:
        reader.execute("SELECT count(*) FROM sessions")
        upgrading = asyncio.create_task(prepare_database(old))
        other.execute("SET statement_timeout = '5s'")
        for _ in range(10):
            await asyncio.sleep(0.4)
            await asyncio.to_thread(other.execute, "SELECT count(*) FROM sessions")
        assert not upgrading.done()
        reader.rollback()
        assert [taken.number for taken in (await upgrading).taken] == [s.number for s in shipped_program().migrations]


async def test_an_upgrade_that_does_not_get_a_table_in_time_says_why(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade, "_LOCK_TIMEOUT", "100ms")
    monkeypatch.setattr(upgrade, "_TRY_SECONDS", 0.3)
    with psycopg.connect(old) as reader:
        reader.execute("SELECT count(*) FROM sessions")
        with pytest.raises(SetupError, match="0003_slices_in_keys needs tables that another program has held"):
            await prepare_database(old)
    await prepare_database(old)


async def test_doctor_says_of_a_newer_database_that_it_is_newer_and_not_that_there_is_none(
    conninfo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change(conninfo, "INSERT INTO reverie_migrations (number, name) VALUES (9876, '9876_later')")
    [problem] = await examine(Settings(database_url=SecretStr(conninfo), embedder="none"))
    assert "newer than this program" in problem
    assert "not made yet" not in capsys.readouterr().out


async def test_tables_of_jobs_that_are_newer_are_refused(conninfo: str) -> None:
    change(conninfo, "UPDATE schema_info SET jobs_migration = '99.00.00_01_later'")
    with pytest.raises(SetupError, match=r"99\.00\.00_01_later.*knows those up to 03\."):
        await prepare_database(conninfo)


async def test_a_database_of_no_release_is_refused(old: str) -> None:
    change(old, "UPDATE schema_info SET sha256 = 'abc'")
    with pytest.raises(SetupError, match=r"before release 0\.1\.0.*start it once with release 0\.1\.0"):
        await prepare_database(old)


async def test_a_schema_that_only_says_it_is_a_releases_is_refused(old: str) -> None:
    """A changed schema.sql was once run over a database with IF NOT EXISTS, and its hash recorded."""
    change(old, "ALTER TABLE episodes DROP COLUMN semantic_attempts")
    with pytest.raises(SetupError, match=r"not that of release 0\.1\.0, it lacks episodes\.semantic_attempts"):
        await prepare_database(old)
    assert rows(old, "SELECT sha256 FROM schema_info") != []


async def test_the_program_of_the_first_release_stops_at_an_upgraded_database(old: str) -> None:
    """It would otherwise apply its own schema over this one: it asks for the hash, which is gone."""
    await prepare_database(old)
    with pytest.raises(psycopg.errors.UndefinedColumn):
        rows(old, "SELECT sha256 FROM schema_info")


async def test_migrations_that_are_merged_late_are_applied_too(conninfo: str) -> None:
    await prepare_database(conninfo, program_with(step(9002, "CREATE TABLE later (n integer)")))
    both = program_with(step(9001, "CREATE TABLE earlier (n integer)"), step(9002, "CREATE TABLE later (n integer)"))
    assert [taken.number for taken in (await prepare_database(conninfo, both)).taken] == [9001]


async def test_a_step_outside_a_transaction_is_run_again_where_it_was_killed(conninfo: str, tmp_path: Path) -> None:
    (tmp_path / "9001_index.sql").write_text(
        "-- An index of names, built beside writes.\n-- transaction: none\n"
        "DROP INDEX CONCURRENTLY IF EXISTS agents_by_name;\n\n"
        "CREATE INDEX CONCURRENTLY agents_by_name\n    ON agents (name);\n"
    )
    [migration] = load_migrations(tmp_path)
    assert (migration.in_transaction, len(migration.statements)) == (False, 2)
    killed = dataclasses.replace(migration, statements=(*migration.statements, b"SELECT 1 / 0"))
    with pytest.raises(SetupError, match="division by zero"):
        await prepare_database(conninfo, program_with(killed))
    reports = await asyncio.gather(*(prepare_database(conninfo, program_with(migration)) for _ in range(4)))
    assert sorted(len(report.taken) for report in reports) == [0, 0, 0, 1]
    query = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'agents_by_name'::regclass"
    assert rows(conninfo, query) == [(True,)]


def test_a_migration_is_sent_statement_by_statement(tmp_path: Path) -> None:
    statements = [
        "-- What it's for; and why.\nALTER TABLE agents ADD COLUMN mood text DEFAULT 'so; it''s so';",
        'ALTER TABLE agents RENAME COLUMN mood TO "odd; name"; -- said; once',
        "/* it's; so */ DO $do$ BEGIN\n    PERFORM '$$;'; EXECUTE $$SELECT 1;$$;\nEND $do$;",
        "SELECT 1;SELECT 2",
    ]
    (tmp_path / "9001_x.sql").write_text("\n".join(statements) + "\n;\n-- The end;\n")
    [migration] = load_migrations(tmp_path)
    first, second, third, _ = (statement.encode() for statement in statements)
    assert [each.partition(b"-- said; once\n")[2] or each for each in migration.statements] == [
        first,
        second.removesuffix(b" -- said; once"),
        third,
        b"SELECT 1;",
        b"SELECT 2\n;",
    ]


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"1_x.sql": "-- x\n"}, "NNNN_name"),
        ({"0001_x.sql": "SELECT 1;\n"}, "begins with its purpose"),
        ({"0001_x.sql": "-- x\n", "0001_y.sql": "-- y\n"}, "taken by 0001_x"),
    ],
)
def test_a_migration_that_is_named_wrongly_is_refused(files: dict[str, str], complaint: str, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=complaint):
        load_migrations(tmp_path)


async def test_the_librarys_own_migrations_are_applied_in_order(conninfo: str) -> None:
    later = (
        Step("98.00.00_01_pre_x", "jobs", (b"ALTER TABLE procrastinate_jobs ADD COLUMN first_added integer",)),
        Step("98.00.00_50_post_x", "jobs", (b"ALTER TABLE procrastinate_jobs RENAME first_added TO then_renamed",)),
    )
    report = await prepare_database(conninfo, program_with(jobs=later))
    assert [taken.name for taken in report.taken] == [step.name for step in later]
    assert rows(conninfo, "SELECT jobs_migration FROM schema_info") == [("98.00.00_50_post_x",)]
    assert rows(conninfo, "SELECT then_renamed FROM procrastinate_jobs") == []


async def test_the_librarys_migrations_lead_to_its_schema(empty: str, conninfo: str) -> None:
    """As they are shipped, from its first release on, by the one transaction a step that upgrades use."""
    steps = shipped_program().jobs_migrations
    with psycopg.connect(empty, autocommit=True) as connection:
        for migration in steps:
            with connection.transaction():
                for statement in migration.statements:
                    connection.execute(statement)
    query = (
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_name ~ '^procrastinate_' ORDER BY 1, 2"
    )
    assert rows(empty, query) == rows(conninfo, query) != []
    assert steps == tuple(sorted(steps, key=lambda step: step.name))


def test_functions_with_the_owners_rights_look_at_temporary_tables_last(conninfo: str) -> None:
    definers = dict(rows(conninfo, "SELECT oid::regprocedure::text, proconfig FROM pg_proc"
                         " WHERE prosecdef AND pronamespace = 'public'::regnamespace"))  # fmt: skip
    assert {str(name).split("(")[0] for name in definers} >= {"defer_job", "own_jobs", "retry_own_jobs"}
    assert set(map(tuple, definers.values())) == {("search_path=public, pg_temp",)}  # type: ignore[arg-type]


async def test_what_a_release_wrote_is_served_and_written_on(old: str) -> None:
    await prepare_database(old)

    async def load() -> HashingEmbedder:
        return HashingEmbedder(16)

    async with Database(old, pool_size=4) as database:
        slot = ModelSlot(load)
        await slot.fill(database)
        runtime = assemble(Settings(embedder="hashing"), database, slot)
        grant: Grant = await runtime.gate.read(OPERATOR, "wren", "user:ada")
        outcome = await runtime.search.search(
            SearchRequest("default", "wren", "when does the bridge open?", "user:ada")
        )
        assert outcome.mode == "hybrid"
        assert "The bridge is closed until May." in outcome.results[0].text
        session = await runtime.sessions.find(grant.principal, "web:1")
        messages = await runtime.sessions.messages(grant.principal, session, after=0, limit=10)
        assert len(messages) == 4
        place = Place("default", "wren", "personal", "user:ada")
        text = "# Harbour\n\nThe bridge is open again.\n"
        change_file = Change("memory/harbour.md", lambda _: text, by="user", reason="put")
        await runtime.pipeline.write(place, change_file)
        outcome = await runtime.search.search(SearchRequest("default", "wren", "bridge open again", "user:ada"))
        assert "The bridge is open again." in outcome.results[0].text
        await slot.aclose()
        await runtime.compactions.aclose()
    assert_index_consistent(old)
