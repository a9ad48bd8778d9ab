"""What people change about facts: the words of one, and which one of two holds. Both change the files, too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import Conflict, DuplicateDetected, ValidationFailed
from reverie_indexer.index import store as documents
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_indexer.text.passages import Rules
from reverie_server.access.gate import Grant
from reverie_server.access.principal import check_place, place_for
from reverie_server.facts import store
from reverie_server.facts.conflicts import Statement, wordings_of
from reverie_server.facts.echoes import add_echoes
from reverie_server.facts.lines import (
    check_statement,
    clause_in,
    line_with,
    locate,
    statement_of,
    statements_in,
    with_statement,
    without_statement,
)
from reverie_server.facts.model import Contradiction, Fact, Kept, LineSource, Reading
from reverie_server.facts.of_others import places_of_others
from reverie_server.facts.reading import ReadFacts, keys_of
from reverie_server.facts.settle import MAX_FACTS, Indexing, settle
from reverie_server.facts.store import FactSlice
from reverie_server.facts.votes import SQL as VOTES
from reverie_server.forgettable import Spared
from reverie_server.heuristics.fact_sentences import sentence_key
from reverie_server.heuristics.stated_fact import MAX_FIELD_CHARS, SELF, StatedFact, Utterance
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Work
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.long_term import memory_text
from reverie_server.long_term.archive_files import archive_change
from reverie_server.long_term.longterm import MEMORY, LongTermMemory
from reverie_server.provenance.line_identity import line_sha256

SQL = Queries(__file__)
EDITED = "fact edited"
RESOLVED = "contradiction resolved"
_ATTEMPTS = 10


def place_of(grant: Grant, fact: Fact) -> Place:
    """The place of a fact to change; Forbidden for one that others read, with a key that is bound to its owner."""
    place = place_for(grant.principal, fact.scope)
    check_place(grant.principal, place)
    return place


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChangesDependencies:
    """What changes work with. `now` gives the time, with its zone."""

    database: Database
    pipeline: Pipeline
    long_term: LongTermMemory
    read_facts: ReadFacts
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Wordings:
    """How a fact is stated: in whole sentences, and in clauses of sentences that say something else, too.

    `spared` are the places where equal words tell of somebody else.
    """

    sentences: Sequence[str]
    clauses: Sequence[str]
    spared: Spared


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a file that states a fact: by its hash, and the keys of the sentence."""

    fact_id: int
    path: str
    sha256: bytes
    keys: frozenset[bytes]


