"""Reads the input of a run of emergence. Every function works inside the caller's transaction."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_indexer.index import store
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Document, Place
from reverie_server.heuristics.entries import Entry, entries_of
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.long_term.longterm import MEMORY, STAND_IN
from reverie_server.nights.emergence.candidates import Recall
from reverie_server.nights.emergence.fair_share import char_shares, fair_share
from reverie_server.nights.emergence.model import (
    MAX_LINES,
    EmergenceInput,
    MemoryFile,
    MessageKey,
    NoteFile,
    Passage,
    messages_in,
)
from reverie_server.nights.emergence.worth import worth_of_lines
from reverie_server.provenance import record as derive
from reverie_server.provenance.tombstones import tombstone_mark
from reverie_server.search.relevance import MIN_RELEVANCE
from reverie_server.text.redact import essence

SQL = Queries(__file__)
# The limit of text of the memory's history to compare: some hundred edits of an ordinary memory, a second of work.
_COMPARED_CHARS = 8_000_000
_PROFILE = "PROFILE.md"
# Of all daily notes together so many characters are read, some seconds of work.
_READ_CHARS = 1_000_000
# Notes that were just read and are no longer than this are not read again. With their entries they take 5 MB at most.
_KEPT_CHARS, _KEPT_NOTES = 16_384, 64
_known_entries = lru_cache(maxsize=_KEPT_NOTES)(entries_of)
# By the day of the place's zone; `dreaming` writes them.
_CONSOLIDATED = re.compile(r"_system/dreaming/(\d{4})(\d\d)(\d\d)-consolidated\.md")


@dataclass(frozen=True, slots=True)
class InputWindow:
    """Which notes and files of dreaming a run reads: none older than `max_age_days`, of notes the newest `note_count`.

    A `note_count` of None reads every note that is not too old. `fact_half_life_days` is that of trust, 0 for none.
    """

    now: datetime
    time_zone: str
    language: str
    note_count: int | None
    max_age_days: int
    fact_half_life_days: float


def consolidated_path(day: date) -> str:
    """The path of dreaming's file of a day."""
    return f"_system/dreaming/{day:%Y%m%d}-consolidated.md"


async def read_input(connection: Connection, place: Place, window: InputWindow) -> EmergenceInput:
    """The input of a run; empty for a place without a slice."""
    slice_ids = await own_slices(connection, place)
    if not slice_ids:
        return EmergenceInput()
    today = window.now.astimezone(ZoneInfo(window.time_zone)).date()
    # One day more, so that entries of exactly the maximal age are included.
    since = window.now - timedelta(days=window.max_age_days + 1)
    params: dict[str, Any] = {
        "tenant_id": place.tenant_id,
        "slice_id": slice_ids[0],
        "today": today,
        "since": since.date(),
        "now": window.now,
        "limit": window.note_count,
        "min_relevance": MIN_RELEVANCE,
        "half_life_days": window.fact_half_life_days,
    }
    files = await _files(connection, params)
    params["since"] = since
    ids: dict[MessageKey, str | None] = {}
    entries = await _entries(files, window.language)
    # Without entries there is nothing that was recalled, or that somebody took back.
    has_entries = any(entries.values())
    recalled = await _recalled(connection, params, [file.document_id for file in files]) if has_entries else []
    superseded, stated = await _by_facts(connection, params, [entry for each in entries.values() for entry in each])
    return EmergenceInput(
        files=files,
        entries=[entry for file in files for entry in entries[file.document_id]],
        memory=await _memory(connection, params),
        profile=await _lines_of_file(connection, place.tenant_id, slice_ids[0], _PROFILE),
        recalled=recalled,
        origins=await _origins(connection, place.tenant_id, entries, ids),
        message_ids=ids,
        superseded=superseded,
        stated=stated,
        corrections=await _corrections(connection, params, window.time_zone) if has_entries else [],
        tombstone_mark=await tombstone_mark(connection, place.tenant_id, slice_ids),
    )


def forget_entries() -> None:
    """Forget the entries of notes that are known."""
    _known_entries.cache_clear()


