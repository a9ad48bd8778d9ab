"""The stage `soul`: a model writes SOUL.md anew from the facts of the same memory; people's lines stay.

A team's SOUL.md is made of the team's facts alone, a person's of that person's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import structlog

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.slices import own_slices
from reverie_indexer.index.store import read_documents
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded
from reverie_server.access.gate import Grant
from reverie_server.facts.model import parse_id, public_id
from reverie_server.jobs.model import Outcome, Work, fact_source
from reverie_server.llm import answers
from reverie_server.llm.ask import Question, ask
from reverie_server.llm.generation import EXTRACTIVE, Generation
from reverie_server.llm.provider import LanguageModel
from reverie_server.nights.reported_run import ReportedRuns, Run, keep_report
from reverie_server.nights.reports import Report
from reverie_server.nights.soul import text as soul_text
from reverie_server.nights.soul.text import PATH, KnownFact, SoulText
from reverie_server.provenance.record import Derived, line_sha256, machine_lines, record
from reverie_server.provenance.tombstones import Tombstones, tombstone_mark
from reverie_server.text.markdown_edit import unified_diff

SQL = Queries(__file__)
log = structlog.get_logger()
STAGE = "soul"
MAX_FACTS = 100
NO_MODEL = f"there is no language model, and {PATH} stays as it is"
# Room for the words of an answer and for the JSON around them.
_TOKENS_A_WORD, _ANSWER_TOKENS = 3, 500


@dataclass(frozen=True, slots=True)
class SoulRules:
    """SOUL.md has at most `max_words`, people's lines included; an answer of at most `min_chars` is refused."""

    min_chars: int = 50
    max_words: int = 500
    timeout_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class SoulDependencies:
    """The dependencies of the stage."""

    database: Database
    pipeline: Pipeline
    tombstones: Tombstones
    model: LanguageModel | None


@dataclass(frozen=True, slots=True)
class _Seen:
    """SOUL.md and the facts, as they were read. Without a file `text` is None; before the first, `version` is 0.

    `machine` are the lines of the server; `held` are of those that were made of facts the facts that hold.
    """

    text: str | None
    version: int
    machine: frozenset[bytes]
    held: Mapping[bytes, frozenset[int]]
    facts: Sequence[KnownFact]
    clean: Callable[[str], str]
    tombstones: object

    @property
    def before(self) -> str:
        return self.text or ""

    def is_machine(self, line: str) -> bool:
        """Whether the server wrote a line."""
        return line_sha256(line) in self.machine

    def held_of(self, line: str) -> frozenset[int] | None:
        """The facts that hold of those that the server made a line of; None where nothing tells."""
        return self.held.get(line_sha256(line))


