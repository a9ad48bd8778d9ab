"""Forgetting and clearing in files: their versions, the provenance of their lines, and their passages in the index."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.file_rules import BACKUP, SEARCHABLE, is_backup
from reverie_indexer.index.document_index import forget_embeddings, purge_chunks, purge_documents
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Place
from reverie_indexer.retry import Superseded
from reverie_indexer.text.passages import Rules, passages_of
from reverie_server.facts.erase import forget_cleared
from reverie_server.files.well_known import INSTRUCTIONS
from reverie_server.forgettable import Findings, Forgettable, Forgotten, Item, Removed, Selection
from reverie_server.forgetting.cut_lines import cut_beginnings
from reverie_server.long_term.longterm import MEMORY
from reverie_server.provenance.line_identity import line_spans, lines_among, without_lines
from reverie_server.provenance.record import forget_lines
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.redact import INVISIBLE, Targets, anchor_of
from reverie_server.text.remove_spans import Span

SQL = Queries(__file__)


class ForgettableFiles(Forgettable):
    """Files with their history. The write of `changes_without` has rewritten the newest versions before."""

    # The index, its past and the recalls of a file go with its passages.
    tables = frozenset(
        {"documents", "versions", "chunks", "postings", "vectors", "embedding_cache", "recalls", "derivations"}
    )
    cleared_with = "document"

    async def remnants(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
    ) -> Collection[str]:
        """The beginnings of the texts in lines of the diary that an earlier release cut, in whatever version."""
        params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids)}
        rows = await (await connection.execute(SQL["cut_lines"], params)).fetchall()
        return await asyncio.to_thread(cut_beginnings, [row["line"] for row in rows], forgotten.texts)

    async def survey(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
    ) -> Findings:
        """The versions and passages that hold one of the texts or lines. A text in such a line counts with the line."""
        sought = _Sought.of(forgotten)
        present: set[str] = set()
        versions: Counter[tuple[str, str]] = Counter()
        stretches: set[str] = set()
        count = 0
        async for row, texts in _holding_versions(connection, tenant_id, slice_ids, sought):
            versions.update((row["path"], text) for text in texts)
            stretches |= set(
                await isolated(sought.stretches_in, row["path"], row["content"], chars=len(row["content"]))
            )
            count += 1
            if row["is_present"]:
                present.add(row["path"])
        passages = await _holding_passages(connection, tenant_id, slice_ids, sought)
        counts = _Counts(count, len(passages), len(_hashes(passages)))
        return replace(_findings(sought.texts, versions, present, counts), stretches=sorted(stretches))

    async def erase(
        self, connection: Connection, place: Place, slice_: Slice, forgotten: Forgotten, settings: AgentSettings
    ) -> Findings:
        """Rewrite the history; purge index and cache. Raises Superseded where a file holds a text again."""
        tenant_id = place.tenant_id
        slice_ids = await own_slices(connection, place, with_past=True)
        rules = Rules(chunk_max_chars=settings.chunk_max_chars, language=settings.language)
        sought = _Sought.of(forgotten)
        versions: Counter[tuple[str, str]] = Counter()
        hashes: set[bytes] = set()
        count = 0
        async for row, texts in _holding_versions(connection, tenant_id, slice_ids, sought):
            if row["is_present"]:
                raise Superseded("the text came back")
            count += 1
            versions.update((row["path"], text) for text in texts)
            size = len(row["content"])
            lines, targets = sought.lines_of(row["path"]), sought.targets_of(row["path"])
            rest = await isolated(without_lines, row["content"], lines, chars=size)
            hashes |= await isolated(hashes_of_version, row["path"], row["content"], rest, targets, rules, chars=size)
            content = await isolated(without_texts, row["path"], rest, targets, chars=size)
            params = {
                "tenant_id": tenant_id,
                "document_id": row["document_id"],
                "version": row["version"],
                "content": content,
                "size": len(content.encode()),
                "sha256": hashlib.sha256(content.encode()).digest(),
            }
            await connection.execute(SQL["rewrite_version"], params)
            await forget_lines(connection, tenant_id, row["document_id"], rest, targets, whole=lines)
        passages = await _holding_passages(connection, tenant_id, slice_ids, sought)
        embeddings = await forget_embeddings(connection, tenant_id, hashes | _hashes(passages))
        await purge_chunks(connection, tenant_id, passages)
        counts = _Counts(count, len(passages), embeddings)
        return _findings(sought.texts, versions, forgotten.edited_paths, counts)

    async def clear(
        self, connection: Connection, place: Place, slice_: Slice, selection: Selection, *, dry_run: bool
    ) -> int:
        """Remove files with their history; how many. A team's instructions go only where the prefix names them."""
        params = {
            "tenant_id": place.tenant_id,
            "slice_id": slice_.slice_id,
            "path_prefix": selection.path_prefix or None,
            "older_than_days": selection.older_than_days,
            "kept": [] if place.scope == "personal" else list(INSTRUCTIONS),
        }
        rows = await (await connection.execute(SQL["clearable"], params)).fetchall()
        if rows and not dry_run:
            await purge_documents(connection, place.tenant_id, [row["document_id"] for row in rows])
            await forget_cleared(connection, place, slice_)
        return len(rows)


