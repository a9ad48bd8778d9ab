"""Base backups: copies of the whole embedded cluster, on which its archived log is replayed up to a point in time."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import structlog
from pydantic import ValidationError

from reverie_indexer.errors import SetupError
from reverie_indexer.postgres.archive import WalArchive
from reverie_indexer.postgres.host import put_durably, sync_directory
from reverie_indexer.postgres.programs import check_copy, copy_cluster
from reverie_server.app.backups.backup import SQL, connected, mark_of, one
from reverie_server.app.backups.backup_file import LogMark
from reverie_server.app.backups.scheduled_backup import Made
from reverie_server.app.backups.timelines import Base, place_of

log = structlog.get_logger()

# A base backup is a directory with this in it: what PostgreSQL wrote, and what we know of it.
COPY = "copy"
_FACTS = "base.json"
_DRAFT_PREFIX = ".draft-"


@dataclass(frozen=True, slots=True)
class BasePlan:
    """The archive that base backups go to, how many are kept, and the log of what was forgotten."""

    archive: WalArchive
    keep: int
    forgotten_log: Path


async def take_base(plan: BasePlan, conninfo: str, _: datetime) -> Made:
    """Make a base backup of a server that goes on meanwhile, and read it back; then the oldest go, with their WAL.

    SetupError or ValidationFailed where that cannot be; then nothing goes.
    """
    mark = mark_of(plan.forgotten_log)
    base = plan.archive.base
    try:
        for leftover in base.glob(f"{_DRAFT_PREFIX}*"):
            await asyncio.to_thread(shutil.rmtree, leftover)
        draft = Path(tempfile.mkdtemp(prefix=_DRAFT_PREFIX, dir=base))
        try:
            await copy_cluster(conninfo, draft / COPY)
            await check_copy(draft / COPY)
            async with connected(conninfo) as connection:
                facts = await one(connection, SQL["now_and_segment_size"])
            made = _facts(draft, facts["at"], facts["segment_bytes"], mark)
            target = await asyncio.to_thread(_name, draft, made)
        finally:
            await asyncio.to_thread(shutil.rmtree, draft, ignore_errors=True)
        size = sum(path.stat().st_size for path in (target / COPY).iterdir())
        return Made(target, made.at, size, await asyncio.to_thread(_remove_oldest, plan))
    except OSError as error:
        raise SetupError(f"the archive {plan.archive.directory} cannot be written: {error.strerror}") from None


def bases_of(archive: WalArchive) -> dict[Path, Base]:
    """The base backups that are whole, the oldest first."""
    found = {}
    for path in sorted(archive.base.iterdir() if archive.base.exists() else ()):
        if path.name.startswith(_DRAFT_PREFIX):
            continue
        try:
            found[path] = Base.model_validate_json((path / _FACTS).read_bytes())
        except (OSError, ValidationError):
            log.warning("base_backup_not_whole", directory=str(path))
    return found


def _facts(draft: Path, at: datetime, segment_bytes: int, mark: LogMark) -> Base:
    """What PostgreSQL's manifest says of a copy."""
    manifest: dict[str, Any] = json.loads((draft / COPY / "backup_manifest").read_bytes())
    [log_range] = manifest["WAL-Ranges"]
    return Base(
        at=at,
        timeline=log_range["Timeline"],
        begin=place_of(log_range["Start-LSN"]),
        end=place_of(log_range["End-LSN"]),
        segment_bytes=segment_bytes,
        forgotten=mark,
    )


def _name(draft: Path, made: Base) -> Path:
    put_durably(draft / _FACTS, made.model_dump_json())
    target = draft.with_name(f"{made.at:%Y%m%dT%H%M%S%fZ}")
    draft.rename(target)
    sync_directory(target.parent)
    return target


def _remove_oldest(plan: BasePlan) -> int:
    bases = bases_of(plan.archive)
    for path in list(bases)[: -plan.keep]:
        shutil.rmtree(path)
        del bases[path]
    # In this order: a base whose WAL is gone would be of no use.
    plan.archive.remove_before(min((base.first_segment for base in bases.values()), key=lambda name: name[8:]))
    return len(bases)
