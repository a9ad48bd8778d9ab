"""The format of a snapshot: which files it holds, its manifest, how it is written and what may be taken out of one.

No database. Reading and writing block: call them in a thread.
"""

from __future__ import annotations

import hashlib
import stat
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, BinaryIO

from pydantic import BaseModel, FailFast, Field, ValidationError

from reverie_indexer.errors import PayloadTooLarge, ReverieError, ValidationFailed
from reverie_indexer.file_rules import check_path, check_text
from reverie_server.files.strict_zip import Limits, printable_name, read_entries, read_entry
from reverie_server.files.well_known import LONG_TERM

CORE_FILES = ("AGENTS.md", "SOUL.md", "PROFILE.md", *LONG_TERM, "KNOWLEDGE.md", "DREAMS.md")
FOLDER = "memory/"
MANIFEST = "manifest.json"
FORMAT_VERSION = 1
_FIRST_DOS_YEAR = 1980


class ManifestFile(BaseModel):
    """One file of a snapshot. `size` is in bytes."""

    path: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    size: Annotated[int, Field(ge=0, strict=True)]


class Manifest(BaseModel):
    """The manifest of a snapshot. An import needs version and files; the rest is for people."""

    version: Annotated[int, Field(ge=1, le=10_000, strict=True)]
    exported_at: str = ""
    agent_id: str = ""
    agent_name: str = ""
    # One fault is enough: a megabyte of them takes seconds to describe.
    files: Annotated[list[ManifestFile], FailFast()]


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """A file that goes into a snapshot, without its content."""

    path: str
    size: int
    sha256: bytes
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files that may be taken out of an archive, path → text, and path → why not for everything else in it."""

    files: Mapping[str, str]
    skipped: Mapping[str, str]


def is_snapshot_path(path: str) -> bool:
    """Whether a snapshot holds files of this path. `snapshots.sql` says the same of what is exported."""
    return path in CORE_FILES or (path.startswith(FOLDER) and path.endswith(".md"))


def in_order(files: Iterable[SnapshotFile]) -> list[SnapshotFile]:
    """The order of a snapshot: the core files, then `memory/` by path."""
    rank = {path: number for number, path in enumerate(CORE_FILES)}
    return sorted(files, key=lambda file: (rank.get(file.path, len(rank)), file.path))


def manifest_of(files: Sequence[SnapshotFile], agent_id: str, agent_name: str, exported_at: datetime) -> bytes:
    """The manifest of these files, in their order, as it stands in the archive."""
    listed = [ManifestFile(path=file.path, sha256=file.sha256.hex(), size=file.size) for file in files]
    at = exported_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    manifest = Manifest(version=FORMAT_VERSION, exported_at=at, agent_id=agent_id, agent_name=agent_name, files=listed)
    return manifest.model_dump_json(indent=1).encode()


def check_fits(files: Sequence[SnapshotFile], manifest: bytes, limits: Limits, *, max_file_bytes: int) -> None:
    """PayloadTooLarge when an import would refuse the archive: a snapshot that cannot be restored is none."""
    remedy = "export in parts, each with a `prefix` such as memory/2026-"
    if len(files) >= limits.max_entries:
        raise PayloadTooLarge(
            f"a snapshot has at most {limits.max_entries} entries, its manifest included, and there are more files: "
            f"{remedy}"
        )
    most = min(limits.max_entry_bytes, max_file_bytes)
    for file in files:
        if file.size > most:
            raise PayloadTooLarge(
                f"{printable_name(file.path)} has {file.size} bytes; a file of a snapshot has at most {most}"
            )
    total = len(manifest) + sum(file.size for file in files)
    if total > limits.max_total_bytes or len(manifest) > limits.max_entry_bytes:
        raise PayloadTooLarge(f"a snapshot has at most {limits.max_total_bytes} bytes, this one has {total}: {remedy}")


class Writer:
    """Writes an archive entry by entry: the same entries in the same order give the same bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._archive = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)

    def add(self, path: str, content: bytes, updated_at: datetime) -> None:
        """Add an entry, dated to what ZIP can say of a time: UTC here, to two seconds."""
        year, *rest = updated_at.astimezone(UTC).timetuple()[:6]
        info = zipfile.ZipInfo(path, (max(year, _FIRST_DOS_YEAR), rest[0], rest[1], rest[2], rest[3], rest[4]))
        info.create_system = 3
        info.external_attr = (stat.S_IFREG | 0o644) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self._archive.writestr(info, content)

    def finish(self) -> None:
        """Write the list of entries; the file stays open."""
        self._archive.close()


