"""An archive is read as one thing only: whatever lets two readers see two things refuses it as a whole."""

from __future__ import annotations

import io
import stat
import struct
import tracemalloc
import zipfile

import pytest
from tests.archives import LINK, STREAMED, UTF8, Raw, deflated, descriptor, zipped

from reverie_indexer.errors import PayloadTooLarge, ReverieError, ValidationFailed
from reverie_server.files.strict_zip import Limits, NotAnArchive, read_entries, read_entry

LIMITS = Limits(max_entries=5, max_entry_bytes=1000, max_total_bytes=3000, max_archive_bytes=10_000)
A = Raw("a.md", b"lantern " * 20)
B = Raw("b.md", b"heron " * 20)


def read(archive: bytes, limits: Limits = LIMITS) -> dict[str, bytes]:
    file = io.BytesIO(archive)
    return {entry.name: read_entry(file, entry, limits) for entry in read_entries(file, limits)}


def test_entries_come_out_as_they_went_in() -> None:
    stored = Raw("b.md", B.data, method=0)
    assert read(zipped([A, stored, Raw("sub/", b"", method=0), Raw("é.md", b"x")])) == {
        "a.md": A.data,
        "b.md": B.data,
        "sub/": b"",
        "é.md": b"x",
    }
    assert read(zipped([])) == {}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("seekable", [True, False])
def test_what_an_ordinary_library_writes_is_read(method: int, seekable: bool) -> None:
    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.written = b""

        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:  # type: ignore[override]
            self.written += bytes(data)
            return len(data)

    sink = io.BytesIO() if seekable else Pipe()
    with zipfile.ZipFile(sink, "w", method) as archive:
        archive.mkdir("memory")
        archive.writestr("memory/é.md", "lantern\r\n" * 9)
        archive.writestr("empty.md", "")
    written = sink.getvalue() if isinstance(sink, io.BytesIO) else sink.written
    assert read(written) == {"memory/": b"", "memory/é.md": b"lantern\r\n" * 9, "empty.md": b""}


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("known", [True, False])
def test_streamed_entries_are_read_with_their_record_behind_them(signed: bool, known: bool) -> None:
    unknown = {} if known else {"crc": 0, "packed_size": 0, "size": 0}
    flags = UTF8 | STREAMED
    first = Raw("a.md", A.data, flags=flags, local=unknown, behind=descriptor(A, signed=signed))
    second = Raw("b.md", B.data, flags=flags, local=unknown, behind=descriptor(B, signed=signed))
    assert read(zipped([first, second])) == {"a.md": A.data, "b.md": B.data}


def test_a_name_without_the_utf_8_flag_is_what_zip_says_it_is() -> None:
    assert list(read(zipped([Raw(b"caf\x82.md", b"x", flags=0)]))) == ["café.md"]


@pytest.mark.parametrize(
    "name",
    [
        "/etc/a.md",
        "/",
        "..",
        "../a.md",
        "memory/../../a.md",
        "memory/..",
        "memory\\a.md",
        "..\\a.md",
        "C:a.md",
        "c:/a.md",
        "a\x00.md",
        "a\n.md",
        "a\x7f.md",
        "a\x85.md",
        "a\u2028.md",
        "memory//a.md",
        "memory//",
        "./a.md",
        "memory/./a.md",
        "",
    ],
)
def test_a_name_that_leads_elsewhere_refuses_the_archive(name: str) -> None:
    with pytest.raises(ValidationFailed, match="names an entry"):
        read(zipped([A, Raw(name, b"x")]))


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (Raw("l.md", b"/etc/passwd", attributes=LINK), "link"),
        (Raw("l.md", attributes=(stat.S_IFIFO | 0o644) << 16), "device"),
        (Raw("l.md", attributes=(stat.S_IFCHR | 0o644) << 16), "device"),
        (Raw("l.md", attributes=(stat.S_IFSOCK | 0o644) << 16), "device"),
        (Raw("l.md", attributes=0x400), "link"),
        (Raw("l.md", attributes=(stat.S_IFDIR | 0o755) << 16), "a file and a directory"),
        (Raw("l/", b"content"), "a file and a directory"),
        (Raw("l.md", flags=UTF8 | 0x01), "encrypted"),
        (Raw("l.md", flags=UTF8 | 0x41), "encrypted"),
        (Raw("l.md", flags=UTF8 | 0x2000), "encrypted"),
        (Raw("l.md", flags=UTF8 | 0x20), "packed in a way"),
        (Raw("l.md", b"x", method=12), "packed in a way"),
        (Raw("l.md", b"x", method=99), "packed in a way"),
        (Raw(b"caf\xff.md", b"x", flags=UTF8), "not"),
        (Raw("l.md", b"x", size=0xFFFFFFFF), "ZIP64"),
        (Raw("l.md", b"x", disk=1), "a part of several"),
        (Raw("/l.md", b"x"), "not relative"),
    ],
)
def test_an_entry_that_is_no_plain_file_refuses_the_archive(entry: Raw, why: str) -> None:
    with pytest.raises(ValidationFailed, match=why):
        read(zipped([A, entry]))


