"""Forgetting: removes a text from every store, its history, the index and the cache, in one transaction."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from reverie_indexer.database.database import Connection, Database, Slice, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound, ValidationFailed
from reverie_indexer.index import store
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.access.gate import Grant
from reverie_server.forgettable import Findings, Forgettable, ForgetTier, Forgotten, Item, Removed
from reverie_server.forgetting.files import changes_without, shared_files_holding
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.search.episode_passages import statement_text
from reverie_server.search.rank import MIN_RELEVANCE
from reverie_server.search.request import SearchRequest, rules_for
from reverie_server.search.search import Search
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.redact import Folded

SQL = Queries(__file__)
MIN_CHARS = 2
MAX_CHARS = 8000
# The most passages that one query may select; to remove more use `clear`.
MAX_FOUND = 20
MAX_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Target:
    """What to forget: exactly one of a query, the id of a passage, and the text itself."""

    query: str | None = None
    id: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was removed where, or with `dry_run` would be. `still_shared` names shared files that still hold a text."""

    dry_run: bool
    items: Sequence[Item]
    removed: Mapping[ForgetTier, Removed]
    embeddings: int
    tombstones: int
    still_shared: Sequence[str]


class Forgetting:
    """Removes texts from the memory of a place for good, store after store. `now` gives the time."""

    def __init__(
        self,
        database: Database,
        pipeline: Pipeline,
        search: Search,
        tombstones: Tombstones,
        stores: Sequence[Forgettable],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._pipeline = pipeline
        self._search = search
        self._tombstones = tombstones
        self._stores = stores
        self._now = now

    async def forget(self, grant: Grant, place: Place, target: Target, *, dry_run: bool) -> Receipt:
        """Forget, or with `dry_run` say what would be forgotten, in the place that a write of the grant goes to.

        A question selects passages that are relevant to it, of now and of before, at most MAX_FOUND, an id one
        passage. The text of each is then taken out of every store of the place, with its history, out of the index,
        its past and the embedding cache. A tombstone keeps what runs by itself from bringing it back. Nothing found is
        no error: the receipt is empty. Raises NotFound for an unknown agent or id, ValidationFailed for a text that is
        too short or too long, Conflict when writers bring the text back all the time.
        """
        async with self._database.tenant(place.tenant_id) as connection:
            if not await store.agent_exists(connection, place.tenant_id, place.agent_id):
                raise NotFound(f"there is no agent {place.agent_id!r}")
        texts = await self._texts(grant, place, target)
        if not texts:
            return Receipt(dry_run, [], {"document": Removed(0, 0, 0, 0)}, 0, 0, ())
        shared = await self._still_shared(grant, place, texts)
        if dry_run:
            receipt = await self._survey(place, await self._with_remnants(place, texts))
        else:
            await self._tombstones.load_secret()
            attempt = partial(self._erase, grant, place, texts)
            receipt = await until_stable(attempt, attempts=MAX_ATTEMPTS, what="what holds this text")
        return replace(receipt, still_shared=shared)

    async def _texts(self, grant: Grant, place: Place, target: Target) -> list[str]:
        parts = [part for part in (target.query, target.id, target.text) if part is not None]
        if len(parts) != 1:
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
                    "now": self._now(),
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
        forgotten = Forgotten(texts)
        survey: list[Findings] = []
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place, with_past=True)
            for each in self._stores:
                findings = await each.survey(connection, place.tenant_id, slice_ids, forgotten)
                forgotten = forgotten.after(findings)
                survey.append(findings)
        return _receipt(survey, dry_run=True)

    async def _with_remnants(self, place: Place, texts: Sequence[str]) -> list[str]:
        """The texts, and their remnants: parts that the daily log cut off, or that the server wrote into files."""
        together = list(texts)
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            for each in self._stores:
                together += await each.remnants(connection, place.tenant_id, slice_ids, texts)
        return list(dict.fromkeys(together))

    async def _erase(self, grant: Grant, place: Place, texts: Sequence[str]) -> Receipt:
        """Forget the texts, in one attempt. Raises Superseded where others changed the memory meanwhile."""
        texts = await self._with_remnants(place, texts)
        before = await self._survey(place, texts)
        paths = sorted({item.path for item in before.items if item.present and item.tier == "document"})
        erasure = _Erasure(self._stores, self._tombstones, place, Forgotten(texts, frozenset(paths)), grant.settings)
        changes = changes_without(paths, texts, grant.author)
        async with self._pipeline.unit_of_work(place, changes) as unit:
            await erasure.run(unit.connection, unit.slice_)
        receipt = erasure.receipt
        assert receipt is not None
        # The rest of a message is embedded anew.
        self._pipeline.backfill_wanted.set()
        # The new versions have removed passages from the index already: these are counted from the survey before.
        passages = max(before.removed["document"].passages, receipt.removed["document"].passages)
        removed = replace(receipt.removed["document"], passages=passages)
        return replace(receipt, removed={**receipt.removed, "document": removed})

    async def _still_shared(self, grant: Grant, place: Place, texts: Sequence[str]) -> list[str]:
        if place.scope != "personal":
            return []
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            visible = await visible_slices(connection, place.tenant_id, place.agent_id, grant.principal.owner_key)
            shared = [s.slice_id for s in visible if s.owner_key is None]
            return await shared_files_holding(connection, place.tenant_id, shared, texts)


@dataclass(slots=True)
class _Erasure:
    """The part of forgetting that happens in the transaction of the files' new versions, under the slice's lock."""

    stores: Sequence[Forgettable]
    tombstones: Tombstones
    place: Place
    forgotten: Forgotten
    settings: AgentSettings
    receipt: Receipt | None = field(default=None, init=False)

    async def run(self, connection: Connection, slice_: Slice) -> None:
        """Erase store after store and leave tombstones. Raises Superseded to begin again."""
        texts = self.forgotten.texts
        forgotten = self.forgotten
        erased: list[Findings] = []
        for each in self.stores:
            findings = await each.erase(connection, self.place, slice_, forgotten, self.settings)
            if not set(findings.remnants) <= set(texts):
                raise Superseded("more was said meanwhile")
            forgotten = forgotten.after(findings)
            erased.append(findings)
        # A text may be part of a line: tombstones of whole lines recognise a transcript that is sent again.
        lines = [line for findings in erased for line in findings.lines]
        count = await self.tombstones.add(connection, self.place.tenant_id, slice_.slice_id, [*texts, *lines])
        self.receipt = replace(_receipt(erased, dry_run=False), tombstones=count)


def _receipt(findings: Sequence[Findings], *, dry_run: bool) -> Receipt:
    """The receipt of all stores' findings, without tiers that hold nothing."""
    items: list[Item] = []
    removed: dict[ForgetTier, Removed] = {}
    for each in findings:
        if each.removed is not None:
            items += each.items
            removed[each.tier] = removed[each.tier] + each.removed if each.tier in removed else each.removed
    return Receipt(dry_run, items, removed, sum(each.embeddings for each in findings), 0, ())
