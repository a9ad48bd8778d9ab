"""Emergence and dreaming: run them by hand, read their status and reports, see the morning card."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from reverie_client._async.bound import AsyncBound
from reverie_client.dreams import (
    ArchiveAnswer,
    ArchivedMonth,
    Candidate,
    CandidatesAnswer,
    CardAnswer,
    CardEntry,
    DreamingStatus,
    EntryAnswer,
    ForgottenEntry,
    ForgottenEntryAnswer,
    Report,
    ReportAnswer,
    ReportPage,
    Run,
    RunAnswer,
    SeenAnswer,
    StatusAnswer,
)
from reverie_client.request import LONG_TIMEOUT_SECONDS, Call, segment


class AsyncDreams(AsyncBound):
    """Emergence and dreaming of the owner's memory where the view has an owner, else of the team's."""

    async def run_emergence(self, *, timeout_seconds: float = LONG_TIMEOUT_SECONDS) -> Run:
        """Run emergence now: promote entries of recent daily notes that people asked for to MEMORY.md."""
        return await self._run("emergence", {}, timeout_seconds)

    async def run_focused(self, topic: str, *, timeout_seconds: float = LONG_TIMEOUT_SECONDS) -> Run:
        """Run emergence for a topic: it reads the notes of the last weeks and needs no earlier recalls."""
        return await self._run("dreaming/focused", {"topic": topic}, timeout_seconds)

    async def summarize(self, session_id: str, *, timeout_seconds: float = LONG_TIMEOUT_SECONDS) -> Run:
        """Extract a conversation's messages so far into its owner's files now, whether it is complete or not."""
        return await self._run(f"summarize/{segment(session_id, 'a session id')}", {}, timeout_seconds)

    async def dreaming_status(self) -> DreamingStatus:
        """The state of emergence: its last and next run, how much it promoted, and how many candidates wait."""
        return (await self._connection.ask(StatusAnswer, self._reading("dreaming/status"))).data

    async def dreaming_candidates(self, *, limit: int | None = None) -> tuple[Candidate, ...]:
        """The candidates for MEMORY.md, best first, at most `limit`."""
        return (await self._connection.ask(CandidatesAnswer, self._reading("dreaming/candidates", limit=limit))).data

    def dream_reports(self, *, page_size: int | None = None) -> AsyncIterator[Report]:
        """The reports of all runs, newest first; pages are fetched as they are needed."""
        return self._connection.each(ReportPage, self._reading("dream/reports", limit=page_size))

    async def dream_archive(self) -> tuple[ArchivedMonth, ...]:
        """The months that have reports older than 30 days, newest first."""
        return (await self._connection.ask(ArchiveAnswer, self._reading("dream/archive"))).data.months

    def dream_archive_month(self, month: str, *, page_size: int | None = None) -> AsyncIterator[Report]:
        """The reports of a month (yyyy-mm) of the archive, newest first; NotFound where there are none."""
        path = f"dream/archive/{segment(month, 'a month')}"
        return self._connection.each(ReportPage, self._reading(path, limit=page_size))

    async def dream_report(self, report_id: str) -> Report:
        """One report; NotFound where there is none."""
        path = f"dream/reports/{segment(report_id, 'the id of a report')}"
        return (await self._connection.ask(ReportAnswer, self._reading(path))).data

    async def morning_card(self) -> tuple[CardEntry, ...]:
        """The new entries of MEMORY.md that the owner has not seen; the card stays until `see_morning_card`."""
        return (await self._connection.ask(CardAnswer, self._reading("dream/morning-card"))).data or ()

    async def see_morning_card(self) -> int:
        """Mark the morning card as seen, so that it does not come again; the number of its entries."""
        call = Call(method="POST", path=self._control("dream/morning-card/seen"), body=self._owner)
        return (await self._connection.ask(SeenAnswer, call)).data.seen

    async def confirm_entry(self, entry: CardEntry) -> CardEntry:
        """Confirm an entry of the morning card; NotFound where it has left MEMORY.md."""
        return (await self._connection.ask(EntryAnswer, self._of_entry(entry, "confirm", {}))).data

    async def edit_entry(self, entry: CardEntry, content: str) -> CardEntry:
        """Change exactly the line of an entry in MEMORY.md, which is a person's from then on."""
        return (await self._connection.ask(EntryAnswer, self._of_entry(entry, "edit", {"content": content}))).data

    async def forget_entry(self, entry: CardEntry) -> ForgottenEntry:
        """Take the text of an entry out of every store."""
        return (await self._connection.ask(ForgottenEntryAnswer, self._of_entry(entry, "forget", {}))).data

    def _of_entry(self, entry: CardEntry, action: str, body: Mapping[str, Any]) -> Call:
        report_id = segment(entry.key.partition(":")[0], "the id of a report")
        path = f"dream/reports/{report_id}/entries/{segment(entry.key, 'the key of an entry')}/{action}"
        return Call(method="POST", path=self._control(path), body={**self._owner, **body})

    async def _run(self, path: str, body: Mapping[str, Any], timeout_seconds: float) -> Run:
        whole = {**self._owner, **body}
        call = Call(method="POST", path=self._control(path), body=whole, timeout_seconds=timeout_seconds)
        return (await self._connection.ask(RunAnswer, call)).data

    def _reading(self, path: str, *, limit: int | None = None) -> Call:
        return Call(method="GET", path=self._control(path), query={**self._owner, "limit": limit}, is_read=True)

    def _control(self, path: str) -> str:
        return f"/memory/{segment(self._agent_id, 'an agent id')}/{path}"