class FactChanges:
    """Changes of facts of a place, by a person."""

    def __init__(self, dependencies: FactChangesDependencies) -> None:
        self._dependencies = dependencies
        self._database = dependencies.database

    async def wordings(self, place: Place, fact: Fact) -> Wordings:
        """What was said and written to state a fact, word for word, and the fact's own words."""
        params = {"tenant_id": place.tenant_id, "slice_id": fact.slice_id, "fact_id": fact.fact_id}
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            await own_slices(connection, place)
            keys = await self._keys(connection, params)
            texts = [
                row["content"]
                for name in ("messages", "lines")
                for row in await (await connection.execute(SQL[name], params)).fetchall()
            ]
            spared = await places_of_others(connection, place.tenant_id, fact)
        found = {statement for text in texts for statement in statements_in(text, keys)}
        clauses = {statement: clause_in(statement, fact.text) for statement in sorted(found)}
        whole = [statement for statement, clause in clauses.items() if clause is None]
        return Wordings([*whole, fact.text], sorted({clause for clause in clauses.values() if clause}), spared)

    async def edit(self, grant: Grant, place: Place, fact: Fact, text: str) -> int:
        """Write other words in the place of a fact's line, which is then a person's; the id of the fact they state.

        A fact that was said, and stands in no file, is written into MEMORY.md. Raises ValidationFailed, and Conflict
        where others write the file all the time.
        """
        statement = check_statement(text)
        lines = await self._lines(place, fact.slice_id, [fact.fact_id])
        rewriting = _Rewriting(replaced=lines[-1:], statement=statement, old=fact)
        return await self._rewrite(grant, place, [fact.fact_id], rewriting)

    async def resolve(
        self, grant: Grant, place: Place, contradiction: Contradiction, keep: Kept, text: str | None
    ) -> None:
        """Decide a contradiction, once: facts and files then say the same, and what lost is in the archive.

        `merge` needs the text that takes the place of both. Raises Conflict for one that is decided, ValidationFailed.
        """
        if (text is not None) != (keep == "merge"):
            raise ValidationFailed("text goes with keep: merge, which needs it")
        decision = {"contradiction_id": contradiction.contradiction_id, "kept": keep, "by": grant.author}
        if keep == "ignore":
            async with self._dependencies.pipeline.unit_of_work(place) as unit:
                facts = self._facts(unit.connection, place, unit.slice_.slice_id)
                await _decide(facts, {**decision, "state": "ignored"})
            return
        first, second = contradiction.fact_a, contradiction.fact_b
        losers = {"a": [second], "b": [first], "merge": [first, second]}[keep]
        ids = await self._wordings(place, first.slice_id, [loser.fact_id for loser in losers])
        lines = await self._lines(place, first.slice_id, ids)
        rewriting = _Rewriting(removed=lines, decision={**decision, "state": "resolved"})
        if keep == "merge":
            statement = check_statement(text or "")
            rewriting = replace(rewriting, statement=statement, replaced=lines[-1:], removed=lines[:-1], old=first)
        else:
            rewriting = replace(rewriting, winner=first.fact_id if keep == "a" else second.fact_id)
        await self._rewrite(grant, place, ids, rewriting)

    async def _rewrite(self, grant: Grant, place: Place, fact_ids: Sequence[int], rewriting: _Rewriting) -> int:
        async def attempt() -> int:
            changes = await self._changes(grant, place, rewriting)
            async with self._dependencies.pipeline.unit_of_work(place, changes) as unit:
                facts = self._facts(unit.connection, place, unit.slice_.slice_id)
                if rewriting.decision is not None:
                    await _decide(facts, rewriting.decision)
                new_id = rewriting.winner
                if rewriting.statement is not None:
                    new_id = await self._state(facts, grant, changes[0].path, rewriting)
                closed = [fact_id for fact_id in fact_ids if fact_id != new_id]
                params = {**facts.key, "fact_ids": closed, "superseded_by": new_id}
                await facts.connection.execute(SQL["close"], params)
                await add_echoes(facts, closed)
                language = grant.settings.language
                await settle(facts, place, unit.slice_, Indexing(Rules(language=language), None))
                if place.scope != "global":
                    # PROFILE.md follows.
                    await defer(unit.connection, Work("facts", place.tenant_id, place.agent_id, place.owner_key))
            self._dependencies.pipeline.backfill_wanted.set()
            assert new_id is not None
            return new_id

        return await until_stable(attempt, attempts=_ATTEMPTS, what="the file of the fact")

    async def _changes(self, grant: Grant, place: Place, rewriting: _Rewriting) -> list[Change]:
        """The changes of files, the one that gets the new statement first."""
        reason = EDITED if rewriting.decision is None else RESOLVED
        by_path: defaultdict[str, list[tuple[_Line, str | None]]] = defaultdict(list)
        for line in rewriting.replaced:
            by_path[line.path].append((line, rewriting.statement))
        for line in rewriting.removed:
            by_path[line.path].append((line, None))
        changes = [Change(path, partial(_edited, edits), grant.author, reason) for path, edits in by_path.items()]
        if rewriting.statement is not None and not rewriting.replaced:
            path, edit = await self._into_memory(place, rewriting.statement)
            others = by_path.pop(path, [])
            changes = [change for change in changes if change.path != path]
            changes.insert(0, Change(path, lambda text: edit(_edited(others, text)), grant.author, reason))
        if rewriting.decision is not None:
            lost = await self._lost(place, [*rewriting.replaced, *rewriting.removed])
            if lost:
                database, day = self._dependencies.database, self._dependencies.now().date()
                changes.append(await archive_change(database, place, day, lost, grant.author))
        return changes

    async def _into_memory(self, place: Place, statement: str) -> tuple[str, Callable[[str | None], str]]:
        found = await self._dependencies.long_term.current(place)
        entry = memory_text.entry_of(statement)

        def edit(text: str | None) -> str:
            try:
                return memory_text.add_entry(text, memory_text.section_of("notes"), entry)
            except DuplicateDetected:
                return text or ""

        return (found[0].path if found else MEMORY), edit

    async def _lost(self, place: Place, lines: Sequence[_Line]) -> list[str]:
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            paths = sorted({line.path for line in lines})
            texts = await documents.read_documents(connection, place.tenant_id, slice_ids, paths)
        present = {document.path: text for document, text in texts if document.deleted_at is None}
        found = [statement_of(present[line.path], line.sha256, line.keys) for line in lines if line.path in present]
        return [statement for statement in found if statement]

    async def _lines(self, place: Place, slice_id: int, fact_ids: Sequence[int]) -> list[_Line]:
        """The lines of files that state some facts, the newest statement last."""
        params = {"tenant_id": place.tenant_id, "slice_id": slice_id, "fact_ids": list(fact_ids)}
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            await own_slices(connection, place)
            rows = await (await connection.execute(SQL["sources"], params)).fetchall()
            keys = {fact_id: await self._keys(connection, {**params, "fact_id": fact_id}) for fact_id in fact_ids}
        return [
            _Line(row["fact_id"], row["path"], bytes(row["line_sha256"]), keys[row["fact_id"]])
            for row in rows
            if row["path"] is not None and not row["path"].startswith("_system/")
        ]

    async def _wordings(self, place: Place, slice_id: int, fact_ids: Sequence[int]) -> list[int]:
        """Some facts, and those that hold and state the same in other words."""
        params = {"tenant_id": place.tenant_id, "slice_id": slice_id, "fact_ids": list(fact_ids), "limit": MAX_FACTS}
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            await own_slices(connection, place)
            rows = await (await connection.execute(SQL["alike"], params)).fetchall()
        facts = [Statement(**row) for row in rows]
        chars = sum(len(fact.subject) + len(fact.predicate) + len(fact.object) for fact in facts)
        return await isolated(wordings_of, fact_ids, facts, chars=chars)

    async def _keys(self, connection: Connection, params: Mapping[str, Any]) -> frozenset[bytes]:
        rows = await (await connection.execute(SQL["keys"], params)).fetchall()
        return frozenset(bytes(row["sentence_sha256"]) for row in rows)

    async def _state(self, facts: FactSlice, grant: Grant, path: str, rewriting: _Rewriting) -> int:
        """Add the fact that the new statement states, of the line that it now stands in; its id."""
        statement, old = rewriting.statement or "", rewriting.old
        params = {**facts.key, "path": path}
        row = await (await facts.connection.execute(SQL["document"], params)).fetchone()
        found = await documents.read_documents(facts.connection, facts.tenant_id, [facts.slice_id], [path])
        if row is None or old is None or not found:
            raise Superseded
        number, line = line_with(found[0][1], statement)
        source = LineSource(row["document_id"], path, number, number, line_sha256(line))
        utterance = Utterance(statement, facts.at, "file")
        stated = next(iter(self._dependencies.read_facts([utterance], grant.settings.language)), None)
        reading = Reading(stated, EXTRACTIVE, keys_of(stated, statement), line=source) if stated else None
        if reading is None:
            own = _restated(old, statement, facts.at)
            keys = frozenset({sentence_key(statement)})
            # Nobody reads this fact in the line again: `add` keeps the source as long as the line stands.
            reading = Reading(own, EXTRACTIVE, keys, line=source, operation="add", of_fact_id=old.fact_id)
        [fact_id] = await store.add(facts, [reading])
        await facts.connection.execute(VOTES["confirm"], {**facts.key, "fact_id": fact_id, "by": grant.author})
        await facts.connection.execute(SQL["reopen"], {**facts.key, "fact_id": fact_id})
        return fact_id

    def _facts(self, connection: Connection, place: Place, slice_id: int) -> FactSlice:
        return FactSlice(connection, place.tenant_id, slice_id, self._dependencies.now())


