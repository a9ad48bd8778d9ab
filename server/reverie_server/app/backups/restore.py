"""Restoring a backup: into a database beside the one that is served, which takes its place when it is whole.

Whatever happens before, the database that is served is as it was; what is left of a restore that was killed is removed
by the next. What was forgotten since the backup was made is forgotten again, and what was revoked is revoked again,
before the restored database can be reached by its name.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.preparing import SQL as PREPARING
from reverie_indexer.database.preparing import prepare_database
from reverie_indexer.database.upgrade import hold_schema, shipped_program
from reverie_indexer.errors import Conflict, SetupError, ValidationFailed
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.postgres.programs import contents, restore
from reverie_server.app.backups.backup import (
    SQL,
    Progress,
    Show,
    become,
    by_rows,
    connected,
    count_rows,
    one,
    require_one_node,
)
from reverie_server.app.backups.backup_file import BackupFile, LogMark, Manifest
from reverie_server.app.backups.forget_again import forget_again
from reverie_server.app.backups.forgotten import forgotten_log_of
from reverie_server.app.databases import open_server
from reverie_server.app.wiring import assemble
from reverie_server.provenance.forgotten_log import Act, Contents, Entry, ForgottenLog, is_in_snapshot, read_log
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

# The databases at work beside the one that is served.
_DRAFT = "{}_restoring"
_REPLACED = "{}_replaced"
# A line of pg_restore's table of contents.
_MAINTENANCE = re.compile(r" POLICY \S+ \S+ maintenance ")
_TABLE = re.compile(rb"^CREATE TABLE IF NOT EXISTS (\w+)", re.MULTILINE)
_SWAP_ATTEMPTS = 10
_LEAVING_ATTEMPTS = 20
_STATEMENT_TIMEOUT_SECONDS = 6 * 3600.0


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored, and how many acts of forgetting were looked at; of each kind what was found and removed."""

    manifest: Manifest
    acts: int
    forgotten: Mapping[Act, int]


@dataclass(frozen=True, slots=True)
class RestoreOptions:
    """`replace` an existing memory; `logs` of other servers that forgot; `without_log` restores what was forgotten."""

    replace: bool = False
    logs: Sequence[Path] = ()
    without_log: bool = False


@dataclass(frozen=True, slots=True)
class Recovered:
    """Which transactions a database has that was brought back to a point in time, as a manifest says it of a backup."""

    cluster: str
    snapshot: str
    at: datetime
    forgotten: LogMark | None


def entries_to_apply(state: Manifest | Recovered, logs: Iterable[Contents]) -> list[Entry]:
    """The acts of some logs that a backup does not have, oldest first. Pure. SetupError where its own log is not whole.

    Its own is the one beside which the backup was made; an act of two logs is applied twice.
    """
    logs = list(logs)
    _require_own(state.forgotten, logs)
    entries = [entry for log in {log.log_id: log for log in logs}.values() for entry in log.entries]
    new = [e for e in entries if not is_in_snapshot(e, state.cluster, state.snapshot, state.at)]
    return sorted(new, key=lambda entry: entry.at)


def _require_own(mark: LogMark | None, logs: Sequence[Contents]) -> None:
    own = [log for log in logs if mark is not None and log.log_id == mark.log_id]
    if mark is None or not any(len(log.entries) >= mark.entries for log in own):
        raise SetupError("the log of what was forgotten is not the one that the backup was made beside, or not whole")


