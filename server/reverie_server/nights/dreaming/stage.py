"""Dreaming: writes the lines that follow from several episodes into one file a day, and marks these as taken."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

import structlog

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.index.slices import own_slices
from reverie_indexer.index.store import read_documents
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded
from reverie_server.access.gate import Grant
from reverie_server.episodes.store import (
    Episode,
    count_unpromoted,
    mark_promoted,
    mark_refused,
    read_episodes,
    unpromoted,
)
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Outcome, Work, episode_source
from reverie_server.jobs.nights_due import NIGHTLY_HOUR
from reverie_server.llm import answers
from reverie_server.llm.ask import Question, ask
from reverie_server.llm.generation import EXTRACTIVE, Generation
from reverie_server.llm.provider import LanguageModel
from reverie_server.nights.diary import MAX_CHARS as DIARY_CHARS
from reverie_server.nights.diary import DiaryEntry
from reverie_server.nights.dreaming.text import (
    Line,
    Summary,
    as_data,
    heuristic_lines,
    is_full,
    merged,
    proposed,
    within_tokens,
    without_forgotten,
)
from reverie_server.nights.emergence.inputs import consolidated_path
from reverie_server.nights.reported_run import ReportedRuns, Run, keep_report
from reverie_server.nights.reports import Report
from reverie_server.provenance.record import Derived, record
from reverie_server.provenance.tombstones import Tombstones, tombstone_mark
from reverie_server.sessions.daily_log import local_day
from reverie_server.text.markdown_edit import unified_diff
from reverie_server.text.tokens import CountTokens

log = structlog.get_logger()
_REFUSED = "refused"
_FULL = "; the file of the day is full"
# A model whose answers are refused is asked as often about an episode. Then the extractive way has the last word: the
# oldest episodes would else hold up all newer ones until they expire.
MAX_REFUSALS = 2


@dataclass(frozen=True, slots=True)
class DreamingRules:
    """A run takes between `min_episodes` and `max_episodes`, the oldest first, and writes at most `max_tokens`."""

    min_episodes: int = 5
    max_episodes: int = 10
    max_tokens: int = 4096
    timeout_seconds: float = 60.0
    diary_max_chars: int = DIARY_CHARS
    nightly_hour: int = NIGHTLY_HOUR


@dataclass(frozen=True, slots=True)
class DreamingDependencies:
    """The dependencies of dreaming."""

    database: Database
    pipeline: Pipeline
    tombstones: Tombstones
    model: LanguageModel | None
    count: CountTokens


@dataclass(frozen=True, slots=True)
class _Batch:
    """The episodes of one run, and today's file. `tombstone_mark` differs when something was forgotten since."""

    path: str
    episodes: Sequence[Episode]
    summaries: Sequence[Summary]
    present: str | None
    tombstone_mark: object


@dataclass(frozen=True, slots=True)
class _Conclusion:
    """The lines of a batch, and how they were generated; `fallback` says why not by the model."""

    lines: Sequence[Line]
    generation: Generation
    fallback: str | None

    @property
    def is_refused(self) -> bool:
        """Whether the model answered, and nothing that it said follows from the episodes."""
        return self.fallback == _REFUSED


