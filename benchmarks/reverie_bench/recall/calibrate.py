"""Asks messages that memory has something for and others, and fits `relevance` on the results of their searches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from reverie_bench.data import Collection, Corpus, load
from reverie_bench.frame import Options, digests, open_bench
from reverie_bench.recall.conversations import crossed_questions
from reverie_bench.recall.logistic import RIDGE
from reverie_bench.recall.memory import Memory
from reverie_bench.recall.relevance_fit import FALSE_SHARE, Group, Sample, calibrate
from reverie_bench.recall.run import QUERY_CACHE_SIZE, SYSTEM, language_of, sizes_of, write_collections
from reverie_bench.recall.turns import Turn, TurnSet, load_turns, turn_digests
from reverie_bench.recall.variant import default_variant
from reverie_bench.report import Report
from reverie_indexer.errors import ValidationFailed
from reverie_server.inject.query_expansion import salient_sentences
from reverie_server.search.relevance import MIN_RELEVANCE
from reverie_server.search.request import Mode, SearchResult

WITH_VECTOR, WITHOUT_VECTOR = "with_vector", "without_vector"
_MODES: Mapping[str, Mode] = {WITH_VECTOR: "hybrid", WITHOUT_VECTOR: "text"}
# A fold needs two conversations that know nothing of the one left out.
_FEWEST_CONVERSATIONS = 3
RESULTS_JUDGED = 20
"""The results of a message that are judged: as many as the injector looks at."""
# Seed files are in every prompt and never evidence.
_SEEDS = frozenset({"AGENTS.md", "SOUL.md", "PROFILE.md", "MEMORY.md"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOptions(Options):
    """A run on one data file, which must hold conversations. `turns` is a folder of sets of turns beside them."""

    turns: Path | None = None


@dataclass(slots=True)
class _Rows:
    """The rows of a sample, message by message."""

    features: list[tuple[float, ...]] = field(default_factory=list)
    rest: list[tuple[float, ...]] = field(default_factory=list)
    messages: int = 0

    def add(self, results: Iterable[tuple[SearchResult, bool]], *, asker: int, memory: int, mode: Mode) -> None:
        """Add a message: its results, each with whether it is evidence.

        A message of which the model does not know the script counts in the sample without vectors alone.
        """
        found = list(results)
        if mode == "hybrid" and any(np.isnan(result.contrast) for result, _ in found):
            return
        for result, is_evidence in found:
            by_words = (result.idf_share, result.named)
            self.features.append(by_words if mode == "text" else (result.contrast, *by_words))
            self.rest.append((is_evidence, result.relevance, self.messages, asker, memory))
        if not found and mode == "text":
            # Nothing has a word of it: as good as a passage without any.
            self.features.append((0.0, 0.0))
            self.rest.append((False, 0.0, self.messages, asker, memory))
        self.messages += 1

    def sample(self, width: int) -> Sample:
        """The sample; `width` is the number of features of a row."""
        evidence, shipped, message, asker, memory = np.array(self.rest, np.float64).reshape(-1, 5).T
        return Sample(
            np.array(self.features, np.float64).reshape(-1, width),
            evidence.astype(np.bool_),
            shipped,
            message.astype(np.int64),
            asker.astype(np.int64),
            memory.astype(np.int64),
            self.messages,
        )


async def run_calibration(options: CalibrationOptions) -> Report:
    """Load conversations and turns into a database of its own, ask, and fit both formulas. Nothing is drawn by chance.

    The figure `calibrations` is by WITH_VECTOR and WITHOUT_VECTOR. ValidationFailed for data that is not at least three
    conversations with evidence or for a folder without turns, SetupError when model or database cannot be used.
    """
    [path] = options.data
    corpus = load(path)
    if corpus.kind != "conversations" or len(corpus.collections) < _FEWEST_CONVERSATIONS:
        raise ValidationFailed(f"relevance is fitted on {_FEWEST_CONVERSATIONS} LoCoMo conversations or more")
    sets = load_turns(options.turns) if options.turns else []
    language = language_of(path)
    variant = default_variant(language)
    async with open_bench(options, query_cache_size=QUERY_CACHE_SIZE) as bench:
        memories, chunks = await write_collections(bench, corpus, {SYSTEM: variant}, options.progress)
        turns = Memory(bench, variant, "turns")
        for number, each in enumerate(sets):
            await turns.load(number, Collection(each.files, (), ()))
        calibrations = {}
        for name, mode in _MODES.items():
            options.progress(f"asking every question ({name})")
            rows = await _ask_conversations(memories[SYSTEM], corpus, mode)
            rows |= await _ask_turns(turns, sets, mode, len(corpus.collections))
            samples = {group: each.sample(3 if mode == "hybrid" else 2) for group, each in rows.items()}
            calibrations[name] = calibrate(samples, len(corpus.collections) + len(sets))
        return Report(
            name="relevance",
            data={**digests([path])[0], "language": language, "turns": turn_digests(options.turns)},
            sizes={**sizes_of(corpus, chunks), "turns": sum(len(each.turns) for each in sets)},
            settings={
                **variant.as_dict(),
                "looked_at": RESULTS_JUDGED,
                "found_from": MIN_RELEVANCE,
                "false_share": FALSE_SHARE,
                "ridge": RIDGE,
            },
            origin=bench.origin(),
            figures={"calibrations": calibrations},
        )


async def _ask_conversations(memory: Memory, corpus: Corpus, mode: Mode) -> dict[Group, _Rows]:
    groups: dict[Group, _Rows] = {"own": _Rows(), "elsewhere": _Rows(), "swapped": _Rows()}
    for question in crossed_questions(corpus.collections):
        outcome = await memory.ask(question.memory, question.text, mode)
        passages = memory.found(question.memory, outcome)
        judged = [
            (result, not question.relevant.isdisjoint(passage.units))
            for result, passage in zip(outcome.results[:RESULTS_JUDGED], passages, strict=False)
            if result.path not in _SEEDS
        ]
        groups[question.crossing].add(judged, asker=question.asker, memory=question.memory, mode=mode)
    return groups


async def _ask_turns(memory: Memory, sets: Sequence[TurnSet], mode: Mode, first_asker: int) -> dict[Group, _Rows]:
    groups: dict[Group, _Rows] = {}
    for number, each in enumerate(sets):
        asker = first_asker + number
        seeds = _SEEDS - each.files.keys()
        for turn in each.turns:
            if turn.kind != "apart":
                results = [r for r in await _results(memory, number, turn, mode) if r.path not in seeds]
                judged = [(result, any(quote in result.text for quote in turn.evidence)) for result in results]
                groups.setdefault(turn.kind, _Rows()).add(judged, asker=asker, memory=asker, mode=mode)
    return groups


async def _results(memory: Memory, number: int, turn: Turn, mode: Mode) -> list[SearchResult]:
    """The results of a message and of its salient sentences; a passage may come more than once."""
    texts = [turn.message, *salient_sentences(turn.message)]
    return [result for text in texts for result in (await memory.ask(number, text, mode)).results[:RESULTS_JUDGED]]
