"""Says which facts of a slice hold, since when and until when, and gives those that hold a passage in the index.

Both follow from all facts of the slice in the order in which they were said, whenever each was read. What a person
decided stays. Everything happens inside the caller's transaction, which holds the slice's lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.index import fact_index
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Passage, Place
from reverie_indexer.text.passages import Rules
from reverie_server.facts.conflicts import Conflicts, Decided, Statement, conflicts_of
from reverie_server.facts.echoes import add_echoes
from reverie_server.facts.older import OlderFacts, related, with_stored
from reverie_server.facts.resolve import Known, Resolution, Said, State, resolve
from reverie_server.facts.store import FactSlice, remove_unsourced
from reverie_server.facts.twins import with_twins
from reverie_server.heuristics.changes.fact_ledger import MAX_OPEN
from reverie_server.heuristics.fact_labels import label_of
from reverie_server.heuristics.stated_fact import Change, StatedFact

SQL = Queries(__file__)
# What is settled against each other: the newest facts of a slice, and at most so many of those before that hold.
MAX_FACTS = 3000
MAX_OLDER = 1000
# Of so many subjects and predicates of older facts, those said last, is looked whether they occur among the newest.
_MAX_OLDER_KEYS = 10_000
# So many facts of one sentence are compared with one of it that has ended.
_MAX_OF_SENTENCE = 20
# After so long without talk nobody knows what of the talk before still holds, if it was not here to be told otherwise.
# Of homes and jobs some tenth changes in half a year.
SILENCE = timedelta(days=540)


@dataclass(frozen=True, slots=True)
class Settled:
    """Counts: facts that were looked at (at most MAX_FACTS + MAX_OLDER), those that hold, open contradictions,
    and passages without a vector."""

    facts: int
    current: int
    contradictions: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Indexing:
    """How the passages of facts are made: the rules of the agent, and the model whose vectors the cache has."""

    rules: Rules
    model_id: int | None


async def has_ended(connection: Connection, tenant_id: str, slice_id: int, at: datetime) -> bool:
    """Whether a fact of a slice has come to the end that was said of it, so that its facts are to be settled anew."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "at": at}
    row = await (await connection.execute(SQL["has_ended"], params)).fetchone()
    return row is not None and bool(row["has_ended"])


