"""The facts of a slice in PostgreSQL: adds what was read, and removes what no longer has a source.

Every function works inside the caller's transaction, which holds the slice's lock. `settle` then says what holds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.document_index import purge_chunks
from reverie_server.facts.model import LineSource, MessageSource, Reading, fact_sha256
from reverie_server.heuristics.fact_sentences import keyed_sentences, sentence_key
from reverie_server.heuristics.stated_fact import MAX_FIELD_CHARS, StatedFact
from reverie_server.text.fences import strip_injected

SQL = Queries(__file__)
# Of one message, and how many of those that lines were made of are looked at.
_MAX_CHARS, _MAX_BEHIND = 8_000, 200


@dataclass(frozen=True, slots=True)
class FactSlice:
    """The facts of a locked slice. `at` is the time of the changes."""

    connection: Connection
    tenant_id: str
    slice_id: int
    at: datetime

    @property
    def key(self) -> dict[str, Any]:
        """The parameters of the slice in the SQL statements."""
        return {"tenant_id": self.tenant_id, "slice_id": self.slice_id, "at": self.at}


async def add(facts: FactSlice, readings: Sequence[Reading]) -> list[int]:
    """Add what was read, with its sources and sentences; the id of the fact of each reading, of several the first.

    A copy of what messages state is another source of these facts, whatever is read in the line alone. So is a copy of
    a fact that is known; its own wording is one more by which it is recognised. Where nothing was read in a message
    that a line repeats, it is a source of what the line states: the line may go, and what was said ends all the same.
    """
    own = {index: reading for index, reading in enumerate(readings) if not reading.is_copy}
    copies = {index: reading for index, reading in enumerate(readings) if reading.is_copy}
    by_hash = await _upsert(facts, list(own.values()))
    placed = {index: [_Place(reading, by_hash[fact_sha256(reading.stated)])] for index, reading in own.items()}
    await _add_places(facts, placed)
    if copies:
        found = await _stated_by(facts, copies)
        missing = {index: reading for index, reading in copies.items() if index not in found}
        by_hash |= await _upsert(facts, [each for each in missing.values() if fact_sha256(each.stated) not in by_hash])
        heard = await _heard(facts, missing)
        found |= {
            index: [_Place(each, by_hash[fact_sha256(reading.stated)]) for each in heard.get(index, [reading])]
            for index, reading in missing.items()
        }
        await _add_places(facts, found)
        placed |= found
    return [placed[index][0].fact_id for index in range(len(readings))]


@dataclass(frozen=True, slots=True)
class _Place:
    """A reading as it is a source of a fact; `is_same`: it says what the fact does."""

    reading: Reading
    fact_id: int
    is_same: bool = True


async def _stated_by(facts: FactSlice, copies: Mapping[int, Reading]) -> dict[int, list[_Place]]:
    """The facts of which copies are, by the index of the copy.

    Of a sentence that messages state these are all that were read in it: what was read of it then counts, first what
    says the same of the same as the copy. Where messages say it of different subjects, these are what the messages
    behind the copy say. Of any other it is the one that does.
    """
    keys = {index: sentence_key(reading.stated.sentence) for index, reading in copies.items()}
    params: dict[str, Any] = {**facts.key, "hashes": sorted(set(keys.values()))}
    spoken: dict[bytes, list[DictRow]] = {}
    for row in await (await facts.connection.execute(SQL["spoken"], params)).fetchall():
        spoken.setdefault(bytes(row["sentence_sha256"]), []).append(row)
    shared = {key for key, rows in spoken.items() if len({row["subject"].casefold() for row in rows}) > 1}
    behind = await _facts_behind(facts, [copies[index] for index, key in keys.items() if key in shared])
    found: dict[int, list[_Place]] = {}
    for index, key in keys.items():
        copy = copies[index]
        own = behind.get(copy.line) if key in shared else None
        places = [
            _as_said(copy, row) if _says_same(copy.stated, row) else _as_read(copy, key, row)
            for row in spoken.get(key, ())
            if not own or row["fact_id"] in own
        ]
        if places:
            found[index] = sorted(places, key=lambda place: not place.is_same)
    others = [index for index in copies if index not in found]
    stated = [copies[index].stated for index in others]
    params = {
        **facts.key,
        "subjects": [each.subject for each in stated],
        "predicates": [each.predicate for each in stated],
        "objects": [each.object for each in stated],
    }
    rows = await (await facts.connection.execute(SQL["twins"], params)).fetchall() if others else []
    # In other words it may have been said again: it is as of its own messages, if it has some.
    return found | {
        index: [_as_said(copy, row) if copy.is_undated else _Place(copy, row["fact_id"])]
        for row in rows
        for index in [others[row["place"] - 1]]
        for copy in [copies[index]]
    }


async def _facts_behind(facts: FactSlice, copies: Sequence[Reading]) -> dict[LineSource | None, set[int]]:
    """The facts that the messages state of which the server made some lines, by the line."""
    lines = [copy.line for copy in copies if copy.line is not None]
    if not lines:
        return {}
    params = {
        **facts.key,
        "document_ids": [line.document_id for line in lines],
        "lines": [line.sha256 for line in lines],
    }
    stated: dict[tuple[int, bytes], set[int]] = {}
    for row in await (await facts.connection.execute(SQL["stated_behind"], params)).fetchall():
        stated.setdefault((row["document_id"], bytes(row["line_sha256"])), set()).add(row["fact_id"])
    return {line: stated.get((line.document_id, line.sha256), set()) for line in lines}


async def _heard(facts: FactSlice, copies: Mapping[int, Reading]) -> dict[int, list[Reading]]:
    """The copies that the server made of a sentence of a message, by their index: as that was said, and the message."""
    made = {index: copy.line for index, copy in copies.items() if copy.is_made and copy.line is not None}
    if not made:
        return {}
    params: dict[str, Any] = {
        **facts.key,
        "document_ids": [line.document_id for line in made.values()],
        "lines": [line.sha256 for line in made.values()],
        "chars": _MAX_CHARS,
        "limit": _MAX_BEHIND,
    }
    rows = await (await facts.connection.execute(SQL["behind"], params)).fetchall()
    return await asyncio.to_thread(_as_heard, {index: copies[index] for index in made}, rows)


def _as_heard(copies: Mapping[int, Reading], rows: Sequence[DictRow]) -> dict[int, list[Reading]]:
    by_line: dict[tuple[int, bytes], list[DictRow]] = {}
    for row in rows:
        by_line.setdefault((row["document_id"], bytes(row["line_sha256"])), []).append(row)
    keys = {
        (row["session_key"], row["seq"]): {span.key for span in keyed_sentences(strip_injected(row["content"]))}
        for row in rows
    }
    found: dict[int, list[Reading]] = {}
    for index, copy in copies.items():
        assert copy.line is not None
        key = sentence_key(copy.stated.sentence)
        behind = by_line.get((copy.line.document_id, copy.line.sha256), ())
        for row in (row for row in behind if key in keys[(row["session_key"], row["seq"])]):
            # What is said of another time is said of it.
            is_of_then = copy.stated.valid_from == copy.stated.said_at
            valid_from = row["at"] if is_of_then else copy.stated.valid_from
            heard = replace(copy, stated=replace(copy.stated, said_at=row["at"], valid_from=valid_from))
            source = MessageSource(row["session_key"], row["session_id"], (row["seq"],), (row["message_id"] or "",))
            found[index] = [heard, replace(heard, messages=source)]
            break
    return found


def _says_same(stated: StatedFact, row: DictRow) -> bool:
    parts = (stated.subject, stated.predicate, stated.object)
    return all(
        part.casefold() == row[name].casefold()
        for name, part in zip(("subject", "predicate", "object"), parts, strict=True)
    )


def _as_said(copy: Reading, row: DictRow) -> _Place:
    """A copy of a fact; what the server made of messages says it as of when one last did, and not again."""
    said_at = row["said_at"]
    if not copy.is_made or said_at is None or copy.stated.said_at <= said_at:
        return _Place(copy, row["fact_id"])
    stated = replace(copy.stated, said_at=said_at, valid_from=row["valid_from"], valid_to=row["valid_to"])
    return _Place(replace(copy, stated=stated), row["fact_id"])


def _as_read(copy: Reading, key: bytes, row: DictRow) -> _Place:
    """A copy of a sentence in which a message states a fact that is not what was read in the copy: it has the days of
    that fact, and no other words by which this is recognised."""
    dated = _as_said(copy, row).reading
    stated = replace(dated.stated, valid_from=row["valid_from"], valid_to=row["valid_to"])
    return _Place(replace(dated, stated=stated, keys=frozenset({key})), row["fact_id"], is_same=False)


async def _add_places(facts: FactSlice, placed: Mapping[int, Sequence[_Place]]) -> None:
    """Add the sources of facts, each line once, and the sentences by which they are recognised."""
    places = sorted((place for of_one in placed.values() for place in of_one), key=lambda place: not place.is_same)
    if not places:
        return
    rows: dict[tuple[int, object], dict[str, Any]] = {}
    for place in places:
        # A line that stands in two files is of one message.
        source = (place.reading.messages if place.reading.is_copy else None) or place.reading.line or id(place.reading)
        rows.setdefault((place.fact_id, source), _source_row(place.reading, place.fact_id))
    await facts.connection.execute(SQL["add_sources"], {**facts.key, "rows": Jsonb(list(rows.values()))})
    await add_sentences(facts, {(key, place.fact_id) for place in places for key in place.reading.keys})


async def add_sentences(facts: FactSlice, keys: Collection[tuple[bytes, int]]) -> None:
    """Add sentences, by their keys, each with a fact that is recognised by it."""
    if not keys:
        return
    sentences = sorted(keys)
    params = {"hashes": [key for key, _ in sentences], "fact_ids": [fact_id for _, fact_id in sentences]}
    await facts.connection.execute(SQL["add_sentences"], {**facts.key, **params})


async def drop_sources_of_documents(facts: FactSlice, document_ids: Sequence[int], lines: Collection[bytes]) -> None:
    """Drop what was read in some files before. `lines` are the hashes of the lines that they have."""
    params = {**facts.key, "document_ids": list(document_ids), "lines": sorted(lines)}
    await facts.connection.execute(SQL["drop_document_sources"], params)


async def drop_sources_of_messages(facts: FactSlice, session_key: int, from_seq: int, through_seq: int) -> None:
    """Drop what was read without a model in the messages of a session, from one number to another."""
    params = {**facts.key, "session_key": session_key, "from_seq": from_seq, "through_seq": through_seq}
    await facts.connection.execute(SQL["drop_message_sources"], params)


async def remove_unsourced(facts: FactSlice) -> int:
    """Remove the facts that nothing states any more, with their passages; how many."""
    await facts.connection.execute(SQL["drop_dead_sources"], facts.key)
    rows = await (await facts.connection.execute(SQL["unsourced"], facts.key)).fetchall()
    return await remove(facts, [row["fact_id"] for row in rows])


async def remove(facts: FactSlice, fact_ids: Sequence[int]) -> int:
    """Remove facts with their passages, votes and contradictions; how many."""
    if not fact_ids:
        return 0
    params = {**facts.key, "fact_ids": list(fact_ids)}
    chunks = await (await facts.connection.execute(SQL["chunks_of"], params)).fetchall()
    await purge_chunks(facts.connection, facts.tenant_id, chunks)
    return (await facts.connection.execute(SQL["remove"], params)).rowcount


async def mark_session(facts: FactSlice, session_key: int, facts_through: int, through_seq: int) -> bool:
    """Mark up to where facts were read in a session; False where another run was faster, or the session is gone."""
    params = {**facts.key, "session_key": session_key, "facts_through": facts_through, "through_seq": through_seq}
    return await (await facts.connection.execute(SQL["mark_session"], params)).fetchone() is not None


async def mark_document(facts: FactSlice, document_id: int, version: int) -> str | None:
    """Mark in which version of a file facts were read; the text of a newer version, or "".

    None where another run was faster, or the file is gone. A file with a newer version stays due.
    """
    params = {**facts.key, "document_id": document_id, "version": version}
    row = await (await facts.connection.execute(SQL["mark_document"], params)).fetchone()
    return None if row is None else row["newer"] or ""


async def unmark(facts: FactSlice) -> None:
    """Have facts read anew in all sessions and files of the slice. What is there stays until then."""
    await facts.connection.execute(SQL["unmark"], facts.key)


async def _upsert(facts: FactSlice, readings: Sequence[Reading]) -> dict[bytes, int]:
    rows = {fact_sha256(reading.stated): reading for reading in readings}
    if not rows:
        return {}
    values = [_fact_row(reading, sha256) for sha256, reading in rows.items()]
    cursor = await facts.connection.execute(SQL["upsert"], {**facts.key, "rows": Jsonb(values)})
    return {bytes(row["fact_sha256"]): row["fact_id"] for row in await cursor.fetchall()}


def _fact_row(reading: Reading, sha256: bytes) -> dict[str, Any]:
    stated = reading.stated
    return {
        **_times(stated),
        **asdict(reading.generation),
        "sha256": sha256.hex(),
        "subject": stated.subject[:MAX_FIELD_CHARS],
        "predicate": stated.predicate[:MAX_FIELD_CHARS],
        "object": stated.object[:MAX_FIELD_CHARS],
        "text": stated.text,
        "category": stated.category,
        "confidence": stated.confidence,
        "is_functional": stated.is_functional,
        "is_request": stated.is_request,
        "about_user": stated.about_user,
        "change": asdict(stated.change) if stated.change else None,
    }


def _source_row(reading: Reading, fact_id: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        **_times(reading.stated),
        **asdict(reading.generation),
        "fact_id": fact_id,
        "operation": reading.operation,
        "of_fact_id": reading.of_fact_id,
    }
    if reading.line is not None:
        row["line_sha256"] = reading.line.sha256.hex()
    if reading.messages is not None:
        return row | asdict(reading.messages)
    if reading.line is not None:
        return row | {name: value for name, value in asdict(reading.line).items() if name != "sha256"}
    return row


def _times(stated: StatedFact) -> dict[str, str | None]:
    return {
        "said_at": stated.said_at.isoformat(),
        "valid_from": stated.valid_from.isoformat(),
        "valid_to": stated.valid_to.isoformat() if stated.valid_to else None,
    }
