"""Asks messages that memory has something for and others, and fits `relevance` on the results of their searches."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from reverie_bench.data import Collection, Corpus, load
from reverie_bench.frame import Bench, Options, digests, open_bench, settle
from reverie_bench.recall.conversations import crossed_questions
from reverie_bench.recall.logistic import RIDGE
from reverie_bench.recall.memory import Memory
from reverie_bench.recall.relevance_fit import ASKED, UNASKED, WORDS, Feature, FormulaRules, Group, Sample, calibrate
from reverie_bench.recall.run import QUERY_CACHE_SIZE, SYSTEM, language_of, sizes_of, write_collections
from reverie_bench.recall.turns import Turn, TurnSet, load_turns, turn_digests
from reverie_bench.recall.variant import default_variant
from reverie_bench.report import Report, file_name
from reverie_indexer.errors import ValidationFailed
from reverie_indexer.text.analyse import language_name
from reverie_server.heuristics.small_talk import is_small_talk
from reverie_server.inject.query_expansion import salient_sentences, shortened, with_recent_messages
from reverie_server.search.relevance import MIN_RELEVANCE
from reverie_server.search.request import Mode, SearchOutcome, SearchResult

# A fold needs two conversations that know nothing of the one left out, and another set of turns.
_FEWEST_CONVERSATIONS, _FEWEST_SETS = 3, 2
RESULTS_JUDGED = 20
"""The results of a search that are judged: as many as the injector looks at."""
# Seed files are in every prompt and never evidence.
_SEEDS = frozenset({"AGENTS.md", "SOUL.md", "PROFILE.md", "MEMORY.md"})


@dataclass(frozen=True, slots=True)
class _Way:
    """How the messages for a formula are asked, and the rules of its fit.

    The injector does not search for a message of small talk alone; it counts `with_small_talk`.
    """

    rules: FormulaRules
    mode: Mode = "hybrid"
    is_unasked: bool = False
    with_small_talk: bool = False


_WAYS: Mapping[str, _Way] = {
    "asked": _Way(ASKED),
    "unasked": _Way(UNASKED, is_unasked=True),
    "words": _Way(WORDS, mode="text", with_small_talk=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOptions(Options):
    """A run on one data file, which must hold conversations, and on folders of sets of turns."""

    turns: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class _TurnMemory:
    """A set of turns and the memory that has its files; `number` is that of the agent and of the asker."""

    turns: TurnSet
    language: str
    memory: Memory
    number: int


@dataclass(slots=True)
class _Rows:
    """The rows of a sample, message by message."""

    way: _Way
    features: list[tuple[float, ...]] = field(default_factory=list)
    rest: list[tuple[float, ...]] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    messages: int = 0

    def add(
        self,
        results: Iterable[tuple[SearchOutcome, SearchResult, bool]],
        *,
        asker: int,
        memory: int,
        category: str | None = None,
    ) -> None:
        """Add a message: its results, each with the search that it is of and whether it is evidence.

        A message of which the model does not know the script counts in the formula for words alone.
        """
        found, names = list(results), self.way.rules.features
        if "contrast" in names and any(np.isnan(result.contrast) for _, result, _ in found):
            return
        for outcome, result, is_evidence in found:
            values = _features(outcome, result)
            self.features.append(tuple(values[name] for name in names))
            self.rest.append((is_evidence, result.relevance, self.messages, asker, memory))
        if not found and self.way.mode == "text":
            # Nothing has a word of it: as good as a passage without any.
            self.features.append((0.0,) * len(names))
            self.rest.append((False, 0.0, self.messages, asker, memory))
        self.messages += 1
        self.categories += [] if category is None else [category]

    def sample(self) -> Sample:
        """The sample of all that was added."""
        evidence, shipped, message, asker, memory = np.array(self.rest, np.float64).reshape(-1, 5).T
        return Sample(
            np.array(self.features, np.float64).reshape(-1, len(self.way.rules.features)),
            evidence.astype(np.bool_),
            shipped,
            message.astype(np.int64),
            asker.astype(np.int64),
            memory.astype(np.int64),
            self.messages,
            self.categories,
        )


async def run_calibration(options: CalibrationOptions) -> Report:
    """Load conversations and turns into a database of its own, ask, and fit each formula. Nothing is drawn by chance.

    The figure `calibrations` is by `asked`, `unasked` and `words`. ValidationFailed for data that is not at least three
    conversations with evidence, for a folder without turns and for fewer than two sets of turns; SetupError when model
    or database cannot be used.
    """
    [path] = options.data
    corpus = load(path)
    if corpus.kind != "conversations" or len(corpus.collections) < _FEWEST_CONVERSATIONS:
        raise ValidationFailed(f"relevance is fitted on {_FEWEST_CONVERSATIONS} LoCoMo conversations or more")
    sets = [each for folder in options.turns for each in load_turns(folder)]
    if len(sets) < _FEWEST_SETS:
        raise ValidationFailed(f"relevance is fitted on {_FEWEST_SETS} sets of turns or more")
    language = language_of(path)
    variant = default_variant(language)
    async with open_bench(options, query_cache_size=QUERY_CACHE_SIZE) as bench:
        memories, chunks = await write_collections(bench, corpus, {SYSTEM: variant}, options.progress)
        turn_memories = [
            await _write_turns(bench, each, len(corpus.collections) + number) for number, each in enumerate(sets)
        ]
        await settle(bench.connection)
        calibrations = {}
        for name, way in _WAYS.items():
            options.progress(f"asking every question ({name})")
            rows = await _ask_conversations(memories[SYSTEM], corpus, way)
            rows |= await _say_turns(turn_memories, way)
            samples = {group: each.sample() for group, each in rows.items()}
            calibrations[name] = calibrate(samples, way.rules, len(corpus.collections) + len(sets))
        return Report(
            name=file_name("relevance", bench.ready.embedder.identity.name),
            data={
                **digests([path])[0],
                "language": language,
                "turns": [turn_digests(folder) for folder in options.turns],
            },
            sizes={**sizes_of(corpus, chunks), "turns": sum(len(each.turns) for each in sets)},
            settings={
                **variant.as_dict(),
                "looked_at": RESULTS_JUDGED,
                "found_from": MIN_RELEVANCE,
                "ridge": RIDGE,
                "formulas": {name: asdict(way.rules) for name, way in _WAYS.items()},
            },
            origin=bench.origin(),
            figures={"calibrations": calibrations},
        )


async def _write_turns(bench: Bench, each: TurnSet, number: int) -> _TurnMemory:
    """Write the memory of a set of turns, for an agent of its language."""
    language = language_name(each.language)
    memory = Memory(bench, default_variant(language), "turns")
    await memory.load(number, Collection(each.files, (), ()))
    return _TurnMemory(each, language, memory, number)


async def _ask_conversations(memory: Memory, corpus: Corpus, way: _Way) -> dict[Group, _Rows]:
    groups: dict[Group, _Rows] = {"own": _Rows(way), "elsewhere": _Rows(way), "swapped": _Rows(way)}
    for question in crossed_questions(corpus.collections):
        outcome = await memory.ask(question.memory, question.text, way.mode, is_unasked=way.is_unasked)
        passages = memory.found(question.memory, outcome)
        judged = [
            (outcome, result, not question.relevant.isdisjoint(passage.units))
            for result, passage in zip(outcome.results[:RESULTS_JUDGED], passages, strict=False)
            if result.path not in _SEEDS
        ]
        groups[question.crossing].add(judged, asker=question.asker, memory=question.memory)
    return groups


async def _say_turns(memories: Sequence[_TurnMemory], way: _Way) -> dict[Group, _Rows]:
    groups: dict[Group, _Rows] = {}
    for each in memories:
        seeds = _SEEDS - each.turns.files.keys()
        for turn in each.turns.turns:
            is_searched = way.with_small_talk or not is_small_talk(shortened(turn.message), each.language)
            if turn.kind == "apart" or not is_searched:
                continue
            judged = [
                (outcome, result, any(quote in result.text for quote in turn.evidence))
                async for outcome in _searches(each, turn, way)
                for result in outcome.results[:RESULTS_JUDGED]
                if result.path not in seeds
            ]
            rows = groups.setdefault(turn.kind, _Rows(way))
            rows.add(judged, asker=each.number, memory=each.number, category=turn.category)
    return groups


async def _searches(of: _TurnMemory, turn: Turn, way: _Way) -> AsyncIterator[SearchOutcome]:
    """The searches of a message, as the injector does them; a passage may come more than once."""
    message = shortened(turn.message)
    first = await of.memory.ask(of.number, message, way.mode, is_unasked=way.is_unasked)
    yield first
    with_recent = with_recent_messages(message, turn.recent, of.language)
    if with_recent is not None and first.mode != "text":
        yield await of.memory.ask(of.number, message, way.mode, vector_query=with_recent, is_unasked=way.is_unasked)
    for sentence in salient_sentences(message, of.language):
        yield await of.memory.ask(of.number, sentence, way.mode, is_unasked=way.is_unasked)


def _features(outcome: SearchOutcome, result: SearchResult) -> dict[Feature, float]:
    """All parts of the relevance of a result."""
    return {
        "contrast": result.contrast,
        "idf_share": result.idf_share,
        "named": result.named,
        "personal": outcome.personal,
        "unknown_name": float(outcome.has_unknown_name),
    }
