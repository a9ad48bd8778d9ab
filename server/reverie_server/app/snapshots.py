"""The part of the composition root that an export needs: files and who may read them, without a model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_server.access.audit import Audit
from reverie_server.access.gate import Gate
from reverie_server.app.databases import open_database
from reverie_server.files.snapshots import Snapshots
from reverie_server.files.strict_zip import Limits
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.settings.server import Settings


def wire_snapshots(settings: Settings, database: Database, pipeline: Pipeline, tombstones: Tombstones) -> Snapshots:
    """Exports and imports, within the configured bounds."""
    limits = Limits(
        max_entries=settings.snapshot_max_entries,
        max_total_bytes=settings.snapshot_max_bytes,
        max_archive_bytes=settings.snapshot_max_bytes + settings.snapshot_max_bytes // 16,
    )
    return Snapshots(
        database,
        pipeline,
        max_file_bytes=settings.max_file_bytes,
        limits=limits,
        without_forgotten=tombstones.of_files,
    )


def index_rules(settings: Settings, embed_wait_seconds: float | None = None) -> Rules:
    """How texts become passages; `embed_wait_seconds` instead of the configured time."""
    return Rules(
        chunk_max_chars=settings.chunk_max_chars,
        language=settings.language,
        max_file_bytes=settings.max_file_bytes,
        embed_wait_seconds=embed_wait_seconds or settings.embed_wait_seconds,
        batch_size=settings.embedder_batch_size,
    )


@asynccontextmanager
async def open_snapshots(settings: Settings) -> AsyncIterator[tuple[Gate, Snapshots]]:
    """The gate, and what exports: the rest of the server would be imported for nothing.

    Raises SetupError or DatabaseUnavailable where the database cannot be opened.
    """
    async with open_database(settings) as database:
        audit = Audit(database, settings.audit_reads)
        pipeline = Pipeline(database, ModelSlot(None), index_rules(settings))
        try:
            yield (
                Gate(database, settings.agent_defaults, audit),
                wire_snapshots(settings, database, pipeline, Tombstones(database)),
            )
        finally:
            await audit.flush()
