"""Search of files line by line, by words alone: what stands where, without an index or a model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reverie_indexer.database.database import Connection, Database, Slice, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound, ValidationFailed
from reverie_indexer.file_rules import BACKUP, is_unedited_seed
from reverie_indexer.index import store
from reverie_indexer.index.slices import scope_of
from reverie_indexer.model import Scope
from reverie_indexer.text.analyse import IGNORED
from reverie_server.access.principal import Principal
from reverie_server.files.keyword_match import KeywordHit, Terms, hits_of, patterns_of, score_of, terms_of
from reverie_server.text.query import check_query

SQL = Queries(__file__)
MAX_FILES = 50
# Texts that are held at once; a file has at most 1 MiB.
_FILES_OF_BATCH = 8
# PostgreSQL keeps 32 compiled expressions; with more it would compile them anew for every file. Three are others'.
_MAX_PATTERNS = 28
_RANKS: Mapping[Scope, int] = {"personal": 0, "team": 1, "global": 2}


@dataclass(frozen=True, slots=True)
class KeywordOutcome:
    """How many lines were found, and the best of them."""

    total_hits: int
    hits: Sequence[KeywordHit]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A file with the score that its best line can have at most."""

    document_id: int
    path: str
    promise: float


class KeywordSearch:
    """Finds lines in the markdown files that a principal sees."""

    def __init__(self, database: Database, *, max_files: int = MAX_FILES) -> None:
        self._database = database
        self._max_files = max_files

    async def search(
        self, principal: Principal, query: str, *, scope: Scope | None = None, limit: int = 10
    ) -> KeywordOutcome:
        """The best lines: by score, then path and line; a leader's come after the principal's own.

        Of a path only the copy is searched that a read of it would give, within `scope` where that is given; of at
        most `max_files` files, those with the best lines, five lines each. Backups and unedited seeds are left out.
        ValidationFailed for an empty or overlong query and for scope personal without an owner, NotFound for an unknown
        agent.
        """
        if scope == "personal" and principal.owner_key is None:
            raise ValidationFailed("scope personal needs an owner_key")
        terms = terms_of(check_query(query))
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            if not await store.agent_exists(connection, principal.tenant_id, principal.agent_id):
                raise NotFound(f"there is no agent {principal.agent_id!r}")
            if not terms.count:
                return KeywordOutcome(0, [])
            visible = await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
            own_slices = [s for s in visible if scope in (None, scope_of(s.agent_id, s.owner_key))]
            hits = await self._search(
                connection, principal.tenant_id, own_slices, terms, hidden=(), max_files=self._max_files
            )
            left = self._max_files - len({hit.path for hit in hits})
            if principal.leader_agent_id is not None and scope in (None, "team") and left:
                own_ids = [s.slice_id for s in own_slices]
                hidden = await store.paths_hidden_by(connection, principal.tenant_id, own_ids)
                # What the leader shares; never what is personal there.
                visible = await visible_slices(connection, principal.tenant_id, principal.leader_agent_id, None)
                team = [s for s in visible if s.agent_id is not None]
                hits += await self._search(connection, principal.tenant_id, team, terms, hidden=hidden, max_files=left)
        return KeywordOutcome(len(hits), hits[:limit])

    async def _search(
        self,
        connection: Connection,
        tenant_id: str,
        slices: Sequence[Slice],
        terms: Terms,
        *,
        hidden: Sequence[str],
        max_files: int,
    ) -> list[KeywordHit]:
        """The hits of the best files. Files are read until no other can be better than the worst that is kept."""
        candidates = await self._candidates(connection, tenant_id, slices, terms, hidden)
        kept: list[tuple[float, str, list[KeywordHit]]] = []
        for start in range(0, len(candidates), _FILES_OF_BATCH):
            batch = candidates[start : start + _FILES_OF_BATCH]
            if len(kept) == max_files and (-batch[0].promise, batch[0].path) > kept[-1][:2]:
                break
            cursor = await connection.execute(
                SQL["contents"], {"tenant_id": tenant_id, "document_ids": [file.document_id for file in batch]}
            )
            for row in await cursor.fetchall():
                if is_unedited_seed(row["path"], row["content"]):
                    continue
                hits = await asyncio.to_thread(hits_of, row["path"], row["content"], terms)
                if hits:
                    kept.append((-hits[0].score, row["path"], hits))
            kept = sorted(kept, key=lambda file: file[:2])[:max_files]
        return sorted((hit for *_, hits in kept for hit in hits), key=lambda hit: (-hit.score, hit.path, hit.line))

    async def _candidates(
        self, connection: Connection, tenant_id: str, slices: Sequence[Slice], terms: Terms, hidden: Sequence[str]
    ) -> list[_Candidate]:
        """The files in which terms may stand, those of the greatest promise first."""
        patterns = patterns_of(terms)
        size = -(-len(patterns) // _MAX_PATTERNS)
        groups = [patterns[start : start + size] for start in range(0, len(patterns), size)]
        cursor = await connection.execute(
            SQL["candidates"],
            {
                "tenant_id": tenant_id,
                "slice_ids": [s.slice_id for s in slices],
                "ranks": [_RANKS[scope_of(s.agent_id, s.owner_key)] for s in slices],
                "hidden_paths": list(hidden),
                "backup_pattern": BACKUP,
                "ignored": IGNORED,
                "any_pattern": "|".join(patterns),
                "patterns": ["|".join(group) for group in groups],
                "sizes": [len(group) for group in groups],
            },
        )
        found = [
            _Candidate(row["document_id"], row["path"], score_of(row["path"], row["terms"]))
            for row in await cursor.fetchall()
        ]
        return sorted(found, key=lambda file: (-file.promise, file.path, file.document_id))