async def _entries(files: Sequence[NoteFile], language: str) -> dict[int, list[Entry]]:
    """The entries of the files by document: of very many those that are the share of each day (`fair_share`)."""
    notes = [file for file in files if not file.is_consolidated]
    shares = char_shares([len(file.text) for file in notes], _READ_CHARS)
    beginnings = {file.path: _beginning(file.text, share) for file, share in zip(notes, shares, strict=True)}
    entries: list[Entry] = []
    for file in files:
        text = beginnings.get(file.path, file.text)
        read = _known_entries if len(text) <= _KEPT_CHARS else _best_entries
        entries += await isolated(read, file.path, text, file.day, language, chars=len(text))
    chars = sum(len(entry.text) for entry in entries)
    by_path: dict[str, list[Entry]] = defaultdict(list)
    for entry in await isolated(fair_share, entries, language, chars=chars):
        by_path[entry.path].append(entry)
    return {file.document_id: by_path[file.path] for file in files}


def _beginning(text: str, chars: int) -> str:
    """The whole lines among the first characters of a text."""
    return text if len(text) <= chars else text[: text.rfind("\n", 0, chars) + 1]


def _best_entries(path: str, text: str, day: date, language: str) -> list[Entry]:
    return fair_share(entries_of(path, text, day, language), language)


async def _by_facts(
    connection: Connection, params: Mapping[str, Any], entries: Sequence[Entry]
) -> tuple[frozenset[str], frozenset[str]]:
    """The texts of entries that a fact which no longer holds was read from, and no fact that holds; and those all of
    whose sentences state what lines of the lasting files state."""
    keys = {text: {span.key for span in keyed_sentences(text)} for text in {entry.text for entry in entries}}
    sought = sorted({key for each in keys.values() for key in each})
    given = {**params, "keys": sought, "paths": [MEMORY, STAND_IN, _PROFILE]}
    found = {
        name: {bytes(row["sentence_sha256"]) for row in await (await connection.execute(SQL[name], given)).fetchall()}
        for name in ("superseded", "stated")
    }
    superseded = frozenset(text for text, each in keys.items() if each & found["superseded"])
    return superseded, frozenset(text for text, each in keys.items() if each and each <= found["stated"])


async def memory_document(connection: Connection, tenant_id: str, slice_id: int) -> tuple[Document, str] | None:
    """The file that is a slice's long-term memory: MEMORY.md, or where that is not there memory.md; else None."""
    found = await store.read_documents(connection, tenant_id, [slice_id], [MEMORY, STAND_IN])
    living = {document.path: (document, text) for document, text in found if document.deleted_at is None}
    return living.get(MEMORY) or living.get(STAND_IN)


async def _files(connection: Connection, params: dict[str, Any]) -> list[NoteFile]:
    notes = await (await connection.execute(SQL["notes"], params)).fetchall()
    files = [NoteFile(r["document_id"], r["path"], r["version"], r["day"], r["content"]) for r in notes]
    for row in await (await connection.execute(SQL["consolidated"], params)).fetchall():
        day = _day_of(row["path"])
        if day is not None and params["since"] <= day <= params["today"]:
            files.append(
                NoteFile(row["document_id"], row["path"], row["version"], day, row["content"], is_consolidated=True)
            )
    return files


def _day_of(path: str) -> date | None:
    match = _CONSOLIDATED.fullmatch(path)
    try:
        return date(*map(int, match.groups())) if match else None
    except ValueError:
        return None


async def _memory(connection: Connection, params: Mapping[str, Any]) -> MemoryFile | None:
    tenant_id, slice_id = params["tenant_id"], params["slice_id"]
    found = await memory_document(connection, tenant_id, slice_id)
    if found is None:
        return None
    document, text = found
    hashes = await derive.machine_lines(connection, tenant_id, slice_id, document.path)
    lines = derive.entry_lines(text)
    machine = [line for line in lines if derive.line_sha256(line) in hashes]
    worth = await worth_of_lines(connection, params, document.document_id, machine) if machine else {}
    return MemoryFile(document.path, document.version, text, lines, frozenset(map(essence, machine)), worth)


