"""Models of the background work's health."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from reverie_indexer.database.database import ALL_OWNERS
from reverie_server.http.schemas.common import Owner, request_config, response_config, response_from
from reverie_server.jobs.health import PipelineHealth
from reverie_server.jobs.model import Stage, Status
from reverie_server.llm.generation import Method

_HEALTH = {
    "pending": 0,
    "running": 1,
    "scheduled": 0,
    "failed": 0,
    "last_started_at": "2026-04-03T09:30:00Z",
    "last_success_at": "2026-04-03T09:25:00Z",
    "last_failed_at": "2026-04-02T17:00:00Z",
    "last_status": "completed",
    "last_reason": "one episode",
    "last_error": "database_unavailable",
    "last_method": "extractive",
}
_MODEL = {
    "name": "llama-3.1-8b-instruct",
    "calls": 41,
    "answered": 37,
    "failures": {"timeout": 2},
    "last_answered_at": "2026-04-03T09:25:00Z",
    "last_failed_at": "2026-04-03T09:30:00Z",
    "down": "timeout",
}
_DEAD = {
    "job_id": "17",
    "stage": "episodic",
    "owner_key": "user:42",
    "attempts": 6,
    "error": "embedder_unavailable",
    "failed_at": "2026-04-02T17:00:00Z",
}


def _job_id(text: str) -> str:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise ValueError("not the id of a job")
    return text


class PipelineQuery(Owner):
    """Whose jobs. `owner_key=*`, for an admin's key that is bound to no owner: everybody's.

    To look at them no owner means the same, for every key that is bound to none.
    """

    @property
    def is_everybody(self) -> bool:
        """Whether all owners' jobs are asked for."""
        return self.owner_key == ALL_OWNERS and self.end_user_id is None


class PipelineRetry(PipelineQuery):
    """Which of the jobs that failed for good are tried again; without a stage and a job: all."""

    model_config = request_config(owner_key="user:42", stage="episodic")

    stage: Stage | None = None
    job_id: Annotated[str, AfterValidator(_job_id)] | None = None


class StageBody(BaseModel):
    """A stage: its jobs by state, and what it last did. A job that waits for its time is `scheduled`, not `pending`;
    `failed` are those that failed for good. `last_error` is a code; a later success leaves it there."""

    model_config = response_config(**_HEALTH)

    pending: int
    running: int
    scheduled: int
    failed: int
    last_started_at: datetime | None
    last_success_at: datetime | None
    last_failed_at: datetime | None
    last_status: Status | None
    last_reason: str | None
    last_error: str | None
    last_method: Method | None


class DeadLetterBody(BaseModel):
    """A job that has failed for good. `error` is a code."""

    model_config = response_config(**_DEAD)

    job_id: str
    stage: str
    owner_key: str | None
    attempts: int
    error: str
    failed_at: datetime | None


class ModelUseBody(BaseModel):
    """How the language model did for the tenant, in requests and workers of all processes.

    `calls` are today's requests (UTC), retries included; `answered` and `failures`, by reason, what today's uses came
    to. `down` is why the newest use got no answer at all. `name` is null where this server has no language model.
    """

    model_config = response_config(**_MODEL)

    name: str | None
    calls: int
    answered: int
    failures: dict[str, int]
    last_answered_at: datetime | None
    last_failed_at: datetime | None
    down: str | None


class ModelsBody(BaseModel):
    """The language model, and the state of this server's embedding model."""

    model_config = response_config(language_model=_MODEL, embedder="ready")

    language_model: ModelUseBody
    embedder: str


class PipelineBody(BaseModel):
    """The background work: each stage, and the newest hundred jobs that have failed for good.

    `models` is there for a key bound to no owner that names none.
    """

    model_config = response_config(
        stages={"episodic": _HEALTH}, dead_letters=[_DEAD], models={"language_model": _MODEL, "embedder": "ready"}
    )

    stages: dict[Stage, StageBody]
    dead_letters: list[DeadLetterBody]
    models: ModelsBody | None


class Retried(BaseModel):
    """How many jobs are tried again."""

    model_config = response_config(retried=1)

    retried: Annotated[int, Field(ge=0)]


def pipeline_body(health: PipelineHealth, model: str | None, embedder: str) -> PipelineBody:
    """The response, with the name of the language model and the state of the embedding model."""
    stages = {name: response_from(StageBody, stage) for name, stage in health.stages.items()}
    models = None
    if health.model_use is not None:
        models = ModelsBody(language_model=response_from(ModelUseBody, health.model_use, name=model), embedder=embedder)
    letters = [response_from(DeadLetterBody, letter, job_id=str(letter.job_id)) for letter in health.dead_letters]
    return PipelineBody(stages=stages, dead_letters=letters, models=models)
