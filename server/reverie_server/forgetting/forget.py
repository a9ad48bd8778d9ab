"""Forgetting: removes statements from every store, its history, the index and the cache, in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from reverie_indexer.database.database import Connection, Database, Slice, visible_slices
from reverie_indexer.errors import NotFound
from reverie_indexer.index import store
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.access.gate import Grant
from reverie_server.forgettable import Findings, Forgettable, ForgetTier, Forgotten, Item, ReceiptKind, Removed
from reverie_server.forgetting.clauses import ForgottenClause
from reverie_server.forgetting.files import changes_without, shared_files_holding
from reverie_server.forgetting.receipts import NewReceipt, add_receipt, receipt_name
from reverie_server.forgetting.selection import Selection, Statements, Target
from reverie_server.heuristics.entries import facts_asked_for
from reverie_server.provenance.forgotten_log import ForgottenLog
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.sessions.model import Session
from reverie_server.sessions.sessions import Sessions
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.redact import STOPS, Folded, sought, whole_sentence

MAX_ATTEMPTS = 5
# The most statements that one transaction removes: a conversation may have more.
MAX_AT_ONCE = 200
_EDGES = f" {STOPS}"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was removed where, or with `dry_run` would be. `still_shared` names shared files that still hold a text.

    `receipt_id` is that of the receipt that stays; None where nothing was removed.
    """

    dry_run: bool
    items: Sequence[Item]
    removed: Mapping[ForgetTier, Removed]
    embeddings: int
    tombstones: int
    still_shared: Sequence[str]
    receipt_id: str | None = None


@dataclass(frozen=True, slots=True)
class ForgettingDependencies:
    """The parts by which forgetting finds statements, and the stores that it takes them out of.

    Without a `forgotten_log` nothing is noted for restoring.
    """

    database: Database
    pipeline: Pipeline
    selection: Selection
    tombstones: Tombstones
    stores: Sequence[Forgettable]
    sessions: Sessions
    forgotten_log: ForgottenLog | None = None


