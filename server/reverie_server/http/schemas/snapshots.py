"""Models of the import and export of snapshots. `files/snapshot_format.py` has the archive's format."""

from __future__ import annotations

from pydantic import BaseModel, Field

from reverie_indexer.model import Scope
from reverie_server.files.snapshots import FileChange, Report
from reverie_server.http.schemas.common import ScopedOwner, response_config, response_from
from reverie_server.text.fields import Text

_SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_BEFORE = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"
_FILE = {"path": "memory/2026-04-03.md", "size": 49, "sha256": _SHA256}
_CHANGED = {**_FILE, "path": "MEMORY.md", "size_before": 38, "sha256_before": _BEFORE}
_SKIPPED = {"path": "notes.txt", "reason": "not a file that a snapshot holds"}


class ExportQuery(ScopedOwner):
    """Whose files, and which. Default scope: personal when an owner is given, else team."""

    prefix: Text | None = Field(None, description="Only files whose path begins so", examples=["memory/2026-"])


class FileDigest(BaseModel):
    """A file of an archive. `size` is in bytes."""

    model_config = response_config(**_FILE)

    path: str
    size: int
    sha256: str


class ChangedFile(FileDigest):
    """A file that holds something else, with what it held."""

    model_config = response_config(**_CHANGED)

    size_before: int
    sha256_before: str


class SkippedFile(BaseModel):
    """An entry that is not taken, and why."""

    model_config = response_config(**_SKIPPED)

    path: str
    reason: str


class ImportReport(BaseModel):
    """What an import would do, or with `applied` did, by path.

    `embedded`: every file written has its vectors; null where nothing was to be written.
    """

    model_config = response_config(
        applied=True,
        scope="personal",
        owner_key="user:42",
        create=[_FILE],
        update=[_CHANGED],
        unchanged=[],
        skip=[_SKIPPED],
        embedded=True,
    )

    applied: bool
    scope: Scope
    owner_key: str | None
    create: list[FileDigest]
    update: list[ChangedFile]
    unchanged: list[FileDigest]
    skip: list[SkippedFile]
    embedded: bool | None


def import_report(report: Report, *, applied: bool) -> ImportReport:
    """A report as a response model."""
    return ImportReport(
        applied=applied,
        scope=report.place.scope,
        owner_key=report.place.owner_key,
        create=[_digest(file) for file in report.created],
        update=[
            response_from(
                ChangedFile,
                file.after,
                path=file.path,
                size_before=file.before.size,
                sha256_before=file.before.sha256,
            )
            for file in report.updated
            if file.before is not None
        ],
        unchanged=[_digest(file) for file in report.unchanged],
        skip=[SkippedFile(path=path, reason=reason) for path, reason in report.skipped.items()],
        embedded=report.waiting == 0 if applied else None,
    )


def _digest(file: FileChange) -> FileDigest:
    return response_from(FileDigest, file.after, path=file.path)
