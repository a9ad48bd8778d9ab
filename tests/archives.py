"""Archives byte by byte, as no library would write them, and snapshots that are in order."""

from __future__ import annotations

import hashlib
import json
import stat
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

UTF8 = 0x800
STREAMED = 0x08
LINK = (stat.S_IFLNK | 0o777) << 16


@dataclass(frozen=True)
class Raw:
    """One entry; what is None is as it should be, everything else is written as it is."""

    name: str | bytes
    data: bytes = b""
    method: int = 8
    flags: int | None = None
    attributes: int = 0
    disk: int = 0
    crc: int | None = None
    size: int | None = None
    packed: bytes | None = None
    packed_size: int | None = None
    extra: bytes = b""
    behind: bytes = b""
    local: Mapping[str, Any] | None = None
    offset: int | None = None
    only_listed: bool = False

    @property
    def raw_name(self) -> bytes:
        return self.name.encode() if isinstance(self.name, str) else self.name

    @property
    def stream(self) -> bytes:
        if self.packed is not None:
            return self.packed
        return deflated(self.data) if self.method == 8 else self.data

    def fields(self, **changed: Any) -> dict[str, Any]:
        given = {
            "flags": UTF8 if self.flags is None else self.flags,
            "method": self.method,
            "crc": zlib.crc32(self.data) if self.crc is None else self.crc,
            "packed_size": len(self.stream) if self.packed_size is None else self.packed_size,
            "size": len(self.data) if self.size is None else self.size,
            "name": self.raw_name,
        }
        return {**given, **changed}

    def header(self) -> bytes:
        f = self.fields(**(self.local or {}))
        numbers = (20, f["flags"], f["method"], 0, 0x21, f["crc"], f["packed_size"], f["size"])
        return (
            struct.pack("<4s5H3L2H", b"PK\x03\x04", *numbers, len(f["name"]), len(self.extra)) + f["name"] + self.extra
        )

    def listed(self, offset: int) -> bytes:
        f = self.fields()
        numbers = (0x314, 20, f["flags"], f["method"], 0, 0x21, f["crc"], f["packed_size"], f["size"])
        rest = (len(f["name"]), 0, 0, self.disk, 0, self.attributes, offset if self.offset is None else self.offset)
        return struct.pack("<4s6H3L5H2L", b"PK\x01\x02", *numbers, *rest) + f["name"]


def deflated(data: bytes) -> bytes:
    """Raw deflate, as an entry holds it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def descriptor(entry: Raw, *, signed: bool = True) -> bytes:
    """The record behind streamed data."""
    f = entry.fields()
    return (b"PK\x07\x08" if signed else b"") + struct.pack("<3L", f["crc"], f["packed_size"], f["size"])


def zipped(
    entries: Sequence[Raw],
    *,
    before: bytes = b"",
    behind_data: bytes = b"",
    behind_list: bytes = b"",
    trailing: bytes = b"",
    **end: int,
) -> bytes:
    """An archive of these entries. `end` overrides fields of the last record."""
    body, directory = before, b""
    for entry in entries:
        directory += entry.listed(len(body))
        if not entry.only_listed:
            body += entry.header() + entry.stream + entry.behind
    body += behind_data
    fields = {
        "disk": 0,
        "first_disk": 0,
        "count_here": len(entries),
        "count": len(entries),
        "size": len(directory),
        "start": len(body),
        "comment": 0,
        **end,
    }
    return body + directory + behind_list + struct.pack("<4s4H2LH", b"PK\x05\x06", *fields.values()) + trailing


def manifest(files: Mapping[str, bytes], /, **changed: Any) -> bytes:
    """The manifest of these files; `changed` replaces fields of it."""
    listed = [{"path": p, "sha256": hashlib.sha256(c).hexdigest(), "size": len(c)} for p, c in files.items()]
    fields = {
        "version": 1,
        "exported_at": "2026-04-03T12:00:00Z",
        "agent_id": "wren",
        "agent_name": "Wren",
        "files": listed,
    }
    return json.dumps({**fields, **changed}).encode()


def snapshot(files: Mapping[str, str | bytes], *more: Raw, named: Mapping[str, bytes] | None = None) -> bytes:
    """A snapshot of these files, with more entries behind them; the manifest names `named`, or just the files."""
    contents = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
    first = Raw("manifest.json", manifest(contents if named is None else named))
    return zipped([first, *(Raw(path, content) for path, content in contents.items()), *more])
