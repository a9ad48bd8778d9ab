"""The `reverie` command with stages and requests that do not end: run as a program, in place of `reverie_server.cli`.

What is hostile goes by the owner: `hang:regex` and so on. Everybody else's jobs take a moment and succeed.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from dataclasses import replace
from typing import Any

from reverie_server.app import wiring as app
from reverie_server.app.background import StageDependencies
from reverie_server.cli.main import main
from reverie_server.jobs.model import Outcome, Work
from reverie_server.jobs.runner import StageRunner
from reverie_server.runtime import Consolidation
from reverie_server.search.search import Search

_EXPONENTIAL = re.compile(r"(?:a+)+b")


def never_ends() -> None:
    """Hold the interpreter: `re` does not let go of it."""
    _EXPONENTIAL.fullmatch("a" * 60)


def spin() -> None:
    """Work in Python for ever; other threads have their turns."""
    while True:
        time.monotonic()


class Hostile:
    """A stage that does what the owner's name says."""

    async def run(self, work: Work) -> Outcome:
        match work.owner_key:
            case "hang:regex":
                await asyncio.to_thread(never_ends)
            case "hang:loop":
                never_ends()
            case "hang:spin":
                await asyncio.to_thread(spin)
            case "hang:wait":
                await asyncio.Event().wait()
            case "hang:crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case _:
                await asyncio.sleep(0.05)
        return Outcome("completed", "done")


def wire_hostile(given: StageDependencies, wire: Any = app.wire_consolidation) -> Consolidation:
    jobs: Consolidation = wire(given)
    stages = {**jobs.stages, "dedup": Hostile()}
    return replace(jobs, stages=stages, runner=StageRunner(jobs.queue, stages))


async def search_hostile(self: Search, request: Any, *arguments: Any, _search: Any = Search.search) -> Any:
    match request.query:
        case "freeze the loop":
            never_ends()
        case "freeze a thread":
            await asyncio.to_thread(never_ends)
        case "spin in a thread":
            await asyncio.to_thread(spin)
        case "wait for ever":
            await asyncio.Event().wait()
    return await _search(self, request, *arguments)


if __name__ == "__main__":
    app.wire_consolidation = wire_hostile
    Search.search = search_hostile  # type: ignore[method-assign]
    main()
