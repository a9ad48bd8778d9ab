"""Where the log of what was forgotten is, and how it is opened."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog

from reverie_indexer.database.database import Connection, Database
from reverie_server.app.embedders import data_dir_of
from reverie_server.provenance.forgotten_log import LOG_NAME, ForgottenLog, begin
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.settings.server import Settings

log = structlog.get_logger()


def forgotten_log_of(settings: Settings) -> Path:
    """Where the log of what was forgotten is."""
    return settings.forgotten_log or data_dir_of(settings) / LOG_NAME


async def open_forgotten_log(settings: Settings, database: Database) -> ForgottenLog:
    """The log of what was forgotten, made where there is none: a log that is empty says that nothing was."""
    path = forgotten_log_of(settings)
    try:
        await asyncio.to_thread(begin, path)
    except OSError as error:
        # Reading and writing go on; forgetting fails.
        log.warning("forgotten_log_cannot_be_written", path=str(path), reason=error.strerror)
    return ForgottenLog(path, await Tombstones(database).load_secret())


def note_revoked(log: ForgottenLog | None) -> Callable[[Connection, str], Awaitable[None]] | None:
    """The function that adds a revoked key to the log, where there is one."""
    if log is None:
        return None

    async def note(connection: Connection, key_id: str) -> None:
        await log.note(connection, "key", key_id)

    return note
