"""Read the files of an agent that a turn's prompt is made of."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database, opening_slices
from reverie_indexer.database.messages import Statement, in_one_message
from reverie_indexer.database.queries import Queries
from reverie_indexer.file_rules import is_backup, is_unedited_seed
from reverie_indexer.index.slices import scope_of
from reverie_indexer.model import Place, Scope
from reverie_indexer.text.chunk import note_date
from reverie_server.access.principal import Principal
from reverie_server.files.well_known import LONG_TERM, note_path
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.prompt.context import PromptFile, PromptFiles
from reverie_server.prompt.marking import has_superseded, marked_text
from reverie_server.provenance.line_identity import line_sha256
from reverie_server.search.superseded import superseded_sentences
from reverie_server.search.superseded_text import Place as PlaceOfSentence
from reverie_server.search.superseded_text import Superseded, ended_at

SQL = Queries(__file__)
_RANK = {"team": 0, "global": 2}
_LEADER_RANK = 1


async def read_prompt_files(
    database: Database,
    principal: Principal,
    notes_of: Place,
    *,
    now: datetime,
    today: date,
    recent_days: int,
    with_seeds: bool,
    also: Sequence[Statement] = (),
) -> tuple[PromptFiles, list[list[DictRow]]]:
    """The enabled files that the principal sees, its long-term memory, and the daily notes of the place `notes_of`.

    The notes are those of today and of `recent_days` days before. All is read in one snapshot. An unknown agent has no
    files. What does not hold any more `now` is marked or left out. Seeds that nobody has edited are left out unless
    `with_seeds`. A team member sees what its leader shares, but
    for paths that its own team has.

    Further statements are sent `also`, at once and in the same snapshot, of which the rows come second.
    """
    # The paths of notes sort like their days, and a note with a number has that of its day at the beginning.
    notes_from = _note_prefix(today - timedelta(days=recent_days))
    params: dict[str, Any] = {
        "tenant_id": principal.tenant_id,
        "paths": list(LONG_TERM),
        "notes_from": notes_from,
        "notes_to": f"{_note_prefix(today)}/",
    }
    first = [*_files_statements(principal.agent_id, principal.owner_key, params), *also]
    async with database.snapshot(principal.tenant_id, first) as (connection, answers):
        *_, visible, own = answers[: len(first) - len(also)]
        team_paths = {row["path"] for row in own if _scope(row) == "team"}
        of_prompt = _of_prompt(own, with_seeds=with_seeds)
        rows = await _as_it_holds(connection, principal.tenant_id, visible, of_prompt, now)
        leader_rows: list[DictRow] = []
        if principal.leader_agent_id is not None:
            without_notes = {**params, "paths": [], "notes_to": notes_from}
            of_leader = _files_statements(principal.leader_agent_id, None, without_notes)
            *_, visible, shared_rows = await in_one_message(connection, of_leader)
            new = [row for row in shared_rows if _scope(row) == "team" and row["path"] not in team_paths]
            of_prompt = _of_prompt(new, with_seeds=with_seeds)
            leader_rows = await _as_it_holds(connection, principal.tenant_id, visible, of_prompt, now)
    # A daily note of the place is no file of the prompt as well.
    days = {row["path"]: day for row in rows if (day := _day_of(row["path"], notes_from, today)) is not None}
    notes = _notes([row for row in rows if _scope(row) == notes_of.scope and row["path"] in days], days)
    files = [row for row in rows if _scope(row) != notes_of.scope or row["path"] not in days]
    # Of files with the same order and path: the agent's, the leader's, the tenant's.
    shared = [(row["sort_order"], row["path"], _RANK[_scope(row)], row) for row in files if _scope(row) != "personal"]
    shared += [(row["sort_order"], row["path"], _LEADER_RANK, row) for row in leader_rows]
    personal = [row for row in files if _scope(row) == "personal"]
    # Where there is a MEMORY.md, enabled or not, nothing stands in for it.
    stands_in = all(row["path"] != LONG_TERM[0] for row in personal)
    prompt_files = PromptFiles(
        shared=_prompt_files(row for *_, row in sorted(shared, key=lambda entry: entry[:3]) if row["enabled"]),
        personal=_prompt_files(
            row for row in personal if row["enabled"] or (stands_in and row["path"] == LONG_TERM[1])
        ),
        notes=notes,
        today=today,
    )
    return prompt_files, answers[len(first) - len(also) :]


def _note_prefix(day: date) -> str:
    """The beginning of the paths of a day's notes."""
    return note_path(day).removesuffix(".md")


