"""Emergence: entries of notes that people keep asking for enter the long-term memory, at night, by hand, or on a topic.

A run reads the files of dreaming as well as the daily notes. Only the newest notes are read, while the files of
dreaming keep recurring statements with the days on which they were said. The gates are the same for both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

import structlog

from reverie_indexer.database.database import Database
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.gate import Grant
from reverie_server.jobs.model import Outcome, Work
from reverie_server.jobs.nights_due import NIGHTLY_HOUR
from reverie_server.llm import answers
from reverie_server.llm.ask import Question, ask
from reverie_server.llm.generation import EXTRACTIVE, Generation
from reverie_server.llm.provider import LanguageModel
from reverie_server.long_term.guard import GuardRules
from reverie_server.nights.diary import MAX_CHARS as DIARY_CHARS
from reverie_server.nights.emergence.candidates import Rules
from reverie_server.nights.emergence.collect import (
    AskedTopic,
    Candidate,
    Collected,
    ScoringContext,
    collect_best,
    without_passing,
)
from reverie_server.nights.emergence.entry_groups import forget_statements
from reverie_server.nights.emergence.inputs import InputWindow, forget_entries, read_input, read_passages
from reverie_server.nights.emergence.model import EmergenceInput, MemoryFile
from reverie_server.nights.emergence.report import candidate_line, concluded, rejected, seen_counts, why_nothing
from reverie_server.nights.emergence.text import Proposal, heuristic_proposal, modelled
from reverie_server.nights.emergence.write import Conclusion, write_conclusion
from reverie_server.nights.reported_run import NightDone, ReportedRuns, Run
from reverie_server.nights.reports import Mode
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.search.relevance import MIN_RELEVANCE
from reverie_server.search.request import request_for, rules_for
from reverie_server.search.search import Search
from reverie_server.search.worth import passing_of

log = structlog.get_logger()
_TOPIC_RESULTS = 50
# What was read of notes is held for so long, whatever it is: what a person forgets is in the process no longer.
KEPT_SECONDS = 60.0
_ANSWER_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class EmergenceRules:
    """How many of the newest daily notes are read, the rules of candidates, and the guard over the memory.

    `fact_half_life_days` is that of trust in facts, 0 for none. After `kept_seconds` nothing that was read is held.
    """

    note_count: int = 7
    candidates: Rules = field(default_factory=Rules)
    guard: GuardRules = field(default_factory=GuardRules)
    diary_max_chars: int = DIARY_CHARS
    timeout_seconds: float = 60.0
    nightly_hour: int = NIGHTLY_HOUR
    fact_half_life_days: float = 60.0
    kept_seconds: float = KEPT_SECONDS


@dataclass(frozen=True, slots=True)
class EmergenceDependencies:
    """The dependencies of emergence."""

    database: Database
    pipeline: Pipeline
    search: Search
    models: ModelSlot
    tombstones: Tombstones
    model: LanguageModel | None


@dataclass(frozen=True, slots=True)
class _Collected:
    """The input of a run, and its candidates, best first; `count` is the number of all, where these are the best."""

    inputs: EmergenceInput
    candidates: list[Candidate]
    count: int


@dataclass(frozen=True, slots=True)
class _Proposed:
    """A proposal, how it was generated, and why not by the configured model (None: by it, or there is none)."""

    proposal: Proposal
    generation: Generation
    fallback: str | None


class Emergence:
    """The stage `emergence`. `now` gives the time, with its zone."""

    def __init__(
        self,
        dependencies: EmergenceDependencies,
        rules: EmergenceRules | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._dependencies = dependencies
        self._rules = rules or EmergenceRules()
        self.now = now
        self._runs = ReportedRuns(
            dependencies.database,
            dependencies.pipeline,
            dependencies.tombstones,
            diary_max_chars=self._rules.diary_max_chars,
            nightly_hour=self._rules.nightly_hour,
            now=now,
        )
        self.diary = self._runs.diary
        self._forgetting: asyncio.TimerHandle | None = None

    async def run(self, work: Work, grant: Grant, place: Place) -> Outcome:
        """Write the candidates that pass into the memory. A run that decides, or fails for good, leaves a report.

        A night has one result, also when it is run twice or by two at once.
        """
        mode: Mode = "full" if work.topic is None else "focused"
        run = self._runs.begin("emergence", mode, work, grant, place)
        return await self._runs.finish(run, partial(self._attempt, run), what="the memory")

    async def candidates(self, grant: Grant, place: Place) -> list[Candidate]:
        """The candidates of a place as they are now, best first."""
        return (await self.best_candidates(grant, place, None)).candidates

    async def best_candidates(self, grant: Grant, place: Place, limit: int | None) -> Collected:
        """The best candidates of a place as they are now, at most `limit`, and how many there are."""
        found = await self._collect(grant, place, None, limit)
        return Collected(found.candidates, found.count)

    async def _attempt(self, run: Run) -> Outcome:
        if run.is_nightly and await self._runs.is_night_done(run):
            raise NightDone
        collected = await self._collect(run.grant, run.place, run.work.topic)
        inputs, candidates = collected.inputs, collected.candidates
        run = await self._runs.without_forgotten_topic(run)
        passing = [candidate for candidate in candidates if candidate.scored.stopped_by is None]
        run = replace(run, report=replace(run.report, seen=seen_counts(inputs, candidates)))
        if not passing:
            return await self._skip(run, collected, why_nothing(inputs, candidates))
        proposed = await self._propose(run, inputs.memory, passing)
        if proposed.proposal.text is None or not proposed.proposal.promoted:
            reason = proposed.proposal.reason or "the model took no candidate"
            return await self._skip(run, collected, reason, proposed)
        return await self._conclude(run, collected, proposed)

    async def _propose(self, run: Run, memory: MemoryFile | None, passing: Sequence[Candidate]) -> _Proposed:
        """The new memory: the model's proposal where there is one that may be written, else one without a model."""
        rules, language = self._rules.guard, run.grant.settings.language
        fields = {
            "memory": memory.text if memory else "",
            "candidates": "\n".join(candidate_line(candidate) for candidate in passing),
        }
        question = Question("emergence", fields, answers.Emergence, _ANSWER_TOKENS, self._rules.timeout_seconds)
        answer = await ask(self._dependencies.model, run.work.tenant_id, question)
        fallback = answer.fallback
        if answer.value is not None:
            if not answer.value.should_update:
                left = tuple((candidate, "model") for candidate in passing)
                refusal = Proposal(None, "the model wants no candidate in the memory", left=left)
                return _Proposed(refusal, answer.generation, None)
            proposal = await asyncio.to_thread(modelled, memory, passing, answer.value.memory_content, rules, language)
            if proposal.text is not None:
                return _Proposed(proposal, answer.generation, None)
            log.warning("emergence_refused", reason=proposal.reason)
            fallback = "refused"
        proposal = await asyncio.to_thread(heuristic_proposal, memory, passing, rules, language)
        return _Proposed(proposal, EXTRACTIVE, fallback)

    async def _conclude(self, run: Run, collected: _Collected, proposed: _Proposed) -> Outcome:
        """Write the proposal with its report and its entry in the diary."""
        report, details = concluded(run.report, collected.inputs, collected.candidates, proposed.proposal)
        report = replace(report.generated_by(proposed.generation, proposed.fallback), ended_at=self.now())
        conclusion = Conclusion(
            place=run.place,
            inputs=collected.inputs,
            proposal=proposed.proposal,
            report=report,
            generation=proposed.generation,
            day=run.started_at.date(),
            language=run.grant.settings.language,
        )
        entry = run.diary_entry(report.reason, details)
        await write_conclusion(self._dependencies.database, self._runs, conclusion, entry)
        return Outcome("completed", report.reason, proposed.generation.method, proposed.fallback, report.report_id)

    async def _skip(self, run: Run, collected: _Collected, reason: str, proposed: _Proposed | None = None) -> Outcome:
        """Leave the memory as it is, and write the reason into the report; for a night into the diary, too."""
        late = proposed.proposal.left if proposed else ()
        report = replace(
            run.report,
            status="skipped",
            reason=reason,
            rejected=rejected(collected.candidates, late),
            ended_at=self.now(),
        )
        if proposed is not None:
            report = report.generated_by(proposed.generation, proposed.fallback)
        entry = None
        if run.is_nightly and (collected.inputs.files or await self.diary.exists(run.place)):
            entry = run.diary_entry(f"nothing concluded: {reason}")
        await self._runs.keep(run, report, entry, mark=collected.inputs.tombstone_mark)
        return Outcome("skipped", reason, report.method, report.fallback, report.report_id)

    async def _collect(
        self, grant: Grant, place: Place, topic_text: str | None, limit: int | None = None
    ) -> _Collected:
        """Read the notes and make candidates of their entries; with a topic only of those about it, at most `limit`."""
        settings, rules = grant.settings, self._rules
        if self._forgetting is None:
            self._forgetting = asyncio.get_running_loop().call_later(rules.kept_seconds, self._forget_read)
        now = self.now()
        note_count = rules.note_count if topic_text is None else None
        window = InputWindow(
            now,
            settings.time_zone,
            settings.language,
            note_count,
            rules.candidates.max_age_days,
            rules.fact_half_life_days,
        )
        relevances = None if topic_text is None else await self._search_topic(grant, place, topic_text)
        topic: AskedTopic | None = None
        async with self._dependencies.database.tenant(place.tenant_id, snapshot=True) as connection:
            inputs = await read_input(connection, place, window)
            if topic_text is not None and relevances is not None:
                paths = [file.path for file in inputs.files]
                topic = AskedTopic(topic_text, await read_passages(connection, place, relevances, paths))
        clean = await self._dependencies.tombstones.without_forgotten(place)
        context = ScoringContext(rules.candidates, now, settings.time_zone, settings.language)
        collecting = partial(collect_best, inputs, context, clean=clean, topic=topic, limit=limit)
        chars = sum(len(file.text) for file in inputs.files) + (len(inputs.memory.text) if inputs.memory else 0)
        found = await isolated(collecting, chars=chars)
        candidates = found.candidates
        if topic is None:
            passed = [candidate.text for candidate in candidates if candidate.scored.stopped_by is None]
            candidates = without_passing(candidates, await passing_of(self._dependencies.models, passed))
        return _Collected(inputs, candidates, found.count)

    def _forget_read(self) -> None:
        self._forgetting = None
        forget_entries()
        forget_statements()

    async def _search_topic(self, grant: Grant, place: Place, topic: str) -> dict[int, float]:
        """The relevances of a place's passages about a topic, by id. The system's own search counts as no recall."""
        request = request_for(grant, topic, max_results=_TOPIC_RESULTS, tiers=("document", "message"))
        request = replace(request, owner_key=place.owner_key, leader_agent_id=None)
        outcome = await self._dependencies.search.search(request, rules_for(grant, self._dependencies.search.rules))
        on_topic = (each for each in outcome.results if each.scope == place.scope and each.relevance >= MIN_RELEVANCE)
        return {result.chunk_id: result.relevance for result in on_topic}
