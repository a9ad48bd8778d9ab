"""`reverie worker` and `reverie jobs`: run the background work, list its jobs, retry failed ones."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reverie_indexer.errors import NotFound, ValidationFailed
from reverie_server.cli.frame import DataDir, failure_logged, load_settings, run

if TYPE_CHECKING:
    from reverie_server.jobs.health import Health

jobs_cli = typer.Typer(help="Background jobs.", no_args_is_help=True)
OfAgent = Annotated[str | None, typer.Option("--agent", help="Of this agent only.")]
OfStage = Annotated[str | None, typer.Option("--stage", help="Of this stage only, such as extraction.")]


def worker(
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=100, help="How many jobs run at once; default 2.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Run background jobs, beside those that servers run, until told to end."""
    from reverie_server.app.supervisor import supervise
    from reverie_server.app.worker import worker_services

    settings = load_settings(worker_concurrency=concurrency, data_dir=data_dir, worker_enabled=True)
    with failure_logged(settings):
        services = worker_services(settings, run, with_upkeep=True)
        sys.exit(supervise(services, grace_seconds=settings.shutdown_grace_seconds))


@jobs_cli.command("list")
def jobs_list(
    failed: Annotated[bool, typer.Option("--failed", help="Only those that have failed for good.")] = False,
    agent: OfAgent = None,
    stage: OfStage = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of objects.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Show the jobs that wait, run, or have failed, of all tenants."""

    async def show(health: Health) -> None:
        jobs = await health.listing(failed_only=failed, agent_id=agent, stage=_stage(stage))
        if as_json:
            print(json.dumps([asdict(job) | {"job_id": str(job.job_id)} for job in jobs], default=_json, indent=2))
            return
        for job in jobs:
            whose = f"{job.tenant_id}/{job.agent_id}/{job.owner_key or 'team'}"
            more = [f"{job.attempts} attempts"] if job.attempts else []
            more += [f"due {job.scheduled_at:%Y-%m-%d %H:%M:%S}Z"] if job.state == "scheduled" else []
            more += [job.error] if job.error else []
            print("  ".join([str(job.job_id), job.stage, job.state, whose, *more]))
        if not jobs:
            print("no jobs")

    _with_health(data_dir, show)


@jobs_cli.command("retry")
def jobs_retry(
    job_id: Annotated[list[int] | None, typer.Argument(metavar="[ID]...", help="Jobs; none: all that failed.")] = None,
    agent: OfAgent = None,
    stage: OfStage = None,
    data_dir: DataDir = None,
) -> None:
    """Try jobs again that have failed for good."""

    async def retry(health: Health) -> None:
        retried = await health.retry_all(job_ids=job_id or None, agent_id=agent, stage=_stage(stage))
        if job_id and retried < len(set(job_id)):
            raise NotFound(f"{retried} jobs are tried again; the others named have not failed, or are not there")
        print(f"{retried} jobs are tried again")

    _with_health(data_dir, retry)


def _stage(name: str | None) -> str | None:
    from reverie_server.jobs.model import STAGES

    if name is not None and name not in STAGES:
        raise ValidationFailed(f"there is no stage {name!r}; the stages are {', '.join(STAGES)}")
    return name


def _json(value: Any) -> str:
    assert isinstance(value, datetime)
    return value.isoformat()


def _with_health(data_dir: Path | None, job: Callable[[Health], Awaitable[None]]) -> None:
    from reverie_server.app.databases import open_database
    from reverie_server.jobs.health import Health

    settings = load_settings(data_dir=data_dir, log_level=None if "REVERIE_LOG_LEVEL" in os.environ else "warning")

    async def work() -> None:
        async with open_database(settings) as database:
            await job(Health(database))

    run(work())
