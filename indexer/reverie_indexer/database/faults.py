"""The faults of PostgreSQL: as sentences and typed errors, and those known of a database now."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import disk_usage
from typing import Literal

import psycopg
import structlog

from reverie_indexer.errors import (
    Conflict,
    DatabaseStarting,
    DatabaseUnavailable,
    DataDamaged,
    ReverieError,
    SetupError,
    StorageFull,
    ValidationFailed,
)

log = structlog.get_logger()

OPERATOR_SQL = """\
CREATE EXTENSION IF NOT EXISTS vector;
CREATE ROLE reverie_app NOLOGIN NOBYPASSRLS;
GRANT reverie_app TO "<the role of REVERIE_DATABASE_URL>";
GRANT CREATE ON SCHEMA public TO "<the role of REVERIE_DATABASE_URL>";"""
# After PostgreSQL found the disk full no write is tried for a while: each would use up what is left of its log.
PAUSE_SECONDS = 5.0
# A transaction that was begun when the disk was full may end when it no longer is.
TRANSACTION_SECONDS = 60.0
# How long a damaged page is reported after a request met it.
DAMAGE_SHOWN_SECONDS = 3600.0
_LOOK_SECONDS = 0.5

# PostgreSQL's answers to a connection carry no code that the driver passes on: their words have to tell.
_REFUSALS = (
    (r'database "(?P<name>[^"]+)" does not exist', 'PostgreSQL answers, but has no database "{name}": create it '
     '(CREATE DATABASE "{name}"), or mend REVERIE_DATABASE_URL'),
    (r'role "(?P<name>[^"]+)" does not exist', 'PostgreSQL answers, but has no role "{name}": create it, or mend '
     "REVERIE_DATABASE_URL"),
    (r'password authentication failed for user "(?P<name>[^"]+)"', 'PostgreSQL does not take the password of "{name}": '
     "mend REVERIE_DATABASE_URL"),
    (r"no password supplied", "PostgreSQL wants a password: REVERIE_DATABASE_URL has none"),
    (r"no pg_hba\.conf entry|(?:Peer|Ident) authentication failed", "PostgreSQL answers, but lets nobody in from here "
     "as this user: allow it in its pg_hba.conf, or mend REVERIE_DATABASE_URL"),
    (r"permission denied for database", "the user of REVERIE_DATABASE_URL may not connect to this database: GRANT "
     "CONNECT"),
)  # fmt: skip
_BUSY = (
    (r"too many clients|remaining connection slots", "PostgreSQL has no free connection: raise its max_connections, or "
     "lower REVERIE_POOL_SIZE"),
    (r"the database system is shutting down", "PostgreSQL is shutting down; try again"),
)  # fmt: skip
_STARTING = re.compile(
    r"the database system is (?:starting up|in recovery|not yet accepting)"
    r"|because of crash of another server process|server closed the connection unexpectedly"
)
# What Citus says of a node that goes away while others commit, of its own end, and of a shard that moves away under a
# statement, as if these were defects (XX000), or by a code of its own; of a node that went away before it answered to
# COMMIT or PREPARE; and libpq's words, where a node went away under a command that Citus had sent it.
_NODE_AWAY = re.compile(
    r"failure on connection marked as essential|postmaster was shut down|terminating connection due to"
    r"|could not find the intermediate result file"
    r"|could not commit transaction for shard|failed to (?:prepare|commit) transaction"
    r"|could not establish any connections? to the node|connection to the remote node"
    r"|server closed the connection unexpectedly|no connection to the server|connection not open"
    r"|could not (?:receive data from|send data to) server|SSL connection has been closed unexpectedly"
)
_PLAIN = (psycopg.errors.InternalError_, psycopg.DatabaseError)
# What is no damage for all its code. The rows of one statement go to a shard by COPY: where its node goes away
# meanwhile, Citus names it as a disk that cannot be read; memory that a killed PostgreSQL shared with its helpers is a
# file that is gone.
_CUT_OFF = re.compile(r"\A(?:failed to (?:COPY to shard|complete COPY on)|could not open shared memory segment)\b")


@contextmanager
def start_errors() -> Iterator[None]:
    """Turn PostgreSQL's errors at start into sentences for the operator, without the connection's secrets."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise SetupError(
            f"the database user may not set up the schema ({error.diag.message_primary}); have an operator run:\n"
            f"{OPERATOR_SQL}"
        ) from error
    except psycopg.OperationalError as error:
        raise _refusal(error) from error
    except psycopg.Error as error:
        if error.diag.message_primary is None:
            # Not the server's words but the driver's, which may quote the connection string.
            raise SetupError("REVERIE_DATABASE_URL is not a connection URL of PostgreSQL") from None
        raise SetupError(f"the schema cannot be set up: {error.diag.message_primary}") from error


