"""Upkeep: the tasks of a server or a worker beside its work, for as long as it runs."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import structlog

from reverie_indexer.errors import DatabaseUnavailable, EmbedderUnavailable, ModelMismatch, ReverieError
from reverie_indexer.index import vectors
from reverie_server.access.audit import prune as prune_audit
from reverie_server.files.retention import prune_history
from reverie_server.graph.vectors import embed_waiting
from reverie_server.nights.reports import trim_reports
from reverie_server.prompt.turn_log import prune_turns
from reverie_server.sessions.completion import complete_idle_sessions
from reverie_server.text.cancelled import is_cancelled

if TYPE_CHECKING:
    from reverie_server.runtime import Runtime

log = structlog.get_logger()
PRUNE_INTERVAL_SECONDS = 3600.0
_STATE_SECONDS = 30.0
# An edit that is taken back within a week costs no model call.
CACHE_KEEP_DAYS = 7


async def upkeep(runtime: Runtime) -> None:
    """Until cancelled: publish that silent sessions are complete, load a model that could not be loaded, embed what
    waits, give large slices their index, learn what is near by a model without constants, and every hour remove
    history, audit, cached vectors and details of old reports that are not kept. While the database is read-only, wait:
    it is another server's.

    Ends by raising ModelMismatch when the index belongs to another model: that no waiting mends.
    """
    interval = runtime.settings.backfill_interval_seconds
    prune_at = 0.0
    is_waiting = False
    while not is_cancelled():
        try:
            was_waiting, is_waiting = is_waiting, await _is_read_only(runtime)
            if is_waiting != was_waiting:
                log.info("upkeep_waits_for_a_writable_database" if is_waiting else "upkeep_goes_on")
            if is_waiting:
                await asyncio.sleep(interval)
                continue
            await complete_idle_sessions(
                runtime.database, runtime.consolidation.delays, idle_seconds=runtime.settings.session_idle_seconds
            )
            await _upkeep_once(runtime)
            if time.monotonic() >= prune_at:
                prune_at = time.monotonic() + PRUNE_INTERVAL_SECONDS
                await prune_history(
                    runtime.database,
                    keep_days=runtime.settings.version_keep_days,
                    keep_count=runtime.settings.version_keep_count,
                )
                await prune_turns(runtime.database, keep_days=runtime.settings.turn_keep_days)
                await trim_reports(runtime.database)
                await prune_audit(runtime.database, keep_days=runtime.settings.audit_keep_days)
                await vectors.prune_cache(runtime.database, keep_days=CACHE_KEEP_DAYS)
        except ModelMismatch:
            raise
        except EmbedderUnavailable as error:
            log.warning("backfill_waits", detail=error.detail)
        except ReverieError as error:
            log.warning("upkeep_failed", code=error.code, detail=error.detail)
        except Exception:  # the edge of a job: a fault in it must not take the server along
            log.exception("upkeep_failed")
        try:
            async with asyncio.timeout(interval):
                await runtime.pipeline.backfill_wanted.wait()
                # What asked for the back-fill may be a model that is down: not more often than once a second.
                await asyncio.sleep(min(1.0, interval))
        except TimeoutError:
            pass


async def _is_read_only(runtime: Runtime) -> bool:
    """Whether nothing can be kept up now. A model that failed for another reason is loaded all the same, for reads."""
    if await runtime.database.state(_STATE_SECONDS) != "read_only":
        return False
    if runtime.models.state == "failed" and not isinstance(runtime.models.error, DatabaseUnavailable):
        await runtime.models.fill(runtime.database)
    if isinstance(runtime.models.error, ModelMismatch):
        raise runtime.models.error
    return True


async def _upkeep_once(runtime: Runtime) -> None:
    if runtime.models.state == "failed":
        await runtime.models.fill(runtime.database)
    else:
        await runtime.models.wait()
    if isinstance(runtime.models.error, ModelMismatch):
        raise runtime.models.error
    runtime.pipeline.backfill_wanted.clear()
    while not is_cancelled() and await runtime.pipeline.backfill():
        pass
    if runtime.models.ready is not None:
        await embed_waiting(runtime.database, runtime.models.ready)
    await vectors.promote_large_slices(
        runtime.database,
        exact_max_chunks=runtime.settings.exact_max_chunks,
        max_partitions=runtime.settings.max_partitions,
    )
    await runtime.calibration.renew(
        runtime.models.ready, lambda: not (runtime.pipeline.backfill_wanted.is_set() or is_cancelled())
    )
