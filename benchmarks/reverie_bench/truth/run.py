"""The benchmark of truth: scripted lives over HTTP, day by day and night by night; then what memory holds for true."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import httpx

from reverie_bench.frame import Bench, Options, digests, open_bench
from reverie_bench.report import Report, file_name
from reverie_bench.truth.ask import Asked, Asker
from reverie_bench.truth.client import Client
from reverie_bench.truth.dump import Found, find_everywhere
from reverie_bench.truth.figures import Leftovers, LifeFigures, figures_of, over_all
from reverie_bench.truth.judge import Judge
from reverie_bench.truth.life import LIVES, Life, Session, load_lives
from reverie_bench.truth.scripted import INVENTED, Faults, ScriptedModel, served
from reverie_server.app.http_app import create_app
from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime

# Nights without a conversation that follow one with: a quiet week changes nothing that the first of them did not.
_QUIET_NIGHTS = 2
_NIGHT = timedelta(hours=2, minutes=5)
_CALLS_PER_DAY = 1_000_000
ModelKind = Literal["none", "scripted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthOptions(Options):
    """A run over the lives of development, or those that are `held` back; `life` names one of them.

    `lives` are others than those of the benchmark. `model` scripted: a language model over HTTP that knows the lives
    and errs as `faults` say; none: no model is asked.
    """

    held: bool = False
    life: str | None = None
    lives: Sequence[Life] = ()
    model: ModelKind = "none"
    faults: Faults = field(default_factory=Faults)


@dataclass(frozen=True, slots=True)
class Lived:
    """A life as memory holds it at the end, for people to read."""

    life: Life
    asked: Sequence[Asked]
    files: Mapping[str, str]
    facts: Sequence[Mapping[str, Any]]
    forgotten: Sequence[Found]
    invented: Sequence[Found]
    nights: Mapping[str, int]
    figures: LifeFigures


class _Clock:
    """The simulated time."""

    def __init__(self) -> None:
        self.at = datetime(2020, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


async def run_truth(options: TruthOptions) -> tuple[Report, list[Lived]]:
    """Live the lives in a database of the run's own; its report, and each life to look at.

    ValidationFailed for a life that is none, SetupError when model or database cannot be used.
    """
    lives = options.lives or load_lives(held=options.held, name=options.life)
    folder = LIVES / ("held" if options.held else "dev")
    async with open_bench(options, query_cache_size=options.settings.query_cache_size) as bench:
        lived = [await _live(bench, life, options) for life in lives]
        names = ["truth", "held" if options.held else "dev", *([options.life] if options.life else [])]
        names += ["scripted"] if options.model == "scripted" else []
        report = Report(
            name=file_name(*names),
            data=[] if options.lives else digests([folder / f"{life.name}.toml" for life in lives]),
            sizes={
                "lives": len(lives),
                "sessions": sum(len(life.sessions) for life in lives),
                "messages": sum(len(session.messages) for life in lives for session in life.sessions),
                "questions": sum(len(life.questions) for life in lives),
            },
            settings={
                "held": options.held,
                "life": options.life,
                "language_model": options.model,
                "faults": asdict(options.faults) if options.model == "scripted" else None,
                "seed": options.seed,
            },
            origin=bench.origin(),
            figures={
                "overall": over_all([each.figures for each in lived]),
                "lives": {each.life.name: each.figures for each in lived},
            },
        )
        return report, lived


async def _live(bench: Bench, life: Life, options: TruthOptions) -> Lived:
    began, clock = time.perf_counter(), _Clock()
    model = ScriptedModel(life, options.seed, options.faults) if options.model == "scripted" else None
    async with _served(bench, life, options, clock, model) as (runtime, client):
        await client.put_agent({"language": life.language})
        nights = await _days(runtime, client, life, clock)
        options.progress(f"{life.name}: lived in {time.perf_counter() - began:.0f} s; asking")
        clock.at = life.end
        asker = Asker(client, Judge(life))
        asked = [await asker.ask(number, question) for number, question in enumerate(life.questions)]
        files = await client.files()
        reports = await client.reports()
        forgotten = await find_everywhere(bench.connection, life.forgotten)
        nights |= {"promoted": sum(len(each.get("promoted") or ()) for each in reports), "reports": len(reports)}
        found = sum([await client.finds(words) for words in life.forgotten])
        facts = await client.facts()
        seconds = round(time.perf_counter() - began, 1)
        invented = await find_everywhere(bench.connection, [INVENTED])
        calls = {} if model is None else {"asked": dict(model.asked), "faults": dict(model.faults)}
        figures = figures_of(
            life,
            asked,
            files,
            nights=nights,
            found=Leftovers(forgotten, found, invented),
            model=calls,
            seconds=seconds,
        )
        await client.delete_agent()
        return Lived(life, asked, files, facts, forgotten, invented, nights, figures)


@asynccontextmanager
async def _served(
    bench: Bench, life: Life, options: TruthOptions, clock: _Clock, model: ScriptedModel | None
) -> AsyncIterator[tuple[Runtime, Client]]:
    """The product at the simulated time, and a client of its HTTP application."""
    async with AsyncExitStack() as open_until_then:
        settings: dict[str, Any] = {"llm_base_url": None, "llm_model": None}
        if model is not None:
            base_url = await open_until_then.enter_async_context(served(model))
            settings = {"llm_base_url": base_url, "llm_model": "scripted", "llm_calls_per_day": _CALLS_PER_DAY}
        settings |= {"worker_enabled": False, "time_zone": "UTC"}
        runtime = bench.runtime(options.settings.model_copy(update=settings), now=clock.now)
        open_until_then.push_async_callback(runtime.compactions.aclose)
        if runtime.llm is not None:
            open_until_then.push_async_callback(runtime.llm.aclose)
        transport = httpx.ASGITransport(create_app(runtime), client=("127.0.0.1", 1))
        http = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1/api/v1", timeout=600.0)
        await open_until_then.enter_async_context(http)
        yield runtime, Client(http, f"truth-{life.name}", "user:" + life.name)


async def _days(runtime: Runtime, client: Client, life: Life, clock: _Clock) -> dict[str, int]:
    """Live through the days and nights of a life; the runs of nights by their outcome."""
    nights = 0
    for number, session in enumerate(life.sessions):
        clock.at = session.sent_at
        await _converse(client, session, f"web:{number}")
        await runtime.recalls.flush()
        clock.at = session.sent_at + timedelta(hours=1)
        await _work(runtime)
        following = life.sessions[number + 1].sent_at if number + 1 < len(life.sessions) else life.end
        midnight = session.sent_at.replace(hour=0, minute=0)
        for night in range(1, _QUIET_NIGHTS + 2):
            begins = midnight + timedelta(days=night) + _NIGHT
            if begins >= following:
                break
            clock.at = begins
            nights += await runtime.consolidation.cron.defer_nightly()
            await _work(runtime)
    return {"deferred": nights}


async def _work(runtime: Runtime) -> None:
    """Run what waits for its time, and what that deferred; what waits again by then waits for another day."""
    for _ in range(2):
        await runtime.consolidation.queue.bring_forward(datetime.now(UTC) + timedelta(days=1))
        await drain(runtime)


async def _converse(client: Client, session: Session, session_id: str) -> None:
    """A conversation as an agent has it: a prompt for each message of the user's, then the exchange is stored."""
    waiting: list[dict[str, Any]] = []
    for number, message in enumerate(session.messages):
        at = session.said_at + timedelta(seconds=40 * number)
        if message.role == "user" and not session.is_imported:
            if waiting:
                await client.say(session_id, waiting)
                waiting = []
            await client.context(session_id, message.text)
        waiting.append({"role": message.role, "content": message.text, "at": at.isoformat()})
    if waiting:
        await client.say(session_id, waiting)
    await client.complete(session_id)
