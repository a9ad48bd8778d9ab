"""Dreaming: what several conversations come to goes into one file a day, and only then are they marked as taken."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo

import structlog

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.index.slices import own_slices
from reverie_indexer.index.store import read_documents
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.access.gate import Gate, Grant
from reverie_server.episodes.store import (
    Episode,
    count_unpromoted,
    mark_promoted,
    read_episodes,
    unpromoted,
)
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Outcome, Work, episode_source
from reverie_server.jobs.nights_due import NIGHTLY_HOUR, nightly_day
from reverie_server.jobs.stage_guard import permitted
from reverie_server.llm import answers
from reverie_server.llm.ask import Question, ask
from reverie_server.llm.generation import EXTRACTIVE, Made
from reverie_server.llm.provider import LanguageModel
from reverie_server.nights.diary import MAX_CHARS as DIARY_CHARS
from reverie_server.nights.diary import Dream
from reverie_server.nights.diary_files import Dreams
from reverie_server.nights.dreaming.text import (
    Line,
    Summary,
    as_data,
    extractive,
    merged,
    proposed,
    within_tokens,
    without_forgotten,
)
from reverie_server.nights.emergence.inputs import consolidated_path
from reverie_server.nights.reports import Report, add_report, new_report_id
from reverie_server.provenance.record import Derived, record
from reverie_server.provenance.tombstones import Tombstones, standing
from reverie_server.sessions.daily_log import local_day
from reverie_server.text.error_site import code_of, error_site
from reverie_server.text.markdown_edit import unified_diff
from reverie_server.text.tokens import CountTokens

log = structlog.get_logger()
# How often others may take or change the episodes meanwhile.
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class DreamingRules:
    """From `min_episodes` on, at most `max_episodes` a run, the oldest first, come to `max_tokens` of lines at most."""

    min_episodes: int = 5
    max_episodes: int = 10
    max_tokens: int = 4096
    timeout_seconds: float = 60.0
    diary_max_chars: int = DIARY_CHARS
    nightly_hour: int = NIGHTLY_HOUR


@dataclass(frozen=True, slots=True)
class DreamingParts:
    """What dreaming works with."""

    database: Database
    gate: Gate
    pipeline: Pipeline
    tombstones: Tombstones
    model: LanguageModel | None
    count: CountTokens


@dataclass(frozen=True, slots=True)
class _Batch:
    """The episodes of one run, with what today's file holds; `standing` differs when something was forgotten since."""

    path: str
    episodes: Sequence[Episode]
    summaries: Sequence[Summary]
    present: str | None
    standing: object


@dataclass(frozen=True, slots=True)
class _Made:
    """What a batch comes to, and how that was made."""

    lines: Sequence[Line]
    made: Made
    fallback: str | None


