"""A program that kills itself in the middle of a backup or a restore.

`python -m tests.chaos.backup_child CONNINFO DIRECTORY INSTANT`: the memory of the database, `DIRECTORY/a.rvb`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from tests.backups import settings_of, shown_nowhere

from reverie_server.app.backups import backup, backup_file, restore

INSTANTS_OF_BACKUP = ("first piece", "before it has its name", "when it has its name")
INSTANTS_OF_RESTORE = ("filled", "forgotten", "swapped")


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_after(function: Callable[..., Any]) -> Callable[..., Any]:
    async def wrapped(*arguments: Any) -> None:
        await function(*arguments)
        die()

    return wrapped


async def first_piece(*arguments: Any) -> AsyncIterator[bytes]:
    async for piece in dump(*arguments):
        yield piece[:1000]
        die()


dump = backup.dump


async def main(conninfo: str, directory: Path, instant: str) -> None:
    settings, file = settings_of(conninfo, directory), directory / "a.rvb"
    match instant:
        case "first piece":
            backup.dump = first_piece
        case "before it has its name":
            backup_file.os.fsync = die  # type: ignore[assignment]
        case "when it has its name":
            backup_file.sync_directory = die
        case "filled":
            restore.fill = die_after(restore.fill)
        case "forgotten":
            restore.apply_forgotten = die_after(restore.apply_forgotten)
        case "swapped":
            restore._swap = die_after(restore._swap)
    if instant in INSTANTS_OF_BACKUP:
        await backup.take_backup(settings, file, shown_nowhere)
    else:
        await restore.restore_backup(settings, file, restore.RestoreOptions(replace=True), shown_nowhere)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
