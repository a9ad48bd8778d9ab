"""A ZIP that somebody sent, read so that nothing in it is believed: its structure, then its entries one by one.

An archive is refused as a whole where two readers could see two things in it, or where an honest writer would not
have made it: bytes before, between or behind its entries, entries that overlap, headers that contradict each other,
links, encryption, names that lead elsewhere, a name twice. Sizes are measured, never read from a header.
"""

from __future__ import annotations

import os
import re
import stat
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from struct import Struct
from typing import BinaryIO

from reverie_indexer.errors import PayloadTooLarge, ReverieError, ValidationFailed

_END = Struct("<4s4H2LH")
_CENTRAL = Struct("<4s6H3L5H2L")
_LOCAL = Struct("<4s5H3L2H")
_DESCRIPTOR = Struct("<3L")
_MAX_COMMENT = 0xFFFF
_STORED, _DEFLATED = 0, 8
# Bits of the flags: encrypted in one of three ways; sizes behind the data; the name is UTF-8. 1 and 2 say how hard
# the deflater tried.
_ENCRYPTED, _STREAMED, _UTF8, _EFFORT = 0x2041, 0x0008, 0x0800, 0x0006
_DOS_REPARSE_POINT = 0x400
_PIECE = 64 * 1024
# More than any honest header of one entry: a name of 512 bytes, extra fields, a comment.
_MAX_HEADER_BYTES = 4096
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class NotAnArchive(ReverieError):
    """What was sent is no ZIP archive at all, or the beginning of one."""

    code = "bad_request"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of an archive; sizes in bytes, those of entries as they are unpacked."""

    max_entries: int = 500
    max_entry_bytes: int = 1024 * 1024
    max_total_bytes: int = 16 * 1024 * 1024
    # As it is sent. What does not deflate at all, and its headers, still fit.
    max_archive_bytes: int = 17 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry, as its headers agree. Sizes and CRC are claims until `read_entry` has measured them."""

    name: str
    raw_name: bytes
    flags: int
    method: int
    crc: int
    packed_size: int
    size: int
    offset: int
    data_start: int = 0

    @property
    def is_directory(self) -> bool:
        """Whether it stands for a directory and has no content."""
        return self.name.endswith("/")


def read_entries(file: BinaryIO, limits: Limits) -> list[Entry]:
    """All entries, in the order of their data. Nothing is unpacked yet.

    Raises NotAnArchive, PayloadTooLarge for what is over a limit, ValidationFailed for what is refused.
    """
    size = file.seek(0, os.SEEK_END)
    if size > limits.max_archive_bytes:
        raise PayloadTooLarge(f"an archive has at most {limits.max_archive_bytes} bytes; this one has {size}")
    count, directory_start, directory_end = _end_record(file, size)
    if directory_end - directory_start > limits.max_entries * _MAX_HEADER_BYTES:
        raise PayloadTooLarge("the archive's list of entries is too large")
    directory = _read(file, directory_start, directory_end - directory_start)
    entries = _listed(directory, limits.max_entries)
    if len(entries) != count:
        raise ValidationFailed(f"the archive says it has {count} entries and lists {len(entries)}")
    seen: set[str] = set()
    for entry in entries:
        if entry.name in seen:
            raise ValidationFailed(f"the archive has {printable_name(entry.name)} twice")
        seen.add(entry.name)
    return _located(file, entries, directory_start)


