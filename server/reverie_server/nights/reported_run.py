"""The frame of a stage that leaves a report, emergence or dreaming: begin a run, retry what others superseded, report.

A run that fails for good leaves a report, too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import structlog

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline, Within
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.access.gate import Grant
from reverie_server.jobs.model import Outcome, Work
from reverie_server.jobs.nights_due import NIGHTLY_HOUR, nightly_day
from reverie_server.nights.diary import MAX_CHARS, DiaryEntry
from reverie_server.nights.diary_files import DiaryFiles
from reverie_server.nights.reports import Mode, Report, add_report, is_night_done, new_report_id
from reverie_server.provenance.tombstones import Tombstones, tombstone_mark
from reverie_server.text.error_site import code_of, error_site

log = structlog.get_logger()
# The attempts of a run, each of which others may supersede.
_ATTEMPTS = 5


class NightDone(Exception):
    """The night has its report already, by another run."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a stage: its work, permission and place, and the report it will leave."""

    stage: str
    work: Work
    grant: Grant
    place: Place
    report: Report

    @property
    def started_at(self) -> datetime:
        """When the run began, in the agent's time zone."""
        return self.report.started_at.astimezone(ZoneInfo(self.grant.settings.time_zone))

    @property
    def is_nightly(self) -> bool:
        """Whether this is the night's own run, which always leaves one report and one entry in the diary."""
        return self.work.trigger == "cron" and self.work.topic is None

    def diary_entry(self, summary: str, details: Sequence[tuple[str, str]] = ()) -> DiaryEntry:
        """The run's entry in the diary; `details` are pairs of a label and a text."""
        stage = self.stage if self.work.topic is None else f"focused {self.stage}"
        return DiaryEntry(self.started_at, stage, summary, self.report.report_id, details)


class ReportedRuns:
    """Runs attempts of a stage and writes what they leave. `now` gives the time, with its zone."""

    def __init__(
        self,
        database: Database,
        pipeline: Pipeline,
        tombstones: Tombstones,
        *,
        diary_max_chars: int = MAX_CHARS,
        nightly_hour: int = NIGHTLY_HOUR,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.diary = DiaryFiles(database, pipeline, max_chars=diary_max_chars)
        self._database = database
        self._tombstones = tombstones
        self._nightly_hour = nightly_hour
        self._now = now

    def begin(self, stage: str, mode: Mode, work: Work, grant: Grant, place: Place) -> Run:
        """A run that begins now. Its report is written at its end."""
        now = self._now()
        report = Report(
            report_id=new_report_id(),
            mode=mode,
            topic=work.topic,
            trigger=work.trigger,
            night=nightly_day(now, grant.settings.time_zone, self._nightly_hour),
            started_at=now,
            ended_at=now,
            status="success",
            reason="",
        )
        return Run(stage, work, grant, place, report)

    async def finish(self, run: Run, attempt: Callable[[], Awaitable[Outcome]], *, what: str) -> Outcome:
        """The outcome of the first attempt that nobody superseded; `what` names the contested thing in the error.

        A failure that is not tried again leaves a report. It is raised, too, except in a run by hand, which returns it.
        """
        try:
            return await until_stable(attempt, attempts=_ATTEMPTS, what=what)
        except NightDone:
            return Outcome("skipped", "this night has its report")
        except Exception as error:
            # The edge of a run: a final failure leaves a report. The runner of jobs gets every failure of a job.
            if run.work.trigger != "api" and not run.work.is_last_attempt:
                raise
            report = await self._keep_failure(run, error)
            if run.work.trigger != "api":
                raise
            return Outcome("failed", report.reason, report_id=report.report_id)

    async def without_forgotten_topic(self, run: Run) -> Run:
        """The run without what was forgotten of its topic since it began."""
        if not run.report.topic:
            return run
        clean = await self._tombstones.of_transcripts(run.place)
        return replace(run, report=replace(run.report, topic=clean(run.report.topic, run.report.started_at)))

    async def mark(self, place: Place) -> object:
        """The tombstone mark of a place, which differs when something was forgotten since."""
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            return await tombstone_mark(connection, place.tenant_id, await own_slices(connection, place))

    async def keep(self, run: Run, report: Report, entry: DiaryEntry | None, *, mark: object) -> None:
        """Write a report that changes no file, and with an entry the diary.

        `mark` is the tombstone mark of what the report was made of. Raises NightDone, and Superseded where something
        was forgotten since.
        """

        async def add(connection: Connection, slice_: Slice) -> None:
            if await tombstone_mark(connection, run.place.tenant_id, [slice_.slice_id]) != mark:
                raise Superseded
            await keep_report(connection, run.place, slice_, report)

        await self.write(run.place, [], entry, add)

    async def write(self, place: Place, changes: Sequence[Change], entry: DiaryEntry | None, within: Within) -> None:
        """Write files of a place and with an entry the diary, in one transaction with what `within` does."""
        await self.diary.write(place, changes, entry, within)

    async def is_night_done(self, run: Run) -> bool:
        """Whether the night of a run has its report already."""
        async with self._database.tenant(run.place.tenant_id, snapshot=True) as connection:
            return await is_night_done(connection, run.place, run.report.night)

    async def _keep_failure(self, run: Run, error: Exception) -> Report:
        """Write the report of a failure, which names the kind of the error alone: its message may be memory."""
        code = code_of(error)
        work = run.work
        log.warning(f"{run.stage}_failed", code=code, at=error_site(error), agent=work.agent_id, trigger=work.trigger)
        entry = run.diary_entry(f"failed: {code}") if run.is_nightly else None

        async def attempt() -> Report:
            mark = await self.mark(run.place)
            known = (await self.without_forgotten_topic(run)).report
            report = replace(known, status="failed", reason=f"it failed: {code}", ended_at=self._now())
            await self.keep(run, report, entry, mark=mark)
            return report

        return await until_stable(attempt, attempts=_ATTEMPTS, what="the report")


async def keep_report(connection: Connection, place: Place, slice_: Slice, report: Report) -> None:
    """Write a report in the caller's transaction. Raises NightDone where the night has one."""
    if not await add_report(connection, place.tenant_id, slice_.slice_id, report):
        raise NightDone