async def restore_backup(settings: Settings, path: Path, options: RestoreOptions, show: Show) -> Restored:
    """Restore a backup into the configured database. Raises ValidationFailed for a file that is not whole, Conflict
    where there is a memory already or programs use the database, and SetupError for what an operator has to mend.
    """
    file = BackupFile(path)
    check_known(file.manifest)
    manifest = file.manifest
    logs = () if options.without_log else read_logs(settings, manifest.forgotten, manifest.at, options.logs)
    entries = entries_to_apply(manifest, logs) if logs else []
    show(Progress("checking the file", 0, 0))
    await file.check()
    async with open_server(settings) as (conninfo, _), connected(conninfo) as target:
        # Held to the end: a server that starts meanwhile waits for it.
        await hold_schema(target)
        await require_one_node(target)
        state = await _replaceable(target, replace=options.replace)
        role = state["tables_owner"] or state["owner"]
        name, draft = state["name"], _DRAFT.format(state["name"])
        server = make_conninfo(conninfo, dbname="postgres")
        async with connected(server) as outside:
            await _drop(outside, draft)
            await _create(outside, draft, role)
            try:
                restored = make_conninfo(conninfo, dbname=draft)
                await fill(restored, file, role, show)
                found = await apply_forgotten(settings, restored, entries, show)
                async with connected(restored) as connection:
                    await become(connection, role)
                    await connection.execute(SQL["sign_out"])
                show(Progress("tidying up", file.manifest.rows, file.manifest.rows))
                await _vacuum(restored)
            except BaseException:
                await asyncio.shield(_drop(outside, draft))
                raise
            await target.close()
            await _swap(outside, name, draft)
            await _drop(outside, _REPLACED.format(name))
    return Restored(file.manifest, len(entries), found)


def check_known(manifest: Manifest) -> None:
    """SetupError for a backup of a program that is newer than this one."""
    newest = shipped_program().number
    if manifest.schema_number > newest:
        raise SetupError(
            f"the backup has migration {manifest.schema_number}, and this program knows those up to {newest}: restore "
            f"it with Reverie {manifest.program} or newer"
        )


async def fill(conninfo: str, file: BackupFile, role: str, show: Show) -> None:
    """Restore a backup into an empty database, and bring its schema up to date; SetupError where rows are missing."""
    async with connected(conninfo) as connection:
        server_version = connection.info.server_version
        await connection.execute(PREPARING["create_role"])
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    options = ["--no-owner", "--no-comments", f"--role={role}"]
    manifest = file.manifest
    began = by_rows("restoring", manifest.tables, show)
    with_rows = [*options, "--section=pre-data", "--section=data"]
    await restore(conninfo, file.dump(), with_rows, began, server_version=server_version)
    async with connected(conninfo) as connection:
        # Until row-level security is restored, whoever restores sees all rows.
        await become(connection, role)
        _compare(manifest, await count_rows(connection))
    show(Progress("restoring indexes", manifest.rows, manifest.rows))
    with tempfile.NamedTemporaryFile("w", prefix="reverie-restore-", suffix=".list") as chosen:
        # Whom the policies of maintenance let in is made anew, for the role that restores.
        chosen.write("\n".join(line for line in await contents(file.dump()) if not _MAINTENANCE.search(line)))
        chosen.flush()
        with_indexes = [*options, "--section=post-data", f"--use-list={chosen.name}"]
        await restore(conninfo, file.dump(), with_indexes, began, server_version=server_version)
    await prepare_database(conninfo)


def _compare(manifest: Manifest, counts: Mapping[str, int]) -> None:
    wrong = sorted(name for name in {*counts, *manifest.tables} if counts.get(name) != manifest.tables.get(name))
    if wrong:
        raise ValidationFailed(f"the backup has other rows than its manifest says, in: {', '.join(wrong)}")


def read_logs(settings: Settings, mark: LogMark | None, at: datetime, others: Sequence[Path]) -> list[Contents]:
    """The logs of what was forgotten; SetupError, with what to do, where what was since `at` is not known."""
    try:
        own = forgotten_log_of(settings)
        logs = [read_log(path) for path in (*([own] if own.exists() or not others else []), *others)]
        _require_own(mark, logs)
        return logs
    except SetupError as error:
        raise SetupError(
            f"{error.detail}: without it what was forgotten, and keys that were revoked, since "
            f"{at:%Y-%m-%d %H:%M} UTC would come back. "
            "Name it with --forgotten-log, or accept that with --without-forgotten-log"
        ) from None


