"""Writes a conclusion of emergence: memory, archive, diary, provenance and report, in one transaction or not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.index.store import read_documents
from reverie_indexer.model import Place
from reverie_indexer.retry import Superseded
from reverie_server.jobs.model import lines_source, message_source
from reverie_server.llm.generation import Generation
from reverie_server.long_term.archive_files import archive_change
from reverie_server.long_term.longterm import MEMORY
from reverie_server.nights.diary import DiaryEntry
from reverie_server.nights.emergence.collect import Candidate
from reverie_server.nights.emergence.inputs import memory_document
from reverie_server.nights.emergence.model import EmergenceInput
from reverie_server.nights.emergence.text import Proposal, candidates_in
from reverie_server.nights.reported_run import ReportedRuns, keep_report
from reverie_server.nights.reports import Report
from reverie_server.provenance.record import Derived, added_lines, record
from reverie_server.provenance.tombstones import tombstone_mark

_BY = "server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A proposal to write, its report, and the inputs that it is from. `day` is the local one."""

    place: Place
    inputs: EmergenceInput
    proposal: Proposal
    report: Report
    generation: Generation
    day: date
    language: str


async def write_conclusion(database: Database, runs: ReportedRuns, conclusion: Conclusion, entry: DiaryEntry) -> None:
    """Write a conclusion.

    Raises Superseded where the memory or an entry of a promoted candidate has changed, NightDone, and what
    `Pipeline.unit_of_work` raises.
    """
    memory, proposal = conclusion.inputs.memory, conclusion.proposal
    before, after = memory.text if memory else None, proposal.text or ""
    path = memory.path if memory else MEMORY

    def edit(text: str | None) -> str:
        if text != before:
            raise Superseded
        return after

    changes = [Change(path, edit, _BY, "emergence")]
    if proposal.dropped:
        changes.append(await archive_change(database, conclusion.place, conclusion.day, proposal.dropped, _BY))

    async def within(connection: Connection, slice_: Slice) -> None:
        await _check(connection, slice_, conclusion, path)
        found = await memory_document(connection, conclusion.place.tenant_id, slice_.slice_id)
        version = found[0].version if found else None
        report = replace(conclusion.report, version_after=version)
        await keep_report(connection, conclusion.place, slice_, report)
        derived = _derived(conclusion, path, before or "", after)
        await record(connection, conclusion.place.tenant_id, slice_.slice_id, derived, at=conclusion.report.ended_at)

    await runs.write(conclusion.place, changes, entry, within)


def _derived(conclusion: Conclusion, path: str, before: str, after: str) -> list[Derived]:
    promoted = conclusion.proposal.promoted
    return [
        Derived(
            path,
            [line],
            conclusion.generation,
            "emergence",
            sources_of(candidates_in(line, promoted, conclusion.language), conclusion.inputs),
        )
        for line in added_lines(before, after)
    ]


def sources_of(candidates: Sequence[Candidate], inputs: EmergenceInput) -> list[dict[str, Any]]:
    """The sources of candidates: lines of files, and the messages that these lines come from."""
    entries = [entry for candidate in candidates for entry in candidate.entries]
    sources = [lines_source(entry.path, entry.start_line, entry.end_line) for entry in entries]
    by_session: dict[str, set[int]] = defaultdict(set)
    for entry in entries:
        for session_id, seq in inputs.origins.get((entry.path, entry.raw), ()):
            by_session[session_id].add(seq)
    sources += [
        message_source(session_id, [(seq, inputs.message_ids.get((session_id, seq))) for seq in sorted(numbers)])
        for session_id, numbers in sorted(by_session.items())
    ]
    return sources


async def _check(connection: Connection, slice_: Slice, conclusion: Conclusion, path: str) -> None:
    """Raise Superseded unless the file is still the memory, its entries are there, and nothing was forgotten since."""
    tenant_id = conclusion.place.tenant_id
    found = await memory_document(connection, tenant_id, slice_.slice_id)
    is_forgetful = await tombstone_mark(connection, tenant_id, [slice_.slice_id]) != conclusion.inputs.tombstone_mark
    if found is None or found[0].path != path or is_forgetful:
        raise Superseded
    entries = [entry for candidate in conclusion.proposal.promoted for entry in candidate.entries]
    paths = sorted({entry.path for entry in entries})
    files = await read_documents(connection, tenant_id, [slice_.slice_id], paths)
    texts = {document.path: text for document, text in files if document.deleted_at is None}
    if any(entry.raw not in texts.get(entry.path, "") for entry in entries):
        raise Superseded
