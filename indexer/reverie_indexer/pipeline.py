"""The one way to write memory: text → chunks → passages → vectors → one transaction.

Models are called outside any transaction and without holding a connection. What could not be embedded in time
is stored all the same, found by words, and embedded by `backfill`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

import structlog
from psycopg.rows import DictRow

from reverie_indexer import file_rules
from reverie_indexer.change import Change, overwrite
from reverie_indexer.cutting import REUSED_FROM_CHARS, Base, FileCutter
from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.embedding import embed_passages, embed_pending
from reverie_indexer.errors import (
    Conflict,
    EmbedderUnavailable,
    NotFound,
    StaleVersion,
    ValidationFailed,
)
from reverie_indexer.index import slices, store, vectors
from reverie_indexer.index.document_index import KNOWS_NOTHING, Unread, known_passages
from reverie_indexer.index.store import Content
from reverie_indexer.model import Document, Passage, Place, Written
from reverie_indexer.model_slot import ModelSlot, Ready
from reverie_indexer.text.passages import Rules

log = structlog.get_logger()
MAX_ATTEMPTS = 50
PAGE = 256

# A step of somebody else's unit of work: it runs after the files are written, with the slice locked.
Within = Callable[[Connection, Slice], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class UnitOfWork:
    """One transaction of a tenant, which holds the lock of a place's slice, and the files that were written in it."""

    connection: Connection
    slice_: Slice
    written: list[Written]


