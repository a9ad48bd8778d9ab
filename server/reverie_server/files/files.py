"""Reading, editing and undoing an agent's files."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database, Slice, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound, StaleVersion, ValidationFailed
from reverie_indexer.file_rules import check_path
from reverie_indexer.index import store
from reverie_indexer.index.slices import own_slices
from reverie_indexer.index.store import Version
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Document, Place, Scope, Written
from reverie_indexer.pipeline import Pipeline, Within
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.access.principal import Principal
from reverie_server.files.well_known import LONG_TERM
from reverie_server.text import markdown_edit

SQL = Queries(__file__)
Strategy = Literal["append", "replace_section", "upsert_kv", "overwrite"]
_RESTORE_ATTEMPTS = 20
_RESOLUTION: tuple[Scope, ...] = ("personal", "team", "global")


@dataclass(frozen=True, slots=True)
class Write:
    """The fields of any write of a file. `if_version` as in `Change`."""

    path: str
    by: str
    reason: str
    if_version: int | None = None
    enabled: bool | None = None
    sort_order: int | None = None


@dataclass(frozen=True, slots=True)
class File:
    """A file with its content, or with the lines of it that were asked for."""

    document: Document
    resolved_from: Literal["personal", "team", "global", "leader"]
    content: str
    from_line: int
    line_count: int
    total_lines: int


class Workspace:
    """The files of agents. Every method raises NotFound for an unknown agent, unless it writes and so makes it."""

    def __init__(self, database: Database, pipeline: Pipeline) -> None:
        self._database = database
        self._pipeline = pipeline

    async def read(
        self,
        principal: Principal,
        path: str,
        scope: Scope | None = None,
        *,
        from_line: int | None = None,
        lines: int | None = None,
    ) -> File:
        """The file as the principal sees it: the personal one, else the team's, the tenant's, the leader's team's.

        With a scope that of this scope alone, where the leader's is the team's.
        """
        check_path(path, by_server=True)
        resolved_from: Literal["personal", "team", "global", "leader"]
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            try:
                document, content = await self._resolve(connection, principal, path, scope)
                resolved_from = document.scope
            except NotFound:
                if principal.leader_agent_id is None or scope == "personal":
                    raise
                # What the leader shares; never what is personal there.
                leader = Principal(principal.tenant_id, principal.leader_agent_id, None)
                document, content = await self._resolve(connection, leader, path, scope)
                resolved_from = "leader"
        all_lines = markdown_edit.lines_of(content)
        first = from_line or 1
        chosen = all_lines[first - 1 : None if lines is None else first - 1 + lines]
        is_whole = from_line is None and lines is None
        return File(
            document, resolved_from, content if is_whole else "".join(chosen), first, len(chosen), len(all_lines)
        )

    async def listing(
        self, principal: Principal, *, prefix: str | None, after: tuple[int, str, int] | None, limit: int
    ) -> tuple[int, list[Document]]:
        """How many files the principal sees, and a page of them by sort order, path and id.

        The same path may be there in several scopes. A member sees what its leader's team has, too, but for paths
        that it has itself.
        """
        tenant_id = principal.tenant_id
        async with self._database.tenant(tenant_id, snapshot=True) as connection:
            slice_ids = [s.slice_id for s in await self._visible(connection, principal)]
            count, found = await store.list_documents(
                connection, tenant_id, slice_ids, prefix=prefix, after=after, limit=limit
            )
            if principal.leader_agent_id is not None:
                hidden = await store.paths_hidden_by(connection, tenant_id, slice_ids)
                visible = await visible_slices(connection, tenant_id, principal.leader_agent_id, None)
                team = [s.slice_id for s in visible if s.agent_id is not None]
                more, theirs = await store.list_documents(
                    connection, tenant_id, team, prefix=prefix, after=after, limit=limit, hidden=hidden
                )
                count += more
                found = sorted([*found, *theirs], key=lambda d: (d.sort_order, d.path, d.document_id))[:limit]
        return count, found

    async def put(self, place: Place, write: Write, text: str) -> Written:
        """Make the file hold `text`."""
        return await self._write(place, write, lambda _: text, overwrites=True)

    async def patch(
        self, place: Place, write: Write, replacement: tuple[str, str] | None, *, replace_all: bool = False
    ) -> tuple[int, Written]:
        """Replace a passage (old text, new text) of the file and set its flags; how often, and the write.

        None sets the flags alone. NotFound when the file or the text is not there.
        """
        count = 0

        def edit(text: str | None) -> str:
            nonlocal count
            if text is None:
                raise NotFound(f"there is no {place.scope} file {write.path!r}")
            if replacement is None:
                return text
            new, count = markdown_edit.replace_text(text, *replacement, replace_all=replace_all)
            return new

        written = await self._write(place, write, edit)
        return count, written

    async def present(self, place: Place, paths: Sequence[str]) -> dict[str, tuple[Document, str]]:
        """The living files of the place itself at some paths, with their texts; an unknown agent has none."""
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            found = await store.read_documents(connection, place.tenant_id, slice_ids, paths)
        return {document.path: (document, text) for document, text in found if document.deleted_at is None}

    async def edit(
        self, place: Place, write: Write, edit: Callable[[str | None], str], within: Within | None = None
    ) -> Written:
        """Make the file hold what `edit` makes of its present text; `edit` and `within` as in the pipeline."""
        return await self._write(place, write, edit, within=within)

    async def apply(self, place: Place, write: Write, strategy: Strategy, content: str, section: str | None) -> Written:
        """Write by strategy. Appends by several writers at once all arrive."""
        if section is not None and strategy != "replace_section":
            raise ValidationFailed("section goes with replace_section")
        edits: dict[Strategy, Callable[[str | None], str]] = {
            "append": lambda text: markdown_edit.append(text, content, write.path),
            "replace_section": lambda text: markdown_edit.replace_section(text, content, section),
            "upsert_kv": lambda text: markdown_edit.upsert_kv(text, content),
            "overwrite": lambda _: content,
        }
        return await self._write(place, write, edits[strategy], overwrites=strategy == "overwrite")

    async def delete(self, place: Place, path: str, *, by: str, if_version: int | None) -> int:
        """Delete the file; its history stays."""
        return await self._pipeline.delete(place, path, by=by, reason="delete", if_version=if_version)

    async def history(
        self, principal: Principal, path: str, scope: Scope | None, *, before: int | None, limit: int
    ) -> tuple[Document, list[Version]]:
        """The file, deleted or not, and a page of its versions, newest first."""
        check_path(path, by_server=True)
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            document, _ = await self._resolve(connection, principal, path, scope, with_deleted=True)
            return document, await store.list_versions(
                connection, document, principal.tenant_id, before=before, limit=limit
            )

    async def diff(self, principal: Principal, path: str, scope: Scope | None, to_version: int) -> str:
        """The unified diff from the present text to an older version's: what restoring it would do."""
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            document, present = await self._resolve(connection, principal, path, scope, with_deleted=True)
            old = await self._version(connection, principal.tenant_id, document, to_version)
        names = f"{path} (version {document.version})", f"{path} (version {to_version})"
        # Two texts of many thousand lines take seconds to compare, and some take for ever.
        before = old.content or ""
        return await isolated(markdown_edit.unified_diff, present, before, *names, chars=len(present) + len(before))

    async def restore(self, principal: Principal, write: Write, place: Place, version: int) -> Written:
        """Make an older version the present one, as a new version.

        A write: it goes where any write of the principal goes, never to what a read would fall back to.
        """
        check_path(write.path)

        async def attempt() -> Written:
            async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
                document, _ = await self._resolve(
                    connection, principal, write.path, place.scope, with_deleted=True, with_stand_in=False
                )
                old = await self._version(connection, principal.tenant_id, document, version)
            if old.deleted:
                raise ValidationFailed(f"version {version} is a deletion; delete the file instead")
            # A deleted file comes back with the flags it had, not with those of a new one.
            as_before = replace(write, enabled=document.enabled, sort_order=document.sort_order)
            text, within = old.content or "", _as_it_was(place, document, old)
            return await self._write(place, as_before, lambda _: text, overwrites=True, within=within)

        return await until_stable(attempt, attempts=_RESTORE_ATTEMPTS, what="the history of the file")

    async def present_hashes(self, place: Place, *, reason: str | None) -> dict[str, bytes]:
        """Path to SHA-256 of the place's files, or only of those whose present text was written for `reason`."""
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            cursor = await connection.execute(
                SQL["written_by"], {"tenant_id": place.tenant_id, "slice_ids": slice_ids, "reason": reason}
            )
            return {row["path"]: row["sha256"] for row in await cursor.fetchall()}

    async def _write(
        self,
        place: Place,
        write: Write,
        edit: Callable[[str | None], str],
        *,
        overwrites: bool = False,
        within: Within | None = None,
    ) -> Written:
        change = Change(
            path=write.path,
            edit=edit,
            by=write.by,
            reason=write.reason,
            enabled=write.enabled,
            sort_order=write.sort_order,
            if_version=write.if_version,
            overwrites=overwrites,
        )
        if within is not None:
            async with self._pipeline.unit_of_work(place, [change]) as unit:
                await within(unit.connection, unit.slice_)
            return unit.written[0]
        return await self._pipeline.write(place, change)

    async def _visible(self, connection: Connection, principal: Principal) -> list[Slice]:
        if not await store.agent_exists(connection, principal.tenant_id, principal.agent_id):
            raise NotFound(f"there is no agent {principal.agent_id!r}")
        return await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)

    async def _resolve(
        self,
        connection: Connection,
        principal: Principal,
        path: str,
        scope: Scope | None,
        *,
        with_deleted: bool = False,
        with_stand_in: bool = True,
    ) -> tuple[Document, str]:
        """The most personal file at a path. `memory.md` stands in where a scope has no `MEMORY.md`."""
        slices = await self._visible(connection, principal)
        names = list(LONG_TERM) if path == LONG_TERM[0] and with_stand_in else [path]
        found = await store.read_documents(connection, principal.tenant_id, [s.slice_id for s in slices], names)
        order = {place: rank for rank, place in enumerate([scope] if scope else _RESOLUTION)}
        fitting = [
            (
                document.deleted_at is not None,
                order[document.scope],
                names.index(document.path),
                document,
                content,
            )
            for document, content in found
            if document.scope in order and (with_deleted or document.deleted_at is None)
        ]
        if fitting:
            *_, document, content = min(fitting, key=lambda entry: entry[:3])
            return document, content
        raise NotFound(f"there is no file {path!r}")

    async def _version(self, connection: Connection, tenant_id: str, document: Document, number: int) -> Version:
        version = await store.read_version(connection, document, tenant_id, number)
        if version is None:
            raise NotFound(f"{document.path!r} has no version {number}")
        return version


def _as_it_was(place: Place, document: Document, old: Version) -> Within:
    """The check, under the slice's lock, that what is restored was not forgotten or cleared since it was read."""

    async def check(connection: Connection, _: Slice) -> None:
        now = await store.read_version(connection, document, place.tenant_id, old.version)
        if now is None or now.content != old.content:
            raise Superseded

    return check


def parse_if_match(header: str | None) -> int | None:
    """The version an `If-Match` header demands: 0 for `*` (any), None without a header.

    StaleVersion for an entity tag that no version has, ValidationFailed for what is no single entity tag.
    """
    if header is None:
        return None
    value = header.strip()
    if value == "*":
        return 0
    match = re.fullmatch(r'(?:W/)?"([1-9][0-9]{0,8})"', value) or re.fullmatch(r"([1-9][0-9]{0,8})", value)
    if match is None and re.fullmatch(r'(?:W/)?"[^"]*"', value):
        raise StaleVersion(f"no version of the file has the entity tag {value[:64]}")
    if match is None:
        raise ValidationFailed('If-Match is one version, such as "3", or *')
    return int(match[1])


def etag_of(version: int) -> str:
    """The entity tag of a version, quotes included."""
    return f'"{version}"'
