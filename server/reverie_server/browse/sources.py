"""Where a memory comes from: who or what wrote each of its lines, of which messages, and whether they still hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.model import Document, Tier
from reverie_server.access.principal import Principal
from reverie_server.episodes.store import read_episodes, sources_of
from reverie_server.facts.model import public_id as public_fact_id
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.jobs.model import episode_name, message_source
from reverie_server.llm.generation import Method
from reverie_server.provenance.record import entry_lines, line_sha256, origins
from reverie_server.search.superseded import superseded_sentences
from reverie_server.search.superseded_text import Superseded, ended_at, places_of
from reverie_server.text.markdown_edit import lines_of

SQL = Queries(__file__)
PERSON = "person"
_ID = re.compile(r"(?P<episode>ep-)?(?P<number>[1-9][0-9]{0,18})")
_MAX_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class LineOrigin:
    """A line, 1-based in its file, and its origin.

    `written_by` is `person` (also for a tool or an application that acts for one), a stage, or the role of a message.
    `method` is None for a line that was not derived; `prompt`, `prompt_version` and `model` are None for a line
    that was made without a model. `at` is the time of its record, or of the message.
    """

    line: int
    text: str
    written_by: str
    method: Method | None = None
    prompt: str | None = None
    prompt_version: str | None = None
    model: str | None = None
    at: datetime | None = None
    sources: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class FileLine:
    """A line of a file with its origin, and whether what it states holds.

    `holds` is False where none of its sentences does any more: until `valid_to`, where that is known, and
    `superseded_by` is the id of the fact that took the place of what its last one says, if one did.
    """

    origin: LineOrigin
    holds: bool = True
    valid_to: datetime | None = None
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True)
class Origins:
    """The origins of a passage, a message or an episode, line by line.

    Lines are inclusive. For a message they are the number of the message.
    """

    id: str
    tier: Tier
    path: str
    start_line: int
    end_line: int
    lines: Sequence[LineOrigin]


class LineSources:
    """Finds the origins of memories. `now` gives the time, by which episodes expire."""

    def __init__(self, database: Database, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._now = now

    async def of(self, principal: Principal, public_id: str) -> Origins:
        """The origins of the memory with an id of a search, an injection or a list of episodes, also of a past one.

        A team member also sees what its leader shares. NotFound for a malformed id, for one that is gone, and for one
        that the principal does not see.
        """
        match = _ID.fullmatch(public_id)
        if match is None or int(match["number"]) > _MAX_ID:
            raise NotFound("there is no memory with this id")
        number, is_episode = int(match["number"]), match["episode"] is not None
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            found = await self._origins(connection, principal, number, is_episode=is_episode)
            if found is None and principal.leader_agent_id is not None:
                # What the leader shares; never what is personal there.
                leader = Principal(principal.tenant_id, principal.leader_agent_id, None)
                found = await self._origins(connection, leader, number, is_episode=is_episode)
        if found is None:
            raise NotFound("there is no memory with this id")
        return found

    async def of_lines(self, principal: Principal, document: Document, content: str, from_line: int) -> list[FileLine]:
        """The origins of the lines of a file that `content` has, from the number of its first; headings have none."""
        lines = lines_of(content)
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            visible = await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
            if document.slice_id not in (slice_ids := [each.slice_id for each in visible]):
                # A file of the leader's, whose facts and messages are the leader's.
                leader = principal.leader_agent_id or principal.agent_id
                visible = await visible_slices(connection, principal.tenant_id, leader, None)
                slice_ids = [each.slice_id for each in visible]
            origins = await _lines(connection, principal.tenant_id, document.document_id, lines, from_line)
            keys = {origin.line: [span.key for span in keyed_sentences(origin.text)] for origin in origins}
            every = [key for line in keys.values() for key in line]
            ended = await superseded_sentences(connection, principal.tenant_id, slice_ids, every, now=self._now())
        return [
            _with_end(origin, [here.get(key) for key in keys[origin.line]])
            for origin in origins
            for here in [ended_at(ended, places_of(document.document_id, origin.text))]
        ]

    async def _origins(
        self, connection: Connection, principal: Principal, number: int, *, is_episode: bool
    ) -> Origins | None:
        visible = await visible_slices(
            connection, principal.tenant_id, principal.agent_id, principal.owner_key, with_past=True
        )
        slice_ids = [s.slice_id for s in visible]
        if is_episode:
            return await self._of_episode(connection, principal.tenant_id, slice_ids, number, None)
        params = {"tenant_id": principal.tenant_id, "slice_ids": slice_ids, "chunk_id": number}
        row = await (await connection.execute(SQL["passage"], params)).fetchone()
        if row is None:
            return None
        if row["episode_id"] is not None:
            return await self._of_episode(connection, principal.tenant_id, slice_ids, row["episode_id"], row)
        if row["session_key"] is not None:
            return await _of_message(connection, {**params, "seq": row["start_line"]}, row)
        return await _of_file(connection, principal.tenant_id, row)

    async def _of_episode(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], number: int, row: DictRow | None
    ) -> Origins | None:
        found = await read_episodes(connection, tenant_id, slice_ids, now=self._now(), episode_ids=[number], limit=1)
        if not found:
            return None
        [episode] = found
        sources = (await sources_of(connection, tenant_id, found)).get(number, [])
        text = row["text"] if row else episode.summary
        first = row["start_line"] if row else 1
        generation = (episode.method, episode.prompt, episode.prompt_version, episode.model, episode.created_at)
        lines = [
            LineOrigin(first + index, line.rstrip("\r\n"), "episodic", *generation, sources)
            for index, line in enumerate(lines_of(text))
            if line.strip()
        ]
        public_id = str(row["chunk_id"]) if row else episode_name(number)
        last = row["end_line"] if row else max(1, len(lines_of(text)))
        return Origins(public_id, "episodic", episode.path, first, last, lines)


async def _of_message(connection: Connection, params: Mapping[str, Any], row: DictRow) -> Origins | None:
    message_params = {**params, "session_key": row["session_key"]}
    message = await (await connection.execute(SQL["message"], message_params)).fetchone()
    if message is None:
        return None
    source = message_source(message["session_id"], [(message["seq"], message["message_id"])])
    line = LineOrigin(row["start_line"], row["text"], message["role"], at=message["at"], sources=[source])
    return Origins(str(row["chunk_id"]), row["tier"], row["path"], row["start_line"], row["end_line"], [line])


async def _of_file(connection: Connection, tenant_id: str, row: DictRow) -> Origins:
    start, end = row["start_line"], row["end_line"]
    if row["is_past"] or row["content"] is None:
        # The file has changed since: its lines are known as far as the passage has them.
        lines = lines_of(row["text"])
    else:
        # Whole lines, also where the passage is a piece of a long one.
        lines = lines_of(row["content"])[start - 1 : end]
    found = await _lines(connection, tenant_id, row["document_id"], lines, start)
    return Origins(str(row["chunk_id"]), row["tier"], row["path"], start, end, found)


async def _lines(
    connection: Connection, tenant_id: str, document_id: int, lines: Sequence[str], start: int
) -> list[LineOrigin]:
    entries = {index: line.rstrip("\r\n") for index, line in enumerate(lines) if entry_lines(line)}
    known = await origins(connection, tenant_id, document_id, entries.values())
    return [_line(start + index, line, known.get(line_sha256(line), [])) for index, line in entries.items()]


def _with_end(origin: LineOrigin, sentences: Sequence[Superseded | None]) -> FileLine:
    """A line each of whose sentences is superseded, with no part of it that holds, is over."""
    ended = [fact for fact in sentences if fact is not None and not fact.holding]
    if not ended or len(ended) < len(sentences):
        return FileLine(origin)
    last = ended[-1]
    by = None if last.superseded_by is None else public_fact_id("fact", last.superseded_by)
    return FileLine(origin, holds=False, valid_to=last.valid_to, superseded_by=by)


def _line(number: int, text: str, rows: Sequence[DictRow]) -> LineOrigin:
    """A line by its last record, with the sources of all its records: a line that was derived again has several."""
    if not rows:
        return LineOrigin(number, text, PERSON)
    last = rows[-1]
    sources: list[Mapping[str, Any]] = []
    for row in rows:
        sources += [source for source in row["sources"] if source not in sources]
    generation = {name: last[name] for name in ("method", "prompt", "prompt_version", "model", "at")}
    return LineOrigin(number, text, last["stage"], **generation, sources=sources)
