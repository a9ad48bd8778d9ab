"""The schema of a database: made anew, or brought up to date by numbered migrations, under a lock.

A fresh database gets `schema.sql`. One that is there gets the files of `migrations/` that it does not have, in the
order of their numbers, and the migrations of the library of jobs (procrastinate) that are newer than its own. Each is
one transaction that ends with its record, so that a program that was killed goes on where it was. A database that is
newer than the program is refused.

A migration that PostgreSQL allows in no transaction, such as CREATE INDEX CONCURRENTLY, says `-- transaction: none` in
its header: it is recorded after its last statement, so that each must bear being run again. Statements are sent one by
one: where the database is spread over nodes, Citus sends the text in which a statement came on to the nodes.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
import structlog
from psycopg.rows import DictRow

from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import SetupError
from reverie_indexer.resources import read_resource, resource

log = structlog.get_logger()
SQL = Queries(__file__)
Connection = psycopg.AsyncConnection[DictRow]

# Release 0.1.0 knew no numbers: it recorded the hash of its schema.sql, and its library's last migration was this.
FIRST_RELEASE_SHA256 = "8050a6a3032b8c17c0fa1bc2d144996872271150b150871885c5bc1a2814757f"
FIRST_RELEASE_JOBS = "03.04.00_50_post_add_retry_failed_job_procedure"

_FILE_NAME = re.compile(r"(?P<number>\d{4})_(?P<title>[a-z0-9_]+)\.sql")
_WITHOUT_TRANSACTION = "-- transaction: none"
# What a `;` may stand in without ending a statement, and that which ends one.
_PART = re.compile(r"""--[^\n]*|/\*.*?\*/|'[^']*'|"[^"]*"|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$|(?P<end>;)""", re.DOTALL)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_POLL_SECONDS = 0.1
# A step that waits for a table keeps everybody else from it meanwhile: it waits briefly, and tries again for so long.
_LOCK_TIMEOUT = "2s"
_BETWEEN_TRIES_SECONDS = 1.0
_TRY_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an upgrade: a migration of ours (`number`) or of the library of jobs (no number)."""

    name: str
    purpose: str
    statements: tuple[bytes, ...]
    number: int | None = None
    in_transaction: bool = True


@dataclass(frozen=True, slots=True)
class Program:
    """The schema that this program brings: that of a fresh database, and the steps that lead to it, in order."""

    schema: bytes
    jobs_schema: bytes
    migrations: tuple[Step, ...]
    jobs_migrations: tuple[Step, ...]

    @property
    def number(self) -> int:
        """The number of the newest migration; 0: release 0.1.0."""
        return max((step.number or 0 for step in self.migrations), default=0)

    @property
    def jobs_name(self) -> str:
        """The name of the library's newest migration."""
        return self.jobs_migrations[-1].name


@dataclass(frozen=True, slots=True)
class SchemaState:
    """What a database has. `number` is its newest migration (0: release 0.1.0; None: it has no schema)."""

    number: int | None
    pending: tuple[Step, ...]
    has_jobs: bool

    @property
    def current(self) -> bool:
        """Whether nothing is to be done."""
        return self.number is not None and not self.pending


@cache
def shipped_program() -> Program:
    """The schema and the migrations that ship with this program."""
    jobs = _jobs_directory()
    return Program(
        schema=read_resource("schema.sql").encode(),
        jobs_schema=(jobs / "schema.sql").read_bytes(),
        migrations=load_migrations(resource("migrations")),
        jobs_migrations=load_jobs_migrations(jobs / "migrations"),
    )


def load_migrations(directory: Path) -> tuple[Step, ...]:
    """The files `NNNN_name.sql` of a directory, by number. ValueError for a name, header or number that is wrong."""
    steps: dict[int, Step] = {}
    for path in sorted(directory.glob("*.sql")):
        name = _FILE_NAME.fullmatch(path.name)
        text = path.read_text(encoding="utf-8")
        first_line, _, _ = text.partition("\n")
        if name is None or not first_line.startswith("-- "):
            raise ValueError(f"{path.name}: a migration is called NNNN_name.sql and begins with its purpose, a comment")
        number = int(name["number"])
        if number in steps:
            raise ValueError(f"{path.name}: the number {number} is taken by {steps[number].name}")
        in_transaction = _WITHOUT_TRANSACTION not in text.splitlines()
        steps[number] = Step(
            name=path.stem,
            purpose=first_line.removeprefix("-- "),
            statements=tuple(_statements(text)),
            number=number,
            in_transaction=in_transaction,
        )
    return tuple(steps[number] for number in sorted(steps))


def load_jobs_migrations(directory: Path) -> tuple[Step, ...]:
    """The migrations of procrastinate, in the order of their names, which is that of its releases."""
    return tuple(
        Step(name=path.stem, purpose="the tables of the queue of jobs (procrastinate)", statements=(path.read_bytes(),))
        for path in sorted(directory.glob("*.sql"))
    )


def _statements(text: str) -> Iterator[bytes]:
    """The statements of a text, without those that are comments only; no function has a body of BEGIN ATOMIC."""
    begin = 0
    ends = [part.end() for part in _PART.finditer(text) if part["end"]]
    for end in (*ends, len(text)):
        statement, begin = text[begin:end], end
        if _COMMENT.sub("", statement).strip(" \n\t;"):
            yield statement.strip().encode()


def _jobs_directory() -> Path:
    # Found without an import, which brings the whole library along.
    spec = find_spec("procrastinate")
    if spec is None or not spec.submodule_search_locations:
        raise SetupError("the package procrastinate is not installed: install Reverie's dependencies again")
    return Path(next(iter(spec.submodule_search_locations))) / "sql"


