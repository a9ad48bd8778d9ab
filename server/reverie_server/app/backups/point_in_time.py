"""The embedded PostgreSQL brought back to a point in time, from a base backup and the log that was archived since.

It is made aside and takes the place of the present one when all is done: before, whatever happens, that one is as it
was. What was forgotten since that time is forgotten again, and what was revoked is revoked again, before anybody is
served.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tarfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from reverie_indexer.database.database import Connection
from reverie_indexer.database.preparing import prepare_database
from reverie_indexer.errors import Conflict, SetupError, ValidationFailed
from reverie_indexer.postgres.archive import (
    RESTORE_COMMAND,
    Restored,
    WalArchive,
    leave_restored,
    system_identifier,
)
from reverie_indexer.postgres.embedded import EmbeddedPostgres
from reverie_indexer.postgres.host import Account, kill_all
from reverie_indexer.postgres.programs import check_copy
from reverie_indexer.postgres.replacing import CLUSTER, DRAFT_HOME, replace_cluster, without_server
from reverie_server.app.backups.backup import SQL, Progress, Show, connected, one
from reverie_server.app.backups.base_backup import COPY, bases_of
from reverie_server.app.backups.restore import Recovered, RestoreOptions, apply_forgotten, entries_to_apply, read_logs
from reverie_server.app.backups.timelines import Base, Route, place_of, route_to, timeline_at
from reverie_server.app.databases import archive_of, uninterrupted
from reverie_server.app.embedders import data_dir_of
from reverie_server.provenance.forgotten_log import Act, Contents
from reverie_server.settings.server import Settings

# A long log takes its time, and a server that goes on with it is waited for.
_RECOVERY_SECONDS = 7 * 86_400.0
_KILL_SECONDS = 30.0
_LAST = re.compile(r"last completed transaction was at log time (\S+ \S+)")
_REDONE = re.compile(r"redo done at ([0-9A-F]+/[0-9A-F]+)")
_NOT_REACHED = "recovery ended before configured recovery target was reached"


class NotArchived(SetupError):
    """There is no archive of WAL to restore from."""

    code = "not_archived"


class NotEmbedded(SetupError):
    """The database is no embedded PostgreSQL, whose archive this is about."""

    code = "not_embedded"


class TimeBeforeArchive(ValidationFailed):
    """No base backup is as old as the time that is asked for."""

    code = "time_before_archive"


class TimeAfterArchive(ValidationFailed):
    """The archive ends before the time that is asked for; `last` is its last transaction's."""

    code = "time_after_archive"


class WalMissing(SetupError):
    """A segment that is needed to get to the time is missing or damaged; `last` is the last transaction's before it."""

    code = "wal_missing"


@dataclass(frozen=True, slots=True)
class RestoredTo:
    """Of when the last transaction is that is there, and the base; how many acts of forgetting were looked at, and of
    each kind what was found and removed."""

    last: datetime
    base: datetime
    acts: int
    forgotten: Mapping[Act, int]


@dataclass(frozen=True, slots=True)
class _Plan:
    archive: WalArchive
    home: Path
    to: datetime
    path: Path
    base: Base
    route: Route

    @property
    def draft(self) -> Path:
        return self.home / DRAFT_HOME


async def restore_to_time(settings: Settings, to: datetime, options: RestoreOptions, show: Show) -> RestoredTo:
    """Bring the embedded PostgreSQL back to a time. Conflict where programs use it, or one is there that is not to be
    replaced; otherwise the errors of this module, and SetupError for what an operator has to mend.
    """
    if settings.database_url is not None:
        raise NotEmbedded(
            "--to-time is for the embedded PostgreSQL: bring your own back by its own means (pgBackRest, Barman, "
            "recovery_target_time), or restore a file of `reverie backup`"
        )
    archive = archive_of(settings)
    if archive is None:
        raise NotArchived("there is no archive of WAL: REVERIE_WAL_ARCHIVE_DIR says where one is, or is to be from now")
    archive.identifier()
    home = data_dir_of(settings).expanduser().resolve()
    account = EmbeddedPostgres(home).claim()
    with without_server(home):
        present = home / CLUSTER
        if (present / "PG_VERSION").exists():
            if not options.replace:
                raise Conflict(f"there is a memory in {home}: --replace puts the restored one in its place")
            archive.note_restored(present)
        plan = _plan(archive, home, to)
        newest = [*bases_of(archive).values()][-1]
        logs = () if options.without_log else read_logs(settings, newest.forgotten, to, options.logs)
        try:
            show(Progress("checking the base backup", 0, 0))
            await check_copy(plan.path / COPY)
            show(Progress("unpacking it", 0, 0))
            await asyncio.to_thread(_unpack, plan, present, account)
            restored = await _bring_back(settings, plan, logs, show)
            await asyncio.to_thread(replace_cluster, home)
        finally:
            await asyncio.to_thread(shutil.rmtree, plan.draft, ignore_errors=True)
    return restored


