"""Backups by the clock: a worker makes one when it is due, reads it back, and then removes the oldest."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import structlog

from reverie_indexer.errors import ReverieError, SetupError, ValidationFailed
from reverie_server.app.backups.backup import Progress, back_up
from reverie_server.app.backups.backup_file import DRAFT_PREFIX, BackupFile
from reverie_server.jobs.scheduled_backups import ScheduledBackups
from reverie_server.text.error_site import code_of, error_site

log = structlog.get_logger()
_NAME = re.compile(r"reverie-\d{8}T\d{6}Z\.rvb")
# A draft that nobody has written to for so long is of a program that was killed.
_DRAFT_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class BackupPlan:
    """Where backups go, how many are kept, and the log of what was forgotten beside which they are made."""

    directory: Path
    keep: int
    forgotten_log: Path


@dataclass(frozen=True, slots=True)
class Made:
    """A backup that was made: where, as of when it is, its bytes, and how many are kept with it."""

    path: Path
    at: datetime
    bytes: int
    kept: int


async def make_when_due(backups: ScheduledBackups, make: Callable[[datetime], Awaitable[Made]]) -> None:
    """Make a backup of a kind if one is due and no other process makes one. `make` gets the time.

    A failure is noted and logged, and tried again later. Raises DatabaseUnavailable where it cannot be noted.
    """
    if not backups.is_due(await backups.state()):
        return
    async with backups.alone() as is_alone:
        # Another worker may have made it meanwhile.
        if not is_alone or not backups.is_due(await backups.state()):
            return
        began = time.monotonic()
        try:
            made = await make(backups.now())
        except Exception as error:  # noqa: BLE001  # the edge of a job
            # Of what is not ours the message may be somebody's memory.
            is_ours = isinstance(error, ReverieError)
            code = code_of(error) if is_ours else f"{code_of(error)}: {error_site(error)}"
            detail = {"detail": str(error)} if is_ours else {}
            log.warning("backup_failed", kind=backups.kind, code=code, **detail)
            await backups.failed(code)
            return
        await backups.succeeded(made.at, made.bytes)
        seconds = round(time.monotonic() - began, 3)
        log.info("backup", kind=backups.kind, file=str(made.path), bytes=made.bytes, kept=made.kept, seconds=seconds)


def whole_backups(directory: Path) -> list[Path]:
    """The backups by the clock in a directory, the oldest first: only what can be read as one counts."""
    found = []
    for path in sorted(directory.iterdir()):
        if _NAME.fullmatch(path.name):
            try:
                BackupFile(path)
            except ValidationFailed:
                log.warning("backup_not_whole", file=str(path))
            else:
                found.append(path)
    return found


async def make_backup(plan: BackupPlan, conninfo: str, at: datetime) -> Made:
    """Make a backup of a database under the name of its time, and read it back; then the oldest go."""
    try:
        await asyncio.to_thread(plan.directory.mkdir, mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f"the directory of backups, {plan.directory}, cannot be made: {error.strerror}") from None
    await asyncio.to_thread(_remove_drafts, plan.directory)
    target = plan.directory / f"reverie-{at.astimezone(UTC):%Y%m%dT%H%M%SZ}.rvb"
    manifest = await back_up(conninfo, plan.forgotten_log, target, _shown_nowhere)
    try:
        await BackupFile(target).check()
    except ValidationFailed:
        target.unlink(missing_ok=True)
        raise
    size = sum(part.size for part in manifest.parts.values())
    return Made(target, manifest.at, size, await asyncio.to_thread(_remove_oldest, plan))


def _remove_oldest(plan: BackupPlan) -> int:
    whole = whole_backups(plan.directory)
    for path in whole[: -plan.keep]:
        try:
            path.unlink()
        except OSError as error:
            log.warning("backup_not_removed", file=str(path), reason=error.strerror)
    return min(len(whole), plan.keep)


def _remove_drafts(directory: Path) -> None:
    """Remove what backups that were killed have left; a person may be making one there now."""
    for path in directory.glob(f"{DRAFT_PREFIX}*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _DRAFT_SECONDS:
                path.unlink()


def _shown_nowhere(_: Progress) -> None:
    pass