class Forgetting:
    """Removes statements from the memory of a place for good, store after store."""

    def __init__(
        self, dependencies: ForgettingDependencies, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database = dependencies.database
        self._pipeline = dependencies.pipeline
        self._selection = dependencies.selection
        self._tombstones = dependencies.tombstones
        self._stores = dependencies.stores
        self._sessions = dependencies.sessions
        self._forgotten_log = dependencies.forgotten_log
        self._now = now

    async def forget(
        self, grant: Grant, place: Place, target: Target, *, dry_run: bool, kind: ReceiptKind | None = None
    ) -> Receipt:
        """Forget, or with `dry_run` say what would be forgotten, in the place that a write of the grant goes to.

        A query without items only ever looks: it lists the statements that are relevant to it, each with an id, and
        removing takes their ids. What is selected is taken out of every store of the place, with its history, out of
        the index, its past and the embedding cache, with what would be a stump without it and nothing else. Tombstones
        keep what runs by itself from bringing it back, and a receipt stays. Nothing found is no error: the answer is
        empty. Raises NotFound for an unknown agent or id, ValidationFailed for what cannot be meant, StaleSelection for
        items that have changed, Conflict when writers bring a text back all the time.
        """
        async with self._database.tenant(place.tenant_id) as connection:
            if not await store.agent_exists(connection, place.tenant_id, place.agent_id):
                raise NotFound(f"there is no agent {place.agent_id!r}")
        dry_run = dry_run or (target.query is not None and target.items is None)
        session: Session | None = None
        if target.kind == "session":
            # Before its statements are read: what is said after that is told by its last number.
            session, _ = await self._sessions.locate(grant.principal, str(target.session_id), to_write=not dry_run)
        selected = await self._selection.select(grant, place, target)
        receipt = Receipt(dry_run, [], {"document": Removed(0, 0, 0, 0)}, 0, 0, ())
        if selected.texts or session is not None:
            shared = await self._still_shared(grant, place, selected.texts)
            if dry_run:
                receipt = await self._would_remove(grant, place, selected, session)
            else:
                receipt = await self._remove(grant, place, selected, kind or target.kind, session)
            receipt = replace(receipt, still_shared=shared)
        return receipt

    async def forget_statements(self, grant: Grant, place: Place, texts: Sequence[str | ForgottenClause]) -> Receipt:
        """Forget statements, and clauses of others, that somebody named in a conversation. Raises Conflict as `forget`
        does."""
        await self._tombstones.load_secret()
        selected = Statements()
        for text in texts:
            if isinstance(text, str):
                selected.add(text, "0", as_sentence=True)
            else:
                selected.add_clause(text, "0")
        return await self._remove(grant, place, selected, "said")

    async def forget_texts(self, grant: Grant, place: Place, texts: Sequence[str]) -> Receipt:
        """Forget texts that were found somewhere, as they stand there. Raises Conflict as `forget` does."""
        await self._tombstones.load_secret()
        selected = Statements()
        for text in texts:
            selected.add(text, "0", as_sentence=False)
        return await self._remove(grant, place, selected, "text")

    async def _would_remove(self, grant: Grant, place: Place, selected: Statements, session: Session | None) -> Receipt:
        gone = Forgotten(
            selected.texts,
            lines=selected.lines_by_path,
            session_key=session.session_key if session else None,
            spared=selected.spared,
        )
        gone = await self._with_remnants(grant, place, gone)
        _, stretches = await self._survey(place, gone)
        gone = await self._with_remnants(grant, place, replace(gone, texts=_longest_first(stretches, gone.texts)))
        receipt, _ = await self._survey(place, gone)
        return replace(receipt, items=_listed(receipt.items, selected, stretches))

    async def _remove(
        self,
        grant: Grant,
        place: Place,
        selected: Statements,
        kind: ReceiptKind,
        session: Session | None = None,
    ) -> Receipt:
        """Remove in several transactions. Whole lines go first, as they were seen, and the session last: who was
        interrupted can ask for it again."""
        receipts: list[Receipt] = []
        count = max(1, len(selected.texts))
        for first in range(0, count, MAX_AT_ONCE):
            gone = Forgotten(
                selected.texts[first : first + MAX_AT_ONCE],
                lines=selected.lines_by_path if first == 0 else {},
                spared=selected.spared,
            )
            last = session if first + MAX_AT_ONCE >= count else None
            attempt = partial(self._erase, grant, place, gone, selected, kind, last)
            receipts.append(await until_stable(attempt, attempts=MAX_ATTEMPTS, what="what holds this text"))
        return _together(receipts)

    async def _survey(self, place: Place, forgotten: Forgotten) -> tuple[Receipt, list[str]]:
        """Where the stores hold what goes; and the parts that go with the texts, as they stand."""
        known = {_key(text) for text in forgotten.texts}
        survey: list[Findings] = []
        stretches: dict[str, None] = {}
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place, with_past=True)
            for each in self._stores:
                findings = await each.survey(connection, place.tenant_id, slice_ids, forgotten)
                forgotten = forgotten.after(findings)
                survey.append(findings)
                stretches |= dict.fromkeys(findings.stretches)
        return _receipt(survey, dry_run=True), [text for text in stretches if _key(text) not in known]

    async def _with_remnants(self, grant: Grant, place: Place, forgotten: Forgotten) -> Forgotten:
        """The texts with their remnants: what they ask to remember, without the words that ask, parts that were cut
        off, and what the server wrote into files."""
        facts = await asyncio.to_thread(facts_asked_for, forgotten.texts, grant.settings.language)
        # Of what says too little to be a sentence, the request alone goes.
        whole = [fact for fact in map(whole_sentence, facts) if sought(fact)[1]]
        forgotten = replace(forgotten, texts=[*forgotten.texts, *whole])
        together = list(forgotten.texts)
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            for each in self._stores:
                together += await each.remnants(connection, place.tenant_id, slice_ids, forgotten)
        return replace(forgotten, texts=list(dict.fromkeys(together)))

    async def _erase(
        self,
        grant: Grant,
        place: Place,
        gone: Forgotten,
        selected: Statements,
        kind: ReceiptKind,
        session: Session | None,
    ) -> Receipt:
        """Forget texts, lines and a session, in one attempt. Raises Superseded where others changed the memory."""
        gone = await self._with_remnants(grant, place, gone)
        gone = replace(gone, session_key=session.session_key if session else None)
        before, stretches = await self._survey(place, gone)
        known = set(gone.texts).union(stretches)
        gone = await self._with_remnants(grant, place, replace(gone, texts=_longest_first(stretches, gone.texts)))
        if not known.issuperset(gone.texts):
            # What goes with a whole statement may stand in other files than a part of it.
            before, _ = await self._survey(place, gone)
        paths = frozenset(item.path for item in before.items if item.present and item.tier == "document")
        forgotten = replace(gone, edited_paths=paths)
        meant = _Meant(grant.author, kind, selected, stretches, before.removed["document"].passages)
        log = self._forgotten_log
        erasure = _Erasure(self._stores, self._tombstones, log, place, forgotten, grant.settings, meant, self._now())
        if session is not None:
            erasure.remove_session = partial(self._sessions.remove_unchanged, grant.principal, session)
        changes = changes_without(forgotten, grant.author)
        async with self._pipeline.unit_of_work(place, changes) as unit:
            await erasure.run(unit.connection, unit.slice_)
        receipt = erasure.receipt
        assert receipt is not None
        # The rest of a message is embedded anew.
        self._pipeline.backfill_wanted.set()
        return receipt

    async def _still_shared(self, grant: Grant, place: Place, texts: Sequence[str]) -> list[str]:
        if place.scope != "personal":
            return []
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            visible = await visible_slices(connection, place.tenant_id, place.agent_id, grant.principal.owner_key)
            shared = [s.slice_id for s in visible if s.owner_key is None]
            return await shared_files_holding(connection, place.tenant_id, shared, texts)