class Dreaming:
    """The stage `dreaming`. `now` gives the time, with its zone."""

    def __init__(
        self,
        dependencies: DreamingDependencies,
        rules: DreamingRules | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._dependencies = dependencies
        self._rules = rules or DreamingRules()
        self._now = now
        self._runs = ReportedRuns(
            dependencies.database,
            dependencies.pipeline,
            dependencies.tombstones,
            diary_max_chars=self._rules.diary_max_chars,
            nightly_hour=self._rules.nightly_hour,
            now=now,
        )

    async def run(self, work: Work, grant: Grant, place: Place) -> Outcome:
        """Take the oldest episodes that were not taken yet; where enough remain, another run is deferred."""
        run = self._runs.begin("dreaming", "dreaming", work, grant, place)
        return await self._runs.finish(run, partial(self._attempt, run), what="the episodes")

    async def _attempt(self, run: Run) -> Outcome:
        batch = await self._read_batch(run)
        if len(batch.episodes) < self._rules.min_episodes:
            needed = self._rules.min_episodes
            return Outcome("skipped", f"{len(batch.episodes)} episodes wait, {needed} are needed")
        return await self._store(run, batch, await self._conclude(run, batch))

    async def _read_batch(self, run: Run) -> _Batch:
        place, now = run.place, run.report.started_at
        zone = run.grant.settings.time_zone
        path = consolidated_path(local_day(now, zone))
        async with self._dependencies.database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            episodes: list[Episode] = []
            if slice_ids:
                limit = self._rules.max_episodes
                episodes = await unpromoted(connection, place.tenant_id, slice_ids[0], limit, now=now)
            found = await read_documents(connection, place.tenant_id, slice_ids, [path])
            forgotten = await tombstone_mark(connection, place.tenant_id, slice_ids)
        present = next((text for document, text in found if document.deleted_at is None), None)
        clean = await self._dependencies.tombstones.without_forgotten(place)
        summaries = [Summary(e.episode_id, e.session_id, local_day(e.ended_at, zone), e.summary) for e in episodes]
        return _Batch(path, episodes, await asyncio.to_thread(without_forgotten, summaries, clean), present, forgotten)

    async def _conclude(self, run: Run, batch: _Batch) -> _Conclusion:
        """The lines, by the model where there is one; where all of its lines are invented, without it.

        The episodes of a refused answer stay to be taken: another run asks again, up to MAX_REFUSALS.
        """
        rules, language = self._rules, run.grant.settings.language
        inputs = {"episodes": as_data(batch.summaries)}
        question = Question("dreaming", inputs, answers.Dreaming, rules.max_tokens, rules.timeout_seconds)
        answer = await ask(self._dependencies.model, run.work.tenant_id, question)
        fallback = answer.fallback
        if answer.value is not None:
            proposals = [(line.kind, line.text, line.episodes) for line in answer.value.lines]
            lines = await asyncio.to_thread(proposed, proposals, batch.summaries, language)
            if lines is not None:
                kept = within_tokens(lines, rules.max_tokens, self._dependencies.count)
                return _Conclusion(kept, answer.generation, None)
            fallback = _REFUSED
        lines = await asyncio.to_thread(heuristic_lines, batch.summaries, language)
        return _Conclusion(within_tokens(lines, rules.max_tokens, self._dependencies.count), EXTRACTIVE, fallback)

    async def _store(self, run: Run, batch: _Batch, conclusion: _Conclusion) -> Outcome:
        """Write file, provenance, report, marks and the next run in one transaction."""
        place, language = run.place, run.grant.settings.language
        day = run.started_at.date()
        planned_text, planned = await asyncio.to_thread(merged, batch.present, day, conclusion.lines, language)
        added: list[Line] = planned

        def edit(text: str | None) -> str:
            nonlocal added
            merged_text, added = merged(text, day, conclusion.lines, language)
            return merged_text

        diff = unified_diff(batch.present or "", planned_text, batch.path, batch.path) if planned else ""
        report = replace(
            self._report(run.report, batch, planned, is_full=is_full(planned_text)).generated_by(
                conclusion.generation, conclusion.fallback
            ),
            diff=diff,
        )

        async def within(connection: Connection, slice_: Slice) -> None:
            is_taken = await self._mark(connection, slice_, place, batch, conclusion)
            await keep_report(connection, place, slice_, report)
            derived = [_derived(batch.path, line, conclusion.generation) for line in added]
            await record(connection, place.tenant_id, slice_.slice_id, derived, at=report.ended_at)
            waiting = await count_unpromoted(connection, place.tenant_id, slice_.slice_id, now=report.started_at)
            if waiting >= self._rules.min_episodes and is_taken:
                await defer(connection, replace(run.work, trigger="event", is_last_attempt=False))

        # Only the server writes below `_system/`, with `reserved`.
        changes = [Change(batch.path, edit, "server", "dreaming", reserved=True)] if planned else []
        entry = self._diary_entry(run, report, planned) if planned else None
        await self._runs.write(place, changes, entry, within)
        method = conclusion.generation.method
        return Outcome("completed", report.reason, method, conclusion.fallback, report.report_id)

    async def _mark(
        self, connection: Connection, slice_: Slice, place: Place, batch: _Batch, conclusion: _Conclusion
    ) -> bool:
        """Mark the episodes as taken, or their answer as refused; whether some are taken.

        Raises Superseded where they have changed since they were read.
        """
        ids = [episode.episode_id for episode in batch.episodes]
        now = self._now()
        found = await read_episodes(
            connection, place.tenant_id, [slice_.slice_id], now=now, episode_ids=ids, limit=len(ids)
        )
        is_forgetful = await tombstone_mark(connection, place.tenant_id, [slice_.slice_id]) != batch.tombstone_mark
        if is_forgetful or _by_id(found) != _by_id(batch.episodes):
            raise Superseded
        path = batch.path if conclusion.lines else ""
        tenant_id, slice_id = place.tenant_id, slice_.slice_id
        refusals = await mark_refused(connection, tenant_id, slice_id, ids) if conclusion.is_refused else {}
        taken = [number for number in ids if refusals.get(number, MAX_REFUSALS) >= MAX_REFUSALS]
        if await mark_promoted(connection, place.tenant_id, slice_.slice_id, taken, path, now) != len(taken):
            raise Superseded
        return bool(taken)

    def _report(self, report: Report, batch: _Batch, lines: Sequence[Line], *, is_full: bool) -> Report:
        sessions = {episode.session_id for episode in batch.episodes}
        return replace(
            report,
            reason=f"{len(lines)} lines of {len(batch.episodes)} episodes" + (_FULL if is_full else ""),
            ended_at=self._now(),
            seen={"episodes": [f"ep-{e.episode_id}" for e in batch.episodes], "sessions": len(sessions)},
            path=batch.path if lines else None,
            promoted=[
                {
                    "key": f"{report.report_id}:{number}",
                    "text": line.statement.text,
                    "kind": line.kind,
                    "source": ", ".join(f"ep-{episode.episode_id}" for episode in line.episodes),
                }
                for number, line in enumerate(lines, start=1)
            ],
        )

    def _diary_entry(self, run: Run, report: Report, lines: Sequence[Line]) -> DiaryEntry:
        details = [
            ("Seen", f"{len(report.seen['episodes'])} episodes of {report.seen['sessions']} conversations"),
            *(("Concluded", line.statement.text) for line in lines),
            ("Rewrote", report.path or ""),
        ]
        return run.diary_entry(report.reason, details)


def _by_id(episodes: Sequence[Episode]) -> dict[int, str]:
    return {episode.episode_id: episode.summary for episode in episodes}


def _derived(path: str, line: Line, generation: Generation) -> Derived:
    sources = [episode_source(episode.episode_id, episode.session_id) for episode in line.episodes]
    return Derived(path, [line.written], generation, "dreaming", sources)
