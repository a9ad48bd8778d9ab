"""A worker as a process of its own, whose stages take their time, so that a kill may come at any instant of them."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess

import structlog
from tests.embedders import MoodyEmbedder, filled_slot
from tests.jobs import with_stages

from reverie_indexer.database.database import Database
from reverie_server.app.background import wire_worker
from reverie_server.app.wiring import assemble
from reverie_server.jobs.model import Outcome, Runs, Work
from reverie_server.jobs.queue import JobRules
from reverie_server.settings.server import Settings


@dataclass(frozen=True)
class Slow:
    """A stage that begins late and ends late."""

    stage: Runs
    seconds: float

    async def run(self, work: Work) -> Outcome:
        await asyncio.sleep(random.uniform(0, self.seconds))
        outcome = await self.stage.run(work)
        await asyncio.sleep(random.uniform(0, self.seconds))
        return outcome


def start_worker(conninfo: str, seconds: float) -> ForkServerProcess:
    """Start one; what it needs is imported once for all of them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.chaos.worker_child", "reverie_server.jobs.worker"])
    process = context.Process(target=work, args=(conninfo, seconds), daemon=True)
    process.start()
    return process


def work(conninfo: str, seconds: float) -> None:
    """Work until killed."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("error"))
    asyncio.run(_work(conninfo, seconds))


async def _work(conninfo: str, seconds: float) -> None:
    async with Database(conninfo, pool_size=4) as database:
        settings = Settings(embedder="hashing", worker_poll_seconds=0.2, llm_base_url=None)
        system = assemble(settings, database, await filled_slot(database, MoodyEmbedder(64)))
        stages = {name: Slow(stage, seconds) for name, stage in system.consolidation.stages.items()}
        # Who kills is not the job, however often it is hit.
        system = with_stages(system, stages, JobRules(retry_seconds=0.1, max_deaths=1000))
        await wire_worker(settings, database, system.consolidation).run()