def changes_without(forgotten: Forgotten, author: str) -> list[Change]:
    """The changes that write the newest version of the edited files without the texts and lines.

    A change raises Superseded where the file was deleted meanwhile.
    """
    sought = _Sought.of(forgotten)

    def change(path: str) -> Change:
        def edit(content: str | None) -> str:
            if content is None:
                raise Superseded("the file was deleted meanwhile")
            return without_texts(path, without_lines(content, sought.lines_of(path)), sought.targets_of(path))

        return Change(path, edit, author, "forget", reserved=True)

    return [change(path) for path in sorted(forgotten.edited_paths)]


async def shared_files_holding(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], texts: Sequence[str]
) -> list[str]:
    """The paths of the files of some shared slices whose newest version holds one of the texts, sorted."""
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids), **_prefilter(texts)}
    rows = await (await connection.execute(SQL["sharing_files"], params)).fetchall()
    targets = Targets(texts)
    return sorted({row["path"] for row in rows if targets.found_in(row["content"])})


def without_texts(path: str, content: str, targets: Targets) -> str:
    """A version of a file without the targets. Pure."""
    return targets.erase_from(content, by_line=path.endswith(SEARCHABLE)).text


def lines_kept(content: str, hashes: Collection[bytes], everywhere: Targets) -> list[Span]:
    """Where the lines of others stand, by their identities, that hold no text which goes everywhere. Pure.

    Without such a text a line would be another.
    """
    return [span for span in line_spans(content, hashes) if not everywhere.found_in(content[slice(*span)])]


def hashes_of_version(path: str, content: str, rest: str, targets: Targets, rules: Rules) -> set[bytes]:
    """The hashes of those passages of an old version that hold a target, or that `rest`, the version without whole
    lines, has not: the cache may have them. Pure."""
    passages = passages_of(path, content, rules)
    found = {passage.sha256 for passage in passages if targets.found_in(passage.text)}
    if rest == content:
        return found
    return found | {passage.sha256 for passage in passages} - {each.sha256 for each in passages_of(path, rest, rules)}