def read_snapshot(file: BinaryIO, limits: Limits, *, max_file_bytes: int) -> Snapshot:
    """The content of an archive: every file that its manifest names and a snapshot holds, or nothing at all.

    Every entry is unpacked within the limits and checked, whether or not it is then taken. Skipped with its reason
    is what a snapshot does not hold, and what the manifest does not name. Raises NotAnArchive, PayloadTooLarge for
    what is over a limit, and ValidationFailed where the archive or its manifest is not to be trusted, or where a
    file's content is no text.
    """
    contents: dict[str, bytes] = {}
    total = 0
    for entry in read_entries(file, limits):
        content = read_entry(file, entry, limits)
        total += len(content)
        if total > limits.max_total_bytes:
            raise PayloadTooLarge(f"the archive unpacks to more than the {limits.max_total_bytes} bytes allowed")
        contents[entry.name] = content
    named = _named(contents.pop(MANIFEST, None))
    texts: dict[str, str] = {}
    skipped: dict[str, str] = {}
    for path, content in contents.items():
        why = _why_not(path, named)
        if why is None:
            texts[path] = _text(path, content, max_file_bytes)
        else:
            skipped[path] = why
        if path in named:
            _check_content(named.pop(path), content)
    if named:
        raise ValidationFailed(f"the manifest names {printable_name(min(named))}, which is not in the archive")
    return Snapshot(texts, skipped)


def _named(manifest: bytes | None) -> dict[str, ManifestFile]:
    """The files that the manifest names, by path."""
    if manifest is None:
        raise ValidationFailed(f"the archive has no {MANIFEST}: it is no snapshot")
    try:
        found = Manifest.model_validate_json(manifest)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in wrong["loc"][:3])
        raise ValidationFailed(f"{MANIFEST} is malformed: {f'{where}: ' if where else ''}{wrong['msg']}") from None
    if found.version != FORMAT_VERSION:
        raise ValidationFailed(f"the snapshot's version is {found.version}; this server reads {FORMAT_VERSION}")
    named = {file.path: file for file in found.files}
    if len(named) != len(found.files):
        raise ValidationFailed("the manifest names a file twice")
    return named


def _why_not(path: str, named: Mapping[str, ManifestFile]) -> str | None:
    """Why an entry is not taken, or None."""
    if path.endswith("/"):
        return "a directory"
    if not is_snapshot_path(path):
        return "not a file that a snapshot holds"
    if path not in named:
        return "the manifest does not name it"
    try:
        check_path(path)
    except ReverieError as error:
        return error.detail
    return None


def _check_content(expected: ManifestFile, content: bytes) -> None:
    if (len(content), hashlib.sha256(content).hexdigest()) != (expected.size, expected.sha256):
        raise ValidationFailed(f"{printable_name(expected.path)} is not what the manifest says: size or SHA-256 differ")


def _text(path: str, content: bytes, max_file_bytes: int) -> str:
    try:
        return check_text(content.decode(), max_bytes=max_file_bytes)
    except UnicodeDecodeError:
        raise ValidationFailed(f"{printable_name(path)} is not UTF-8") from None
    except PayloadTooLarge as error:
        raise PayloadTooLarge(f"{printable_name(path)}: {error.detail}") from None
    except ReverieError as error:
        raise ValidationFailed(f"{printable_name(path)}: {error.detail}") from None
