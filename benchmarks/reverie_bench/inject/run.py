"""The injection benchmark: messages that memory has something for and messages that it has nothing for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg.rows import dict_row

from reverie_bench import origin
from reverie_bench.data import Collection, load
from reverie_bench.inject.figures import (
    Figures,
    Kind,
    Point,
    Said,
    Share,
    Shown,
    curve,
    figures,
    trivial_confusion,
)
from reverie_bench.recall.calibrate import name_swapper
from reverie_bench.recall.memory import UnitsByLine, settle
from reverie_bench.recall.run import Bench, RecallOptions, open_collections, origin_of_run
from reverie_bench.recall.turns import NEAR_MISS, UNANSWERED, Turn, TurnSet, load_turns
from reverie_bench.recall.variant import default_variant
from reverie_indexer.change import overwrite
from reverie_indexer.database.queries import Queries
from reverie_indexer.embed import Embedder
from reverie_indexer.errors import SetupError
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.analyse import language_name
from reverie_server.access.gate import Grant
from reverie_server.access.keys import Caller
from reverie_server.access.principal import Principal
from reverie_server.inject.inject import Injection, Injector, InjectRequest
from reverie_server.search.recall_log import RecallLog
from reverie_server.search.search import UNFAMILIAR_SCRIPT, Search
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.tokens import estimate_tokens

SQL = Queries(__file__)
TENANT = "bench"
OWN, ELSEWHERE, SWAPPED = "own", "elsewhere", "names swapped"
"""Of LoCoMo: questions to their own conversation, to the next one, and to that one about its own people."""
# Files that every prompt has; what else is in a prompt differs, and is not left out here.
_IN_PROMPT = ("AGENTS.md", "SOUL.md")
_SEEDS = (*_IN_PROMPT, "PROFILE.md", "MEMORY.md")


@dataclass(frozen=True, slots=True)
class InjectOptions:
    """What to run: sets of turns, and LoCoMo conversations beside them. `language` is the agents'; None: each its own.

    `data` is asked by English agents.
    """

    turns: Path
    load_embedder: Callable[[], Awaitable[Embedder]]
    data: Path | None = None
    language: str | None = "english"
    database_url: str | None = None
    progress: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class InjectReport:
    """A run's result, without any text or name of LoCoMo.

    `overall`, `by_language` and `by_category` are of the turns at the default threshold, `conversations` of LoCoMo;
    each curve is over all thresholds; `trivial` is what the trivial filter did to each kind of turn.
    """

    data: Mapping[str, Any]
    sizes: Mapping[str, Any]
    settings: Mapping[str, Any]
    origin: Mapping[str, Any]
    overall: Figures
    by_language: Mapping[str, Figures]
    by_category: Mapping[str, Figures]
    trivial: Mapping[str, Share | None]
    curve: Sequence[Point]
    conversations: Figures | None
    conversations_curve: Sequence[Point] | None


async def run_inject(options: InjectOptions) -> InjectReport:
    """Write the memories through the pipeline of every write, and ask the injector of every turn.

    ValidationFailed for data that is none, SetupError when the model or the database cannot be used.
    """
    started = time.perf_counter()
    code = await asyncio.to_thread(origin.commit)
    sets = load_turns(options.turns)
    asks = RecallOptions(options.turns, options.load_embedder, database_url=options.database_url)
    options.progress("starting the database and the model")
    async with open_collections(asks) as bench:
        said = [message for each in sets for message in await _say_turns(bench, each, options)]
        talked = await _say_conversations(bench, options) if options.data else []
        settings = AgentSettings()
        threshold = settings.auto_inject_threshold
        return InjectReport(
            data=_data_of(options, sets),
            sizes={
                "turns": len(said),
                "by_category": {c: sum(m.category == c for m in said) for c in _categories(said)},
                "conversation_questions": {c: sum(m.category == c for m in talked) for c in _categories(talked)},
            },
            settings={
                "threshold": threshold,
                "max_tokens": settings.auto_inject_max_tokens,
                "agent_language": options.language or "own",
            },
            origin=origin_of_run(bench, code, time.perf_counter() - started),
            overall=figures(said, threshold),
            by_language={group: figures([m for m in said if m.group == group], threshold) for group in _groups(said)},
            by_category={c: figures([m for m in said if m.category == c], threshold) for c in _categories(said)},
            trivial=trivial_confusion(said),
            curve=curve(said),
            conversations=figures(talked, threshold) if talked else None,
            conversations_curve=curve(talked) if talked else None,
        )


def _data_of(options: InjectOptions, sets: Sequence[TurnSet]) -> dict[str, Any]:
    files = sorted(options.turns.glob("*.json"))
    return {
        "turns": {path.name: origin.sha256_of(path) for path in files},
        "languages": [each.language for each in sets],
        "conversations": None
        if options.data is None
        else {"file": options.data.name, "sha256": origin.sha256_of(options.data)},
    }


def _groups(said: Sequence[Said]) -> list[str]:
    return sorted({message.group for message in said})


def _categories(said: Sequence[Said]) -> list[str]:
    return list(dict.fromkeys(message.category for message in said))


class _Listener:
    """An agent with a memory, and its injector at threshold 0."""

    def __init__(self, bench: Bench, agent_id: str, language: str, in_prompt: Sequence[str]) -> None:
        self._bench = bench
        self._agent_id = agent_id
        self._variant = default_variant(language)
        self._in_prompt = in_prompt
        database = bench.database
        recalls = RecallLog(database, _no_secret)
        self._injector = Injector(Search(database, bench.models, self._variant.search), estimate_tokens, recalls)
        caller = Caller(TENANT, "admin")
        self._grant = Grant(caller, Principal(TENANT, agent_id, None), AgentSettings(language=language))

    async def load(self, files: Mapping[str, str]) -> list[dict[str, Any]]:
        """Write the files; the passages that they gave."""
        pipeline = Pipeline(self._bench.database, self._bench.models, self._variant.index)
        changes = [overwrite(path, text, by="bench", reason="bench") for path, text in files.items()]
        written = await pipeline.write_many(Place(TENANT, self._agent_id, "team"), changes)
        if not all(note.embedded for note in written):
            raise SetupError("not everything was embedded: the embedding model failed or was too slow")
        async with self._bench.connection.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(SQL["passages"], {"tenant_id": TENANT, "agent_id": self._agent_id})
            return await cursor.fetchall()

    async def hear(self, message: str, recent: Sequence[str] = ()) -> Injection:
        """What would be injected if nothing were too irrelevant."""
        asked = InjectRequest(message, recent, in_prompt=self._in_prompt, threshold=0.0)
        injection = await self._injector.inject(self._grant, asked)
        if failures := [warning for warning in injection.warnings if warning != UNFAMILIAR_SCRIPT]:
            raise SetupError(f"injection did not work as it is to be measured: {'; '.join(failures)}")
        return injection


async def _say_turns(bench: Bench, each: TurnSet, options: InjectOptions) -> list[Said]:
    options.progress(f"saying the turns in {each.language}")
    language = language_name(options.language or each.language)
    listener = _Listener(bench, f"turns-{each.language}", language, _IN_PROMPT)
    passages = await listener.load(each.files)
    await settle(bench.connection)
    texts = {str(row["chunk_id"]): row["text"] for row in passages}
    said = []
    for turn in each.turns:
        injection = await listener.hear(turn.message, turn.recent)
        shown = tuple(
            Shown(m.score, frozenset(i for i, quote in enumerate(turn.evidence) if quote in texts[m.id]))
            for m in injection.memories
        )
        said.append(Said(each.language, turn.category, _kind(turn), _is_trivial(injection), shown, len(turn.evidence)))
    return said


def _kind(turn: Turn) -> Kind:
    if turn.evidence:
        return "should"
    if turn.category == NEAR_MISS:
        return "near miss"
    return "apart" if turn.category == UNANSWERED else "unrelated"


async def _say_conversations(bench: Bench, options: InjectOptions) -> list[Said]:
    assert options.data is not None
    corpus = load(options.data)
    collections = corpus.collections
    listeners = [_Listener(bench, f"talk-{number}", "english", _SEEDS) for number in range(len(collections))]
    places: dict[str, tuple[str, int, int]] = {}
    for listener, collection in zip(listeners, collections, strict=True):
        for row in await listener.load(collection.notes):
            places[str(row["chunk_id"])] = (row["path"], row["start_line"], row["end_line"])
    await settle(bench.connection)
    said: list[Said] = []
    for number, collection in enumerate(collections):
        options.progress(f"asking the questions of conversation {number + 1} of {len(collections)}")
        following = (number + 1) % len(collections)
        said += await _ask(collection, listeners[number], places)
        if following != number:
            swap = name_swapper(collection, collections[following])
            for question in collection.questions:
                said.append(_unknown(ELSEWHERE, "unrelated", await listeners[following].hear(question.text)))
                said.append(_unknown(SWAPPED, "apart", await listeners[following].hear(swap(question.text))))
    return said


async def _ask(collection: Collection, listener: _Listener, places: Mapping[str, tuple[str, int, int]]) -> list[Said]:
    units = UnitsByLine(collection.units)
    said = []
    for question in collection.questions:
        injection = await listener.hear(question.text)
        pieces = {unit: place for place, unit in enumerate(sorted(question.relevant))}
        shown = tuple(
            Shown(m.score, frozenset(pieces[unit] for unit in units.touched(*places[m.id]) if unit in pieces))
            for m in injection.memories
        )
        said.append(Said(OWN, OWN, "should", _is_trivial(injection), shown, len(pieces)))
    return said


def _unknown(category: str, kind: Kind, injection: Injection) -> Said:
    shown = tuple(Shown(memory.score) for memory in injection.memories)
    return Said(category, category, kind, _is_trivial(injection), shown)


def _is_trivial(injection: Injection) -> bool:
    return injection.skipped == "trivial"


async def _no_secret() -> bytes:
    return b""