@dataclass(frozen=True, slots=True)
class _Sought:
    """What goes: texts, wherever they stand, and whole lines of the files at some paths and of backups of them.

    In files with lines of others it has other targets.
    """

    forgotten: Forgotten
    targets: Targets
    targets_beside_others: Mapping[str, Targets]
    texts: Sequence[str]
    lines: Mapping[str, Mapping[bytes, str]]

    @classmethod
    def of(cls, forgotten: Forgotten) -> _Sought:
        lines = {text: None for of_path in forgotten.lines.values() for text in of_path.values()}
        everywhere = forgotten.everywhere
        kept_in = partial(lines_kept, everywhere=Targets(everywhere))
        beside_others = {
            path: Targets(forgotten.texts, everywhere=everywhere, kept_in=partial(kept_in, hashes=hashes))
            for path, hashes in forgotten.spared.lines.items()
        }
        texts = list(dict.fromkeys([*lines, *forgotten.texts]))
        return cls(forgotten, Targets(forgotten.texts), beside_others, texts, forgotten.lines)

    @property
    def prefilter(self) -> dict[str, Any]:
        """The parameters of the statements' prefilters, with the paths of files that are read for their lines."""
        pattern = BACKUP if MEMORY in self.lines else None
        return {**_prefilter(self.forgotten.texts), "paths": list(self.lines), "backups": pattern}

    def lines_of(self, path: str) -> Mapping[bytes, str]:
        return self.lines.get(_of_backup(path), {})

    def targets_of(self, path: str) -> Targets:
        return self.targets_beside_others.get(_of_backup(path), self.targets)

    def found_in(self, path: str, *contents: str) -> list[str]:
        """The lines and, in what is left without them, the texts that the contents of a file hold."""
        lines = self.lines_of(path)
        found = {lines[sha256]: None for content in contents for sha256 in lines_among(content, lines)}
        return [*found, *self.targets_of(path).found_in(*(without_lines(content, lines) for content in contents))]

    def stretches_in(self, path: str, content: str) -> list[str]:
        """As of `Targets`, of a file without the lines."""
        return self.targets_of(path).stretches_in(without_lines(content, self.lines_of(path)))


def _of_backup(path: str) -> str:
    """The path of the file that one is a backup of; any other path as it is."""
    return MEMORY if is_backup(path) else path


@dataclass(frozen=True, slots=True)
class _Counts:
    """How many versions and passages hold a text, and how many cached vectors go."""

    versions: int
    passages: int
    embeddings: int


def _findings(
    texts: Sequence[str], versions: Counter[tuple[str, str]], present: Collection[str], counts: _Counts
) -> Findings:
    """`versions` counts the versions that hold a text, by (path, text); `present` are the paths that hold one now."""
    items = [
        Item("document", path, text, path in present, count)
        for text in texts
        for (path, held_text), count in sorted(versions.items())
        if held_text == text
    ]
    backups = {item.path for item in items if is_backup(item.path)}
    removed = Removed(
        files=len(set(present) - backups),
        passages=counts.passages,
        versions=counts.versions,
        backups=len(backups),
    )
    return Findings("document", items, removed, counts.embeddings)


def _hashes(passages: Sequence[DictRow]) -> set[bytes]:
    """The hashes of passages, which are the keys of the cache."""
    return {row["passage_sha256"] for row in passages}


async def _holding_versions(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], sought: _Sought
) -> AsyncIterator[tuple[DictRow, list[str]]]:
    """The versions that hold what goes, one after the other: a history may be larger than memory."""
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids), **sought.prefilter}
    async with connection.cursor(name="holding_versions") as cursor:
        cursor.itersize = 10
        await cursor.execute(SQL["holding_versions"], params)
        async for row in cursor:
            if contained := await isolated(sought.found_in, row["path"], row["content"], chars=len(row["content"])):
                yield row, contained


async def _holding_passages(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], sought: _Sought
) -> list[DictRow]:
    """The passages of the index and its past that hold what goes, in themselves or in their headings."""
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids), **sought.prefilter}
    rows = await (await connection.execute(SQL["holding_chunks"], params)).fetchall()
    return [row for row in rows if sought.found_in(row["path"], row["text"], row["above"])]


def _prefilter(texts: Sequence[str]) -> dict[str, Any]:
    """The parameters of the statements' prefilters: a word of each text, and the characters that they overlook."""
    return {"anchors": [anchor_of(text) for text in texts], "invisible": INVISIBLE}
