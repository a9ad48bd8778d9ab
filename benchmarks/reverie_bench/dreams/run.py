"""The benchmark of consolidation: a made-up year, night by night. What becomes of what people said?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from rich.console import RenderableType

from reverie_bench.dreams.judge import Findings, Judge
from reverie_bench.dreams.model import Faults, ScriptedEndpoint
from reverie_bench.dreams.year import Talk, Year, simulate
from reverie_bench.frame import Options, open_bench
from reverie_bench.report import Report, table
from reverie_server.access.keys import OPERATOR
from reverie_server.app.pending_jobs import drain
from reverie_server.forgetting.selection import Target
from reverie_server.jobs.model import Work
from reverie_server.llm.budget import CallBudget
from reverie_server.llm.provider import LanguageModel
from reverie_server.runtime import Runtime
from reverie_server.search.request import request_for, rules_for
from reverie_server.sessions.model import NewMessage

AGENT = "bench"
# In the past as long as a year is: nobody has said anything in the future.
_FIRST_DAY = datetime(2024, 1, 1, tzinfo=UTC)
_PRUNE_EVERY = 7
_CALLS_PER_DAY = 100
_SEARCH_RESULTS = 6
ModelKind = Literal["scripted", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamsOptions(Options):
    """A run of `nights` nights of `owners` people. `model` none: every stage goes its way without a model.

    Memory is judged every `judge_every` nights, and at the end.
    """

    nights: int = 365
    owners: int = 3
    model: ModelKind = "scripted"
    faults: Faults = field(default_factory=Faults)
    judge_every: int = 30


class _Clock:
    """The simulated time."""

    def __init__(self) -> None:
        self.at = _FIRST_DAY

    def now(self) -> datetime:
        return self.at

    def today(self) -> date:
        return self.at.date()


async def run_dreams(options: DreamsOptions) -> Report:
    """Live through the nights in a database of the run's own. SetupError when model or database cannot be used."""
    year = simulate(options.seed, options.nights, options.owners)
    clock = _Clock()
    async with open_bench(options, query_cache_size=options.settings.query_cache_size) as bench:
        endpoint = ScriptedEndpoint(options.seed, options.faults)
        llm = LanguageModel(endpoint, CallBudget(bench.database, _CALLS_PER_DAY, clock.today))
        without_model = {"llm_base_url": None, "llm_model": None, "worker_enabled": False}
        runtime = bench.runtime(
            options.settings.model_copy(update=without_model),
            llm=llm if options.model == "scripted" else None,
            now=clock.now,
        )
        judge = Judge(runtime, AGENT, year)
        nights = [await _night(runtime, year, clock, night, options, judge) for night in range(options.nights)]
        last = options.nights - 1
        figures = {
            "said": {
                "statements": len(year.statements),
                "conversations": len(year.talks),
                "superseded": len(year.superseded(options.nights)),
                "forgotten": len(year.forgets),
            },
            "nights": [findings for findings in nights if findings is not None],
            "at_end": await judge.look(last),
            "lost": await judge.lost(last),
            "failed_jobs": await judge.failed_jobs(),
            "most_calls_a_day": await judge.most_calls_a_day(),
            "unexplained_nights": await judge.unexplained_nights(_FIRST_DAY.date()),
            "model": endpoint.report(),
        }
        await runtime.compactions.aclose()
        settings = {name: getattr(options, name) for name in ("nights", "owners", "seed", "model")}
        return Report(
            name=f"dreams-{options.model}",
            sizes={"nights": options.nights, "owners": options.owners},
            settings={**settings, "faults": asdict(options.faults), "calls_per_day": _CALLS_PER_DAY},
            origin=bench.origin(),
            figures=figures,
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
    messages: list[NewMessage] = []
    for number, (user, assistant) in enumerate(talk.exchanges):
        at = day.replace(hour=9, minute=number)
        messages += [NewMessage("user", user, at=at), NewMessage("assistant", assistant, at=at + timedelta(seconds=20))]
    for question in talk.questions:
        request = replace(request_for(grant, question), max_results=_SEARCH_RESULTS)
        outcome = await runtime.search.search(request, rules_for(grant, runtime.search.rules))
        runtime.recalls.note(grant.principal.tenant_id, question, outcome.relevances(), "search")
    await runtime.recalls.flush()
    await runtime.sessions.append(grant, place, session_id, messages)
    await runtime.sessions.complete(grant.principal, session_id, "api")


_COLUMNS = {
    "standing": "stands",
    "in_files": "in files",
    "found": "found",
    "promoted": "promoted",
    "stale": "stale",
    "leaked": "leaked",
    "forgotten_left": "not forgotten",
    "memory_chars": "MEMORY.md",
    "diary_chars": "diaries",
    "reports": "reports",
}
_LEGEND = (
    "what people stated and nobody contradicted or forgot; how much of it their files hold, search finds within ten "
    "results, MEMORY.md holds; what MEMORY.md holds that is contradicted, what is in another owner's memory, what was "
    "forgotten and is there; characters of the largest MEMORY.md and of all diaries; reports of the nights"
)


def dreams_content(report: Report) -> Iterator[RenderableType]:
    """The counts at intervals, the model's calls and faults, and the statements that were lost."""
    settings, said = report.settings, report["said"]
    yield (
        f"{settings['nights']} nights of {settings['owners']} owners, model {settings['model']}: "
        f"{said['conversations']} conversations, {said['statements']} statements, {said['superseded']} contradicted "
        f"for good, {said['forgotten']} forgotten"
    )
    yield _LEGEND
    every = [*report["nights"], report["at_end"]]
    rows = ([str(each.night + 1), *(str(getattr(each, name)) for name in _COLUMNS)] for each in every)
    yield table("what becomes of it", list(_COLUMNS.values()), rows, label="night")
    yield (
        f"jobs that failed for good: {report['failed_jobs']}; nights that no diary speaks of: "
        f"{report['unexplained_nights']}; model calls on the day with the most: {report['most_calls_a_day']} of "
        f"{settings['calls_per_day']}"
    )
    for name, counts in report["model"].items():
        listed = ", ".join(f"{key} {count}" for key, count in counts.items())
        yield f"the model, {name}: {listed or 'nothing'}"
    for text in report["lost"]:
        yield f"lost: {text}"