def _refusal(error: psycopg.OperationalError) -> ReverieError:
    text = str(error)
    for pattern, sentence in _REFUSALS:
        if found := re.search(pattern, text):
            return SetupError(sentence.format(**found.groupdict()))
    if _STARTING.search(text):
        return DatabaseStarting("PostgreSQL is still starting; try again")
    for pattern, sentence in _BUSY:
        if re.search(pattern, text):
            return DatabaseUnavailable(sentence)
    return DatabaseUnavailable("PostgreSQL does not answer; check REVERIE_DATABASE_URL and that the server runs")


class Faults:
    """The known faults of a database, learnt from its errors and from the free space of its disk.

    `directory` is on the disk of the database, where that is this machine's; below `min_free_bytes` of free space
    writes are refused before PostgreSQL meets the end of the disk, where it would stop altogether.
    """

    def __init__(
        self,
        directory: Path | None = None,
        min_free_bytes: int = 0,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._directory = directory
        self._min_free_bytes = min_free_bytes
        self._clock = clock
        self._full_until = float("-inf")
        self._full_at = float("-inf")
        self._damage_until = float("-inf")
        self._looked_at = float("-inf")
        self._low = False

    @property
    def storage_full(self) -> bool:
        """Whether writes are to be refused now."""
        now = self._clock()
        if self._directory is not None and now - self._looked_at >= _LOOK_SECONDS:
            self._looked_at = now
            was_low, self._low = self._low, self._is_low(self._directory)
            if was_low != self._low:
                log.warning("storage_full" if self._low else "storage_has_space_again")
        if self._low or now < self._full_until:
            self._full_at = now
            return True
        return False

    @property
    def damaged(self) -> bool:
        """Whether damaged data was met lately."""
        return self._clock() < self._damage_until

    def _is_low(self, directory: Path) -> bool:
        try:
            return disk_usage(directory).free < self._min_free_bytes
        except OSError:
            return False

    def reasons(self) -> list[str]:
        """One sentence for each known fault."""
        found = []
        if self.storage_full:
            found.append("the disk of the database is full: writes are refused, reads go on; free space")
        if self.damaged:
            found.append("damaged data was met: `reverie doctor` says where, and what to do")
        return found

    def translated(self, error: psycopg.Error, unknown: Literal["refused", "lost"] = "lost") -> ReverieError | None:
        """The error for the caller; None for one that neither callers cause nor operators mend. Notes the fault."""
        match error:
            case psycopg.errors.DiskFull():
                self._full_until = self._clock() + PAUSE_SECONDS
                return _full()
            case psycopg.errors.ReadOnlySqlTransaction():
                # Begun read-only because the disk is full; else PostgreSQL itself takes no writes.
                if self.storage_full or self._clock() - self._full_at < TRANSACTION_SECONDS:
                    return _full()
                return DatabaseUnavailable(
                    "PostgreSQL takes no writes now (it is read-only): nothing was written, reads go on; try again",
                    retry_after_seconds=5,
                )
            case psycopg.errors.IoError() | psycopg.errors.UndefinedFile() if _CUT_OFF.match(str(error)):
                return DatabaseUnavailable(_UNAVAILABLE[unknown])
            case (
                psycopg.errors.DataCorrupted()
                | psycopg.errors.IndexCorrupted()
                # A file of the database that is gone, and one that the disk no longer gives.
                | psycopg.errors.UndefinedFile()
                | psycopg.errors.IoError()
            ):
                self._damage_until = self._clock() + DAMAGE_SHOWN_SECONDS
                log.error("data_damaged", sqlstate=error.sqlstate, detail=error.diag.message_primary)
                return DataDamaged(
                    "a part of the stored data is damaged, and this request needs it; the operator can find out with "
                    "`reverie doctor`"
                )
            case _ if type(error) in _PLAIN and _NODE_AWAY.search(str(error)):
                return DatabaseUnavailable(_UNAVAILABLE[unknown])
            case psycopg.OperationalError() | psycopg.InterfaceError():
                return DatabaseUnavailable(_UNAVAILABLE[unknown])
            case psycopg.IntegrityError():
                return Conflict("something this request builds on was changed or deleted meanwhile; try again")
            case psycopg.DataError():
                return ValidationFailed("a value cannot be stored as text or number")
        return None


_UNAVAILABLE = {
    "refused": "PostgreSQL refused in the middle of the request; try again",
    "lost": "PostgreSQL went away or refused in the middle of the request; whether a write took effect is not known: "
    "read, then try again",
}


def _full() -> StorageFull:
    return StorageFull(
        "the disk of the database is full: nothing was written, reads go on; free space, then try again",
        retry_after_seconds=30,
    )
