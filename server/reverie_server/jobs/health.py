"""The health of the background work: jobs that wait, run or have failed; and retries of jobs that failed for good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from psycopg.rows import DictRow

from reverie_indexer.database.database import ALL_OWNERS, Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_server.access.principal import Principal
from reverie_server.jobs.model import STAGES, Stage, Status
from reverie_server.jobs.stage_runs import StageRuns
from reverie_server.llm.generation import Method
from reverie_server.llm.outcomes import ModelUse, Outcomes

SQL = Queries(__file__)
State = Literal["pending", "running", "scheduled", "failed"]
STATES: tuple[State, ...] = ("pending", "running", "scheduled", "failed")
MAX_DEAD = 100
MAX_LISTED = 10_000


@dataclass(slots=True)
class StageHealth:
    """One stage: its jobs by state, and its newest run on any of the slices.

    A job is `scheduled` while it waits for its time, debounced or after a failure, and `failed` after its last attempt.
    """

    pending: int = 0
    running: int = 0
    scheduled: int = 0
    failed: int = 0
    last_started_at: datetime | None = None
    last_success_at: datetime | None = None
    last_failed_at: datetime | None = None
    last_status: Status | None = None
    last_reason: str | None = None
    last_error: str | None = None
    last_method: Method | None = None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A job that has failed for good; `error` is a code."""

    job_id: int
    stage: str
    owner_key: str | None
    attempts: int
    error: str
    failed_at: datetime | None


@dataclass(frozen=True, slots=True)
class PipelineHealth:
    """The stages by name, the newest dead letters, and, for who sees all owners' memory, the use of the model."""

    stages: Mapping[Stage, StageHealth]
    dead_letters: Sequence[DeadLetter]
    model_use: ModelUse | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """Unfinished jobs of all tenants by (stage, state), the number of living workers, and the use of the model.

    `ages` are in seconds, of the oldest job that is `pending` and the oldest that is `running`, by (stage, state).
    `most_model_calls` are those of the tenant that made the most today: each tenant has a budget of its own.
    """

    jobs: Mapping[tuple[str, str], int] = field(default_factory=dict)
    workers: int = 0
    model_use: ModelUse = field(default_factory=ModelUse)
    ages: Mapping[tuple[str, str], float] = field(default_factory=dict)
    most_model_calls: int = 0

    def of_state(self, state: State) -> int:
        """Jobs of all stages in a state."""
        return sum(count for (_, each), count in self.jobs.items() if each == state)


@dataclass(frozen=True, slots=True)
class Listed:
    """A job of any tenant, for the operator."""

    job_id: int
    stage: str
    state: State
    tenant_id: str
    agent_id: str
    owner_key: str | None
    attempts: int
    scheduled_at: datetime | None
    error: str | None
    failed_at: datetime | None


class Health:
    """Reads the queue: for a principal the jobs of the principal and of the team, for the operator all jobs."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._outcomes = Outcomes(database)

    async def of(self, principal: Principal) -> PipelineHealth:
        """The stages of what a principal sees with the agent, in one snapshot."""
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            slices = await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
            params = {"tenant_id": principal.tenant_id, "slice_ids": [each.slice_id for each in slices]}
            counts = await (await connection.execute(SQL["counts"])).fetchall()
            dead = await (await connection.execute(SQL["dead"], {"limit": MAX_DEAD})).fetchall()
            errors = await (await connection.execute(SQL["errors"])).fetchall()
            stages = await (await connection.execute(SQL["stages"], params)).fetchall()
        use = await self._outcomes.of(principal.tenant_id) if principal.owner_key == ALL_OWNERS else None
        return PipelineHealth(_healths(counts, stages, errors), [DeadLetter(**row) for row in dead], use)

    async def retry(self, principal: Principal, *, stage: Stage | None, job_id: int | None) -> int:
        """Try jobs again at once that failed for good: those of a stage, one job, or (None) all; how many jobs.

        Only jobs that the principal sees, which include the team's unless the key is bound to its owner.
        """
        async with self._database.tenant(principal.tenant_id) as connection:
            await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
            params = {"stage": stage, "job_id": job_id, "owner_key": principal.owner_key}
            statement = SQL["retry_of_owner" if principal.is_bound else "retry"]
            row = await (await connection.execute(statement, params)).fetchone()
        return int((row or {})["retried"])

    async def totals(self) -> Totals:
        """The queue as a whole."""
        jobs = await self._database.maintenance_query(SQL["totals"], {})
        workers = await self._database.maintenance_query(SQL["workers"], {})
        ages = await self._database.maintenance_query(SQL["ages"], {})
        return Totals(
            jobs={(row["stage"], row["state"]): row["jobs"] for row in jobs},
            workers=workers[0]["workers"],
            model_use=await self._outcomes.totals(),
            ages={(row["stage"], row["state"]): row["seconds"] for row in ages},
            most_model_calls=await self._outcomes.most_calls(),
        )

    async def runs(self) -> list[StageRuns]:
        """The runs of all workers since the database was made."""
        return [StageRuns(**row) for row in await self._database.maintenance_query(SQL["runs"], {})]

    async def listing(self, *, failed_only: bool, agent_id: str | None, stage: str | None) -> list[Listed]:
        """Unfinished jobs of all tenants, the oldest first, 10,000 at most."""
        params = {"failed_only": failed_only, "agent_id": agent_id, "stage": stage, "limit": MAX_LISTED}
        return [Listed(**row) for row in await self._database.maintenance_query(SQL["jobs"], params)]

    async def retry_all(self, *, job_ids: Sequence[int] | None, agent_id: str | None, stage: str | None) -> int:
        """Try again, at once, jobs of any tenant that failed for good; None stands for any. How many jobs."""
        params = {"job_ids": None if job_ids is None else list(job_ids), "agent_id": agent_id, "stage": stage}
        async with self._database.maintenance() as connection:
            row = await (await connection.execute(SQL["retry_jobs"], params)).fetchone()
        return int((row or {})["retried"])


def _healths(
    counts: Sequence[DictRow], stages: Sequence[DictRow], errors: Sequence[DictRow]
) -> dict[Stage, StageHealth]:
    found: dict[Stage, StageHealth] = {stage: StageHealth() for stage in STAGES}
    for row in counts:
        if row["stage"] in found:
            setattr(found[row["stage"]], row["state"], row["jobs"])
    for row in stages:  # of each stage the slice where it began last comes first
        if row["stage"] in found:
            _add(found[row["stage"]], row)
    for row in errors:
        health = found.get(row["stage"])
        if health is not None and (health.last_failed_at is None or row["failed_at"] > health.last_failed_at):
            # A worker that died has left no other record of its failure.
            health.last_failed_at, health.last_error = row["failed_at"], row["error"]
    return found


def _add(health: StageHealth, row: DictRow) -> None:
    if health.last_started_at is None:
        for name in ("last_started_at", "last_status", "last_reason", "last_method"):
            setattr(health, name, row[name])
    if row["last_success_at"] is not None and (
        health.last_success_at is None or row["last_success_at"] > health.last_success_at
    ):
        health.last_success_at = row["last_success_at"]
    if row["last_failed_at"] is not None and (
        health.last_failed_at is None or row["last_failed_at"] > health.last_failed_at
    ):
        health.last_failed_at, health.last_error = row["last_failed_at"], row["last_error"]
