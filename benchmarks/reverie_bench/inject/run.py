"""The injection benchmark: messages that memory has something for and messages that it has nothing for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from psycopg.rows import dict_row

from reverie_bench.data import load
from reverie_bench.frame import Bench, Options, digests, open_bench, settle, write_embedded
from reverie_bench.inject.figures import Injected, Message, curve, figures, trivial_confusion
from reverie_bench.recall.conversations import Crossing, crossed_questions
from reverie_bench.recall.memory import TENANT, UnitsByLine, check_warnings
from reverie_bench.recall.run import QUERY_CACHE_SIZE
from reverie_bench.recall.turns import Kind, Turn, TurnSet, load_turns, turn_digests
from reverie_bench.recall.variant import default_variant
from reverie_bench.report import Report, file_name
from reverie_bench.unfitted import unfitted
from reverie_indexer.database.queries import Queries
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.analyse import language_name
from reverie_server.access.gate import Grant
from reverie_server.access.keys import Caller
from reverie_server.access.principal import Principal
from reverie_server.inject.inject import InjectedMemory, Injection, Injector, InjectRequest, memory_notice
from reverie_server.inject.section import fit_lines, line_of
from reverie_server.search.calibration.renew import Calibration
from reverie_server.search.recall_log import RecallLog
from reverie_server.search.search import Search
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.tokens import estimate_tokens

SQL = Queries(__file__)
# Of LoCoMo: the category of a question, and whether memory has something for it.
_CROSSINGS: Mapping[Crossing, tuple[str, Kind]] = {
    "own": ("own", "should"),
    "elsewhere": ("elsewhere", "unrelated"),
    "swapped": ("names swapped", "apart"),
}
# No section is as long.
_UNBOUNDED = 100_000
# Files that every prompt has; what else is in a prompt differs, and is not left out here.
_IN_PROMPT = ("AGENTS.md", "SOUL.md")
_SEEDS = (*_IN_PROMPT, "PROFILE.md", "MEMORY.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectOptions(Options):
    """A run on sets of turns. `data` are LoCoMo conversations (one file or none), asked by English agents.

    `language` is that of the agents that hear the turns; None: each set has its own. `unfitted`: relevance is learnt
    as by a model without constants, whatever the model. `name` is the result's, by default made of the folder of turns,
    the language and that.
    """

    turns: Path
    language: str | None = "english"
    unfitted: bool = False
    name: str | None = None


async def run_inject(options: InjectOptions) -> Report:
    """Write the memories through the pipeline of every write, and ask the injector of every turn.

    `overall`, `by_language` and `by_category` are of the turns at the default threshold, `conversations` of LoCoMo;
    each curve is over all thresholds; `trivial` is what the trivial filter did to each kind of turn. `names` are of the
    turns that have stand-ins for names, by what remains with these, as written and swapped; None without such turns.
    ValidationFailed for data that is none, SetupError when the model or the database cannot be used.
    """
    sets = load_turns(options.turns)
    if options.unfitted:
        options = replace(options, embedder=unfitted(options.load_embedder))
    async with open_bench(options, query_cache_size=QUERY_CACHE_SIZE) as bench:
        heard = _Heard()
        for each in sets:
            await _say_turns(bench, each, options, heard)
        messages = heard.messages
        questions = await _say_conversations(bench, options) if options.data else []
        settings = AgentSettings()
        threshold = settings.auto_inject_threshold
        return Report(
            name=_name(options),
            data={
                "turns": turn_digests(options.turns),
                "languages": [each.language for each in sets],
                "conversations": digests(options.data)[0] if options.data else None,
            },
            sizes={
                "turns": len(messages),
                "by_category": {c: len(each) for c, each in _by_category(messages).items()},
                "conversation_questions": {c: len(each) for c, each in _by_category(questions).items()},
            },
            settings={
                "threshold": threshold,
                "max_tokens": settings.auto_inject_max_tokens,
                "agent_language": options.language or "own",
                "unfitted": options.unfitted,
            },
            origin=bench.origin(),
            figures={
                "overall": figures(messages, threshold),
                "by_language": {
                    group: figures([m for m in messages if m.group == group], threshold)
                    for group in sorted({message.group for message in messages})
                },
                "by_category": {c: figures(each, threshold) for c, each in _by_category(messages).items()},
                "names": {group: figures(each, threshold) for group, each in heard.by_names.items()} or None,
                "trivial": trivial_confusion(messages),
                "curve": curve(messages),
                "conversations": figures(questions, threshold) if questions else None,
                "conversations_curve": curve(questions) if questions else None,
            },
        )


def _name(options: InjectOptions) -> str:
    folder = options.turns.resolve()
    stem = "turns" if folder.name == "inject" else folder.name
    if folder.name == "held" and folder.parent.name != "inject":
        stem = f"{folder.parent.name}-held"
    if options.language != "english":
        stem += f"-{options.language or 'own'}"
    if options.unfitted:
        stem += "-unfitted"
    return file_name("inject", options.name or stem)


def _by_category(messages: Sequence[Message]) -> dict[str, list[Message]]:
    """The messages of each category, in the order in which categories first occur."""
    found: dict[str, list[Message]] = {}
    for message in messages:
        found.setdefault(message.category, []).append(message)
    return found


@dataclass(slots=True)
class _Heard:
    """The turns of all sets; those with stand-ins for names also by group, as they are written and swapped."""

    messages: list[Message] = field(default_factory=list)
    by_names: dict[str, list[Message]] = field(default_factory=dict)

    def add_swap(self, written: Message, swapped: Message) -> None:
        """Add a turn as it is written and with the stand-ins."""
        if written.kind != "should":
            group = "never any evidence"
        else:
            group = "evidence remains" if swapped.kind == "should" else "evidence gone"
        self.by_names.setdefault(group, []).append(written)
        self.by_names.setdefault(f"{group}, swapped", []).append(swapped)


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
        """Write the files; the rows of their passages."""
        pipeline = Pipeline(self._bench.database, self._bench.models, self._variant.index)
        await write_embedded(pipeline, Place(TENANT, self._agent_id, "team"), files)
        # Of a model without constants what upkeep learns is learnt now.
        await Calibration(self._bench.database).renew(self._bench.ready)
        async with self._bench.connection.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(SQL["passages"], {"tenant_id": TENANT, "agent_id": self._agent_id})
            return await cursor.fetchall()

    async def hear(self, message: str, recent: Sequence[str] = ()) -> Injection:
        """The injection if no memory were too irrelevant, and none too long."""
        request = InjectRequest(message, recent, in_prompt=self._in_prompt, max_tokens=_UNBOUNDED, threshold=0.0)
        injection = await self._injector.inject(self._grant, request)
        check_warnings(injection.warnings)
        return injection


async def _say_turns(bench: Bench, each: TurnSet, options: InjectOptions, heard: _Heard) -> None:
    options.progress(f"saying the turns in {each.language}")
    language = language_name(options.language or each.language)
    listener = _Listener(bench, f"turns-{each.language}", language, _IN_PROMPT)
    texts = {str(row["chunk_id"]): row["text"] for row in await listener.load(each.files)}
    await settle(bench.connection)

    async def say(turn: Turn) -> Message:
        injection = await listener.hear(turn.message, turn.recent)
        pieces = {
            m.id: frozenset(i for i, quote in enumerate(turn.evidence) if quote in texts[m.id])
            for m in injection.memories
        }
        return _message((each.language, turn.category, turn.kind), injection, pieces, len(turn.evidence))

    for turn in each.turns:
        message = await say(turn)
        heard.messages.append(message)
        if turn.names:
            heard.add_swap(message, await say(turn.with_stand_ins()))


async def _say_conversations(bench: Bench, options: InjectOptions) -> list[Message]:
    [path] = options.data
    collections = load(path).collections
    listeners = [_Listener(bench, f"talk-{number}", "english", _SEEDS) for number in range(len(collections))]
    units = [UnitsByLine(collection.units) for collection in collections]
    lines: dict[str, tuple[str, int, int]] = {}
    for listener, collection in zip(listeners, collections, strict=True):
        for row in await listener.load(collection.notes):
            lines[str(row["chunk_id"])] = (row["path"], row["start_line"], row["end_line"])
    await settle(bench.connection)
    options.progress(f"asking the questions of {len(collections)} conversations")
    messages: list[Message] = []
    for question in crossed_questions(collections):
        injection = await listeners[question.memory].hear(question.text)
        piece_of = {unit: piece for piece, unit in enumerate(sorted(question.relevant))}
        touched = {m.id: units[question.memory].touched(*lines[m.id]) for m in injection.memories}
        pieces = {id_: frozenset(piece_of[u] for u in of_it if u in piece_of) for id_, of_it in touched.items()}
        category, kind = _CROSSINGS[question.crossing]
        messages.append(_message((category, category, kind), injection, pieces, len(piece_of)))
    return messages


def _message(
    kinds: tuple[str, str, Kind], injection: Injection, pieces: Mapping[str, frozenset[int]], evidence: int
) -> Message:
    """A message of a group, category and kind with its injection; `pieces` are those in each memory, by its id."""
    injected = tuple(Injected(memory.score, pieces[memory.id], _line(memory)) for memory in injection.memories)
    return Message(*kinds, injection.skipped == "trivial", injected, evidence, _fitting)


def _line(memory: InjectedMemory) -> str:
    return line_of(memory.date, memory.source, memory.text)


def _fitting(lines: Sequence[str]) -> list[int]:
    """The numbers of the lines that enter a section of the default length."""
    return fit_lines(lines, memory_notice(), AgentSettings().auto_inject_max_tokens, estimate_tokens)


async def _no_secret() -> bytes:
    return b""
