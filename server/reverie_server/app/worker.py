"""The processes of background work: what a worker's process wires, and the services that a supervisor runs of it."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from reverie_indexer.background_threads import give_way
from reverie_server.app.supervisor import AGAIN_STATUS, Link, Service

if TYPE_CHECKING:
    from reverie_server.jobs.threads import JobThreads
    from reverie_server.runtime import Runtime
    from reverie_server.settings.server import Settings

Run = Callable[[Coroutine[Any, Any, None]], None]


def worker_services(
    settings: Settings, run: Run, *, with_upkeep: bool, leave: Callable[[], None] = lambda: None
) -> list[Service]:
    """The worker, and beside it the process for jobs that a process has died with. `run` runs a coroutine to its end.

    A worker `with_upkeep` stands alone; a server sees to upkeep itself. `leave` closes what other services
    get from the supervisor.
    """

    def work(link: Link) -> None:
        leave()
        run(_work(settings, link, with_upkeep=with_upkeep))

    def work_off_quarantine(link: Link) -> None:
        leave()
        run(_work_off_quarantine(settings, link))

    return [Service("worker", work), Service("quarantine", work_off_quarantine, on_demand=True)]


async def _work(settings: Settings, link: Link, *, with_upkeep: bool) -> None:
    """Run jobs until told to end; beside a server their threads give way to its requests."""
    from reverie_server.app.line_stream import announce
    from reverie_server.app.stall import ends_when_stalled
    from reverie_server.app.traces import traced
    from reverie_server.app.upkeep import upkeep
    from reverie_server.app.wiring import open_runtime

    if not with_upkeep:
        give_way()
    threads = count_threads()
    async with (
        ends_when_stalled(settings.stall_seconds),
        traced(settings, "worker"),
        # Beside a server the model waits for a job that embeds: most machines then hold one copy of it, not two.
        open_runtime(settings, model_at_once=with_upkeep) as runtime,
    ):
        tasks = [asyncio.create_task(_run_jobs(runtime, link), name="worker"), _watch(runtime, threads)]
        if with_upkeep:
            tasks.append(asyncio.create_task(upkeep(runtime), name="upkeep"))
        link.ready()
        announce(f"reverie works, {settings.worker_concurrency} jobs at once", as_json=settings.log_format == "json")
        await _until_first_ends(tasks)
    leave_threads(threads)


async def _work_off_quarantine(settings: Settings, link: Link) -> None:
    """Run the jobs in quarantine, one after the other, until none is left."""
    from reverie_server.app.stall import ends_when_stalled
    from reverie_server.app.traces import traced
    from reverie_server.app.wiring import open_runtime
    from reverie_server.jobs.quarantine import run_quarantined

    give_way()
    threads = count_threads()
    async with (
        ends_when_stalled(settings.stall_seconds),
        traced(settings, "worker"),
        open_runtime(settings, model_at_once=False) as runtime,
    ):
        link.ready()
        jobs = runtime.consolidation
        quarantine = run_quarantined(runtime.database, jobs.queue, jobs.runner)
        await _until_first_ends([asyncio.create_task(quarantine, name="quarantine"), _watch(runtime, threads)])
    leave_threads(threads)


async def _run_jobs(runtime: Runtime, link: Link) -> None:
    from reverie_server.app.background import wire_worker

    # Slow to import, and nobody waits for it.
    await asyncio.to_thread(importlib.import_module, "reverie_server.jobs.worker")
    worker = wire_worker(runtime.settings, runtime.database, runtime.consolidation, link.start_on_demand)
    await worker.run()


def count_threads() -> JobThreads:
    """Count what the event loop's threads are at; call it before its first thread."""
    from reverie_server.jobs.threads import JobThreads

    threads = JobThreads()
    asyncio.get_running_loop().set_default_executor(threads)
    return threads


def _watch(runtime: Runtime, threads: JobThreads) -> asyncio.Task[None]:
    from reverie_server.jobs.overrun import end_when_overrun

    runner, queue = runtime.consolidation.runner, runtime.consolidation.queue
    runner.threads = threads
    watching = end_when_overrun(runner, queue, threads, end=lambda: os._exit(AGAIN_STATUS))
    return asyncio.create_task(watching, name="overrun")


async def _until_first_ends(tasks: list[asyncio.Task[None]]) -> None:
    """Until one of them ends, which raises what that raised, or this is cancelled, which is how a worker ends well."""
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    except asyncio.CancelledError:
        pass
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def leave_threads(threads: JobThreads) -> None:
    """End the process if a thread still works: else it would be waited for, and what it does is of no use any more.

    A job is put back, and what upkeep was learning is learnt by the next server.
    """
    if threads.is_busy():
        os._exit(0)