async def _lines_of_file(connection: Connection, tenant_id: str, slice_id: int, path: str) -> list[str]:
    found = await store.read_documents(connection, tenant_id, [slice_id], [path])
    return [line for document, text in found if document.deleted_at is None for line in derive.entry_lines(text)]


async def _recalled(connection: Connection, params: dict[str, Any], document_ids: Sequence[int]) -> list[Passage]:
    rows = await (await connection.execute(SQL["recalled"], {**params, "document_ids": document_ids})).fetchall()
    if not rows:
        return []
    by_chunk: dict[int, list[Recall]] = defaultdict(list)
    of_chunks = {**params, "chunk_ids": [row["chunk_id"] for row in rows]}
    for recall in await (await connection.execute(SQL["recalls"], of_chunks)).fetchall():
        by_chunk[recall["chunk_id"]].append(Recall(bytes(recall["query_hash"]), recall["at"]))
    return [passage_of(row, tuple(by_chunk[row["chunk_id"]])) for row in rows]


def passage_of(row: Any, recalls: tuple[Recall, ...] = (), relevance: float = 0.0) -> Passage:
    """A passage from its row. The line of a message's passage is the number of the message."""
    message = (row["session_id"], row["start_line"]) if row["tier"] == "message" else None
    return Passage(
        row["path"], row["start_line"], row["end_line"], frozenset(row["terms"]), message, recalls, relevance
    )


async def read_passages(
    connection: Connection, place: Place, relevances: Mapping[int, float], paths: Sequence[str]
) -> list[Passage]:
    """The passages of a place with a relevance, by the chunk's id, of messages and of some files."""
    slice_ids = await own_slices(connection, place)
    if not slice_ids or not relevances:
        return []
    params = {
        "tenant_id": place.tenant_id,
        "slice_id": slice_ids[0],
        "chunk_ids": list(relevances),
        "paths": list(paths),
    }
    rows = await (await connection.execute(SQL["passages"], params)).fetchall()
    return [passage_of(row, relevance=relevances[row["chunk_id"]]) for row in rows]


async def _origins(
    connection: Connection,
    tenant_id: str,
    by_document: Mapping[int, Sequence[Entry]],
    ids: dict[MessageKey, str | None],
) -> dict[tuple[str, str], frozenset[MessageKey]]:
    """The messages that the entries of some files come from; their ids go into `ids`."""
    origins: dict[tuple[str, str], frozenset[MessageKey]] = {}
    lines = [(document_id, line) for document_id, entries in by_document.items() for line in _lines(entries)]
    by_line = await derive.origins_of_lines(connection, tenant_id, lines)
    for document_id, entries in by_document.items() if by_line else ():
        for entry in entries:
            rows = [row for line in entry.raw.splitlines() for row in by_line.get((document_id, line), ())]
            messages = {key: message_id for row in rows for key, message_id in messages_in(row["sources"])}
            if messages:
                origins[entry.path, entry.raw] = frozenset(messages)
                ids.update(messages)
    return origins


def _lines(entries: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(line for entry in entries for line in entry.raw.splitlines() if line.strip()))


async def _corrections(connection: Connection, params: dict[str, Any], time_zone: str) -> list[tuple[date, str]]:
    """The lines that a person removed from the memory or changed, each with the day, the newest first.

    Of a long history only as much is read as `collect` uses, and at most `_COMPARED_CHARS` of text.
    """
    zone = ZoneInfo(time_zone)
    found: list[tuple[date, str]] = []
    compared = 0
    async with connection.cursor(name="corrections") as cursor:
        cursor.itersize = 4
        await cursor.execute(SQL["corrections"], {**params, "paths": [MEMORY, STAND_IN]})
        async for row in cursor:
            chars = len(row["after"]) + len(row["before"])
            compared += chars
            if len(found) >= MAX_LINES or compared > _COMPARED_CHARS:
                break
            day = row["at"].astimezone(zone).date()
            removed = await isolated(derive.added_lines, row["after"], row["before"], chars=chars)
            found += [(day, line) for line in removed]
    return found
