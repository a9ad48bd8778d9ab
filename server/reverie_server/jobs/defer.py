"""Deferring background work in the transaction that causes it.

A job is a row of procrastinate's queue, deferred by the database's function `defer_job`. This module alone decides
which jobs follow from an event. `jobs.worker` runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg.types.json import Jsonb

from reverie_indexer import tracing
from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_server.access.request_id import current_request_id
from reverie_server.jobs.model import Deferred, Event, Work

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class Delays:
    """How long after its cause a debounced stage runs, in seconds."""

    extraction_cooldown_seconds: float = 300.0
    dreaming_debounce_seconds: float = 600.0
    facts_debounce_seconds: float = 3.0


async def defer(connection: Connection, work: Work, *, after_seconds: float = 0.0) -> Deferred:
    """Defer a job in the caller's transaction, which acts for the work's tenant; it runs once that has committed.

    Where a job of the same stage and unit waits already, there is no second one, and it runs no later than this one
    would. ValueError for work with a topic, which is a person's words: forgetting does not look into jobs.
    """
    if work.topic is not None:
        raise ValueError("a job holds ids, never what anybody said")
    # Connects the log of the job with that of the request; where several requests share a job, of the first.
    request_id = current_request_id()
    traceparent = tracing.current()
    args = {
        **work.args,
        **({"request_id": request_id} if request_id else {}),
        **({"traceparent": traceparent} if traceparent else {}),
    }
    params = {"stage": work.stage, "unit": work.unit, "args": Jsonb(args), "after_seconds": after_seconds}
    row = await (await connection.execute(SQL["defer"], params)).fetchone()
    return Deferred(int((row or {})["job_id"]), work.stage)


async def defer_many(connection: Connection, works: Sequence[Work]) -> None:
    """Defer a job for each, of any tenants, in the caller's maintenance transaction; all are of one stage."""
    if works:
        params = {
            "stage": works[0].stage,
            "units": [work.unit for work in works],
            "args": [Jsonb(work.args) for work in works],
        }
        await connection.execute(SQL["defer_many"], params)


async def publish(connection: Connection, event: Event, delays: Delays) -> list[Deferred]:
    """Publish an event in the caller's transaction, and defer what follows from it, in the order of the stages."""
    params = {
        "tenant_id": event.tenant_id,
        "slice_id": event.slice_id,
        "agent_id": event.agent_id,
        "kind": event.kind,
        "payload": Jsonb(dict(event.payload)),
    }
    await connection.execute(SQL["publish"], params)
    return [
        await defer(connection, work, after_seconds=after_seconds)
        for work, after_seconds in await _following(connection, event, delays)
    ]


async def _following(connection: Connection, event: Event, delays: Delays) -> Sequence[tuple[Work, float]]:
    ids = (event.tenant_id, event.agent_id, event.owner_key)
    match event.kind:
        case "session.completed":
            episodic = Work("episodic", *ids, session_key=event.payload["session_key"])
            wait = await _cooldown(connection, event, delays.extraction_cooldown_seconds)
            return [(Work("facts", *ids), 0.0), (episodic, 0.0), (Work("extraction", *ids), wait)]
        case "episodic.created":
            semantic = Work("semantic", *ids, episode_id=event.payload["episode_id"])
            return [(semantic, 0.0), (Work("dreaming", *ids), delays.dreaming_debounce_seconds)]
        case "entity.upserted":
            return [(Work("dedup", *ids), 0.0)]


async def _cooldown(connection: Connection, event: Event, seconds: float) -> float:
    """The seconds for which extraction does not run again for a slice."""
    params = {"tenant_id": event.tenant_id, "slice_id": event.slice_id, "stage": "extraction", "seconds": seconds}
    row = await (await connection.execute(SQL["cooldown"], params)).fetchone()
    return max(0.0, float(row["left"])) if row and row["left"] is not None else 0.0