async def read_state(connection: Connection, program: Program) -> SchemaState:
    """What the database has and what it lacks; SetupError when it is newer than the program, or of no release."""
    facts = await _one(connection, SQL["schema_facts"])
    if not facts["has_schema"]:
        return SchemaState(None, (), facts["has_jobs"])
    if facts["has_numbers"]:
        rows = await (await connection.execute(SQL["applied"])).fetchall()
        applied = {row["number"] for row in rows}
        jobs_name = (await _one(connection, SQL["jobs_migration"]))["jobs_migration"]
    else:
        sha256 = (await _one(connection, SQL["schema_sha256"]))["sha256"]
        if sha256 != FIRST_RELEASE_SHA256:
            raise SetupError(
                f"the database was made by a development version before release 0.1.0 (schema {sha256[:12]}), from "
                "which no migration leads here: start it once with release 0.1.0, or export its agents with the "
                "version that made it (`reverie export`) and import them into an empty database"
            )
        applied, jobs_name = set(), FIRST_RELEASE_JOBS
    number = max(applied, default=0)
    if unknown := applied - {step.number for step in program.migrations}:
        # Also below the program's newest: a release may bring a migration that was merged late.
        raise SetupError(
            f"the database is newer than this program: it has migration {max(unknown)}, which the program, whose "
            f"newest is {program.number}, does not know: run the newer Reverie, or restore a backup made before the "
            "upgrade"
        )
    if jobs_name > program.jobs_name:
        raise SetupError(
            f"the tables of jobs are newer than this program: they are at procrastinate's migration {jobs_name}, and "
            f"the installed procrastinate knows those up to {program.jobs_name}: install the newer Reverie"
        )
    ours = [step for step in program.migrations if step.number not in applied]
    jobs = [step for step in program.jobs_migrations if step.name > jobs_name]
    # Our first migration makes the place where the library's are recorded; what follows builds on the newest tables.
    first = [step for step in ours if step.number == 1]
    return SchemaState(number, (*first, *jobs, *(step for step in ours if step.number != 1)), facts["has_jobs"])


async def hold_schema(connection: Connection) -> None:
    """Wait until no other process works on the schema, and keep all others from it until the connection is closed.

    The lock is tried for rather than waited for: a statement that waits has a snapshot, which CREATE INDEX
    CONCURRENTLY of the process that holds the lock would wait for in turn.
    """
    waited = False
    while not (await _one(connection, SQL["try_hold_schema"]))["held"]:
        if not waited:
            log.info("waiting_for_another_process_that_upgrades_the_database")
            waited = True
        await asyncio.sleep(_POLL_SECONDS)


async def bring_up_to_date(connection: Connection, program: Program) -> tuple[Step, ...]:
    """Make the schema or take the steps it lacks; the steps that were taken, none for a schema made anew.

    The connection is in autocommit mode and holds the schema. SetupError when a step fails: those before it stay.
    """
    state = await read_state(connection, program)
    if state.number is None:
        async with connection.transaction():
            if not state.has_jobs:
                await connection.execute(program.jobs_schema)
            await connection.execute(program.schema)
            await connection.execute(SQL["record_fresh"], {"jobs_migration": program.jobs_name})
            for step in program.migrations:
                await connection.execute(SQL["record_migration"], {"number": step.number, "name": step.name})
        return ()
    for position, step in enumerate(state.pending):
        try:
            await _take_when_free(connection, step)
        except psycopg.errors.InsufficientPrivilege:
            raise
        except psycopg.Error as error:
            done = "nothing was changed" if position == 0 else f"the database is at {state.pending[position - 1].name}"
            raise SetupError(
                f"migration {step.name} failed: {error.diag.message_primary or type(error).__name__}; {done}. Mend "
                "that and start again, which goes on there"
            ) from error
        log.info("database_upgraded", migration=step.name)
    return state.pending


async def _take_when_free(connection: Connection, step: Step) -> None:
    """Take a step; again while another program holds a table that it needs, up to the time there is for that."""
    until = time.monotonic() + _TRY_SECONDS
    waited = False
    while True:
        try:
            return await _take(connection, step)
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected) as error:
            if time.monotonic() > until:
                raise SetupError(
                    f"migration {step.name} needs tables that another program has held for {_TRY_SECONDS:.0f} s: stop "
                    "the servers and workers of the older version, and what else works in the database, and start again"
                ) from error
        if not waited:
            log.warning("waiting_for_other_programs_that_use_the_database", migration=step.name)
            waited = True
        await asyncio.sleep(_BETWEEN_TRIES_SECONDS)


async def _take(connection: Connection, step: Step) -> None:
    async with AsyncExitStack() as stack:
        if step.in_transaction:
            await stack.enter_async_context(connection.transaction())
            await connection.execute(SQL["bound_waiting"], {"lock_timeout": _LOCK_TIMEOUT})
            await connection.execute(SQL["leave_new_tables"])
        for statement in step.statements:
            await connection.execute(statement)
        if step.number is None:
            await connection.execute(SQL["record_jobs_migration"], {"jobs_migration": step.name})
        else:
            await connection.execute(SQL["record_migration"], {"number": step.number, "name": step.name})


async def _one(connection: Connection, query: bytes, params: Mapping[str, Any] | None = None) -> DictRow:
    row = await (await connection.execute(query, params)).fetchone()
    if row is None:
        raise LookupError("a statement that always answers with a row gave none")
    return row
