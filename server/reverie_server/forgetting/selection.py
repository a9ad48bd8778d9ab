"""Selects the statements to forget, and gives each an id by which a person chooses it."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound, StaleSelection, ValidationFailed
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.forgettable import ReceiptKind, Spared
from reverie_server.forgetting.clauses import ForgottenClause, clauses_about, clauses_to_forget
from reverie_server.forgetting.relevant import best_of, having, relevant_statements
from reverie_server.forgetting.session_lines import SessionLine, lines_of_session
from reverie_server.graph.model import parse_id
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.search.asked.heard import NearStatement
from reverie_server.search.asked.near_statements import NearStatements
from reverie_server.search.episode_passages import statement_text
from reverie_server.search.query_terms import meaning_of
from reverie_server.search.relevance import MIN_RELEVANCE
from reverie_server.search.request import SearchRequest, rules_for
from reverie_server.search.search import Search
from reverie_server.sessions.lookup import Key, look_up
from reverie_server.text.redact import STOPS, Folded, essence, is_distinctive, whole_sentence
from reverie_server.text.statement_spans import statements

SQL = Queries(__file__)
MIN_CHARS = 2
MAX_CHARS = 8000
# The most statements that one query may list; to remove more use `clear`.
MAX_FOUND = 20
MAX_PASSAGES = 5 * MAX_FOUND
# The most items of one request.
MAX_ITEMS = 200
# The id of an item: the passage it was found in (0: none), a keyed hash, and the number of the item.
_ITEM_ID = re.compile(r"([0-9]{1,18})-([0-9a-f]{24})\.[0-9]{1,4}")
_ENDS = f"{STOPS}…"


@dataclass(frozen=True, slots=True)
class Target:
    """What to forget: one of a query, an id, a text, an entity, a session and statements, or `items` that were listed.

    The id is that of a passage. Items of a query are chosen by their ids alone; those of the others stand beside them.
    A text may be a part of a sentence; statements are whole ones, and no longer sentence begins with them. Beside them
    go `clauses` of other sentences, each with the word that joins it to the rest. `spared` are places of others.
    """

    query: str | None = None
    id: str | None = None
    text: str | None = None
    entity_id: str | None = None
    session_id: str | None = None
    items: Sequence[str] | None = None
    statements: Sequence[str] | None = None
    clauses: Sequence[str] = ()
    spared: Spared = field(default_factory=Spared)

    @property
    def kind(self) -> ReceiptKind:
        """How it was meant, for the receipt."""
        named: dict[ReceiptKind, str | None] = {
            "id": self.id,
            "text": self.text,
            "entity": self.entity_id,
            "session": self.session_id,
        }
        otherwise: ReceiptKind = "items" if self.statements is None else "text"
        return next((kind for kind, value in named.items() if value is not None), otherwise)


@dataclass(slots=True)
class Statements:
    """The statements to forget, in order, each with the beginning of the ids of its items.

    `as_written` has a text as it stands, where the one that is sought was given a full stop: then it is not found as
    the beginning of a longer sentence. `joined` are those that are clauses with the word that joins them to the rest of
    their sentence. `lines` of files go whole, where they stand alone; `line_ids` is as `ids`. `spared` are places of
    others.
    """

    ids: dict[str, str] = field(default_factory=dict)
    as_written: dict[str, str] = field(default_factory=dict)
    joined: list[str] = field(default_factory=list)
    lines: list[SessionLine] = field(default_factory=list)
    line_ids: dict[str, str] = field(default_factory=dict)
    spared: Spared = field(default_factory=Spared)

    @property
    def texts(self) -> list[str]:
        """The texts that are sought."""
        return list(self.ids)

    @property
    def lines_by_path(self) -> dict[str, dict[bytes, str]]:
        """The lines of each file, by their identity."""
        found: dict[str, dict[bytes, str]] = {}
        for line in self.lines:
            found.setdefault(line.path, {})[line.sha256] = line.text
        return found

    def add(self, text: str, prefix: str, *, as_sentence: bool) -> None:
        """Add a statement, once."""
        bare = text.strip()
        sought = whole_sentence(bare) if as_sentence else bare
        if sought and sought not in self.ids:
            self.ids[sought] = prefix
            self.as_written[sought] = bare

    def add_clause(self, clause: ForgottenClause, prefix: str) -> None:
        """Add a clause, once: as a sentence of its own, and as it stands beside others."""
        self.add(clause.text, prefix, as_sentence=True)
        if essence(clause.joined) != essence(clause.text):
            self.add(clause.joined, prefix, as_sentence=False)
            self.joined.append(clause.joined.strip())


class Selection:
    """Selects statements in the memory of a place. `now` gives the time."""

    def __init__(
        self,
        database: Database,
        search: Search,
        tombstones: Tombstones,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._search = search
        self._tombstones = tombstones
        self._near_statements = NearStatements(database, search, now)
        self._now = now

    async def select(self, grant: Grant, place: Place, target: Target) -> Statements:
        """The statements of a target. Raises NotFound, ValidationFailed, and StaleSelection for items not there."""
        named = (target.query, target.id, target.text, target.entity_id, target.session_id, target.statements)
        count = sum(part is not None for part in named)
        if count != 1 and not (count == 0 and target.items is not None):
            raise ValidationFailed("give exactly one of query, id, text, entity_id and session_id, or items")
        secret = await self._tombstones.load_secret()
        if target.items is not None and not (target.text or target.entity_id or target.session_id):
            return await self._chosen(place, target.items, secret, grant.settings.language)
        selected = await self._named(grant, place, target, secret)
        if target.items is None:
            return selected
        return _only(selected, target.items)

    async def _named(self, grant: Grant, place: Place, target: Target, secret: bytes) -> Statements:
        selected = Statements()
        if target.text is not None:
            texts = [checked_text(target.text)]
        elif target.statements is not None:
            selected.spared = target.spared
            for text in target.clauses:
                selected.add(text, _prefix(secret, place, 0, "", text), as_sentence=False)
            for text in target.statements:
                selected.add(text, _prefix(secret, place, 0, "", text), as_sentence=True)
            return selected
        elif target.entity_id is not None:
            texts = await self._names(place, target.entity_id)
        elif target.session_id is not None:
            texts, selected.lines = await self._said_in(grant, place, target.session_id)
            for text in texts:
                selected.add(text, _prefix(secret, place, 0, "", text), as_sentence=True)
            selected.line_ids = {line.text: _prefix(secret, place, 0, "line", line.text) for line in selected.lines}
            return selected
        elif target.id is not None:
            row = await self._passage(place, target.id)
            text = statement_text(row["text"], row["tier"])
            selected.add(text, _prefix_of(secret, place, row, text), as_sentence=False)
            return selected
        else:
            return await self._listed(grant, place, target.query or "", secret)
        for text in texts:
            selected.add(text, _prefix(secret, place, 0, "", text), as_sentence=False)
        return selected

    async def _passages(self, place: Place, chunk_ids: Sequence[int]) -> list[DictRow]:
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            params = {
                "tenant_id": place.tenant_id,
                "chunk_ids": list(chunk_ids),
                "slice_ids": await own_slices(connection, place, with_past=True),
                "now": self._now(),
            }
            return await (await connection.execute(SQL["passages"], params)).fetchall()

    async def _passage(self, place: Place, chunk_id: str) -> DictRow:
        rows = await self._passages(place, [int(chunk_id)]) if re.fullmatch(r"[0-9]{1,18}", chunk_id) else []
        if not rows:
            raise NotFound("there is no such passage in this memory: search again for its id")
        return rows[0]

    async def _chosen(self, place: Place, items: Sequence[str], secret: bytes, language: str) -> Statements:
        """The statements and clauses of items of a query or an id, found again in their passages."""
        matches = [_ITEM_ID.fullmatch(item) for item in items]
        if not items or any(match is None for match in matches):
            raise StaleSelection("there is no such item: look again, and choose from what is listed then")
        ids = {(int(match[1]), f"{match[1]}-{match[2]}") for match in matches if match}
        rows = await self._passages(place, sorted({chunk_id for chunk_id, _ in ids}))
        selected = Statements()
        found: set[str] = set()
        for row in rows:
            whole = statement_text(row["text"], row["tier"])
            texts = await asyncio.to_thread(statements, whole)
            for text in (whole, *texts):
                prefix = _prefix_of(secret, place, row, text)
                if (row["chunk_id"], prefix) in ids and prefix not in found:
                    found.add(prefix)
                    selected.add(text, prefix, as_sentence=True)
            if found.issuperset(prefix for chunk_id, prefix in ids if chunk_id == row["chunk_id"]):
                continue
            for clause in await asyncio.to_thread(_clauses_in, texts, language):
                prefix = _prefix_of(secret, place, row, clause.text)
                if (row["chunk_id"], prefix) in ids:
                    found.add(prefix)
                    selected.add_clause(clause, prefix)
        if found != {prefix for _, prefix in ids}:
            raise StaleSelection("an item is not what it was when it was listed: look again, nothing was removed")
        return selected

    async def _listed(self, grant: Grant, place: Place, query: str, secret: bytes) -> Statements:
        """The statements that are most relevant to a query, and of those with several clauses the relevant ones."""
        language = grant.settings.language
        terms = meaning_of(query, language).terms
        selected = Statements()
        relevant = await self._relevant(grant, place, query)
        best = await asyncio.to_thread(best_of, [text for _, text in relevant], query, language)
        for row, text in relevant:
            if text not in best:
                continue
            clauses = await asyncio.to_thread(clauses_about, text, terms, language)
            for clause in clauses:
                selected.add_clause(clause, _prefix_of(secret, place, row, clause.text))
            if not clauses:
                selected.add(text, _prefix_of(secret, place, row, text), as_sentence=True)
        return selected

    async def _relevant(self, grant: Grant, place: Place, query: str) -> list[tuple[DictRow, str]]:
        """The statements that are relevant to a query, of now and of before, at most MAX_FOUND, the best first; each
        with its passage."""
        request = SearchRequest(
            place.tenant_id,
            place.agent_id,
            query,
            place.owner_key,
            max_results=MAX_PASSAGES,
            tiers=("document", "episodic", "message"),
            with_past=True,
        )
        outcome = await self._search.search(request, rules_for(grant, self._search.rules))
        found = [each for each in outcome.results if each.scope == place.scope and each.relevance >= MIN_RELEVANCE]
        by_id = {row["chunk_id"]: row for row in await self._passages(place, [each.chunk_id for each in found])}
        terms = meaning_of(query, grant.settings.language).terms
        relevant: dict[str, tuple[DictRow, str]] = {}
        for each in found:
            row = by_id.get(each.chunk_id)
            if row is None:
                continue
            whole = statement_text(row["text"], row["tier"])
            for text in await asyncio.to_thread(relevant_statements, whole, terms, grant.settings.language):
                if text.strip():
                    relevant.setdefault(Folded.of(text.strip(_ENDS)).text, (row, text))
        return list(relevant.values())[:MAX_FOUND]

    async def relevant(self, grant: Grant, place: Place, query: str) -> list[str]:
        """The statements that are relevant to a query, the best first, each as a whole sentence."""
        if not meaning_of(query, grant.settings.language).terms:
            return []
        return [whole_sentence(text.strip()) for _, text in await self._relevant(grant, place, query)]

    async def near_statements(self, grant: Grant, place: Place, queries: Sequence[str]) -> list[NearStatement]:
        """The statements of `NearStatements.find`."""
        return await self._near_statements.find(grant, place, queries)

    async def statements_between(
        self, grant: Grant, place: Place, spans: Sequence[tuple[datetime, datetime]]
    ) -> list[NearStatement]:
        """The statements of `NearStatements.statements_between`."""
        return await self._near_statements.statements_between(grant, place, spans)

    async def exchanges(self, grant: Grant, place: Place, texts: Sequence[str]) -> list[tuple[str, str]]:
        """The messages of the owner with one of some texts, each with its answer; the newest, at most MAX_FOUND."""
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            params = {
                "tenant_id": place.tenant_id,
                "slice_ids": await own_slices(connection, place),
                "owner_key": grant.principal.owner_key,
                "texts": list(texts),
                "limit": MAX_FOUND,
            }
            rows = await (await connection.execute(SQL["exchanges"], params)).fetchall()
        return [(row["said"], row["answer"]) for row in rows]

    async def about(self, grant: Grant, place: Place, topic: str) -> list[str]:
        """The statements that have a topic (`having`); none for a topic without a word that carries a meaning."""
        language = grant.settings.language
        return having(topic, await self.relevant(grant, place, topic), language)

    async def _names(self, place: Place, entity_id: str) -> list[str]:
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            params = {
                "tenant_id": place.tenant_id,
                "slice_ids": await own_slices(connection, place),
                "entity_id": parse_id("entity", entity_id),
            }
            rows = await (await connection.execute(SQL["names"], params)).fetchall()
        if not rows:
            raise NotFound("there is no such entity in this memory")
        names = {name for row in rows for name in (row["name"], *row["aliases"])}
        # A name that is no name ("my boss") is in what is said of others, too.
        return sorted((name for name in names if name == rows[0]["name"] or _is_name(name)), key=len, reverse=True)

    async def _said_in(self, grant: Grant, place: Place, session_id: str) -> tuple[list[str], list[SessionLine]]:
        """The statements of a session that no other session of the place has, and the lines written of it alone.

        A short statement is no text to look for: it stands in what others say by chance.
        """
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            found = await look_up(connection, Key.of(grant.principal, session_id))
            if found is None or found[1] != place:
                raise NotFound(f"there is no session {session_id!r}")
            params: dict[str, Any] = {
                "tenant_id": place.tenant_id,
                "slice_ids": await own_slices(connection, place),
            }
            rows = await (await connection.execute(SQL["said"], params)).fetchall()
            texts, elsewhere = await asyncio.to_thread(_of_one_session, rows, found[0].session_key)
            return texts, await lines_of_session(connection, place.tenant_id, params["slice_ids"], found[0], elsewhere)


def _clauses_in(texts: Sequence[str], language: str) -> list[ForgottenClause]:
    return [clause for text in texts for clause in clauses_to_forget(text, language)]


def checked_text(text: str) -> str:
    """A text to forget, without white space at its ends; ValidationFailed for one that cannot be meant."""
    text = text.strip()
    if not MIN_CHARS <= len(text) <= MAX_CHARS:
        raise ValidationFailed(f"a text to forget has {MIN_CHARS} to {MAX_CHARS} characters")
    if not Folded.of(text).text:
        raise ValidationFailed("nothing of the text to forget is seen: it would stand everywhere and nowhere")
    return text


def _of_one_session(rows: Sequence[DictRow], session_key: int) -> tuple[list[str], str]:
    """The distinctive statements of one session alone; and what the others say, folded, a line for each statement."""
    keys_elsewhere: set[str] = set()
    statements_here: dict[str, str] = {}
    for row in rows:
        for text in statements(row["content"]):
            key = Folded.of(text.strip(_ENDS)).text
            if row["session_key"] != session_key:
                keys_elsewhere.add(key)
            elif is_distinctive(text):
                statements_here.setdefault(key, text)
    alone = [text for key, text in statements_here.items() if key not in keys_elsewhere]
    return alone, "\n".join(sorted(keys_elsewhere))


def _is_name(name: str) -> bool:
    return any(character.isupper() or character.isdigit() for character in name) or not name.isascii()


def _only(selected: Statements, items: Sequence[str]) -> Statements:
    prefixes = {item.partition(".")[0] for item in items}
    if not items or not prefixes <= {*selected.ids.values(), *selected.line_ids.values()}:
        raise StaleSelection("an item is not what it was when it was listed: look again, nothing was removed")
    chosen = {text: prefix for text, prefix in selected.ids.items() if prefix in prefixes}
    lines = [line for line in selected.lines if selected.line_ids[line.text] in prefixes]
    as_written = {text: selected.as_written[text] for text in chosen}
    return Statements(chosen, as_written, lines=lines, line_ids=selected.line_ids)


def _prefix_of(secret: bytes, place: Place, row: DictRow, text: str) -> str:
    return _prefix(secret, place, row["chunk_id"], str(row["valid_to"]), text)


def _prefix(secret: bytes, place: Place, chunk_id: int, state: str, text: str) -> str:
    """The beginning of the ids of a statement's items, for its exact text in one state of one passage."""
    named = "\0".join((place.tenant_id, place.agent_id, place.owner_key or "", str(chunk_id), state, text.strip()))
    return f"{chunk_id}-{hmac.digest(secret, named.encode(), 'sha256').hex()[:24]}"
