"""Recall on conversations that are stored as sessions, with everything that the server makes of them beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median

from rich.console import RenderableType

from reverie_bench.data import SpokenCollection, SpokenTurn, spoken_conversations
from reverie_bench.frame import Bench, Options, digests, open_bench, settle
from reverie_bench.recall import metrics
from reverie_bench.recall.memory import check_warnings
from reverie_bench.recall.metrics import Found, Scores, estimate_tokens
from reverie_bench.report import Report, file_name, table
from reverie_server.access.keys import OPERATOR
from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime
from reverie_server.search.request import ALL_TIERS, SearchResult, request_for, rules_for
from reverie_server.sessions.model import NewMessage

QUERY_CACHE_SIZE = 10_000
_RECALLS = (5, 10, 20)
_BUDGETS = (500, 1000, 2000)
# As many as a caller may ask for: what a budget of tokens takes is taken from them.
_MAX_RESULTS = 100
# The longest delay of a job that follows from a conversation.
_LATER = timedelta(days=2)
ALL_WAY, MESSAGES_WAY = "all tiers", "messages alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsOptions(Options):
    """A run on LoCoMo conversations. `named`: messages say who speaks; without, only their roles do."""

    named: bool = True


@dataclass(frozen=True, slots=True)
class SessionsResult:
    """Means over the questions, and the tiers of the first ten results, as shares."""

    overall: Scores
    by_category: Mapping[str, Scores]
    tiers_at_10: Mapping[str, float]


async def run_sessions(options: SessionsOptions) -> Report:
    """Store each conversation as the sessions of one person, run what follows from them, and ask every question.

    Without a language model. An item of evidence is found where a result has the text of its message, whatever the
    result is. ValidationFailed for data that is no conversation, SetupError when model or database cannot be used.
    """
    [path] = options.data
    collections = spoken_conversations(path)
    async with open_bench(options, query_cache_size=QUERY_CACHE_SIZE) as bench:
        runtime = session_runtime(bench, options)
        for number, collection in enumerate(collections):
            options.progress(f"talking: conversation {number + 1} of {len(collections)}")
            await converse(runtime, agent_of(number), collection, named=options.named)
            await drain(runtime, until=datetime.now(UTC) + _LATER)
        await settle(bench.connection)
        ways, milliseconds = await _ask(runtime, collections, options)
        await runtime.compactions.aclose()
        questions = sum(len(collection.questions) for collection in collections)
        return Report(
            name=file_name("recall-sessions", path.stem, *([] if options.named else ["unnamed"])),
            data=digests([path])[0],
            sizes={
                "collections": len(collections),
                "messages": sum(len(turns) for collection in collections for turns in collection.sessions.values()),
                "questions": questions,
            },
            settings={"named": options.named},
            origin=bench.origin(),
            figures={"ways": ways, "search_ms_p50": milliseconds},
        )


def session_runtime(bench: Bench, options: Options) -> Runtime:
    """The product without a language model; jobs wait until they are drained."""
    without_model = {"llm_base_url": None, "llm_model": None, "worker_enabled": False}
    return bench.runtime(options.settings.model_copy(update=without_model), llm=None)


def agent_of(number: int) -> str:
    """The agent of a conversation."""
    return f"sessions-{number}"


OWNER = "user:bench"


async def converse(runtime: Runtime, agent_id: str, collection: SpokenCollection, *, named: bool) -> None:
    """Store the sessions of a conversation, each completed. The first speaker is the user, the other the assistant."""
    grant, place = await runtime.gate.write(OPERATOR, agent_id, OWNER, None)
    for session_id, turns in collection.sessions.items():
        messages = [_message(collection, turn, named) for turn in turns]
        await runtime.sessions.append(grant, place, session_id, messages)
        await runtime.sessions.complete(grant.principal, session_id, "api")


def _message(collection: SpokenCollection, turn: SpokenTurn, named: bool) -> NewMessage:
    role = "user" if turn.speaker == collection.user else "assistant"
    extra = {"name": turn.speaker} if named else {}
    return NewMessage(role, turn.text, at=turn.at, extra=extra)  # type: ignore[arg-type]


async def _ask(
    runtime: Runtime, collections: Sequence[SpokenCollection], options: Options
) -> tuple[dict[str, SessionsResult], float]:
    """The result of each way, and the median milliseconds of a search of all tiers."""
    scores: dict[str, list[tuple[str | None, Scores]]] = defaultdict(list)
    tiers: dict[str, list[str]] = defaultdict(list)
    times: list[float] = []
    for number, collection in enumerate(collections):
        options.progress(f"asking: conversation {number + 1} of {len(collections)}")
        grant = await runtime.gate.read(OPERATOR, agent_of(number), OWNER)
        texts = [folded(turn.text) for turns in collection.sessions.values() for turn in turns]
        for question in collection.questions:
            evidence = {unit: texts[unit] for unit in question.relevant}
            for way, searched in ((ALL_WAY, ALL_TIERS), (MESSAGES_WAY, ("message",))):
                request = request_for(grant, question.text, max_results=_MAX_RESULTS, tiers=searched)
                outcome = await runtime.search.search(request, rules_for(grant, runtime.search.rules))
                check_warnings(outcome.warnings)
                # The number of places matters: half of the places go to files.
                ten = await runtime.search.search(
                    request_for(grant, question.text, max_results=10, tiers=searched),
                    rules_for(grant, runtime.search.rules),
                )
                times += [ten.total_ms] if way == ALL_WAY else []
                tiers[way] += [result.tier for result in ten.results]
                measured = measure(found_in(outcome.results, evidence), found_in(ten.results, evidence), set(evidence))
                scores[way].append((question.category, measured))
    return {way: _result(scores[way], tiers[way]) for way in scores}, median(times)


def folded(text: str) -> str:
    """A text with its white space folded, as it is compared."""
    return " ".join(text.split())


def found_in(results: Sequence[SearchResult], evidence: Mapping[int, str]) -> list[Found]:
    """The items of evidence whose text each result has."""
    found = []
    for result in results:
        text = folded(result.text)
        found.append(
            Found(tuple(unit for unit, said in evidence.items() if said in text), estimate_tokens(result.text))
        )
    return found


def measure(found: Sequence[Found], ten: Sequence[Found], relevant: set[int]) -> dict[str, float]:
    """The share of the evidence in the first results and within budgets; `ten` is what a search for ten finds."""
    scores = {}
    for k in _RECALLS:
        results = ten[:k] if k <= len(ten) else found[:k]
        units = {unit for passage in results for unit in passage.units}
        scores[f"fraction@{k}"] = len(units & relevant) / len(relevant)
    scores |= {
        name: value
        for name, value in metrics.measure(found, frozenset(relevant), metrics.Depths(budgets=_BUDGETS)).items()
        if name.startswith("within_") or name == "mrr"
    }
    return scores


def _result(scores: Sequence[tuple[str | None, Scores]], tiers: Sequence[str]) -> SessionsResult:
    by_category: dict[str, list[Scores]] = defaultdict(list)
    for category, each in scores:
        if category is not None:
            by_category[category].append(each)
    return SessionsResult(
        metrics.mean([each for _, each in scores]),
        {category: metrics.mean(by_category[category]) for category in sorted(by_category)},
        {tier: tiers.count(tier) / len(tiers) for tier in ALL_TIERS},
    )


def sessions_content(report: Report) -> Iterator[RenderableType]:
    """The figures of each way, and those of all tiers by category."""
    ways = report["ways"]
    sizes = report.sizes
    yield (
        f"{report.data['file']} as sessions: {sizes['questions']} questions on {sizes['messages']} messages in "
        f"{sizes['collections']} conversations; names {'given' if report.settings['named'] else 'not given'}; "
        f"search {report['search_ms_p50']:.1f} ms"
    )
    names = list(ways[ALL_WAY].overall)
    rows = [(way, result.overall) for way, result in ways.items()]
    rows += [(category, scores) for category, scores in ways[ALL_WAY].by_category.items()]
    yield table(
        "evidence found", names, ([label, *(f"{scores[name]:.3f}" for name in names)] for label, scores in rows)
    )
    shares = ", ".join(f"{tier} {share:.2f}" for tier, share in ways[ALL_WAY].tiers_at_10.items())
    yield f"tiers of the first ten: {shares}"