def _plan(archive: WalArchive, home: Path, to: datetime) -> _Plan:
    bases = bases_of(archive)
    if not bases:
        raise TimeBeforeArchive(f"the archive {archive.directory} has no base backup: a worker makes the first")
    timeline = timeline_at(archive.restores(), list(bases.values()), to)
    if timeline is not None:
        route = route_to(timeline, _history(archive, home / CLUSTER, timeline))
        for path, base in reversed(bases.items()):
            if base.at <= to and route.has(base):
                return _Plan(archive, home, to, path, base, route)
    first = next(iter(bases.values()))
    if first.at <= to:
        raise TimeBeforeArchive("no base backup that is kept leads to that time: name one after the last base backup")
    raise TimeBeforeArchive(f"the first base backup is of {_text(first.at)}: name that time or a later one")


def _history(archive: WalArchive, present: Path, timeline: int) -> str:
    try:
        return archive.history(timeline)
    except OSError:
        name = f"{timeline:08X}.history"
        try:
            return (present / "pg_wal" / name).read_text()
        except OSError:
            raise WalMissing(f"{name}.gz is missing in {archive.wal}: without it nothing leads there") from None


def _unpack(plan: _Plan, present: Path, account: Account | None) -> None:
    """Make the draft's cluster of the base, with what the present one has not archived yet."""
    plan.draft.mkdir(mode=0o711 if account else 0o700)
    (plan.draft / "postgres.lock").touch(0o600)
    cluster = plan.draft / CLUSTER
    for name, directory in (("base.tar.gz", cluster), ("pg_wal.tar.gz", cluster / "pg_wal")):
        with tarfile.open(plan.path / COPY / name) as archive:
            archive.extractall(directory, filter="data")
    for path in _unarchived(plan, present):
        if not (cluster / "pg_wal" / path.name).exists():
            shutil.copyfile(path, cluster / "pg_wal" / path.name)
    (cluster / "recovery.signal").touch(0o600)
    cluster.chmod(0o700)
    if account:
        for top, names, files in os.walk(cluster):
            for each in (*names, *files):
                os.chown(Path(top) / each, account.uid, account.gid, follow_symlinks=False)
        os.chown(cluster, account.uid, account.gid)


def _unarchived(plan: _Plan, present: Path) -> list[Path]:
    """The files of the present cluster's log that are not in the archive; none where it is another one."""
    try:
        if system_identifier(present) != plan.archive.identifier():
            return []
        files = list((present / "pg_wal").iterdir())
    except OSError:
        # It may be damaged, or gone.
        return []
    names = re.compile(r"[0-9A-F]{24}|[0-9A-F]{8}\.history")
    return [
        path
        for path in files
        if names.fullmatch(path.name) and path.is_file() and not (plan.archive.wal / f"{path.name}.gz").exists()
    ]


async def _bring_back(settings: Settings, plan: _Plan, logs: Sequence[Contents], show: Show) -> RestoredTo:
    """Replay the log in the draft, and forget again; its server has stopped in the end."""
    show(Progress(f"replaying the log since {_text(plan.base.at)}", 0, 0))
    server, conninfo = await _recover(plan)
    try:
        async with connected(conninfo) as connection:
            # First of all: what is written from now on takes numbers that what was undone had, too.
            found = await one(connection, SQL["recovered"])
            state = await _recovered(connection, plan, int(found["next_xid"]), logs)
        entries = entries_to_apply(state, logs) if logs else []
        await prepare_database(conninfo)
        forgotten = await apply_forgotten(settings, conninfo, entries, show)
        async with connected(conninfo) as connection:
            await connection.execute(SQL["sign_out"])
        restored = Restored(timeline=found["timeline"], at=datetime.now(UTC), to=plan.to)
        leave_restored(plan.draft / CLUSTER, restored)
    finally:
        await uninterrupted(server.stop)
    return RestoredTo(found["reached"] or plan.base.at, plan.base.at, len(entries), forgotten)


