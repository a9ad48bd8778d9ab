"""What is known to be wrong with a database, by its errors and the clock."""

from __future__ import annotations

from pathlib import Path

import psycopg

from reverie_indexer.database.faults import DAMAGE_SHOWN_SECONDS, PAUSE_SECONDS, Faults
from reverie_indexer.errors import Conflict, DatabaseUnavailable, DataDamaged, StorageFull, ValidationFailed


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_after_a_full_disk_no_write_is_tried_for_a_while() -> None:
    clock = Clock()
    faults = Faults(clock=clock)
    assert (faults.storage_full, faults.reasons()) == (False, [])
    assert isinstance(faults.translated(psycopg.errors.DiskFull()), StorageFull)
    assert faults.storage_full
    assert "disk of the database is full" in faults.reasons()[0]
    clock.now += PAUSE_SECONDS
    assert not faults.storage_full
    assert faults.reasons() == []


def test_a_transaction_that_was_begun_read_only_says_why_also_when_the_pause_is_over() -> None:
    clock = Clock()
    faults = Faults(clock=clock)
    refused = psycopg.errors.ReadOnlySqlTransaction()
    assert type(faults.translated(refused)) is DatabaseUnavailable
    faults.translated(psycopg.errors.DiskFull())
    assert faults.storage_full
    clock.now += PAUSE_SECONDS + 1
    assert isinstance(faults.translated(refused), StorageFull)
    clock.now += 120
    assert type(faults.translated(refused)) is DatabaseUnavailable


def test_a_disk_with_less_than_is_to_be_left_is_full_and_one_that_is_gone_is_not(tmp_path: Path) -> None:
    assert Faults(tmp_path, 1 << 60).storage_full
    assert not Faults(tmp_path, 1).storage_full
    assert not Faults(tmp_path / "gone", 1 << 60).storage_full


def test_damage_is_shown_for_an_hour() -> None:
    clock = Clock()
    faults = Faults(clock=clock)
    errors = psycopg.errors
    for error in (errors.DataCorrupted(), errors.IndexCorrupted(), errors.UndefinedFile(), errors.IoError()):
        assert isinstance(faults.translated(error), DataDamaged)
    assert "reverie doctor" in faults.reasons()[0]
    clock.now += DAMAGE_SHOWN_SECONDS
    assert faults.reasons() == []


def test_other_errors_are_those_of_callers_or_of_nobody() -> None:
    faults = Faults()
    assert type(faults.translated(psycopg.OperationalError())) is DatabaseUnavailable
    assert isinstance(faults.translated(psycopg.errors.UniqueViolation()), Conflict)
    assert isinstance(faults.translated(psycopg.DataError()), ValidationFailed)
    assert faults.translated(psycopg.errors.SyntaxError()) is None
    assert faults.reasons() == []


def test_a_node_that_goes_away_and_a_shard_that_moves_are_no_faults_of_the_program() -> None:
    internal = psycopg.errors.InternalError_
    for error in (
        internal("failure on connection marked as essential: /run/west:5432"),
        internal("postmaster was shut down, exiting"),
        internal("terminating connection due to unexpected postmaster exit"),
        internal(
            "server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally\n"
            "\tbefore or while processing the request.\ninvalid socket\n"
            "CONTEXT:  while executing command on /run/west:5432"
        ),
        internal("could not receive data from server: Connection reset by peer"),
        internal("could not commit transaction for shard 102042 on at least one active node"),
        internal("failed to prepare transaction 'citus_0_91_2' on host /run/west:5432"),
        internal("could not establish any connections to the node /run/west:5432 after 5000 ms"),
        internal("no connection to the server\n"),
        psycopg.DatabaseError('Query could not find the intermediate result file "91_1", it was mostly likely deleted'),
        psycopg.errors.IoError(
            "failed to COPY to shard 102115 on /run/west:5432\nDETAIL:  failed to send 61 bytes I moved to Oslo."
        ),
        psycopg.errors.IoError("failed to complete COPY on /run/west:5432\nDETAIL:  connection not open"),
        psycopg.errors.UndefinedFile('could not open shared memory segment "/PostgreSQL.17": No such file'),
    ):
        faults = Faults()
        assert type(faults.translated(error)) is DatabaseUnavailable
        assert not faults.damaged
    assert type(Faults().translated(psycopg.errors.IoError("could not read block 3 in file"))) is DataDamaged
    assert Faults().translated(internal("cache lookup failed")) is None
    # Only what Citus says, not what somebody wrote.
    assert type(Faults().translated(psycopg.errors.UniqueViolation("postmaster was shut down"))) is Conflict
