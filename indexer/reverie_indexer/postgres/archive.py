"""The archive of an embedded server's write-ahead log (WAL), from which the server is brought back to a point in time.

cluster     the identity of the one cluster that it is of
wal/        each finished segment as `NAME.gz`: the server's account writes there
base/       copies of the whole cluster that the log is replayed on; whoever makes one writes there
restored/   for each timeline that a restore began, when that was
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import sys
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from reverie_indexer.errors import SetupError
from reverie_indexer.postgres.host import Account, put_durably, require_reachable

log = structlog.get_logger()

_DIRECTORY = "WAL_ARCHIVE_OF_REVERIE"
_DRAFT = "draft."
# PostgreSQL runs it for each segment, as its own account, until it succeeds. The directory stands in the environment,
# where no character of its name means anything. A segment that is there is there from before a crash, or another one.
_ARCHIVE_COMMAND = f"""\
wal="${_DIRECTORY}/wal"; to="$wal/%f.gz"; draft="$wal/{_DRAFT}$$"
if [ -e "$to" ]; then gzip -dc < "$to" | cmp -s - "%p" && sync "$wal" && exit 0; exit 1; fi
umask 077
gzip -1 < "%p" > "$draft" && sync "$draft" && mv "$draft" "$to" && sync "$wal" && exit 0
rm -f "$draft"
exit 1
"""
RESTORE_COMMAND: Final = f'from="${_DIRECTORY}/wal/%f.gz"; [ -e "$from" ] && gzip -dc < "$from" > "%p"'
_PROGRAMS = ("gzip", "cmp", "sync")
_MARK = "cluster"
_RESTORED = "reverie_restored.json"
_SEGMENT = re.compile(r"[0-9A-F]{24}")


class Restored(BaseModel):
    """That the cluster goes on in a timeline of its own since `at`, from where it was at `to`."""

    model_config = ConfigDict(extra="forbid")
    timeline: int
    at: datetime
    to: datetime


@dataclass(frozen=True, slots=True)
class WalArchive:
    """Where a server puts its log, and after how many seconds at the latest."""

    directory: Path
    timeout_seconds: int = 60

    @property
    def wal(self) -> Path:
        """Where the segments are."""
        return self.directory / "wal"

    @property
    def base(self) -> Path:
        """Where the base backups are."""
        return self.directory / "base"

    @property
    def settings(self) -> Mapping[str, str]:
        """What makes a server archive."""
        return {
            "archive_mode": "on",
            "archive_command": _ARCHIVE_COMMAND,
            "archive_timeout": f"{self.timeout_seconds}s",
            "wal_level": "replica",
        }

    @property
    def environment(self) -> dict[str, str]:
        """What the commands of a server find the archive by."""
        return {_DIRECTORY: str(self.directory)}

    def claim(self, cluster: Path, account: Account | None) -> None:
        """Make the archive, or see that it is this cluster's and may be written to by the server's account.

        An archive that cannot be written to now is no reason not to serve: PostgreSQL keeps its log until it can.
        Raises SetupError for the archive of another cluster, and for what never was one.
        """
        if missing := [name for name in _PROGRAMS if shutil.which(name) is None]:
            raise SetupError(f"the log of PostgreSQL is archived by {', '.join(missing)}: install that")
        try:
            self._claim(system_identifier(cluster), account)
            self.note_restored(cluster)
        except OSError as error:
            log.warning("wal_archive_cannot_be_written", directory=str(self.directory), reason=error.strerror)

    def _claim(self, identifier: str, account: Account | None) -> None:
        self.directory.mkdir(mode=0o711 if account else 0o700, parents=True, exist_ok=True)
        mark = self.directory / _MARK
        if not mark.exists():
            if {path.name for path in self.directory.iterdir()} - {"lost+found", f".{_MARK}.draft"}:
                raise SetupError(
                    f"{self.directory} is not empty and no archive of WAL: choose another REVERIE_WAL_ARCHIVE_DIR"
                )
            put_durably(mark, identifier)
        elif mark.read_text() != identifier:
            raise SetupError(
                f"{self.directory} is the archive of another PostgreSQL: `reverie restore --to-time` brings that one "
                "back; to go on with this one, choose another REVERIE_WAL_ARCHIVE_DIR"
            )
        for directory in (self.wal, self.base, self.directory / "restored"):
            directory.mkdir(mode=0o700, exist_ok=True)
        if account:
            require_reachable(self.directory, account, "REVERIE_WAL_ARCHIVE_DIR")
            if self.wal.stat().st_uid != account.uid:
                # The directory last: what was stopped in the middle is begun again.
                for path in (*self.wal.iterdir(), self.wal):
                    os.chown(path, account.uid, account.gid, follow_symlinks=False)

    def identifier(self) -> str:
        """Of which cluster the archive is. SetupError where it is none."""
        try:
            return (self.directory / _MARK).read_text()
        except OSError as error:
            raise SetupError(f"{self.directory} is no archive of WAL, or cannot be read: {error.strerror}") from None

    def note_restored(self, cluster: Path) -> None:
        """Keep what a restore left in a cluster, once that is the one that is served. OSError where that cannot be."""
        try:
            restored = Restored.model_validate_json((cluster / _RESTORED).read_bytes())
        except (FileNotFoundError, ValidationError):
            return
        kept = self.directory / "restored" / f"{restored.timeline:08X}.json"
        if not kept.exists():
            put_durably(kept, restored.model_dump_json())

    def restores(self) -> list[Restored]:
        """The restores that were served from, the oldest first."""
        paths = sorted((self.directory / "restored").glob("*.json"))
        return [Restored.model_validate_json(path.read_bytes()) for path in paths]

    def segments(self) -> set[str]:
        """The names of the segments that are there."""
        names = {path.name.removesuffix(".gz") for path in self.wal.glob("*.gz")}
        return {name for name in names if _SEGMENT.fullmatch(name)}

    def is_whole(self, segment: str) -> bool:
        """Whether a segment that is there can be read to its end."""
        try:
            with gzip.open(self.wal / f"{segment}.gz") as file:
                while file.read(1 << 20):
                    pass
        except (OSError, EOFError, zlib.error):
            return False
        return True

    def history(self, timeline: int) -> str:
        """From which timelines one comes, as PostgreSQL writes it; empty for the first. OSError where it is missing."""
        if timeline == 1:
            return ""
        with gzip.open(self.wal / f"{timeline:08X}.history.gz", "rt") as file:
            return str(file.read())

    def remove_before(self, segment: str) -> int:
        """Remove the segments of any timeline that are before one, and drafts; how many segments went."""
        for draft in self.wal.glob(f"{_DRAFT}*"):
            draft.unlink(missing_ok=True)
        # Their places in the log are those of their names without the timeline.
        old = [name for name in self.segments() if name[8:] < segment[8:]]
        for name in old:
            (self.wal / f"{name}.gz").unlink(missing_ok=True)
        return len(old)


def leave_restored(cluster: Path, restored: Restored) -> None:
    """Leave in a cluster what it was restored to. It is served from when it takes the place of another."""
    path, owner = cluster / _RESTORED, cluster.stat()
    put_durably(path, restored.model_dump_json())
    # Who copies the cluster is its server.
    os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def system_identifier(cluster: Path) -> str:
    """The identity of a cluster, by which PostgreSQL knows whose a segment is."""
    with (cluster / "global/pg_control").open("rb") as file:
        # Its first eight bytes in all versions, so that a server can tell the others by them.
        return str(int.from_bytes(file.read(8), sys.byteorder))
