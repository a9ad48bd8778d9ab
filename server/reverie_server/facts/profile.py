"""Keeps the lines of PROFILE.md that are made of facts up to date: who the user is, and where they live and work."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import structlog
from psycopg.rows import DictRow

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import Conflict, Overloaded, PayloadTooLarge, TextTooCostly
from reverie_indexer.index import store
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.files.well_known import PROFILE
from reverie_server.heuristics.marked_facts import confidence_of
from reverie_server.heuristics.profile_file import NewProfile, present_lines, with_profile_lines
from reverie_server.heuristics.profile_lines import (
    KnownOfSelf,
    ProfileLine,
    language_of_lines,
    predicates,
    profile_lines,
)
from reverie_server.heuristics.stated_fact import SELF
from reverie_server.jobs.model import Stage, lines_source, message_source
from reverie_server.llm.generation import Generation
from reverie_server.provenance.line_identity import entry_lines, line_sha256
from reverie_server.provenance.record import Derived, machine_lines, record
from reverie_server.provenance.tombstones import Tombstones, tombstone_mark

log = structlog.get_logger()
SQL = Queries(__file__)
STAGE: Stage = "facts"
# A mark from here on may take the place of others; patterns are surer. What is believed less than the other is no line.
_SURE, _LEAST = 0.69, confidence_of(0.6)
_MAX_FACTS, _MAX_DEAD, _MAX_VERSIONS = 400, 100, 30
# A longer file is not looked at: it is read each time, and no profile.
_MAX_BYTES = 100_000
_ATTEMPTS = 3
_AUTHOR = "server"


@dataclass(frozen=True, slots=True)
class _Seen:
    """What holds of the user, and PROFILE.md as it was read: its text, and the lines that facts have made there."""

    rows: Sequence[DictRow]
    dead: Sequence[str]
    text: str | None
    made: frozenset[bytes]
    tombstones: object


@dataclass(frozen=True, slots=True)
class ProfileOfFacts:
    """Writes the lines that facts make into the PROFILE.md of their place. `now` gives the time, with its zone."""

    database: Database
    pipeline: Pipeline
    tombstones: Tombstones
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def renew(self, place: Place, language: str) -> None:
        """Bring the lines of a place up to date; `language` is the most likely one of what was said.

        Where others write the file all the time, or it has no room, it stays until the facts are read again.
        """
        try:
            attempt = partial(self._renew, place, language)
            profile = await until_stable(attempt, attempts=_ATTEMPTS, what=PROFILE)
        except (Conflict, PayloadTooLarge, Overloaded, TextTooCostly) as error:
            log.warning("profile_not_renewed", detail=str(error))
        else:
            if profile is not None:
                log.info("profile_renewed", new=len(profile.new), left=profile.left)

    async def _renew(self, place: Place, language: str) -> NewProfile | None:
        async with self.database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            seen = await self._look(connection, place.tenant_id, slice_ids[0]) if slice_ids else None
            if seen is None:
                return None
            versions = await self._versions(connection, place.tenant_id, slice_ids[0]) if seen.made else []
        clean = await self.tombstones.without_forgotten(place)
        chars = len(seen.text or "") + sum(len(content) for content, _ in versions)
        profile = await isolated(_profile, seen, versions, language, clean, chars=chars)
        if not profile.new and not profile.left:
            return None

        def edit(text: str | None) -> str:
            if text != seen.text:
                raise Superseded
            return profile.text

        async with self.pipeline.unit_of_work(place, [Change(PROFILE, edit, _AUTHOR, STAGE)]) as unit:
            slice_id = unit.slice_.slice_id
            now = await self._look(unit.connection, place.tenant_id, slice_id)
            if now is None or (now.rows, now.dead, now.tombstones) != (seen.rows, seen.dead, seen.tombstones):
                raise Superseded
            rows = {row["fact_id"]: row for row in seen.rows}
            derived = [_derived(line, rows[line.fact_id]) for line in profile.new]
            await record(unit.connection, place.tenant_id, slice_id, derived, at=self.now())
            params = {"tenant_id": place.tenant_id, "slice_id": slice_id, "path": PROFILE}
            await unit.connection.execute(SQL["mark_read"], params)
        return profile

    async def _look(self, connection: Connection, tenant_id: str, slice_id: int) -> _Seen | None:
        """What there is to write, and where; None where somebody has deleted the file, or it is too long."""
        params: dict[str, Any] = {"tenant_id": tenant_id, "slice_id": slice_id, "path": PROFILE, "at": self.now()}
        params |= {"self": SELF, "sure": _SURE, "least": _LEAST, "predicates": predicates()}
        found = await store.read_documents(connection, tenant_id, [slice_id], [PROFILE])
        if any(document.deleted_at is not None or len(text.encode()) > _MAX_BYTES for document, text in found):
            return None
        rows = await (await connection.execute(SQL["of_user"], {**params, "limit": _MAX_FACTS})).fetchall()
        dead = await (await connection.execute(SQL["dead"], {**params, "limit": _MAX_DEAD})).fetchall()
        return _Seen(
            rows,
            [row["subject"] for row in dead],
            found[0][1] if found else None,
            await machine_lines(connection, tenant_id, slice_id, PROFILE, stage=STAGE),
            await tombstone_mark(connection, tenant_id, [slice_id]),
        )

    async def _versions(self, connection: Connection, tenant_id: str, slice_id: int) -> list[tuple[str, str]]:
        """The newest versions of the file, each with its author, the newest first."""
        params = {"tenant_id": tenant_id, "slice_id": slice_id, "path": PROFILE, "max_bytes": _MAX_BYTES}
        rows = await (await connection.execute(SQL["versions"], {**params, "limit": _MAX_VERSIONS})).fetchall()
        return [(row["content"], row["by"]) for row in rows]


def _profile(
    seen: _Seen, versions: Sequence[tuple[str, str]], language: str, clean: Callable[[str], str]
) -> NewProfile:
    """PROFILE.md as facts have it now, without what was forgotten."""
    names = ("fact_id", "predicate", "object", "said", "said_at", "is_sure", "is_marked")
    facts = [KnownOfSelf(**{name: row[name] for name in names}) for row in seen.rows]
    made = seen.made - _put_back(seen.made & _identities(seen.text or ""), versions)
    spoken = language_of_lines(present_lines(seen.text or "", made), facts, language)
    lines = [
        line for line in profile_lines(facts, seen.dead, spoken) if clean(f"- {line.text}").strip() == f"- {line.text}"
    ]
    gone = ({line_sha256(line.text) for line in lines} & seen.made) - _identities(seen.text or "")
    return with_profile_lines(seen.text, lines, made, _taken_out(gone, versions))


def _put_back(present: Collection[bytes], versions: Sequence[tuple[str, str]]) -> set[bytes]:
    """Those of the lines that stand there which somebody put there, and not the server, as far as versions tell."""
    unknown, found = set(present), set()
    by: str | None = None
    for content, author in versions if present else ():
        begun = unknown - _identities(content)
        found |= begun if by != _AUTHOR else set()
        unknown -= begun
        by = author
    return found


def _taken_out(gone: Collection[bytes], versions: Sequence[tuple[str, str]]) -> set[bytes]:
    """Those of the lines that stand there no more which somebody took out, and not the server; also those of which that
    is too long ago to tell."""
    unknown, by_server = set(gone), set()
    by: str | None = None
    for content, author in versions if gone else ():
        stood = unknown & _identities(content)
        by_server |= stood if by == _AUTHOR else set()
        unknown -= stood
        by = author
    return set(gone) - by_server


def _identities(text: str) -> set[bytes]:
    return {line_sha256(line) for line in entry_lines(text)}


def _derived(line: ProfileLine, row: Mapping[str, Any]) -> Derived:
    """The provenance of a line: that of its fact."""
    generation = Generation(row["method"], row["prompt"], row["prompt_version"], row["model"])
    if row["session_id"] is None:
        source = lines_source(row["path"], row["start_line"], row["end_line"])
    else:
        ids = [message_id or None for message_id in row["message_ids"]]
        source = message_source(row["session_id"], list(zip(row["seqs"], ids, strict=True)))
    return Derived(PROFILE, [line.text], generation, STAGE, [source])
