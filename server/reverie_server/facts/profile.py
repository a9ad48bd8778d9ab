"""Keeps the lines of PROFILE.md that are made of facts up to date: who the user is, and where they live and work."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.index import store
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.files.well_known import PROFILE
from reverie_server.heuristics.profile_lines import (
    KnownOfSelf,
    NewProfile,
    predicates,
    profile_lines,
    with_profile_lines,
)
from reverie_server.heuristics.stated_fact import SELF
from reverie_server.jobs.model import Stage, message_source
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.provenance.line_identity import entry_lines, line_sha256
from reverie_server.provenance.record import Derived, machine_lines, record

SQL = Queries(__file__)
STAGE: Stage = "facts"
# A mark from here on may take the place of others; patterns are surer.
_SURE = 0.69
_MAX_FACTS, _MAX_DEAD = 400, 100
_ATTEMPTS = 3
_AUTHOR = "server"


@dataclass(frozen=True, slots=True)
class _Seen:
    """What holds of the user, with the rows by the fact's id, and PROFILE.md as it was read."""

    facts: Sequence[KnownOfSelf]
    rows: Mapping[int, DictRow]
    dead: Sequence[str]
    text: str | None
    made: frozenset[bytes]


async def renew_profile(
    database: Database, pipeline: Pipeline, place: Place, language: str, *, at: datetime
) -> NewProfile | None:
    """Write the lines that the facts of a place make into its PROFILE.md, and take out those that hold no more.

    `language` is the most likely one of what was said. None where the place has no memory, or nothing changes. Raises
    Conflict where others write the file all the time.
    """
    attempt = partial(_renew, database, pipeline, place, language, at)
    return await until_stable(attempt, attempts=_ATTEMPTS, what=PROFILE)


async def _renew(
    database: Database, pipeline: Pipeline, place: Place, language: str, at: datetime
) -> NewProfile | None:
    async with database.tenant(place.tenant_id, snapshot=True) as connection:
        slice_ids = await own_slices(connection, place)
        seen = await _look(connection, place.tenant_id, slice_ids[0], at) if slice_ids else None
    if seen is None:
        return None
    profile = await asyncio.to_thread(_profile, seen, language)
    if not profile.new and not profile.left:
        return None

    def edit(text: str | None) -> str:
        if text != seen.text:
            raise Superseded
        return profile.text

    async with pipeline.unit_of_work(place, [Change(PROFILE, edit, _AUTHOR, STAGE)]) as unit:
        slice_id = unit.slice_.slice_id
        now = await _look(unit.connection, place.tenant_id, slice_id, at)
        if now is None or now.rows != seen.rows:
            raise Superseded
        derived = [
            Derived(PROFILE, [line.text], EXTRACTIVE, STAGE, [_source(seen.rows[line.fact_id])]) for line in profile.new
        ]
        await record(unit.connection, place.tenant_id, slice_id, derived, at=at)
        left = [line_sha256(line) for line in profile.left]
        await unit.connection.execute(SQL["drop_lines"], {**_params(place.tenant_id, slice_id), "lines": left})
    return profile


def _profile(seen: _Seen, language: str) -> NewProfile:
    lines = profile_lines(seen.facts, seen.dead, language)
    present = {line_sha256(line): line for line in entry_lines(seen.text or "")}
    own = [line.removeprefix("- ") for sha256, line in present.items() if sha256 in seen.made]
    taken_out = [line.text for line in lines if (sha := line_sha256(line.text)) in seen.made and sha not in present]
    return with_profile_lines(seen.text, lines, own, taken_out)


async def _look(connection: Connection, tenant_id: str, slice_id: int, at: datetime) -> _Seen:
    params = {**_params(tenant_id, slice_id), "at": at, "self": SELF, "sure": _SURE, "predicates": predicates()}
    rows = await (await connection.execute(SQL["of_user"], {**params, "limit": _MAX_FACTS})).fetchall()
    dead = await (await connection.execute(SQL["dead"], {**params, "limit": _MAX_DEAD})).fetchall()
    made = await machine_lines(connection, tenant_id, slice_id, PROFILE, stage=STAGE)
    found = await store.read_documents(connection, tenant_id, [slice_id], [PROFILE])
    text = next((text for document, text in found if document.deleted_at is None), None)
    names = ("fact_id", "predicate", "object", "said", "said_at", "is_sure", "is_marked")
    return _Seen(
        [KnownOfSelf(**{name: row[name] for name in names}) for row in rows],
        {row["fact_id"]: row for row in rows},
        [row["subject"] for row in dead],
        text,
        made,
    )


def _source(row: DictRow) -> dict[str, Any]:
    ids = [message_id or None for message_id in row["message_ids"]]
    return message_source(row["session_id"], list(zip(row["seqs"], ids, strict=True)))


def _params(tenant_id: str, slice_id: int) -> dict[str, Any]:
    return {"tenant_id": tenant_id, "slice_id": slice_id, "path": PROFILE, "stage": STAGE}
