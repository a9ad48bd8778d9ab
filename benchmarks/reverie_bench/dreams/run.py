"""The benchmark of consolidation: a made-up year, night by night. What becomes of what people said?"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

from reverie_bench import origin
from reverie_bench.dreams.judge import Findings, Judge
from reverie_bench.dreams.model import Faults, ScriptedEndpoint
from reverie_bench.dreams.year import Talk, Year, simulate
from reverie_bench.scratch import scratch_database
from reverie_indexer.database.database import Database
from reverie_indexer.embed import Embedder
from reverie_indexer.errors import SetupError
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.keys import OPERATOR
from reverie_server.app.pending_jobs import drain
from reverie_server.app.wiring import assemble
from reverie_server.forgetting.forget import Target
from reverie_server.jobs.model import Work
from reverie_server.llm.budget import CallBudget
from reverie_server.llm.provider import LanguageModel
from reverie_server.runtime import Runtime
from reverie_server.search.request import request_for, rules_for
from reverie_server.sessions.model import NewMessage
from reverie_server.settings.server import Settings

AGENT = "bench"
# In the past as long as a year is: nobody has said anything in the future.
_FIRST_DAY = datetime(2024, 1, 1, tzinfo=UTC)
_PRUNE_EVERY = 7
_EMBED_SECONDS = 600.0
_CALLS_PER_DAY = 100
_SEARCH_RESULTS = 6
ModelKind = Literal["scripted", "none"]


@dataclass(frozen=True, slots=True)
class DreamsOptions:
    """What to run. `load_embedder` makes the model; the run closes it. `progress` is told what is being done.

    `model` none: everything goes its extractive way. Every `judge_every` nights it is looked at what memory has.
    """

    settings: Settings
    load_embedder: Callable[[], Awaitable[Embedder]]
    database_url: str | None = None
    nights: int = 365
    owners: int = 3
    seed: int = 20261122
    model: ModelKind = "scripted"
    faults: Faults = field(default_factory=Faults)
    judge_every: int = 30
    progress: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class DreamsReport:
    """What was found, at intervals of nights and at the end, and what the model did."""

    settings: Mapping[str, Any]
    origin: Mapping[str, Any]
    said: Mapping[str, int]
    nights: Sequence[Findings]
    at_end: Findings
    lost: Sequence[str]
    failed_jobs: int
    most_calls_a_day: int
    unexplained_nights: int
    model: Mapping[str, Mapping[str, int]]


class _Clock:
    """The simulated time."""

    def __init__(self) -> None:
        self.at = _FIRST_DAY

    def now(self) -> datetime:
        return self.at

    def today(self) -> date:
        return self.at.date()


async def run_dreams(options: DreamsOptions) -> DreamsReport:
    """Live through the nights in a database of the run's own. SetupError when model or database cannot be used."""
    started = time.perf_counter()
    code = await asyncio.to_thread(origin.commit)
    year = simulate(options.seed, options.nights, options.owners)
    clock = _Clock()
    async with scratch_database(options.database_url) as (conninfo, _), Database(conninfo) as database:
        models = ModelSlot(options.load_embedder, query_cache_size=options.settings.query_cache_size)
        endpoint = ScriptedEndpoint(options.seed, options.faults)
        llm = LanguageModel(endpoint, CallBudget(database, _CALLS_PER_DAY, clock.today))
        try:
            await models.fill(database)
            if models.ready is None:
                raise SetupError(f"the benchmark needs an embedding model: {models.error}")
            own = {"llm_base_url": None, "llm_model": None, "worker_enabled": False}
            runtime = assemble(
                options.settings.model_copy(update=own),
                database,
                models,
                embed_wait_seconds=_EMBED_SECONDS,
                llm=llm if options.model == "scripted" else None,
                now=clock.now,
            )
            judge = Judge(runtime, AGENT, year)
            found = [await _night(runtime, year, clock, night, options, judge) for night in range(options.nights)]
            at_end = await judge.look(options.nights - 1)
            lost = await judge.lost(options.nights - 1)
            failed = await judge.failed_jobs()
            calls = await judge.most_calls_a_day()
            unexplained = await judge.unexplained_nights(_FIRST_DAY.date())
            await runtime.compactions.aclose()
            name = models.ready.embedder.identity.name
        finally:
            await models.aclose()
    return DreamsReport(
        settings={
            **{name: getattr(options, name) for name in ("nights", "owners", "seed", "model")},
            "faults": options.faults.as_dict(),
            "calls_per_day": _CALLS_PER_DAY,
        },
        origin={
            **dict(zip(("commit", "dirty"), code, strict=True)),
            "versions": origin.versions(),
            "machine": origin.machine(),
            "model": name,
            "duration_seconds": round(time.perf_counter() - started, 1),
        },
        said={
            "statements": len(year.statements),
            "conversations": len(year.talks),
            "superseded": len(year.superseded(options.nights)),
            "forgotten": len(year.forgets),
        },
        nights=[findings for findings in found if findings is not None],
        at_end=at_end,
        lost=lost,
        failed_jobs=failed,
        most_calls_a_day=calls,
        unexplained_nights=unexplained,
        model=endpoint.report(),
    )


async def _night(
    runtime: Runtime, year: Year, clock: _Clock, night: int, options: DreamsOptions, judge: Judge
) -> Findings | None:
    """A day with its conversations, what works in the background behind them, and the night after it."""
    day = _FIRST_DAY + timedelta(days=night)
    for talk in year.talks_of(night):
        clock.at = day.replace(hour=9)
        await _converse(runtime, talk, day)
    clock.at = day.replace(hour=20)
    for at, statement in year.forgets:
        if at == night:
            grant, place = await runtime.gate.write(OPERATOR, AGENT, statement.owner, None)
            await runtime.forgetting.forget(grant, place, Target(text=statement.value), dry_run=False)
    clock.at = day.replace(hour=23)
    # Whatever waits for its time, and then what that deferred. What waits again by then waits for another day.
    for _ in range(2):
        await runtime.consolidation.queue.bring_forward(datetime.now(UTC) + timedelta(days=1))
        await drain(runtime)
    clock.at = day + timedelta(days=1, hours=2, minutes=5)
    for owner in year.owners:
        for stage in ("emergence", "compaction"):
            work = Work(stage, OPERATOR.tenant_id, AGENT, owner, trigger="cron")
            await runtime.consolidation.stages[stage].run(work)
    if night % _PRUNE_EVERY == 0:
        await runtime.consolidation.episodes.prune(clock.now())
    if night % options.judge_every != options.judge_every - 1:
        return None
    options.progress(f"night {night + 1} of {options.nights}")
    return await judge.look(night)


async def _converse(runtime: Runtime, talk: Talk, day: datetime) -> None:
    grant, place = await runtime.gate.write(OPERATOR, AGENT, talk.owner, None)
    session_id = f"bench:{talk.owner.partition(':')[2]}-{talk.day}"
    said: list[NewMessage] = []
    for number, (user, assistant) in enumerate(talk.exchanges):
        at = day.replace(hour=9, minute=number)
        said += [NewMessage("user", user, at=at), NewMessage("assistant", assistant, at=at + timedelta(seconds=20))]
    for question in talk.asked:
        request = replace(request_for(grant, question), max_results=_SEARCH_RESULTS)
        outcome = await runtime.search.search(request, rules_for(grant, runtime.search.rules))
        runtime.recalls.note(grant.principal.tenant_id, question, outcome.relevances(), "search")
    await runtime.recalls.flush()
    await runtime.sessions.append(grant, place, session_id, said)
    await runtime.sessions.complete(grant.principal, session_id, "api")