@dataclass(frozen=True, slots=True)
class _Meant:
    """Who wants what forgotten, and how it was meant.

    The new versions remove `passages` of files from the index before the stores do: they were counted before.
    """

    author: str
    kind: ReceiptKind
    selected: Statements
    stretches: Sequence[str]
    passages: int


@dataclass(slots=True)
class _Erasure:
    """The part of forgetting that happens in the transaction of the files' new versions, under the slice's lock."""

    stores: Sequence[Forgettable]
    tombstones: Tombstones
    log: ForgottenLog | None
    place: Place
    forgotten: Forgotten
    settings: AgentSettings
    meant: _Meant
    at: datetime
    receipt: Receipt | None = field(default=None, init=False)
    remove_session: Callable[[Connection, Place, Slice], Awaitable[None]] | None = field(default=None, init=False)

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
        # A text may be part of a statement: tombstones of whole ones recognise a transcript that is sent again.
        lines = [line for findings in erased for line in findings.lines]
        lines += [line for of_path in self.forgotten.lines.values() for line in of_path.values()]
        # What others say in the same words may be written anew.
        known = self.forgotten.spared.going_everywhere([*texts, *lines])
        tenant_id, slice_id = self.place.tenant_id, slice_.slice_id
        whole = [text for findings in erased for text in findings.whole_messages]
        keyed = self.tombstones.keyed(known, whole)
        count = await self.tombstones.add_keyed(connection, tenant_id, slice_id, keyed)
        receipt = _receipt(erased, dry_run=False)
        of_files = receipt.removed["document"]
        of_files = replace(of_files, passages=max(self.meant.passages, of_files.passages))
        receipt = replace(receipt, removed={**receipt.removed, "document": of_files}, tombstones=count)
        items = _listed(receipt.items, self.meant.selected, self.meant.stretches)
        if self.remove_session is not None:
            await self.remove_session(connection, self.place, slice_)
        stored = NewReceipt(
            self.meant.author,
            self.meant.kind,
            texts,
            [*items, *(item for findings in erased for item in findings.unlisted)],
            receipt.removed,
            receipt.embeddings,
            count,
            self.at,
        )
        number = await add_receipt(connection, tenant_id, slice_id, stored)
        self.receipt = replace(receipt, items=items, receipt_id=receipt_name(number))
        if self.log is not None:
            await self.log.note_texts(connection, self.place, known, keyed)


def _listed(items: Sequence[Item], selected: Statements, stretches: Collection[str]) -> list[Item]:
    """The items as they stand, each with its id; where one is in a longer one of the same place, that one counts."""
    longer: dict[str, set[str]] = {}
    keys = [(other, _key(other)) for other in (*stretches, *selected.joined)]
    for item in items:
        if item.text not in longer:
            key = _key(item.text)
            # Of two spellings of one text, one counts for both.
            longer[item.text] = {
                other
                for other, other_key in keys
                if key in other_key and (len(other_key), other) > (len(key), item.text)
            }
    versions = {(item.tier, item.path, item.text): item.versions for item in items}
    kept: list[Item] = []
    for item in items:
        others = () if item.is_alone else longer[item.text]
        alone = item.versions - sum(versions.get((item.tier, item.path, other), 0) for other in others)
        if alone > 0:
            kept.append(replace(item, text=selected.as_written.get(item.text, item.text), versions=alone))
    return [replace(item, id=f"{_prefix_of(item.text, selected)}.{number}") for number, item in enumerate(kept, 1)]


def _prefix_of(text: str, selected: Statements) -> str:
    """The beginning of the id: that of the statement which the text is, is part of, or which is part of it."""
    known = selected.ids.get(text) or selected.line_ids.get(text)
    if known is not None:
        return known
    key = _key(text)
    related = (each for each in selected.ids if key in _key(each) or _key(each) in key)
    return selected.ids[next(related, next(iter(selected.ids)))]


def _key(text: str) -> str:
    return Folded.of(text).text.strip(_EDGES)


def _longest_first(stretches: Iterable[str], texts: Sequence[str]) -> list[str]:
    return [*sorted(stretches, key=len, reverse=True), *texts]


def _together(receipts: Sequence[Receipt]) -> Receipt:
    """Several receipts as one, with the id of the last."""
    removed: dict[ForgetTier, Removed] = {}
    for receipt in receipts:
        for tier, counts in receipt.removed.items():
            removed[tier] = removed[tier] + counts if tier in removed else counts
    return replace(
        receipts[-1],
        items=[item for receipt in receipts for item in receipt.items],
        removed=removed,
        embeddings=sum(receipt.embeddings for receipt in receipts),
        tombstones=sum(receipt.tombstones for receipt in receipts),
    )


def _receipt(findings: Sequence[Findings], *, dry_run: bool) -> Receipt:
    """The receipt of all stores' findings, without tiers that hold nothing."""
    items: list[Item] = []
    removed: dict[ForgetTier, Removed] = {}
    for each in findings:
        if each.removed is not None:
            items += each.items
            removed[each.tier] = removed[each.tier] + each.removed if each.tier in removed else each.removed
    return Receipt(dry_run, items, removed, sum(each.embeddings for each in findings), 0, ())