def _own_tables() -> list[str]:
    """The tables of this program, but for those of jobs and of large memories."""
    return [name.decode() for name in _TABLE.findall(shipped_program().schema)]


async def _replaceable(target: Connection, *, replace: bool) -> DictRow:
    """The state of the database that is to be replaced. Conflict where it is in use or holds what may not go."""
    for _ in range(_LEAVING_ATTEMPTS):
        # A server that was stopped a moment ago has connections that PostgreSQL has not ended yet.
        if not (state := await one(target, SQL["state"]))["others"]:
            break
        await asyncio.sleep(0.1)
    if state["others"]:
        raise Conflict(
            f"{state['others']} connections use the database {state['name']}: stop the servers and workers first"
        )
    rows = await (await target.execute(SQL["foreign_tables"], {"ours": _own_tables()})).fetchall()
    if rows:
        names = ", ".join(row["name"] for row in rows)
        raise Conflict(
            f"the database {state['name']} has tables that are not Reverie's ({names}): "
            "they would be lost. Restore into a database of its own"
        )
    if state["tables_owner"] is not None:
        if state["tables_owner"] != state["login"]:
            await become(target, state["tables_owner"])
        if (await one(target, SQL["has_memory"]))["has_memory"] and not replace:
            raise Conflict(f"there is a memory in the database {state['name']}: --replace puts the backup in its place")
    return state


async def _create(outside: Connection, name: str, owner: str) -> None:
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' OWNER {}")
    try:
        await outside.execute(statement.format(sql.Identifier(name), sql.Identifier(owner)))
    except psycopg.errors.InsufficientPrivilege as error:
        raise SetupError(
            "the backup is restored into a database beside the one that is served, which this login may not create: "
            "restore as a superuser (REVERIE_DATABASE_URL for this command), the owner of the tables stays"
        ) from error


async def _drop(outside: Connection, name: str) -> None:
    await outside.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


async def _swap(outside: Connection, name: str, draft: str) -> None:
    """Put the draft in the place of the database, at once. Who connects meanwhile waits for its schema: cut it off."""
    rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
    replaced = _REPLACED.format(name)
    await _drop(outside, replaced)
    for attempt in range(_SWAP_ATTEMPTS):
        await outside.execute(SQL["terminate"], {"name": name})
        try:
            async with outside.transaction():
                await outside.execute(rename.format(sql.Identifier(name), sql.Identifier(replaced)))
                await outside.execute(rename.format(sql.Identifier(draft), sql.Identifier(name)))
            return
        except psycopg.errors.ObjectInUse:
            await asyncio.sleep(0.1 * attempt)
    raise Conflict(f"programs connect to the database {name} all the time: stop the servers and workers first")


async def apply_forgotten(settings: Settings, conninfo: str, entries: Sequence[Entry], show: Show) -> Mapping[Act, int]:
    """Forget again in a restored database, which nobody is served from yet; of each kind what was found."""
    if not entries:
        return {}
    show(Progress("forgetting again", 0, 0))
    async with Database(conninfo, statement_timeout_seconds=_STATEMENT_TIMEOUT_SECONDS) as database:
        # Without a model: what changes is embedded when the server runs.
        runtime = assemble(settings, database, ModelSlot(None))
        hashes = ForgottenLog(forgotten_log_of(settings), await Tombstones(database).load_secret())
        try:
            return await forget_again(runtime, hashes, entries)
        finally:
            await close(runtime)


async def close(runtime: Runtime) -> None:
    """End what a runtime that serves nobody holds open."""
    await runtime.compactions.aclose()
    if runtime.proxy is not None:
        await runtime.proxy.aclose()
    if runtime.llm is not None:
        await runtime.llm.aclose()
    if runtime.reranking is not None:
        await runtime.reranking.aclose()


async def _vacuum(conninfo: str) -> None:
    """Statistics and visibility, by which searches are planned, are in no backup."""
    async with connected(conninfo) as connection:
        await connection.execute("VACUUM (ANALYZE)")
