"""Putting another cluster in the place of the embedded server's, and what a program leaves that is killed at it.

The new cluster is made aside, in a data directory of its own below the real one. Then the old one gets another name and
the new one its place. Between the two renames there is none: the next start then gives the old one its name back.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import structlog

from reverie_indexer.errors import Conflict
from reverie_indexer.postgres.host import (
    exclusive,
    find_postmaster,
    is_live,
    kill_all,
    open_lock,
    read_lock_file,
    sync_directory,
    try_flock,
)

log = structlog.get_logger()

CLUSTER = "postgres"
START_LOCK = "postgres.lock"
CLIENTS_LOCK = "clients.lock"
# The data directory of a cluster that is to take the place of the present one, and that one when it has lost it.
DRAFT_HOME = "restoring"
_REPLACED = "postgres.replaced"
_STOP_TIMEOUT_SECONDS = 60.0
_KILL_TIMEOUT_SECONDS = 30.0


@contextmanager
def without_server(home: Path, timeout_seconds: float = 120.0) -> Iterator[None]:
    """Keep a data directory to oneself, without a server at work in it. Conflict where programs use it.

    Who starts meanwhile waits for the end of the block, as for another one's start.
    """
    with exclusive(home / START_LOCK, time.monotonic() + timeout_seconds):
        clients = open_lock(home / CLIENTS_LOCK)
        try:
            if not try_flock(clients, "exclusive"):
                raise Conflict(f"programs use the PostgreSQL in {home}: stop the servers and workers first")
            settle(home)
            shut_down(home, home / CLUSTER)
            kill_all(home / CLUSTER, time.monotonic() + _KILL_TIMEOUT_SECONDS)
            yield
        finally:
            try_flock(clients, "unlock")
            os.close(clients)


def settle(home: Path) -> None:
    """Remove what is left of a replacement that was killed. Only to be called under the start lock."""
    cluster, replaced, draft = home / CLUSTER, home / _REPLACED, home / DRAFT_HOME
    if replaced.exists() and not cluster.exists():
        replaced.rename(cluster)
        sync_directory(home)
    is_done = replaced.exists()
    if is_done:
        log.warning("restore_was_killed_when_done", detail="the restored memory is in its place")
        shutil.rmtree(replaced)
    if draft.exists():
        if (draft / CLUSTER).exists() and not is_done:
            log.warning("restore_was_killed", detail="the memory is as it was before: to restore it, run that again")
        kill_all(draft / CLUSTER, time.monotonic() + _KILL_TIMEOUT_SECONDS)
        shutil.rmtree(draft)


def replace_cluster(home: Path) -> None:
    """Put the cluster of the draft in the place of the present one, which goes. No server may work on either."""
    cluster, replaced, draft = home / CLUSTER, home / _REPLACED, home / DRAFT_HOME
    if cluster.exists():
        cluster.rename(replaced)
    (draft / CLUSTER).rename(cluster)
    sync_directory(home)
    for leftover in (replaced, draft):
        shutil.rmtree(leftover, ignore_errors=True)


def shut_down(home: Path, cluster: Path) -> None:
    """Stop the server of a cluster and wait for its end. No-op where none runs."""
    lock_file = read_lock_file(cluster)
    postmaster = find_postmaster(cluster, lock_file)
    if postmaster is None:
        return
    for number, patience_seconds in ((signal.SIGINT, _STOP_TIMEOUT_SECONDS), (signal.SIGQUIT, 10.0)):
        with suppress(psutil.NoSuchProcess):
            postmaster.send_signal(number)
        until = time.monotonic() + patience_seconds
        while is_live(postmaster):
            if time.monotonic() > until:
                break
            time.sleep(0.02)
        else:
            break
    if lock_file and lock_file.socket_dir and lock_file.socket_dir.parent != home:
        with suppress(OSError):
            lock_file.socket_dir.rmdir()