async def silent_since(connection: Connection, tenant_id: str, slice_id: int) -> datetime | None:
    """When the last long silence in a slice's conversations began, if there was one: what was said before it alone, and
    imported after it, nobody can know to hold."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "silence": SILENCE}
    row = await (await connection.execute(SQL["silent_from"], params)).fetchone()
    return row["silent_from"] if row is not None else None


async def settle(facts: FactSlice, place: Place, slice_: Slice, indexing: Indexing) -> Settled:
    """Bring the facts of a slice up to date with their sources. Raises TextTooCostly and Overloaded (`isolated`)."""
    # What is decided of a wording that nothing states any more holds for the others.
    decided = await _decided(facts)
    await remove_unsourced(facts)
    silent_from = await silent_since(facts.connection, facts.tenant_id, facts.slice_id)
    params = {**facts.key, "fact_ids": None, "limit": MAX_FACTS, "silence": SILENCE, "silent_from": silent_from}
    rows = await (await facts.connection.execute(SQL["newest"], params)).fetchall()
    older_ids = await _older(facts, rows) if len(rows) == MAX_FACTS else []
    older = {}
    if older_ids:
        found = await (await facts.connection.execute(SQL["newest"], {**params, "fact_ids": older_ids})).fetchall()
        older = {row["fact_id"]: _stored(row) for row in found}
        rows += found
    known = [_known(row) for row in reversed(rows)]
    # 0.2 s of CPU for 3,000 facts, in which nobody else would be answered.
    chars = sum(len(fact.text) for fact in known)
    resolution = await isolated(resolve, known, facts.at, chars=chars)
    resolution = with_stored(resolution, older, facts.at)
    of_one_sentence = await _of_one_sentence(facts, resolution)
    resolution = await isolated(with_twins, known, resolution, of_one_sentence, chars=chars)
    await _write(facts, rows, resolution)
    await add_echoes(facts, _newly_over(rows, resolution))
    conflicts = Conflicts()
    if resolution.contradictions:
        conflicts = await isolated(conflicts_of, known, resolution.contradictions, decided, chars=chars)
    await _write_contradictions(facts, resolution, conflicts)
    waiting = await _index(facts, place, slice_, rows, resolution, indexing)
    current = sum(state.state == "current" for state in resolution.states.values())
    return Settled(len(rows), current, len(conflicts.asked), waiting)


async def _older(facts: FactSlice, newest: Sequence[DictRow]) -> list[int]:
    """At most MAX_OLDER facts that were said before the newest ones, which these may close or time has ended."""
    last = newest[-1]
    params = {**facts.key, "at": facts.at, "said_at": last["said_at"], "fact_id": last["fact_id"]}
    of_keys = {**params, "each": MAX_OPEN, "limit": _MAX_OLDER_KEYS}
    rows = await (await facts.connection.execute(SQL["older"], of_keys)).fetchall()
    over = await (await facts.connection.execute(SQL["ended_before"], {**params, "limit": MAX_OLDER})).fetchall()
    known, older = [_known(row) for row in newest], [OlderFacts(**row) for row in rows]
    chars = sum(len(row["subject"]) + len(row["predicate"]) for row in (*newest, *rows))
    found = await isolated(related, known, older, MAX_OLDER, chars=chars)
    return list(dict.fromkeys([*(row["fact_id"] for row in over), *found]))[:MAX_OLDER]


def _stored(row: DictRow) -> State:
    names = ("state", "said_at", "valid_from", "valid_to", "superseded_by", "closed_by")
    return State(*(row[name] for name in names))


async def _of_one_sentence(facts: FactSlice, resolution: Resolution) -> list[tuple[int, int]]:
    """The facts that another has ended, each with the others that are recognised by a sentence of it."""
    ended = sorted(fact_id for fact_id, state in resolution.states.items() if state.superseded_by is not None)
    if not ended:
        return []
    params = {**facts.key, "fact_ids": ended, "limit": _MAX_OF_SENTENCE}
    rows = await (await facts.connection.execute(SQL["of_one_sentence"], params)).fetchall()
    return [(row["fact_id"], row["other_id"]) for row in rows]


async def _decided(facts: FactSlice) -> list[Decided]:
    rows = await (await facts.connection.execute(SQL["decided"], facts.key)).fetchall()
    return [
        Decided(**{**row, "first": Statement(**row["first"]), "second": Statement(**row["second"])}) for row in rows
    ]


def _known(row: DictRow) -> Known:
    return Known(
        fact_id=row["fact_id"],
        subject=row["subject"],
        predicate=row["predicate"],
        object=row["object"],
        text=row["text"],
        category=row["category"],
        confidence=row["confidence"],
        is_functional=row["is_functional"],
        is_request=row["is_request"],
        about_user=row["about_user"],
        change=Change(**row["change"]) if row["change"] else None,
        said=tuple(_said(each) for each in row["times"] or ()),
        decided=(row["state"], row["valid_to"], row["superseded_by"]) if row["closed_by"] == "person" else None,
        is_confirmed=row["is_confirmed"],
        method=row["method"],
        model=row["model"],
        outlived_at=row["outlived_at"],
    )


def _said(time: dict[str, Any]) -> Said:
    return Said(
        said_at=datetime.fromisoformat(time["said_at"]),
        valid_from=datetime.fromisoformat(time["valid_from"]),
        valid_to=datetime.fromisoformat(time["valid_to"]) if time["valid_to"] else None,
        operation=time["operation"],
        of_fact_id=time["of_fact_id"],
    )


async def _write(facts: FactSlice, rows: Sequence[DictRow], resolution: Resolution) -> None:
    """Write the states that are not as they were."""
    changed = []
    for row in rows:
        state = resolution.states[row["fact_id"]]
        closed_by = row["closed_by"] if row["closed_by"] == "person" else state.closed_by
        new = (state.said_at, state.valid_from, state.valid_to, state.state, state.superseded_by, closed_by)
        names = ("said_at", "valid_from", "valid_to", "state", "superseded_by", "closed_by")
        if new != tuple(row[name] for name in names):
            values = dict(zip(names, new, strict=True))
            times = {
                name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()
            }
            changed.append({"fact_id": row["fact_id"], **times})
    if changed:
        await facts.connection.execute(SQL["write"], {**facts.key, "rows": Jsonb(changed)})


def _newly_over(rows: Sequence[DictRow], resolution: Resolution) -> list[int]:
    """The facts that held until now."""
    return [
        row["fact_id"]
        for row in rows
        if row["state"] == "current" and resolution.states[row["fact_id"]].state != "current"
    ]


async def _write_contradictions(facts: FactSlice, resolution: Resolution, conflicts: Conflicts) -> None:
    pairs = sorted(conflicts.asked)
    params = {**facts.key, "first_ids": [first for first, _ in pairs], "second_ids": [second for _, second in pairs]}
    params["fact_ids"] = sorted(resolution.states)
    await facts.connection.execute(SQL["close_contradictions"], params)
    if pairs:
        await facts.connection.execute(SQL["open_contradictions"], params)
    # Of several decisions of one conflict the newest is the last.
    inherited = {pair: decided for decided, pair in conflicts.inherited}
    if inherited:
        params = {
            **facts.key,
            "first_ids": [first for first, _ in inherited],
            "second_ids": [second for _, second in inherited],
            "found_at": [decided.found_at for decided in inherited.values()],
            "resolved_at": [decided.resolved_at for decided in inherited.values()],
            "resolved_by": [decided.resolved_by for decided in inherited.values()],
        }
        await facts.connection.execute(SQL["inherit_ignored"], params)


async def _index(
    facts: FactSlice,
    place: Place,
    slice_: Slice,
    rows: Sequence[DictRow],
    resolution: Resolution,
    indexing: Indexing,
) -> int:
    """Passages for the facts without one; those of facts that hold no longer go to the past, or come back from it.

    The number of new passages that wait for their vector.
    """
    entries, retired, anew = [], [], []
    for row in rows:
        state = resolution.states[row["fact_id"]]
        holds = state.state == "current"
        fields = (row["subject"], row["predicate"], row["object"], row["text"])
        is_end = bool(row["change"]) and row["change"]["kind"] == "ends"
        label = label_of(*fields, indexing.rules.language, is_end=is_end)
        entry = fact_index.FactEntry(row["fact_id"], row["text"], state.valid_from, state.said_at, label)
        if row["chunk_id"] is None:
            entries.append(entry)
        elif holds and not row["is_present"]:
            anew.append(row["chunk_id"])
            entries.append(entry)
        if not holds and (row["chunk_id"] is None or row["is_present"]):
            retired.append((row["fact_id"], row["chunk_id"], state.valid_to or facts.at))
    index = fact_index.FactIndex(facts.connection, place, slice_, indexing.rules.language, indexing.model_id)
    await index.remove(anew)
    added = await index.add(entries)
    pairs = sorted(added.chunk_ids.items())
    params = {"fact_ids": [fact_id for fact_id, _ in pairs], "chunk_ids": [chunk_id for _, chunk_id in pairs]}
    if pairs:
        await facts.connection.execute(SQL["set_chunks"], {**facts.key, **params})
    for valid_to in sorted({at for _, _, at in retired}):
        of_time = [chunk_id or added.chunk_ids[fact_id] for fact_id, chunk_id, at in retired if at == valid_to]
        await index.retire(of_time, valid_to)
    return added.waiting


def passage_of(stated: StatedFact, language: str) -> Passage:
    """The passage of a fact, as it is embedded."""
    is_end = stated.change is not None and stated.change.kind == "ends"
    label = label_of(stated.subject, stated.predicate, stated.object, stated.text, language, is_end=is_end)
    return fact_index.passage_of_fact(stated.text, stated.said_at, language, label=label)
