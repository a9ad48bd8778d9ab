"""A program that kills itself in the middle of a restore to a point in time.

`python -m tests.chaos.point_in_time_child DIRECTORY TIME INSTANT`: the server and the archive of `tests/point_in_time`.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.backups import shown_nowhere
from tests.chaos.backup_child import die, die_after
from tests.point_in_time import settings_in

from reverie_indexer.postgres import replacing
from reverie_server.app.backups import point_in_time
from reverie_server.app.backups.restore import RestoreOptions

INSTANTS = ("unpacked", "replayed", "forgotten", "between the names", "when it has its name")
DONE = ("when it has its name",)


def die_at_second(function: Any) -> Any:
    calls = []

    def wrapped(*arguments: Any) -> Any:
        calls.append(arguments)
        return function(*arguments) if len(calls) == 1 else die()

    return wrapped


def main(directory: Path, to: datetime, instant: str) -> None:
    match instant:
        case "unpacked":
            unpack = point_in_time._unpack
            point_in_time._unpack = lambda *arguments: die(unpack(*arguments))
        case "replayed":
            point_in_time._recover = die_after(point_in_time._recover)
        case "forgotten":
            point_in_time.apply_forgotten = die_after(point_in_time.apply_forgotten)
        case "between the names":
            point_in_time.replace_cluster = between_the_names
        case "when it has its name":
            replacing.sync_directory = die
    restoring = point_in_time.restore_to_time(settings_in(directory), to, RestoreOptions(replace=True), shown_nowhere)
    asyncio.run(restoring)


def between_the_names(home: Path) -> None:
    Path.rename = die_at_second(Path.rename)  # type: ignore[method-assign]
    replacing.replace_cluster(home)


if __name__ == "__main__":
    main(Path(sys.argv[1]), datetime.fromisoformat(sys.argv[2]), sys.argv[3])