def _day_of(path: str, notes_from: str, today: date) -> date | None:
    """The day of a daily note that enters the prompt; None for any other file."""
    day = note_date(path) if path >= notes_from else None
    is_note = day is not None and day <= today and path.startswith(_note_prefix(day))
    return day if is_note else None


def _notes(rows: Iterable[DictRow], days: Mapping[str, date]) -> dict[date, str]:
    """The text of each day's notes. Of several notes of a day the one without a number is first."""
    notes: dict[date, str] = {}
    for row in sorted(rows, key=lambda row: (len(row["path"]), row["path"])):
        day = days[row["path"]]
        if day in notes:
            rest = row["content"].lstrip().removeprefix(f"# {day.isoformat()}\n")
            notes[day] = f"{notes[day].rstrip()}\n\n{rest}"
        else:
            notes[day] = row["content"]
    return notes


def _of_prompt(rows: Iterable[DictRow], *, with_seeds: bool) -> list[DictRow]:
    """The rows, without the seed files that nobody has edited unless `with_seeds`."""
    return [row for row in rows if with_seeds or not is_unedited_seed(row["path"], row["content"])]


def _files_statements(agent_id: str, owner_key: str | None, params: dict[str, Any]) -> list[Statement]:
    """The statements that open the slices that (agent, owner) may see, and read their files."""
    return [*opening_slices(params["tenant_id"], agent_id, owner_key), Statement(SQL["prompt_files"], params)]


async def _as_it_holds(
    connection: Connection, tenant_id: str, visible: Sequence[DictRow], rows: Sequence[DictRow], now: datetime
) -> list[DictRow]:
    """The files with what does not hold any more marked in the lines of people, and left out of lines of the server.

    The `visible` slices are open.
    """
    slice_ids = [row["slice_id"] for row in visible]
    keys = await asyncio.to_thread(
        lambda: {sentence.key for row in rows for sentence in keyed_sentences(row["content"] or "")}
    )
    superseded = await superseded_sentences(connection, tenant_id, slice_ids, keys, now=now)
    if not superseded:
        return list(rows)
    lines = [
        (row["document_id"], line_sha256(line))
        for row in rows
        for line in (row["content"] or "").splitlines()
        if has_superseded(line, superseded)
    ]
    is_shared = any(fact.elsewhere for fact in superseded.values())
    params = {
        "tenant_id": tenant_id,
        "document_ids": [document_id for document_id, _ in lines],
        "hashes": [sha256 for _, sha256 in lines],
        "with_messages": is_shared,
    }
    [found] = await in_one_message(connection, [Statement(SQL["machine_made"], params)])
    machine_made: defaultdict[int, dict[bytes, list[PlaceOfSentence]]] = defaultdict(dict)
    for row in found:
        made_of = [(document_id, seq) for document_id, seq in row["messages"]]
        machine_made[row["document_id"]][bytes(row["line_sha256"])] = made_of
    texts = []
    for row in rows:
        made = machine_made[row["document_id"]]
        ended_in = partial(_ended_in, superseded, row["document_id"], made) if is_shared else lambda _: superseded
        texts.append({**row, "content": marked_text(row["content"] or "", ended_in, made)})
    return texts


def _ended_in(
    superseded: Mapping[bytes, Superseded], document_id: int, made: Mapping[bytes, Sequence[PlaceOfSentence]], line: str
) -> Mapping[bytes, Superseded]:
    """The sentences that do not hold in a line, where it stands and in the messages that it was `made` of."""
    sha256 = line_sha256(line)
    return ended_at(superseded, {(document_id, sha256), *made.get(sha256, ())})


def _scope(row: DictRow) -> Scope:
    return scope_of(row["agent_id"], row["owner_key"])


def _prompt_files(rows: Iterable[DictRow]) -> list[PromptFile]:
    return [PromptFile(row["path"], row["content"]) for row in rows if not is_backup(row["path"])]
