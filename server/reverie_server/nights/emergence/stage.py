"""Emergence: what notes hold and people keep asking for enters the long-term memory, at night, by hand, or on a topic.

What dreaming consolidated is looked at beside the daily notes: a note leaves the view after a week, while what recurred
in conversations stands in those files with the days on which it was said. The gates are the same for both.
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
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.gate import Grant
from reverie_server.jobs.model import Outcome, Work
from reverie_server.jobs.nights_due import NIGHTLY_HOUR
from reverie_server.llm import answers
from reverie_server.llm.ask import Question, ask
from reverie_server.llm.generation import EXTRACTIVE, Made
from reverie_server.llm.provider import LanguageModel
from reverie_server.long_term.guard import GuardRules
from reverie_server.nights.diary import MAX_CHARS as DIARY_CHARS
from reverie_server.nights.emergence.candidates import Rules
from reverie_server.nights.emergence.collect import Candidate, Passage, Setting, View, gather
from reverie_server.nights.emergence.inputs import Wanted, read_passages, read_view
from reverie_server.nights.emergence.report import candidate_line, concluded, seen, told, why_nothing
from reverie_server.nights.emergence.text import Proposal, extractive, modelled
from reverie_server.nights.emergence.write import Conclusion, write_conclusion
from reverie_server.nights.reported_run import NightDone, ReportedRuns, Run
from reverie_server.nights.reports import Mode
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.search.rank import MIN_RELEVANCE
from reverie_server.search.request import request_for, rules_for
from reverie_server.search.search import Search

log = structlog.get_logger()
_TOPIC_RESULTS = 50
_ANSWER_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class EmergenceRules:
    """`note_count` newest daily notes are looked at; what candidates need; how the memory may change."""

    note_count: int = 7
    candidates: Rules = field(default_factory=Rules)
    guard: GuardRules = field(default_factory=GuardRules)
    diary_max_chars: int = DIARY_CHARS
    timeout_seconds: float = 60.0
    nightly_hour: int = NIGHTLY_HOUR


@dataclass(frozen=True, slots=True)
class EmergenceDependencies:
    """What emergence works with."""

    database: Database
    pipeline: Pipeline
    search: Search
    tombstones: Tombstones
    model: LanguageModel | None


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
            diary_max_chars=self._rules.diary_max_chars,
            nightly_hour=self._rules.nightly_hour,
            now=now,
        )
        self.diary = self._runs.diary

    async def run(self, work: Work, grant: Grant, place: Place) -> Outcome:
        """Let emerge what is ready. What is decided leaves a report, and so does a run that failed for good.

        A night that is done is done: run twice, or by two at once, it has one result.
        """
        mode: Mode = "full" if work.topic is None else "focused"
        run = self._runs.begin("emergence", mode, work, grant, place)
        return await self._runs.finish(run, partial(self._attempt, run), what="the memory")

    async def candidates(self, grant: Grant, place: Place) -> list[Candidate]:
        """The candidates of a place as they are now, best first."""
        _, found = await self._gathered(grant, place, None)
        return found

    async def _attempt(self, run: Run) -> Outcome:
        if run.is_nightly and await self._runs.is_night_done(run):
            raise NightDone
        view, found = await self._gathered(run.grant, run.place, run.work.topic)
        passing = [candidate for candidate in found if candidate.scored.stopped_by is None]
        run = replace(run, report=replace(run.report, seen=seen(view, found)))
        if not passing:
            return await self._nothing(run, view, found, (why_nothing(view, found), ()), None)
        language = run.grant.settings.language
        made, fallback, proposal = await self._proposal(run, view, passing, language)
        if proposal.text is None or not proposal.promoted:
            reason = proposal.reason or "the model took no candidate"
            return await self._nothing(run, view, found, (reason, proposal.left), (made, fallback))
        return await self._conclude(run, view, found, proposal, (made, fallback))

    async def _proposal(
        self, run: Run, view: View, passing: Sequence[Candidate], language: str
    ) -> tuple[Made, str | None, Proposal]:
        """What the memory is to be, how that was made, and why not by the configured model."""
        rules, memory = self._rules.guard, view.memory
        inputs = {
            "memory": memory.text if memory else "",
            "candidates": "\n".join(candidate_line(candidate) for candidate in passing),
        }
        question = Question("emergence", inputs, answers.Emergence, _ANSWER_TOKENS, self._rules.timeout_seconds)
        answer = await ask(self._dependencies.model, run.work.tenant_id, question)
        fallback = answer.fallback
        if answer.value is not None:
            if not answer.value.should_update:
                left = tuple((candidate, "model") for candidate in passing)
                return answer.made, None, Proposal(None, "the model wants no candidate in the memory", left=left)
            proposal = await asyncio.to_thread(modelled, memory, passing, answer.value.memory_content, rules, language)
            if proposal.text is not None:
                return answer.made, None, proposal
            log.warning("emergence_refused", reason=proposal.reason)
            fallback = "refused"
        return EXTRACTIVE, fallback, await asyncio.to_thread(extractive, memory, passing, rules, language)

    async def _conclude(
        self,
        run: Run,
        view: View,
        found: Sequence[Candidate],
        proposal: Proposal,
        made: tuple[Made, str | None],
    ) -> Outcome:
        report, details = concluded(run.report, view, found, proposal)
        report = replace(report.made(*made), ended_at=self.now())
        conclusion = Conclusion(
            place=run.place,
            view=view,
            proposal=proposal,
            report=report,
            made=made[0],
            day=run.started_at.date(),
            language=run.grant.settings.language,
        )
        await write_conclusion(self._runs, conclusion, run.diary_entry(report.reason, details))
        return Outcome("completed", report.reason, made[0].method, made[1], report.report_id)

    async def _nothing(
        self,
        run: Run,
        view: View,
        found: Sequence[Candidate],
        why: tuple[str, Sequence[tuple[Candidate, str]]],
        made: tuple[Made, str | None] | None,
    ) -> Outcome:
        """Leave the memory as it is, and say why: in the report, and of a night in the diary too."""
        reason, left = why
        report = replace(run.report, status="skipped", reason=reason, rejected=told(found, left), ended_at=self.now())
        if made is not None:
            report = report.made(*made)
        entry = None
        if run.is_nightly and (view.files or await self.diary.exists(run.place)):
            entry = run.diary_entry(f"nothing concluded: {reason}")
        await self._runs.keep(run, report, entry)
        method, fallback = (made[0].method, made[1]) if made else (None, None)
        return Outcome("skipped", reason, method, fallback, report.report_id)

    async def _gathered(self, grant: Grant, place: Place, topic: str | None) -> tuple[View, list[Candidate]]:
        settings, rules = grant.settings, self._rules
        now = self.now()
        count = rules.note_count if topic is None else None
        wanted = Wanted(now, settings.time_zone, settings.language, count, rules.candidates.max_age_days)
        chunk_ids = None if topic is None else await self._about(grant, place, topic)
        asked_for: list[Passage] | None = None
        async with self._dependencies.database.tenant(place.tenant_id, snapshot=True) as connection:
            view = await read_view(connection, place, wanted)
            if chunk_ids is not None:
                asked_for = await read_passages(connection, place, chunk_ids, [file.path for file in view.files])
        clean = await self._dependencies.tombstones.without_forgotten(place)
        setting = Setting(rules.candidates, now, settings.time_zone, settings.language)
        gathering = partial(gather, view, setting, clean=clean, wanted=asked_for)
        chars = sum(len(file.text) for file in view.files) + (len(view.memory.text) if view.memory else 0)
        found = await isolated(gathering, chars=chars)
        return view, found

    async def _about(self, grant: Grant, place: Place, topic: str) -> list[int]:
        """The passages of a place that are about a topic. The system's own search: no recall of anything."""
        request = request_for(grant, topic, max_results=_TOPIC_RESULTS, tiers=("document", "message"))
        request = replace(request, owner_key=place.owner_key, leader_agent_id=None)
        outcome = await self._dependencies.search.search(request, rules_for(grant, self._dependencies.search.rules))
        return [r.chunk_id for r in outcome.results if r.scope == place.scope and r.relevance >= MIN_RELEVANCE]