def read_entry(file: BinaryIO, entry: Entry, limits: Limits) -> bytes:
    """The content of an entry, measured against the limit while it is unpacked, and against its CRC.

    Raises PayloadTooLarge, ValidationFailed.
    """
    inflater = zlib.decompressobj(-zlib.MAX_WBITS) if entry.method == _DEFLATED else None
    content = bytearray()
    position, end = entry.data_start, entry.data_start + entry.packed_size
    while position < end:
        piece = _read(file, position, min(_PIECE, end - position))
        position += len(piece)
        try:
            while piece:
                # One more than is allowed, which tells; never 0, which would mean no limit.
                room = limits.max_entry_bytes + 1 - len(content)
                content += inflater.decompress(piece, room) if inflater else piece
                piece = inflater.unconsumed_tail if inflater else b""
                if len(content) > limits.max_entry_bytes:
                    raise PayloadTooLarge(
                        f"{printable_name(entry.name)} unpacks to more than the {limits.max_entry_bytes} bytes allowed"
                    )
        except zlib.error:
            raise ValidationFailed(f"{printable_name(entry.name)} is damaged: it cannot be unpacked") from None
        if inflater and inflater.eof and (position < end or inflater.unused_data):
            raise ValidationFailed(f"{printable_name(entry.name)} has something behind the end of its data")
    if inflater and not inflater.eof:
        raise ValidationFailed(f"{printable_name(entry.name)} is damaged: its data ends too early")
    if (len(content), zlib.crc32(content)) != (entry.size, entry.crc):
        raise ValidationFailed(f"{printable_name(entry.name)} is damaged: size or CRC are not those of its header")
    return bytes(content)


def printable_name(name: str) -> str:
    """A name as a message shows it: quoted, and not all of a very long one."""
    return repr(name if len(name) <= 100 else f"{name[:99]}…")


def _read(file: BinaryIO, position: int, size: int) -> bytes:
    file.seek(position)
    data = file.read(size)
    if len(data) != size:
        raise ValidationFailed("the archive's headers point behind its end")
    return data


def _end_record(file: BinaryIO, size: int) -> tuple[int, int, int]:
    """How many entries the archive says it has, and where their list begins and ends: just before the record."""
    tail_size = min(size, _END.size + _MAX_COMMENT)
    tail = _read(file, size - tail_size, tail_size)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0:
        raise NotAnArchive("this is no ZIP archive, or it is cut off")
    if len(tail) - at < _END.size:
        raise NotAnArchive("the archive is cut off in its last record")
    _, disk, first_disk, count_here, count, directory_size, directory_start, comment = _END.unpack_from(tail, at)
    if comment or len(tail) - at != _END.size:
        raise ValidationFailed("something follows the end of the archive")
    if 0xFFFF in (count, count_here) or 0xFFFFFFFF in (directory_size, directory_start):
        raise ValidationFailed("the archive is a ZIP64, which none of this size need be")
    if disk or first_disk or count_here != count:
        raise ValidationFailed("the archive is a part of several")
    if directory_start + directory_size != size - _END.size:
        raise ValidationFailed("the archive's list of entries is not where its last record says")
    return count, directory_start, directory_start + directory_size


def _listed(directory: bytes, max_entries: int) -> list[Entry]:
    entries: list[Entry] = []
    position = 0
    while position < len(directory):
        if len(entries) == max_entries:
            raise PayloadTooLarge(f"an archive has at most {max_entries} entries")
        if len(directory) - position < _CENTRAL.size:
            raise ValidationFailed("the archive's list of entries is damaged")
        fields = _CENTRAL.unpack_from(directory, position)
        signature, _, _, flags, method, _, _, crc, packed, size, *lengths, disk, _, attributes, offset = fields
        begin = position + _CENTRAL.size
        position = begin + sum(lengths)
        if signature != b"PK\x01\x02" or position > len(directory):
            raise ValidationFailed("the archive's list of entries is damaged")
        raw_name = directory[begin : begin + lengths[0]]
        entry = Entry(_name(raw_name, flags), raw_name, flags, method, crc, packed, size, offset)
        _check(entry, attributes)
        if disk:
            raise ValidationFailed("the archive is a part of several")
        entries.append(entry)
    return entries


def _name(raw: bytes, flags: int) -> str:
    try:
        return raw.decode("utf-8" if flags & _UTF8 else "cp437")
    except UnicodeDecodeError:
        raise ValidationFailed("the name of an entry is said to be UTF-8 and is not") from None


