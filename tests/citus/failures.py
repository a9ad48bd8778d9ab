"""Nodes that die between the two phases of a commit, and what they have when they are back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import LiteralString

import psycopg
from tests.citus.nodes import NAMES, Nodes

WAIT_SECONDS = 180.0
_PREPARED = "SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()"
# Commits that wait: for the lock by which notifications are in order, and for a standby that there is not.
_HELD = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND query ILIKE 'commit%%' AND application_name <> 'holder'
  AND wait_event_type = %s AND wait_event = %s"""
_NODE = """
SELECT substring(nodename FROM '/([a-z]+)/run$') AS node FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
WHERE shardid = get_shard_id_for_distribution_column('chunks', %s::text)"""

_CAUSES = """
SELECT tenant_id, (payload ->> 'session_key')::bigint FROM events WHERE kind = 'session.completed' ORDER BY 1, 2"""
_JOBS = """
SELECT args ->> 'tenant_id', (args ->> 'session_key')::bigint FROM procrastinate_jobs WHERE task_name = 'episodic'
ORDER BY 1, 2"""


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something that comes about; fail with `what` where it does not."""
    until = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < until, f"not in {WAIT_SECONDS:.0f} s: {what}"
        time.sleep(0.05)


def node_of(conninfo: str, tenant: str) -> str:
    """The node that has the rows of a tenant."""
    with psycopg.connect(conninfo) as connection:
        row = connection.execute(_NODE.encode(), [tenant]).fetchone()
    assert row is not None
    return str(row[0])


def tell(conninfo: str, *statements: LiteralString) -> None:
    """Run statements of an operator, each in a transaction of its own, where they need one."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def prepared(nodes: Nodes, database: str) -> dict[str, int]:
    """How many transactions each node has prepared, and neither committed nor undone."""
    counts = {}
    for name in NAMES:
        with psycopg.connect(nodes.of(name, database)) as connection:
            [counts[name]] = connection.execute(_PREPARED).fetchone() or [0]
    return counts


def recover(nodes: Nodes, database: str) -> None:
    """Let Citus end what is prepared, as its own process does by the clock; nothing is left."""

    def is_over() -> bool:
        tell(nodes.of("coordinator", database), "SELECT recover_prepared_transactions()")
        return not any(prepared(nodes, database).values())

    wait_until(is_over, "no prepared transaction is left")


def held(conninfo: str, event_type: str, event: str) -> list[int]:
    """The processes of the server that stand in a commit, waiting for that."""
    with psycopg.connect(conninfo, application_name="holder") as connection:
        return [pid for (pid,) in connection.execute(_HELD.encode(), [event_type, event])]


@contextmanager
def held_before_commit(conninfo: str) -> Iterator[Callable[[], None]]:
    """Whoever commits with a notification, as each does that defers a job, is held on the coordinator: the nodes have
    prepared their part, and the coordinator's is not committed. Gives what waits until somebody is held.

    PostgreSQL puts commits with notifications in order by a lock, which is held here by one that waits for a standby.
    """
    tell(
        conninfo,
        "ALTER SYSTEM SET synchronous_commit = 'local'",
        "ALTER SYSTEM SET synchronous_standby_names = 'nobody'",
        "SELECT pg_reload_conf()",
    )

    def hold() -> None:
        # It ends with the coordinator, or when it is let go.
        with (
            suppress(psycopg.OperationalError),
            psycopg.connect(conninfo, application_name="holder") as connection,
        ):
            connection.execute("SET synchronous_commit = 'on'")
            # Only what is in the log is waited for.
            connection.execute("SELECT pg_logical_emit_message(true, 'held', '')")
            connection.execute("NOTIFY held")

    holder = threading.Thread(target=hold, name="holder")
    try:
        holder.start()
        wait_until(lambda: _is_holding(conninfo), "the lock of notifications is held")
        yield lambda: wait_until(lambda: bool(held(conninfo, "Lock", "object")), "a commit is held")
    finally:
        let_go(conninfo)
        holder.join(WAIT_SECONDS)
        assert not holder.is_alive()


def _is_holding(conninfo: str) -> bool:
    with psycopg.connect(conninfo) as connection:
        [count] = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holder' AND wait_event = 'SyncRep'"
        ).fetchone() or [0]
    return bool(count)


def let_go(conninfo: str) -> None:
    """Nobody waits for a standby any longer."""
    tell(
        conninfo,
        "ALTER SYSTEM RESET synchronous_standby_names",
        "ALTER SYSTEM RESET synchronous_commit",
        "SELECT pg_reload_conf()",
    )


def causes_and_jobs(conninfo: str) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """The completed sessions that are known, and the jobs for completed sessions, by tenant and session."""
    with psycopg.connect(conninfo) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        causes, jobs = (connection.execute(statement.encode()).fetchall() for statement in (_CAUSES, _JOBS))
    return [(str(t), int(key)) for t, key in causes], [(str(t), int(key)) for t, key in jobs]
