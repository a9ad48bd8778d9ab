"""Forgetting: a text is taken out of files, their history, what was said, index and cache, in one transaction."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from psycopg.rows import DictRow

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database, Slice, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound, ValidationFailed
from reverie_indexer.file_rules import SEARCHABLE, is_backup
from reverie_indexer.index import store
from reverie_indexer.index.document_index import forget_embeddings, purge_chunks
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Place, Tier
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_indexer.text.passages import Rules, passages_of
from reverie_server.access.gate import Grant
from reverie_server.episodes.erase import Forgotten
from reverie_server.forgetting.derived import DerivedForgetting, HeldDerived
from reverie_server.provenance.record import forget_lines
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.search.episode_passages import statement_text
from reverie_server.search.rank import MIN_RELEVANCE
from reverie_server.search.request import SearchRequest, rules_for
from reverie_server.search.search import Search
from reverie_server.sessions.erase import Held, survey, take_out
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.redact import INVISIBLE, Folded, Sought, anchor_of, erase
from reverie_server.text.tokens import CountTokens, estimate_tokens

SQL = Queries(__file__)
MIN_CHARS = 2
MAX_CHARS = 8000
# What one query may select; more is a matter of `clear`.
MAX_FOUND = 20
MAX_ATTEMPTS = 5
ForgetTier = Tier | Literal["report"]


@dataclass(frozen=True, slots=True)
class Target:
    """What to forget: exactly one of a question, a passage's id, and the text itself."""

    query: str | None = None
    id: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One text in one file. `present`: the file holds it now; `versions`: so many versions do, now or before.

    Of the tier `message`, the path is a session's and `versions` counts its messages; of others that were derived,
    `versions` counts the things at a path.
    """

    tier: ForgetTier
    path: str
    text: str
    present: bool
    versions: int


@dataclass(frozen=True, slots=True)
class Removed:
    """Counts of one tier: files, their passages in the index, of now and of before, versions, backups of MEMORY.md.

    Of the tier `message`, `files` counts sessions and `versions` messages; of what was derived, `files` counts what was
    made again, changed or removed.
    """

    files: int
    passages: int
    versions: int
    backups: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """What would be, or was, removed where. `still_shared` names shared files that hold it, which were not touched."""

    dry_run: bool
    items: Sequence[Item]
    removed: Mapping[ForgetTier, Removed]
    embeddings: int
    tombstones: int
    still_shared: Sequence[str]


@dataclass(slots=True)
class _Found:
    """What holds the texts: living files, and versions by (document, version)."""

    present: set[str] = field(default_factory=set)
    versions: dict[tuple[str, str], int] = field(default_factory=dict)
    passages: list[DictRow] = field(default_factory=list)
    said: Held = field(default_factory=Held)
    derived: HeldDerived = field(default_factory=HeldDerived)

    @property
    def hashes(self) -> set[bytes]:
        """By which the cache knows the passages."""
        return {row["passage_sha256"] for row in self.passages}

    def note(self, path: str, held: Sequence[str]) -> None:
        """One more version of a file holds these texts."""
        for text in held:
            self.versions[path, text] = self.versions.get((path, text), 0) + 1

    def receipt(self, texts: Sequence[str], *, dry_run: bool) -> Receipt:
        items = [
            Item("document", path, text, path in self.present, count)
            for text in texts
            for (path, held), count in sorted(self.versions.items())
            if held == text
        ]
        paths = {item.path for item in items}
        backups = {path for path in paths if is_backup(path)}
        removed = Removed(
            files=len(self.present - backups),
            passages=len(self.passages),
            versions=sum(item.versions for item in items),
            backups=len(backups),
        )
        by_tier: dict[ForgetTier, Removed] = {"document": removed}
        if self.said.count:
            items += [
                Item("message", path, text, True, count)
                for text in texts
                for (path, held), count in sorted(self.said.messages.items())
                if held == text
            ]
            by_tier["message"] = Removed(len(self.said.sessions), self.said.passages, self.said.count, 0)
        for tier, held_tier in self.derived.tiers.items():
            of_tier = [(where, text, count) for (where, text), count in sorted(held_tier.texts.items())]
            items += [Item(tier, where, text, True, count) for where, text, count in of_tier]
            by_tier[tier] = Removed(held_tier.count, held_tier.passages, 0, 0)
        embeddings = len(self.hashes) + self.said.embeddings + self.derived.embeddings
        return Receipt(dry_run, items, by_tier, embeddings, 0, ())


class Forgetting:
    """Takes texts out of the memory of a place for good."""

    def __init__(
        self,
        database: Database,
        pipeline: Pipeline,
        search: Search,
        tombstones: Tombstones,
        derived: DerivedForgetting,
        count: CountTokens = estimate_tokens,
    ) -> None:
        self._database = database
        self._pipeline = pipeline
        self._search = search
        self._tombstones = tombstones
        self._derived = derived
        self._count = count

    async def forget(self, grant: Grant, place: Place, target: Target, *, dry_run: bool) -> Receipt:
        """Forget, or with `dry_run` say what would be forgotten, in the place that a write of the grant goes to.

        A question selects passages that are relevant to it, of now and of before, at most MAX_FOUND, an id one
        passage; the text of each is then taken out of every file of the place, of every version and backup, out of
        what was said and what was derived, out of the index, its past and the embedding cache, and a tombstone keeps
        what runs by itself from bringing it back. Nothing found is no error: the receipt is empty. Raises NotFound for
        an unknown agent or id, ValidationFailed for a text that is too short or too long, Conflict when writers bring
        the text back all the time.
        """
        async with self._database.tenant(place.tenant_id) as connection:
            if not await store.agent_exists(connection, place.tenant_id, place.agent_id):
                raise NotFound(f"there is no agent {place.agent_id!r}")
        texts = await self._texts(grant, place, target)
        if not texts:
            return _Found().receipt((), dry_run=dry_run)
        shared = await self._still_shared(grant, place, texts)
        if dry_run:
            receipt = await self._survey(place, await self._with_remnants(place, texts))
        else:
            receipt = await self._erase(grant, place, texts)
        return replace(receipt, still_shared=shared)

    async def _texts(self, grant: Grant, place: Place, target: Target) -> list[str]:
        given = [part for part in (target.query, target.id, target.text) if part is not None]
        if len(given) != 1:
            raise ValidationFailed("give exactly one of query, id and text")
        if target.text is not None:
            text = target.text.strip()
            if not MIN_CHARS <= len(text) <= MAX_CHARS:
                raise ValidationFailed(f"a text to forget has {MIN_CHARS} to {MAX_CHARS} characters")
            if not Folded.of(text).text:
                raise ValidationFailed("nothing of the text to forget is seen: it would stand everywhere and nowhere")
            return [text]
        if target.id is not None:
            return [await self._passage(place, target.id)]
        return await self._relevant(grant, place, target.query or "")

    async def _passage(self, place: Place, chunk_id: str) -> str:
        row = None
        if re.fullmatch(r"[0-9]{1,18}", chunk_id):
            async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
                params = {
                    "tenant_id": place.tenant_id,
                    "chunk_id": int(chunk_id),
                    "slice_ids": await own_slices(connection, place, with_past=True),
                    "now": self._derived.now(),
                }
                row = await (await connection.execute(SQL["passage"], params)).fetchone()
        if row is None:
            raise NotFound("there is no such passage in this memory: search again for its id")
        return statement_text(row["text"], row["tier"])

    async def _relevant(self, grant: Grant, place: Place, query: str) -> list[str]:
        request = SearchRequest(
            place.tenant_id,
            place.agent_id,
            query,
            place.owner_key,
            max_results=5 * MAX_FOUND,
            tiers=("document", "episodic", "message"),
            with_past=True,
        )
        outcome = await self._search.search(request, rules_for(grant, self._search.rules))
        texts = [
            statement_text(result.text, result.tier)
            for result in outcome.results
            if result.scope == place.scope and result.relevance >= MIN_RELEVANCE
        ]
        return list(dict.fromkeys(texts))[:MAX_FOUND]

    async def _survey(self, place: Place, texts: Sequence[str]) -> Receipt:
        found = _Found()
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            own = await own_slices(connection, place, with_past=True)
            async for row, held in _versions(connection, place.tenant_id, own, texts):
                found.note(row["path"], held)
                if row["is_present"]:
                    found.present.add(row["path"])
            found.passages = await _passages(connection, place.tenant_id, own, texts)
            found.said = await survey(connection, place.tenant_id, own, texts)
            forgotten = Forgotten(texts, found.said.found)
            found.derived = await self._derived.survey(connection, place.tenant_id, own, forgotten)
        return found.receipt(texts, dry_run=True)

    async def _with_remnants(self, place: Place, texts: Sequence[str]) -> list[str]:
        """The texts with what is left of them where the daily log cut a message, or the server wrote a part of them."""
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            own = await own_slices(connection, place)
            held = await survey(connection, place.tenant_id, own, texts)
            derived = await self._derived.sayings(connection, place.tenant_id, own, texts)
        return list(dict.fromkeys([*texts, *held.remnants, *derived]))

    async def _erase(self, grant: Grant, place: Place, texts: Sequence[str]) -> Receipt:
        await self._tombstones.load_secret()
        attempt = partial(self._erase_once, grant, place, texts)
        return await until_stable(attempt, attempts=MAX_ATTEMPTS, what="what holds this text")

    async def _erase_once(self, grant: Grant, place: Place, texts: Sequence[str]) -> Receipt:
        texts = await self._with_remnants(place, texts)
        before = await self._survey(place, texts)
        paths = sorted({item.path for item in before.items if item.present and item.tier == "document"})
        changes = [Change(path, partial(_edited, path, texts), grant.author, "forget", reserved=True) for path in paths]
        rules = (grant.settings, self._count, self._derived)
        erasure = _Erasure(self._tombstones, place, texts, set(paths), *rules)
        await self._pipeline.write_many(place, changes, erasure.run)
        assert erasure.receipt is not None
        # What is left of a message is embedded anew.
        self._pipeline.backfill_wanted.set()
        # What the new versions themselves took out of the index is not there any more to be counted.
        passages = max(before.removed["document"].passages, erasure.receipt.removed["document"].passages)
        removed = replace(erasure.receipt.removed["document"], passages=passages)
        return replace(erasure.receipt, removed={**erasure.receipt.removed, "document": removed})

    async def _still_shared(self, grant: Grant, place: Place, texts: Sequence[str]) -> list[str]:
        if place.scope != "personal":
            return []
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            visible = await visible_slices(connection, place.tenant_id, place.agent_id, grant.principal.owner_key)
            shared = [s.slice_id for s in visible if s.owner_key is None]
            params = {
                "tenant_id": place.tenant_id,
                "slice_ids": shared,
                **_anchors(texts),
            }
            rows = await (await connection.execute(SQL["sharing_files"], params)).fetchall()
        sought = Sought(texts)
        return sorted({row["path"] for row in rows if sought.held_by(row["content"])})


@dataclass(slots=True)
class _Erasure:
    """The part of forgetting that happens in the transaction of the files' new versions, under the slice's lock."""

    tombstones: Tombstones
    place: Place
    texts: Sequence[str]
    present: set[str]
    settings: AgentSettings
    count: CountTokens
    derived: DerivedForgetting
    receipt: Receipt | None = None

    async def run(self, connection: Connection, slice_: Slice) -> None:
        """Rewrite the history, purge index and cache, leave tombstones; raises Superseded to begin again."""
        tenant_id = self.place.tenant_id
        own = await own_slices(connection, self.place, with_past=True)
        found = _Found(present=self.present)
        hashes: set[bytes] = set()
        rules = Rules(chunk_max_chars=self.settings.chunk_max_chars, language=self.settings.language)
        async for row, held in _versions(connection, tenant_id, own, self.texts):
            if row["is_present"]:
                raise Superseded("the text came back")
            found.note(row["path"], held)
            size = len(row["content"])
            hashes |= await isolated(_hashes, row["path"], row["content"], self.texts, rules, chars=size)
            content = await isolated(_without, row["path"], self.texts, row["content"], chars=size)
            version = {"tenant_id": tenant_id, "document_id": row["document_id"], "version": row["version"]}
            facts = {"size": len(content.encode()), "sha256": hashlib.sha256(content.encode()).digest()}
            await connection.execute(SQL["rewrite_version"], {**version, "content": content, **facts})
            await forget_lines(connection, tenant_id, row["document_id"], row["content"], self.texts)
        found.passages = await _passages(connection, tenant_id, own, self.texts)
        embeddings = await forget_embeddings(connection, tenant_id, hashes | found.hashes)
        await purge_chunks(connection, tenant_id, found.passages)
        found.said = await take_out(connection, self.place, slice_, self.texts, self.settings, self.count)
        if not set(found.said.remnants) <= set(self.texts):
            raise Superseded("more was said meanwhile")
        forgotten_now = Forgotten(self.texts, found.said.found)
        found.derived = await self.derived.take_out(connection, self.place, slice_, forgotten_now, self.settings)
        # A transcript that is sent again is known by the lines of its messages, of which the text may be a part.
        forgotten = [*self.texts, *found.said.lines]
        buried = await self.tombstones.bury(connection, tenant_id, slice_.slice_id, forgotten)
        embeddings += found.said.embeddings + found.derived.embeddings
        self.receipt = replace(found.receipt(self.texts, dry_run=False), embeddings=embeddings, tombstones=buried)


async def _versions(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], texts: Sequence[str]
) -> AsyncIterator[tuple[DictRow, list[str]]]:
    """The versions that hold one of the texts, one after the other: a history may be larger than memory."""
    sought = Sought(texts)
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids), **_anchors(texts)}
    async with connection.cursor(name="holding_versions") as cursor:
        cursor.itersize = 10
        await cursor.execute(SQL["holding_versions"], params)
        async for row in cursor:
            if held := await isolated(sought.held_by, row["content"], chars=len(row["content"])):
                yield row, held


async def _passages(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], texts: Sequence[str]
) -> list[DictRow]:
    """The passages in the index, of now and of before, that hold one of the texts, in themselves or above them."""
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids), **_anchors(texts)}
    rows = await (await connection.execute(SQL["holding_chunks"], params)).fetchall()
    sought = Sought(texts)
    return [row for row in rows if sought.held_by(row["text"]) or sought.held_by(row["above"])]


def _anchors(texts: Sequence[str]) -> dict[str, Any]:
    """What the prefilters of the statements ask for: a word of each text, and what they overlook in files."""
    return {"anchors": [anchor_of(text) for text in texts], "invisible": INVISIBLE}


def _edited(path: str, texts: Sequence[str], content: str | None) -> str:
    if content is None:
        raise Superseded("the file was deleted meanwhile")
    return _without(path, texts, content)


def _without(path: str, texts: Sequence[str], content: str) -> str:
    kept = content
    for text in texts:
        kept, _ = erase(kept, text, by_line=path.endswith(SEARCHABLE))
    return kept


def _hashes(path: str, content: str, texts: Sequence[str], rules: Rules) -> set[bytes]:
    """By which the cache may know passages of an old version that hold one of the texts."""
    sought = Sought(texts)
    return {passage.sha256 for passage in passages_of(path, content, rules) if sought.held_by(passage.text)}
