"""Answers of the routes that change memory: long-term entries, forgetting, clearing, reindexing, snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from reverie_client.model import Scope, Tier

# What forgetting reaches: reports of the background work, too.
ForgottenTier: TypeAlias = Literal["document", "episodic", "message", "fact", "report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """Where an entry went, and the first 500 characters of what is stored."""

    section: str
    preview: str
    saved: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """The result of an update of MEMORY.md; `deleted`: the text was removed and not replaced."""

    replacements: int
    size_after: int
    version: int
    deleted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """The result of a compaction, or in `reason` why it changed nothing; `backup` names the copy made before it.

    `fallback` is why a configured model was not used, or what it proposed was refused.
    """

    compacted: bool
    reason: str | None = None
    method: Literal["llm", "extractive"] | None = None
    backup: str | None = None
    size_before: int
    size_after: int
    version: int
    fallback: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A copy of MEMORY.md from before a compaction."""

    name: str
    at: datetime
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupList:
    """Backups, newest first."""

    backups: tuple[Backup, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The result of a restore: MEMORY.md has the text of the backup."""

    name: str
    size_after: int
    version: int
    restored: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenItem:
    """One text in one file: whether the file holds it now, and how many of its versions do, now or before.

    `text` is exactly what goes, `id` what `forget(items=…)` chooses it by.
    """

    id: str
    tier: ForgottenTier
    path: str
    text: str
    present: bool
    versions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """Counts of one tier. Of `message`, `files` are sessions; of what was derived, what was made again or is gone."""

    files: int = 0
    passages: int = 0
    versions: int = 0
    backups: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The texts that were forgotten, or with `dry_run` would be. `still_shared`: shared files that keep them.

    `receipt_id` names the receipt that stays where something was removed.
    """

    dry_run: bool
    items: tuple[ForgottenItem, ...]
    removed: Mapping[ForgottenTier, Removed]
    embeddings: int = 0
    tombstones: int = 0
    still_shared: tuple[str, ...] = ()
    receipt_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptPlace:
    """Where something was forgotten: how often. The path is empty where it would tell."""

    tier: ForgottenTier
    path: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReceipt:
    """What was forgotten when, by whom, from where and how many; never the text. `kind`: how it was meant."""

    id: str
    at: datetime
    by: str
    kind: Literal["items", "id", "text", "entity", "session", "said"]
    statements: int
    removed: Mapping[ForgottenTier, Removed]
    places: tuple[ReceiptPlace, ...]
    embeddings: int = 0
    tombstones: int = 0
    scope: Scope
    owner_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptPage:
    """A page of receipts, newest first."""

    receipts: tuple[StoredReceipt, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[StoredReceipt, ...]:
        """The items of the page."""
        return self.receipts


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmetRequest:
    """A message that asks to forget something for which nothing was found: by its session and its number there."""

    id: str
    asked_at: datetime
    session_id: str
    seq: int
    message_id: str | None = None
    owner_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmetRequestPage:
    """A page of such requests, newest first."""

    requests: tuple[UnmetRequest, ...]
    next_cursor: str | None = None

    @property
    def items(self) -> tuple[UnmetRequest, ...]:
        """The items of the page."""
        return self.requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """How many things of each tier were cleared, or with `dry_run` would be; of `document`, files."""

    dry_run: bool
    removed: Mapping[Tier, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexed:
    """Counts of files, of passages, of those that are new and have their vector, and of those that stayed."""

    documents: int
    chunks: int
    embedded: int
    reused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedFile:
    """A file of a snapshot, by its digest; with what it held before, where it changes."""

    path: str
    size: int
    sha256: str
    size_before: int | None = None
    sha256_before: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedFile:
    """An entry of a snapshot that is not taken, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The changes by an import, `applied` or previewed. `embedded`: every written file has its vectors."""

    applied: bool
    scope: Scope
    owner_key: str | None = None
    create: tuple[ArchivedFile, ...]
    update: tuple[ArchivedFile, ...]
    unchanged: tuple[ArchivedFile, ...] = ()
    skip: tuple[SkippedFile, ...] = ()
    embedded: bool | None = None