@pytest.mark.parametrize(
    "local",
    [
        {"name": b"c.md"},
        {"name": b"b.md.exe"},
        {"method": 0},
        {"flags": 0},
        {"size": 1},
        {"crc": 0},
        {"packed_size": 0},
        {"crc": 0, "packed_size": 0, "size": 0},
        {"crc": 0, "packed_size": 0, "size": 0, "flags": UTF8 | STREAMED},
    ],
)
def test_two_headers_that_contradict_each_other_refuse_the_archive(local: dict[str, int | bytes]) -> None:
    with pytest.raises(ValidationFailed, match=r"contradict|overlap"):
        read(zipped([A, Raw("b.md", B.data, local=local)]))


def test_a_record_behind_streamed_data_must_agree_with_the_list() -> None:
    wrong = descriptor(Raw("b.md", b"something else"))
    with pytest.raises(ValidationFailed, match="contradict"):
        read(zipped([A, Raw("b.md", B.data, flags=UTF8 | STREAMED, behind=wrong)]))


def test_a_name_twice_refuses_the_archive() -> None:
    with pytest.raises(ValidationFailed, match="twice"):
        read(zipped([A, Raw("a.md", b"other")]))


def test_names_that_differ_only_in_case_or_composition_are_different_files() -> None:
    """They are here: a file's path is compared as it is, and an export may hold them both."""
    names = ["a.md", "A.md", "caf\u00e9.md", "cafe\u0301.md"]
    assert list(read(zipped([Raw(name, b"x") for name in names]))) == names


def quoted_overlap(count: int, kernel: bytes) -> bytes:
    """Entries whose deflated data is the next entry's header, quoted, and then that one's data: all share the end."""
    last = Raw(f"{count - 1}.md", kernel)
    body, chain = last.header() + last.stream, [(last, len(last.header() + last.stream))]
    for number in reversed(range(count - 1)):
        header = chain[0][0].header()
        quote = b"\x00" + struct.pack("<HH", len(header), len(header) ^ 0xFFFF)
        entry = Raw(f"{number}.md", header + chain[0][0].data, packed=quote + body)
        body = entry.header() + entry.stream
        chain.insert(0, (entry, len(body)))
    listed = b"".join(entry.listed(len(body) - from_end) for entry, from_end in chain)
    return body + listed + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(listed), len(body), 0)


def test_entries_that_share_their_data_refuse_the_archive() -> None:
    shared = Raw("b.md", A.data, offset=0, only_listed=True)
    with pytest.raises(ValidationFailed, match="overlap"):
        read(zipped([A, shared]))
    with pytest.raises(ValidationFailed, match=r"overlap|hides"):
        read(quoted_overlap(4, b"\x00" * 500))
    with zipfile.ZipFile(io.BytesIO(quoted_overlap(4, b"\x00" * 500))) as archive:
        assert len(archive.infolist()) == 4, "it is an archive in order but for that"


def test_entries_that_reach_into_each_other_refuse_the_archive() -> None:
    inner = Raw("b.md", b"inner", method=0)
    outer = Raw("a.md", inner.header() + inner.stream, method=0)
    inside = Raw("b.md", b"inner", method=0, offset=len(outer.header()), only_listed=True)
    assert set(read(zipped([outer]))) == {"a.md"}
    with pytest.raises(ValidationFailed, match="overlap"):
        read(zipped([outer, inside]))
    with pytest.raises(ValidationFailed, match="overlaps the list"):
        read(zipped([A, Raw("b.md", B.data, packed_size=500, local={"packed_size": 500})]))
    with pytest.raises(ValidationFailed, match="overlap"):
        read(zipped([A, Raw("b.md", B.data, offset=2**31)]))