def _check(entry: Entry, attributes: int) -> None:
    """ValidationFailed for an entry that no snapshot has, whatever it holds."""
    name = printable_name(entry.name)
    if why := _hostile(entry.name):
        raise ValidationFailed(f"the archive names an entry {name}: {why}")
    if entry.flags & _ENCRYPTED:
        raise ValidationFailed(f"{name} is encrypted")
    if entry.flags & ~(_STREAMED | _UTF8 | _EFFORT) or entry.method not in (_STORED, _DEFLATED):
        raise ValidationFailed(f"{name} is packed in a way other than store and deflate")
    if 0xFFFFFFFF in (entry.size, entry.packed_size, entry.offset):
        raise ValidationFailed("the archive is a ZIP64, which none of this size need be")
    kind = stat.S_IFMT(attributes >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR) or attributes & _DOS_REPARSE_POINT:
        raise ValidationFailed(f"{name} is a link or a device, not a file")
    is_file = bool(entry.size) or not entry.is_directory
    if is_file and (kind == stat.S_IFDIR or entry.is_directory):
        raise ValidationFailed(f"{name} says it is a file and a directory")


def _hostile(name: str) -> str | None:
    """Why a name leads somewhere else than it seems, or None."""
    segments = name.removesuffix("/").split("/")
    if _CONTROL.search(name):
        return "control characters"
    if name.startswith("/") or "\\" in name or re.match("[A-Za-z]:", name):
        return "not relative, with forward slashes"
    if any(segment in ("", ".", "..") for segment in segments):
        return "empty, '.' or '..' segments"
    return None


def _located(file: BinaryIO, entries: Sequence[Entry], directory_start: int) -> list[Entry]:
    """The entries with where their data begins: one after the other, from the first byte to the list of entries."""
    found = []
    position = 0
    for entry in sorted(entries, key=lambda entry: entry.offset):
        if entry.offset != position:
            raise ValidationFailed(f"{printable_name(entry.name)} overlaps another entry, or hides something before it")
        start = _data_start(file, entry, directory_start)
        position = start + entry.packed_size
        if position > directory_start:
            raise ValidationFailed(f"{printable_name(entry.name)} overlaps the list of entries")
        if entry.flags & _STREAMED:
            position += _descriptor_size(file, entry, position, directory_start)
        found.append(replace(entry, data_start=start))
    if position != directory_start:
        raise ValidationFailed("the archive hides something before its list of entries")
    return found


def _data_start(file: BinaryIO, entry: Entry, directory_start: int) -> int:
    """Where the data begins, behind a local header that says what the list says."""
    if entry.offset + _LOCAL.size + len(entry.raw_name) > directory_start:
        raise ValidationFailed(f"{printable_name(entry.name)} overlaps the list of entries")
    header = _read(file, entry.offset, _LOCAL.size + len(entry.raw_name))
    signature, _, flags, method, _, _, crc, packed, size, name_size, extra_size = _LOCAL.unpack_from(header)
    measured = (crc, packed, size)
    expected = (entry.crc, entry.packed_size, entry.size)
    is_streamed = flags & _STREAMED and all(a in (0, b) for a, b in zip(measured, expected, strict=True))
    if (
        signature != b"PK\x03\x04"
        or (flags, method) != (entry.flags, entry.method)
        or (name_size, header[_LOCAL.size :]) != (len(entry.raw_name), entry.raw_name)
        or not (measured == expected or is_streamed)
    ):
        raise ValidationFailed(f"the two headers of {printable_name(entry.name)} contradict each other")
    return entry.offset + len(header) + int(extra_size)


def _descriptor_size(file: BinaryIO, entry: Entry, position: int, directory_start: int) -> int:
    """How long the record behind streamed data is; it may do without its signature."""
    room = directory_start - position
    expected = _DESCRIPTOR.pack(entry.crc, entry.packed_size, entry.size)
    record = _read(file, position, min(room, len(expected) + 4))
    if record == b"PK\x07\x08" + expected:
        return len(expected) + 4
    if record[: len(expected)] == expected:
        return len(expected)
    raise ValidationFailed(f"the two headers of {printable_name(entry.name)} contradict each other")
