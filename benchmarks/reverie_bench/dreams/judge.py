"""Counts the statements of a made-up year in memory: kept, found, promoted, forgotten, leaked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from reverie_bench.dreams.year import Statement, Year
from reverie_indexer.database.queries import Queries
from reverie_server.access.keys import OPERATOR
from reverie_server.runtime import Runtime
from reverie_server.search.request import request_for, rules_for

SQL = Queries(__file__)
_MEMORY, _DIARY, _DIARIES = "MEMORY.md", "DREAMS.md", "memory/dreams/"
_TOP = 10


@dataclass(frozen=True, slots=True)
class Findings:
    """Counts after a night. `standing` are the statements that are neither contradicted nor forgotten; of these,
    `in_files` are in their owner's files, `found` within ten results, `promoted` in MEMORY.md. `stale` are in MEMORY.md
    although contradicted; `leaked` are in another owner's files; `forgotten_left` are anywhere in the owner's memory
    although forgotten. `memory_chars` is the largest MEMORY.md, `diary_chars` are all owners' DREAMS.md.
    """

    night: int
    standing: int
    in_files: int
    found: int
    promoted: int
    stale: int
    leaked: int
    forgotten_left: int
    memory_chars: int
    diary_chars: int
    reports: int


class Judge:
    """Looks at the memory of an agent's owners."""

    def __init__(self, runtime: Runtime, agent_id: str, year: Year) -> None:
        self._runtime = runtime
        self._agent_id = agent_id
        self._year = year

    async def look(self, night: int) -> Findings:
        """The findings after a night, counted from 0."""
        texts = {owner: await self._files(owner) for owner in self._year.owners}
        valid = self._year.valid(night)
        memories = {owner: files.get(_MEMORY, "") for owner, files in texts.items()}
        stated = {statement.value: statement for statement in self._year.statements}
        superseded = {s.value for s in self._year.superseded(night)}
        return Findings(
            night=night,
            standing=len(valid),
            in_files=sum(self._is_in(texts[s.owner], s) for s in valid),
            found=sum([await self._finds(s) for s in valid]),
            promoted=sum(s.value in memories[s.owner] for s in valid),
            stale=sum(value in memories[stated[value].owner] for value in superseded),
            leaked=sum(
                s.value in text
                for s in stated.values()
                for owner, files in texts.items()
                if owner != s.owner
                for text in files.values()
            ),
            forgotten_left=sum(self._is_in(texts[s.owner], s) for s in self._year.forgotten(night)),
            memory_chars=max(map(len, memories.values())),
            diary_chars=sum(len(files.get(_DIARY, "")) for files in texts.values()),
            reports=await self._count("reports", tenant_id=OPERATOR.tenant_id, agent_id=self._agent_id),
        )

    async def lost(self, night: int) -> list[str]:
        """The texts of the valid statements that no file of their owner holds after a night."""
        texts = {owner: await self._files(owner) for owner in self._year.owners}
        return [s.text for s in self._year.valid(night) if not self._is_in(texts[s.owner], s)]

    async def failed_jobs(self) -> int:
        """The number of jobs that failed for good."""
        return await self._count("failed_jobs")

    async def most_calls_a_day(self) -> int:
        """The number of model calls on the day that had the most."""
        return await self._count("most_calls")

    async def unexplained_nights(self, first_day: date) -> int:
        """The number of owners' nights, from the first conversation on, that no diary or archive of one mentions."""
        count = 0
        for owner in self._year.owners:
            files = await self._files(owner)
            diary = "\n".join(text for path, text in files.items() if path == _DIARY or path.startswith(_DIARIES))
            first = min((talk.day for talk in self._year.talks if talk.owner == owner), default=self._year.nights)
            days = (first_day + timedelta(days=night + 1) for night in range(first, self._year.nights))
            count += sum(day.isoformat() not in diary for day in days)
        return count

    def _is_in(self, files: Mapping[str, str], statement: Statement) -> bool:
        return any(statement.value in text for text in files.values())

    async def _finds(self, statement: Statement) -> bool:
        grant = await self._runtime.gate.read(OPERATOR, self._agent_id, statement.owner)
        request = replace(request_for(grant, statement.questions[0]), max_results=_TOP)
        outcome = await self._runtime.search.search(request, rules_for(grant, self._runtime.search.rules))
        return any(statement.value in result.text for result in outcome.results)

    async def _files(self, owner: str) -> dict[str, str]:
        params = {"tenant_id": OPERATOR.tenant_id, "agent_id": self._agent_id, "owner_key": owner}
        async with self._runtime.database.maintenance() as connection:
            rows: Sequence[Mapping[str, str]] = await (await connection.execute(SQL["files"], params)).fetchall()
        return {row["path"]: row["content"] for row in rows}

    async def _count(self, statement: str, **params: str) -> int:
        async with self._runtime.database.maintenance() as connection:
            row = await (await connection.execute(SQL[statement], params)).fetchone()
        return int((row or {})["count"])