@pytest.mark.parametrize(
    "archive",
    [
        zipped([A], before=b"#!/bin/sh\n"),
        zipped([A, B], before=b"x"),
        zipped([Raw("a.md", A.data, behind=b"hidden"), B]),
        zipped([A], behind_data=b"hidden"),
        zipped([A], behind_list=b"hidden"),
        zipped([A], trailing=b"x"),
        zipped([A], trailing=b"x" * 5, comment=5),
        zipped([A], trailing=zipped([B])),
        zipped([A], comment=5),
    ],
    ids=[
        "script",
        "byte",
        "between",
        "before the list",
        "behind the list",
        "behind",
        "comment",
        "a second archive",
        "comment that is not",
    ],
)
def test_bytes_before_between_or_behind_the_entries_refuse_the_archive(archive: bytes) -> None:
    with pytest.raises(ValidationFailed):
        read(archive)


@pytest.mark.parametrize(
    "end",
    [
        {"count": 1, "count_here": 1},
        {"count": 3, "count_here": 3},
        {"count_here": 1},
        {"disk": 1},
        {"first_disk": 1},
        {"size": 10},
        {"start": 0},
        {"count": 0xFFFF, "count_here": 0xFFFF},
        {"start": 0xFFFFFFFF},
        {"size": 0xFFFFFFFF},
    ],
)
def test_a_last_record_that_does_not_agree_with_the_archive_refuses_it(end: dict[str, int]) -> None:
    with pytest.raises(ValidationFailed):
        read(zipped([A, B], **end))


@pytest.mark.parametrize("archive", [b"", b"PK", b"not a zip" * 100, b"PK\x03\x04" + b"\x00" * 100, b"\x1f\x8b" * 50])
def test_what_is_no_archive_is_called_so(archive: bytes) -> None:
    with pytest.raises(NotAnArchive):
        read(archive)


def test_an_archive_cut_off_anywhere_is_refused() -> None:
    archive = zipped([A, B])
    for end in range(len(archive)):
        with pytest.raises(NotAnArchive):
            read(archive[:end])


@pytest.mark.parametrize(
    "entry",
    [
        Raw("b.md", B.data, crc=1),
        Raw("b.md", B.data, size=len(B.data) - 1),
        Raw("b.md", B.data, size=len(B.data) + 1),
        Raw("b.md", B.data, method=0, size=1),
        Raw("b.md", B.data, packed=deflated(B.data)[:-3]),
        Raw("b.md", B.data, packed=deflated(B.data) + b"hidden"),
        Raw("b.md", B.data, packed=b"\xff" * 30),
        Raw("b.md", b"", packed=b""),
    ],
    ids=["crc", "shorter", "longer", "stored", "data ends", "data hides", "no deflate", "no data"],
)
def test_data_that_is_not_what_its_header_says_refuses_the_archive(entry: Raw) -> None:
    with pytest.raises(ValidationFailed, match=r"'b\.md'"):
        read(zipped([A, entry]))


def test_an_entry_may_have_just_the_bytes_allowed() -> None:
    assert len(read(zipped([Raw("a.md", b"x" * 1000)]))["a.md"]) == 1000
    for method in (0, 8):
        with pytest.raises(PayloadTooLarge, match="1000 bytes allowed"):
            read(zipped([Raw("a.md", b"x" * 1001, method=method)]))


def test_a_bomb_is_measured_and_never_unpacked_whatever_its_header_says() -> None:
    bomb = deflated(b"\x00" * (64 * 1024 * 1024))
    archive = zipped([Raw("a.md", b"tiny", packed=bomb)])
    limits = Limits(max_entry_bytes=100_000)
    tracemalloc.start()
    with pytest.raises(PayloadTooLarge):
        read(archive, limits)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_deflated_data_that_gives_nothing_ends() -> None:
    """Thousands of empty blocks: much data, no content."""
    empty = b"\x00\x00\x00\xff\xff" * 10_000 + b"\x03\x00"
    limits = Limits()
    assert read(zipped([Raw("a.md", b"", packed=empty)]), limits) == {"a.md": b""}


def test_entries_are_counted_not_believed() -> None:
    five = [Raw(f"{number}.md", b"x") for number in range(5)]
    assert len(read(zipped(five))) == 5
    for said in (6, 5, 0):
        with pytest.raises(PayloadTooLarge, match="5 entries"):
            read(zipped([*five, Raw("6.md", b"x")], count=said, count_here=said))


def test_an_archive_or_a_list_that_is_too_large_is_not_read() -> None:
    with pytest.raises(PayloadTooLarge, match="10000 bytes"):
        read(b"\x00" * 10_001)
    long = Raw("n" * 60_000, b"x")
    with pytest.raises(PayloadTooLarge, match="list"):
        read(zipped([long]), Limits(max_entries=5))


def test_errors_do_not_repeat_a_very_long_name() -> None:
    with pytest.raises(ReverieError) as caught:
        read(zipped([Raw("../" + "n" * 3000, b"x")]))
    assert len(caught.value.detail) < 300
