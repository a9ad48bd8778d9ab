"""The file of a backup: a ZIP of a manifest and of what pg_dump wrote, in one piece.

The manifest says what there is, and the SHA-256 of each part. It stands last: it is known when all is written. Its
checksums tell of accidents; a file from somebody whom one does not trust may hold any SQL.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
import zipfile
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO

from pydantic import BaseModel, ConfigDict, ValidationError

from reverie_indexer.errors import SetupError, ValidationFailed
from reverie_indexer.postgres.host import sync_directory

FORMAT = 1
DUMP = "database.dump"
MANIFEST = "manifest.json"
DRAFT_PREFIX = ".reverie-backup-"
_PIECE = 1 << 20
_MAX_MANIFEST_BYTES = 1 << 20


class Part(BaseModel):
    """A part of a backup."""

    model_config = ConfigDict(extra="forbid")
    size: int
    sha256: str


class LogMark(BaseModel):
    """The log of what was forgotten as the backup found it: its id, and how many entries it had."""

    model_config = ConfigDict(extra="forbid")
    log_id: str
    entries: int


class Manifest(BaseModel):
    """What a backup is. `snapshot` and `cluster` say which transactions it has, `schema_number` is the migration."""

    model_config = ConfigDict(extra="forbid")
    format: int
    program: str
    schema_number: int
    postgresql: str
    pgvector: str
    at: datetime
    cluster: str
    snapshot: str
    tables: dict[str, int]
    forgotten: LogMark | None
    parts: dict[str, Part]

    @property
    def rows(self) -> int:
        """The rows of all tables."""
        return sum(self.tables.values())


async def write_backup(
    target: Path, dump: AsyncIterable[bytes], manifest_of: Callable[[dict[str, Part]], Manifest]
) -> Manifest:
    """Write a backup beside its place, have it on the disk, and put it there whole. SetupError where that cannot be.

    A program that is killed leaves a file `.reverie-backup-…` at most.
    """
    try:
        with _put_whole(target) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_STORED) as archive:
            digest, size = hashlib.sha256(), 0
            with archive.open(DUMP, "w", force_zip64=True) as entry:
                async for piece in dump:
                    digest.update(piece)
                    size += len(piece)
                    await asyncio.to_thread(entry.write, piece)
            manifest = manifest_of({DUMP: Part(size=size, sha256=digest.hexdigest())})
            archive.writestr(MANIFEST, manifest.model_dump_json(indent=2))
    except OSError as error:
        raise SetupError(f"{target} cannot be written: {error.strerror}") from None
    return manifest


@contextmanager
def _put_whole(target: Path) -> Iterator[IO[bytes]]:
    """A file beside the target, readable by its owner alone, that takes its place when the block has written it."""
    target = target.resolve()
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=DRAFT_PREFIX, delete=False) as draft:
        try:
            yield draft
            draft.flush()
            os.fsync(draft.fileno())
            Path(draft.name).replace(target)
            sync_directory(target.parent)
        except BaseException:
            Path(draft.name).unlink(missing_ok=True)
            raise


class BackupFile:
    """A backup that is read. ValidationFailed for what is no whole backup that this program knows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._opened() as archive:
            if archive.namelist() != [DUMP, MANIFEST]:
                raise ValidationFailed(f"{path} is no backup of Reverie")
            if archive.getinfo(MANIFEST).file_size > _MAX_MANIFEST_BYTES:
                raise ValidationFailed(f"{path} is damaged: its manifest is too long")
            text = archive.read(MANIFEST)
        try:
            self.manifest = Manifest.model_validate_json(text)
        except ValidationError:
            raise ValidationFailed(f"{path} has a manifest that this program does not know") from None
        if self.manifest.format != FORMAT:
            raise ValidationFailed(f"{path} has the format {self.manifest.format}: restore it with the Reverie of then")

    async def check(self) -> None:
        """Compare the parts with their checksums; ValidationFailed for a file that is not as it was written."""
        digest, size = hashlib.sha256(), 0
        async for piece in self.dump():
            digest.update(piece)
            size += len(piece)
        if self.manifest.parts != {DUMP: Part(size=size, sha256=digest.hexdigest())}:
            raise ValidationFailed(f"{self.path} is damaged: {DUMP} is not what its manifest says. Nothing was changed")

    async def dump(self) -> AsyncIterator[bytes]:
        """The pieces of what pg_dump wrote."""
        with self._opened() as archive, archive.open(DUMP) as entry:
            while piece := await asyncio.to_thread(self._piece, entry):
                yield piece

    def _piece(self, entry: IO[bytes]) -> bytes:
        try:
            return entry.read(_PIECE)
        except (zipfile.BadZipFile, EOFError, OSError) as error:
            raise ValidationFailed(f"{self.path} is damaged: {error}. Nothing was changed") from None

    @contextmanager
    def _opened(self) -> Iterator[zipfile.ZipFile]:
        try:
            file = self.path.open("rb")
        except OSError as error:
            raise ValidationFailed(f"{self.path} cannot be read: {error.strerror}") from None
        with file:
            try:
                archive = zipfile.ZipFile(file)
            except (zipfile.BadZipFile, OSError, ValueError):
                raise ValidationFailed(f"{self.path} is no backup, or not whole: nothing was changed") from None
            with archive:
                yield archive