@dataclass(frozen=True, slots=True)
class _Seeds:
    """The files that the agent of a place is to begin with; none where there is an agent already."""

    contents: Sequence[Content]
    model_id: int | None


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Texts with their passages, ready to be written, and the versions that they were made from."""

    contents: Sequence[Content]
    bases: Mapping[str, Base]
    seeds: _Seeds
    model_id: int | None


class Pipeline:
    """Writes files and keeps their index; needs a database and, for meaning, a model.

    `waiting` is entered around each wait for vectors or for another writer of the same file. `on_change` runs in each
    transaction that writes or deletes files of a place, with the changes that were written and under the lock of the
    place's slice; what appends messages calls it, too. `on_embedded` is called with the number of passages of each
    batch that the model has embedded.
    """

    def __init__(
        self,
        database: Database,
        models: ModelSlot,
        rules: Rules,
        *,
        waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._database = database
        self._waiting = waiting
        self._models = models
        self._rules = rules
        self._seeds = file_rules.seed_files()
        self._cutter = FileCutter()
        self._editing: WeakValueDictionary[tuple[Place, str], asyncio.Lock] = WeakValueDictionary()
        self.backfill_wanted = asyncio.Event()
        self.on_embedded: Callable[[int], None] = lambda _: None
        self.on_change: Callable[[Connection, Place, Sequence[Change]], Awaitable[None]] = _nothing_more

    async def write(self, place: Place, change: Change) -> Written:
        """Write one file: see `write_many`."""
        if change.overwrites:
            return (await self.write_many(place, [change]))[0]
        # Editors of one file take turns here; those of other processes are met by version.
        lock = self._editing.setdefault((place, change.path), asyncio.Lock())
        with self._waiting():
            await lock.acquire()
        try:
            return (await self.write_many(place, [change]))[0]
        finally:
            lock.release()

    async def write_many(
        self,
        place: Place,
        changes: Sequence[Change],
        *,
        turn: asyncio.Event | None = None,
    ) -> list[Written]:
        """Write files of one place in one transaction; answers when it has committed, in the order given.

        Raises what `unit_of_work` raises; nothing is then written.
        """
        async with self.unit_of_work(place, changes, turn=turn) as unit:
            return unit.written

    @asynccontextmanager
    async def unit_of_work(
        self, place: Place, changes: Sequence[Change] = (), *, turn: asyncio.Event | None = None
    ) -> AsyncIterator[UnitOfWork]:
        """One transaction that writes files of a place, and in which the block then does more.

        It is committed when the block ends, and undone when the block raises. The block runs once, after the files are
        written. Readers see all of the old state or all of the new. An unknown agent is created with its seed files.
        With a `turn`, texts are chunked and embedded at once, and the transaction begins when it is set.
        Raises StaleVersion for an `if_version` that is not met, what `edit` raises, ValidationFailed for a
        path or text that may not be, and Conflict when other writers were faster every time; nothing is then written.
        """
        for change in changes:
            file_rules.check_path(change.path, by_server=change.reserved)
        if len({change.path for change in changes}) < len(changes):
            raise ValidationFailed("one write names each file once")
        for attempt in range(MAX_ATTEMPTS):
            prepared = await self._prepare_all(place, changes, reads_all=attempt > 0)
            if turn is not None:
                await turn.wait()
            written = None
            with suppress(Unread):
                async with self._begin(place, prepared.seeds) as (connection, slice_):
                    written = await self._write(connection, place, slice_, changes, prepared)
                    if written:
                        await self.on_change(connection, place, changes)
                    if written is not None:
                        yield UnitOfWork(connection, slice_, written)
            if written is not None:
                if not all(result.embedded for result in written):
                    self.backfill_wanted.set()
                return
            await asyncio.sleep(0.001 * attempt)
        raise Conflict(f"{MAX_ATTEMPTS} other writes came first; try again")

    async def delete(self, place: Place, path: str, *, by: str, reason: str, if_version: int | None = None) -> int:
        """Remove a file from listings and search, and keep its history. Returns the version that marks the deletion.

        NotFound when there is no such file, StaleVersion when it is not at `if_version`.
        """
        file_rules.check_path(path)
        async with self._database.tenant(place.tenant_id) as connection:
            if not await store.agent_exists(connection, place.tenant_id, place.agent_id):
                raise NotFound(f"there is no agent {place.agent_id!r}")
            slice_ = await slices.lock_slice(connection, place)
            found = await store.read_documents(connection, place.tenant_id, [slice_.slice_id], [path])
            current = found[0][0] if found and found[0][0].deleted_at is None else None
            _check_version(if_version, current)
            if current is None:
                raise NotFound(f"there is no file {path!r}")
            await self.on_change(connection, place, ())
            return await store.delete_document(connection, place, slice_, current, by=by, reason=reason)

    async def is_waiting(self, place: Place) -> bool:
        """Whether a place has chunks that wait for their vectors."""
        slice_ids = await self._own_slices(place)
        return await vectors.any_pending(self._database, slice_ids)

    async def backfill(self, *, limit: int = PAGE, place: Place | None = None) -> int:
        """Embed chunks that were stored without vectors, everybody's or a place's, oldest first. Returns how many.

        Raises EmbedderUnavailable when the model cannot be used now; what was done stays done.
        """
        ready = self._models.ready
        if ready is None:
            return 0
        slice_ids = None if place is None else await self._own_slices(place)
        pending = await vectors.pending_chunks(
            self._database, ready.model_id, after=0, limit=limit, active=True, slice_ids=slice_ids
        )
        await embed_pending(self._database, ready, pending, active=True, batch_size=self._rules.batch_size)
        return len(pending)

    async def _own_slices(self, place: Place) -> list[int]:
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            return await slices.own_slices(connection, place)

    async def _present(self, place: Place, paths: Sequence[str]) -> tuple[DictRow | None, dict[str, Base]]:
        """The agent, if it is known, and the place's files at these paths, deleted ones too."""
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            agent = await store.read_agent(connection, place.tenant_id, place.agent_id)
            slice_ids = await slices.own_slices(connection, place)
            found = await store.read_documents(connection, place.tenant_id, slice_ids, paths)
            long = [document.document_id for document, text in found if len(text) >= REUSED_FROM_CHARS]
            known = await known_passages(connection, place.tenant_id, long) if long else {}
        return agent, {
            document.path: Base(document, text, known.get(document.document_id, KNOWS_NOTHING))
            for document, text in found
        }

    async def _prepare_all(self, place: Place, changes: Sequence[Change], *, reads_all: bool) -> _Prepared:
        """The new texts, chunked and embedded outside any transaction; the seed files where the agent is unknown.

        `reads_all` leaves nothing out that the index has already.
        """
        agent, bases = await self._present(place, [change.path for change in changes])
        if reads_all:
            bases = {path: replace(base, known=KNOWS_NOTHING) for path, base in bases.items()}
        rules = self._rules.of_agent(agent["settings"] if agent else {})
        contents = [await self._prepare(change, bases.get(change.path), rules) for change in changes]
        seeds = [] if agent else await self._prepare_seeds(place, changes)
        waiting = {sha256 for base in bases.values() for sha256 in base.known.waiting}
        passages = [p for c in [*contents, *seeds] for p in c.passages if p.is_analysed or p.sha256 in waiting]
        ready = await self.embed(place.tenant_id, passages)
        model_id = ready.model_id if ready else None
        return _Prepared(contents, bases, _Seeds(seeds, model_id), model_id)

    async def _prepare(self, change: Change, base: Base | None, rules: Rules) -> Content:
        living = base if base is not None and base.document.deleted_at is None else None
        _check_version(change.if_version, living.document if living else None)
        # An edit may parse a megabyte of markdown: seconds, in which others must be answered.
        edited = await asyncio.to_thread(change.edit, living.text if living else None)
        new_text = file_rules.check_text(edited, max_bytes=rules.max_file_bytes)
        passages = await self._cutter.cut(change.path, new_text, rules, living)
        return Content(change.path, new_text, change.enabled, change.sort_order, change.by, change.reason, passages)

    async def _prepare_seeds(self, place: Place, changes: Sequence[Change]) -> list[Content]:
        written = {change.path for change in changes} if place.scope == "team" else set()
        return [
            await self._prepare(overwrite(path, text, by="server", reason="seed"), None, self._rules)
            for path, text in self._seeds.items()
            if path not in written
        ]

    async def embed(self, tenant_id: str, passages: Sequence[Passage]) -> Ready | None:
        """Bring vectors into the cache as far as time allows, outside any transaction; the model, if there is one."""
        if not passages:
            return self._models.ready
        with self._waiting():
            return await self._embed(tenant_id, passages)

    async def model(self) -> Ready | None:
        """The model, once it is loaded, if that is as soon as an embedding is waited for."""
        return await self._models.wait(self._rules.embed_wait_seconds)

    async def _embed(self, tenant_id: str, passages: Sequence[Passage]) -> Ready | None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._rules.embed_wait_seconds
        ready = await self.model()
        if ready is None:
            return None
        try:
            async with asyncio.timeout_at(deadline):
                await embed_passages(
                    self._database,
                    tenant_id,
                    ready,
                    {p.sha256: p.text for p in passages},
                    self._rules.batch_size,
                    self.on_embedded,
                )
        except TimeoutError:
            log.info("embedding_continues_in_background", passages=len(passages))
        except EmbedderUnavailable as error:
            log.warning("embedder_unavailable", detail=error.detail)
        return ready

    async def _write(
        self, connection: Connection, place: Place, slice_: Slice, changes: Sequence[Change], prepared: _Prepared
    ) -> list[Written] | None:
        """Write the files; None, with nothing written, when an edit was made from a text that is no longer there."""
        paths = [content.path for content in prepared.contents]
        found = await store.read_documents(connection, place.tenant_id, [slice_.slice_id], paths)
        present = {document.path: document for document, _ in found}
        for change in changes:
            current = present.get(change.path)
            base = prepared.bases[change.path].document if change.path in prepared.bases else None
            _check_version(change.if_version, current if current and current.deleted_at is None else None)
            if not change.overwrites and (current and current.version) != (base and base.version):
                return None
        return [
            await self._store(connection, place, slice_, present.get(content.path), content, prepared.model_id)
            for content in prepared.contents
        ]

    @asynccontextmanager
    async def _begin(self, place: Place, seeds: _Seeds) -> AsyncIterator[tuple[Connection, Slice]]:
        """A transaction in which the agent exists and the place's slice is locked."""
        async with self._database.tenant(place.tenant_id) as connection:
            if await store.ensure_agent(connection, place):
                team = Place(place.tenant_id, place.agent_id, "team")
                team_slice = await slices.lock_slice(connection, team)
                for seed in seeds.contents:
                    await self._store(connection, team, team_slice, None, seed, seeds.model_id)
            yield connection, await slices.lock_slice(connection, place)

    async def _store(
        self,
        connection: Connection,
        place: Place,
        slice_: Slice,
        current: Document | None,
        content: Content,
        model_id: int | None,
    ) -> Written:
        flags = file_rules.new_file_flags(content.path)
        return await store.write_document(
            connection, place, slice_, current, content, defaults=flags, model_id=model_id
        )


async def _nothing_more(connection: Connection, place: Place, changes: Sequence[Change]) -> None:
    """Nothing follows from a change."""


def _check_version(if_version: int | None, current: Document | None) -> None:
    if if_version is None:
        return
    if current is None:
        raise StaleVersion("the file does not exist", version=None)
    if if_version not in (0, current.version):
        raise StaleVersion(
            f"the file is at version {current.version}, not {if_version}: read it again",
            version=current.version,
        )