class Dreaming:
    """The stage `dreaming`. `now` gives the time, with its zone."""

    def __init__(
        self,
        parts: DreamingParts,
        rules: DreamingRules | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._parts = parts
        self._rules = rules or DreamingRules()
        self._now = now
        self._dreams = Dreams(parts.database, parts.pipeline, max_chars=self._rules.diary_max_chars)

    async def run(self, work: Work) -> Outcome:
        """Take the oldest episodes that were not taken yet; where enough remain, another run is deferred."""
        allowed = await permitted(self._parts.gate, work, "consolidation_enabled")
        if isinstance(allowed, Outcome):
            return allowed
        grant, place = allowed
        report = self._new_report(work, grant.settings.time_zone)
        try:
            attempt = partial(self._attempt, work, grant, place, report)
            return await until_stable(attempt, attempts=_ATTEMPTS, what="the episodes")
        except Exception as error:
            # The edge of a run: for good it may not fail without a trace. Whoever runs jobs hears of it too.
            if work.is_last_attempt or work.trigger == "api":
                await self._say_failed(place, report, error)
            raise

    async def _attempt(self, work: Work, grant: Grant, place: Place, report: Report) -> Outcome:
        batch = await self._batch(grant, place, report.started_at)
        if len(batch.episodes) < self._rules.min_episodes:
            needed = self._rules.min_episodes
            return Outcome("skipped", f"{len(batch.episodes)} episodes wait, {needed} are needed")
        made = await self._made(work, grant, batch)
        return await self._store(work, grant, (place, report), batch, made)

    async def _batch(self, grant: Grant, place: Place, now: datetime) -> _Batch:
        zone = grant.settings.time_zone
        path = consolidated_path(local_day(now, zone))
        async with self._parts.database.tenant(place.tenant_id, snapshot=True) as connection:
            own = await own_slices(connection, place)
            episodes: list[Episode] = []
            if own:
                limit = self._rules.max_episodes
                episodes = await unpromoted(connection, place.tenant_id, own[0], limit, now=now)
            found = await read_documents(connection, place.tenant_id, own, [path])
            forgotten = await standing(connection, place.tenant_id, own)
        present = next((text for document, text in found if document.deleted_at is None), None)
        clean = await self._parts.tombstones.without_forgotten(place)
        summaries = [Summary(e.episode_id, e.session_id, local_day(e.ended_at, zone), e.summary) for e in episodes]
        return _Batch(path, episodes, await asyncio.to_thread(without_forgotten, summaries, clean), present, forgotten)

    async def _made(self, work: Work, grant: Grant, batch: _Batch) -> _Made:
        """The lines, by the model where there is one; one whose every line is invented is no better than none."""
        rules, language = self._rules, grant.settings.language
        inputs = {"episodes": as_data(batch.summaries)}
        question = Question("dreaming", inputs, answers.Dreaming, rules.max_tokens, rules.timeout_seconds)
        asked = await ask(self._parts.model, work.tenant_id, question)
        fallback = asked.fallback
        if asked.value is not None:
            given = [(line.kind, line.text, line.episodes) for line in asked.value.lines]
            lines = await asyncio.to_thread(proposed, given, batch.summaries, language)
            if lines or not given:
                return _Made(within_tokens(lines, rules.max_tokens, self._parts.count), asked.made, None)
            fallback = "refused"
        lines = await asyncio.to_thread(extractive, batch.summaries, language)
        return _Made(within_tokens(lines, rules.max_tokens, self._parts.count), EXTRACTIVE, fallback)

    async def _store(self, work: Work, grant: Grant, to: tuple[Place, Report], batch: _Batch, made: _Made) -> Outcome:
        """File, provenance, report, marks and the next run in one transaction."""
        place, report = to
        language = grant.settings.language
        day = local_day(report.started_at, grant.settings.time_zone)
        planned_text, planned = await asyncio.to_thread(merged, batch.present, day, made.lines, language)
        added: list[Line] = planned

        def edit(text: str | None) -> str:
            nonlocal added
            merged_text, added = merged(text, day, made.lines, language)
            return merged_text

        reason = f"{len(planned)} lines of {len(batch.episodes)} episodes"
        told = self._told(report, batch, planned, reason)
        diff = unified_diff(batch.present or "", planned_text, batch.path, batch.path) if planned else ""
        told = replace(told.made(made.made, made.fallback), diff=diff)

        async def within(connection: Connection, slice_: Slice) -> None:
            await self._mark(connection, slice_, place, batch, has_lines=bool(made.lines))
            await add_report(connection, place.tenant_id, slice_.slice_id, told)
            derived = [_derived(batch.path, line, made.made) for line in added]
            await record(connection, place.tenant_id, slice_.slice_id, derived, at=told.ended_at)
            waiting = await count_unpromoted(connection, place.tenant_id, slice_.slice_id, now=told.started_at)
            if waiting >= self._rules.min_episodes:
                await defer(connection, replace(work, trigger="event", is_last_attempt=False))

        # Who reserves a path is the server alone: nobody else writes below `_system/`.
        changes = [Change(batch.path, edit, "server", "dreaming", reserved=True)] if planned else []
        dream = self._dream(grant, told, planned) if planned else None
        await self._dreams.write(place, changes, dream, within)
        return Outcome("completed", reason, made.made.method, made.fallback, told.report_id)

    async def _mark(
        self, connection: Connection, slice_: Slice, place: Place, batch: _Batch, *, has_lines: bool
    ) -> None:
        """Mark the episodes, if they are what they were when they were read. Raises Superseded."""
        ids = [episode.episode_id for episode in batch.episodes]
        now = self._now()
        found = await read_episodes(
            connection, place.tenant_id, [slice_.slice_id], now=now, episode_ids=ids, limit=len(ids)
        )
        is_forgetful = await standing(connection, place.tenant_id, [slice_.slice_id]) != batch.standing
        if is_forgetful or _by_id(found) != _by_id(batch.episodes):
            raise Superseded
        path = batch.path if has_lines else ""
        if await mark_promoted(connection, place.tenant_id, slice_.slice_id, ids, path, now) != len(ids):
            raise Superseded

    def _told(self, report: Report, batch: _Batch, lines: Sequence[Line], reason: str) -> Report:
        sessions = {episode.session_id for episode in batch.episodes}
        return replace(
            report,
            reason=reason,
            ended_at=self._now(),
            seen={"episodes": [f"ep-{e.episode_id}" for e in batch.episodes], "sessions": len(sessions)},
            path=batch.path if lines else None,
            promoted=[
                {
                    "key": f"{report.report_id}:{number}",
                    "text": line.said.text,
                    "kind": line.kind,
                    "source": ", ".join(f"ep-{episode.episode_id}" for episode in line.episodes),
                }
                for number, line in enumerate(lines, start=1)
            ],
        )

    def _dream(self, grant: Grant, report: Report, lines: Sequence[Line]) -> Dream:
        details = [
            ("Seen", f"{len(report.seen['episodes'])} episodes of {report.seen['sessions']} conversations"),
            *(("Concluded", line.said.text) for line in lines),
            ("Rewrote", report.path or ""),
        ]
        at = report.started_at.astimezone(ZoneInfo(grant.settings.time_zone))
        return Dream(at, "dreaming", report.reason, report.report_id, details)

    async def _say_failed(self, place: Place, report: Report, error: Exception) -> None:
        code = code_of(error)
        log.warning("dreaming_failed", code=code, at=error_site(error), agent=place.agent_id)
        failed = replace(report, status="failed", reason=f"it failed: {code}", ended_at=self._now())

        async def add(connection: Connection, slice_: Slice) -> None:
            await add_report(connection, place.tenant_id, slice_.slice_id, failed)

        await self._dreams.write(place, [], None, add)

    def _new_report(self, work: Work, time_zone: str) -> Report:
        now = self._now()
        return Report(
            report_id=new_report_id(),
            mode="dreaming",
            topic=None,
            trigger=work.trigger,
            night=nightly_day(now, time_zone, self._rules.nightly_hour),
            started_at=now,
            ended_at=now,
            status="success",
            reason="",
        )


def _by_id(episodes: Sequence[Episode]) -> dict[int, str]:
    return {episode.episode_id: episode.summary for episode in episodes}


def _derived(path: str, line: Line, made: Made) -> Derived:
    sources = [episode_source(episode.episode_id, episode.session_id) for episode in line.episodes]
    return Derived(path, [line.written], made, "dreaming", sources)