@dataclass(frozen=True, slots=True)
class _Rewriting:
    """What becomes of lines: those replaced by a statement, those removed; what a person decided, and which fact won.

    `old` is the fact whose subject the statement has where it is not understood.
    """

    replaced: Sequence[_Line] = ()
    removed: Sequence[_Line] = ()
    statement: str | None = None
    old: Fact | None = None
    winner: int | None = None
    decision: Mapping[str, Any] | None = None


async def _decide(facts: FactSlice, decision: Mapping[str, Any]) -> None:
    if await (await facts.connection.execute(SQL["decide"], {**facts.key, **decision})).fetchone() is None:
        raise Conflict("this contradiction is decided already")


def _edited(edits: Sequence[tuple[_Line, str | None]], text: str | None) -> str:
    """The text of a file with lines replaced (None: removed). Raises Superseded where one is no longer there."""
    edited = text or ""
    for line, statement in edits:
        located = locate(edited, line.sha256, line.keys)
        if located is None:
            raise Superseded
        edited = without_statement(edited, located) if statement is None else with_statement(edited, located, statement)
    return edited


def _restated(old: Fact, statement: str, at: datetime) -> StatedFact:
    """A fact about the same subject, in a person's words."""
    return StatedFact(
        utterance=0,
        sentence=statement,
        text=statement,
        subject=old.subject,
        predicate=old.predicate,
        object=statement[:MAX_FIELD_CHARS],
        category=old.category,
        said_at=at,
        valid_from=at,
        confidence=1.0,
        about_user=old.subject == SELF,
    )