async def _recovered(connection: Connection, plan: _Plan, next_xid: int, logs: Sequence[Contents]) -> Recovered:
    """Which acts the database has: those of its own timeline whose transactions committed before the time."""
    timeline = plan.route.timeline
    cluster = plan.archive.identifier() + (f":{timeline:X}" if timeline > 1 else "")
    xids = {str(each.xid) for log in logs for each in log.entries if each.cluster == cluster and each.xid < next_xid}
    rows = await (await connection.execute(SQL["undone"], {"xids": sorted(xids)})).fetchall()
    undone = [int(row["xid"]) for row in rows]
    snapshot = f"{min(undone, default=next_xid)}:{next_xid}:{','.join(map(str, undone))}"
    return Recovered(cluster, snapshot, plan.to, plan.base.forgotten)


async def _recover(plan: _Plan) -> tuple[EmbeddedPostgres, str]:
    """A server of the draft that is at the time that was asked for, and how to reach it."""
    target = {"recovery_target_time": plan.to.astimezone(UTC).isoformat(), "recovery_target_action": "promote"}
    try:
        return await _start(plan, target)
    except SetupError as error:
        text = (plan.draft / "postgres.log").read_text(errors="replace")
        if _NOT_REACHED not in text:
            raise SetupError(f"the log cannot be replayed, and nothing was changed: {error.detail}") from error
        times = _LAST.findall(text)
        last = datetime.fromisoformat(times[-1]) if times else plan.base.at
        redone = place_of(_REDONE.findall(text)[-1]) if _REDONE.search(text) else plan.base.begin
    if (missing := await asyncio.to_thread(_missing, plan, redone // plan.base.segment_bytes)) is not None:
        raise WalMissing(
            f"{missing}.gz is missing in {plan.archive.wal}, or damaged. What is before it ends at {_text(last)}: "
            "put it back, or name that time. Nothing was changed",
            last=last,
        )
    if plan.to > last:
        raise TimeAfterArchive(
            f"the last transaction that is known is of {_text(last)}: name that time or an earlier one", last=last
        )
    # Nothing comes after that time, which PostgreSQL has to see to know that it is there.
    return await _start(plan, {})


async def _start(plan: _Plan, target: Mapping[str, str]) -> tuple[EmbeddedPostgres, str]:
    options = {
        **target,
        "restore_command": RESTORE_COMMAND,
        "recovery_target_timeline": str(plan.route.timeline),
        # Nobody is let in before it is there, and nothing is written then but what is written here.
        "hot_standby": "off",
        "autovacuum": "off",
        "timezone": "UTC",
        "log_timezone": "UTC",
    }
    server = EmbeddedPostgres(
        plan.draft,
        options=options,
        archive=plan.archive,
        account_of=plan.home,
        start_timeout_seconds=_RECOVERY_SECONDS,
    )
    try:
        return server, await asyncio.to_thread(server.start)
    except BaseException:
        # A start that is given up goes on in its thread, for as long as the log is: it ends with its processes.
        stopping = asyncio.create_task(uninterrupted(server.stop))
        while not stopping.done():
            await asyncio.to_thread(kill_all, plan.draft / CLUSTER, time.monotonic() + _KILL_SECONDS)
            await asyncio.wait({stopping}, timeout=0.2)
        raise


def _missing(plan: _Plan, number: int) -> str | None:
    """The first segment from a number on without which the log does not go on, though it is there later."""
    size = plan.base.segment_bytes
    segments = plan.archive.segments() | {path.name for path in (plan.draft / CLUSTER / "pg_wal").iterdir()}
    gaps = plan.route.missing([name for name in segments if len(name) == 24], number, size)
    for at in (number, number + 1):
        name = plan.route.segment(at, size)
        if name in plan.archive.segments() and not plan.archive.is_whole(name):
            return name
    return next(gaps, None)


def _text(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