class SoulEvolution:
    """The stage `soul`. `now` gives the time, with its zone."""

    def __init__(
        self,
        dependencies: SoulDependencies,
        rules: SoulRules | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._dependencies = dependencies
        self._rules = rules or SoulRules()
        self._now = now
        self._runs = ReportedRuns(dependencies.database, dependencies.pipeline, dependencies.tombstones, now=now)

    async def run(self, work: Work, grant: Grant, place: Place) -> Outcome:
        """Write SOUL.md anew, or say in the outcome and in a report why it stays as it is."""
        run = self._runs.begin(STAGE, "soul", work, grant, place)
        return await self._runs.finish(run, partial(self._attempt, run), what=PATH)

    async def _attempt(self, run: Run) -> Outcome:
        if self._dependencies.model is None:
            return await self._skip(run, NO_MODEL)
        seen = await self._read(run.place)
        if not seen.facts:
            return await self._skip(run, "no facts are known")
        of_people = await asyncio.to_thread(soul_text.peoples_text, seen.before, seen.is_machine)
        words = self._rules.max_words - soul_text.count_words(of_people)
        if words < soul_text.MIN_WORDS:
            return await self._skip(run, "the lines of people leave no room")
        answer = await ask(self._dependencies.model, run.work.tenant_id, self._question(run.place, seen, words))
        if answer.value is None:
            return await self._skip(run, "the model gave no answer", answer.generation, answer.fallback)
        proposals = [(line.text, line.facts) for line in answer.value.lines]
        review = await asyncio.to_thread(
            soul_text.reviewed, proposals, seen.facts, seen.before, seen.is_machine, seen.clean, seen.held_of
        )
        lines = [line.text for line in review.lines]
        limits = {"min_chars": self._rules.min_chars, "max_words": words}
        if unfit := await asyncio.to_thread(partial(soul_text.why_unfit, lines, **limits)):
            log.warning("soul_refused", reason=unfit, lines=dict(review.refused))
            return await self._skip(run, f"refused: {unfit}", answer.generation, "refused")
        after = await asyncio.to_thread(soul_text.composed, seen.before, lines, seen.is_machine)
        if after == seen.before:
            return await self._skip(run, "it says the same as before", answer.generation)
        return await self._store(run, seen, review, after, answer.generation)

    async def _read(self, place: Place) -> _Seen:
        tenant_id = place.tenant_id
        async with self._dependencies.database.tenant(tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            params = {"tenant_id": tenant_id, "slice_ids": slice_ids, "now": self._now(), "limit": MAX_FACTS}
            rows = await (await connection.execute(SQL["facts"], params)).fetchall()
            found = await read_documents(connection, tenant_id, slice_ids, [PATH])
            machine = await machine_lines(connection, tenant_id, slice_ids[0], PATH) if slice_ids else frozenset()
            held = await _held(connection, params)
            mark = await tombstone_mark(connection, tenant_id, slice_ids)
        by_text: dict[str, KnownFact] = {}
        for row in rows:
            # One sentence may state several facts.
            known = by_text.setdefault(row["text"], KnownFact(row["text"], row["said_at"].date(), ()))
            by_text[row["text"]] = replace(known, fact_ids=(*known.fact_ids, row["fact_id"]))
        clean = await self._dependencies.tombstones.without_forgotten(place)
        facts = await asyncio.to_thread(soul_text.usable_facts, list(by_text.values()), clean)
        text = next((text for document, text in found if document.deleted_at is None), None)
        version = next((document.version for document, _ in found), 0)
        return _Seen(text, version, machine, held, facts, clean, mark)

    def _question(self, place: Place, seen: _Seen, words: int) -> Question[answers.Soul]:
        inputs = {
            "whose": "one person" if place.scope == "personal" else "all who use you",
            "words": str(words),
            "soul": seen.before,
            "facts": "\n".join(f"[{number}] {fact.text}" for number, fact in enumerate(seen.facts, start=1)),
        }

        def check(answer: answers.Soul) -> str | None:
            lines = [line.text for line in answer.lines]
            return soul_text.why_unfit(lines, min_chars=self._rules.min_chars, max_words=words)

        max_tokens = words * _TOKENS_A_WORD + _ANSWER_TOKENS
        return Question("soul", inputs, answers.Soul, max_tokens, self._rules.timeout_seconds, check)

    async def _skip(
        self, run: Run, reason: str, generation: Generation = EXTRACTIVE, fallback: str | None = None
    ) -> Outcome:
        """Keep a report that SOUL.md stays as it is."""
        report = replace(run.report, status="skipped", reason=reason, ended_at=self._now())
        if generation.method == "llm" or fallback is not None:
            report = report.generated_by(generation, fallback)
        # A report of what was not done has no text of the memory.
        await self._runs.keep(run, report, None, mark=await self._runs.mark(run.place))
        return Outcome("skipped", reason, None, fallback, report.report_id)

    async def _store(
        self, run: Run, seen: _Seen, review: soul_text.Reviewed, after: str, generation: Generation
    ) -> Outcome:
        """Write SOUL.md, the provenance of its lines and the report in one transaction."""
        place = run.place
        refused = sum(review.refused.values())
        report = replace(
            self._report(run, seen, after), reason=f"{len(review.lines)} lines of {len(seen.facts)} facts"
        ).generated_by(generation, None)
        report = replace(report, seen={**report.seen, "refused": refused})

        def edit(text: str | None) -> str:
            if text != seen.text:
                raise Superseded
            return after

        async def within(connection: Connection, slice_: Slice) -> None:
            await _check(connection, place, slice_, seen, review.lines)
            derived = [
                Derived(PATH, [line.text], generation, STAGE, [_source(fact_id) for fact_id in line.fact_ids])
                for line in review.lines
                if not line.is_kept
            ]
            await record(connection, place.tenant_id, slice_.slice_id, derived, at=report.ended_at)
            await keep_report(connection, place, slice_, report)

        await self._runs.write(place, [Change(PATH, edit, "server", STAGE)], None, within)
        return Outcome("completed", report.reason, generation.method, None, report.report_id)

    def _report(self, run: Run, seen: _Seen, after: str) -> Report:
        return replace(
            run.report,
            ended_at=self._now(),
            seen={"facts": len(seen.facts)},
            path=PATH,
            version_before=seen.version or None,
            version_after=seen.version + 1,
            diff=unified_diff(seen.before, after, PATH, PATH),
        )


async def _held(connection: Connection, params: Mapping[str, Any]) -> dict[bytes, frozenset[int]]:
    """The facts that hold now behind each line of SOUL.md, as it is or was, that was made of facts."""
    rows = await (await connection.execute(SQL["line_facts"], {**params, "path": PATH})).fetchall()
    made_of = {bytes(row["line_sha256"]): {parse_id("fact", given) for given in row["fact_ids"]} for row in rows}
    known = {**params, "fact_ids": sorted(set().union(*made_of.values()))}
    holding = {row["fact_id"] for row in await (await connection.execute(SQL["holding"], known)).fetchall()}
    return {sha256: frozenset(fact_ids & holding) for sha256, fact_ids in made_of.items()}


def _source(fact_id: int) -> dict[str, Any]:
    return fact_source(public_id("fact", fact_id))


async def _check(connection: Connection, place: Place, slice_: Slice, seen: _Seen, lines: Sequence[SoulText]) -> None:
    """Raise Superseded where something was forgotten, or where a fact behind a line holds no longer."""
    if await tombstone_mark(connection, place.tenant_id, [slice_.slice_id]) != seen.tombstones:
        raise Superseded
    fact_ids = sorted({fact_id for line in lines for fact_id in line.fact_ids})
    params = {"tenant_id": place.tenant_id, "slice_id": slice_.slice_id, "fact_ids": fact_ids}
    row = await (await connection.execute(SQL["still_hold"], params)).fetchone()
    if row is None or row["facts"] != len(fact_ids):
        raise Superseded
