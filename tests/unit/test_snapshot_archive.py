"""What a snapshot holds, and what is taken out of an archive: all that its manifest names, or nothing."""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.archives import LINK, Raw, manifest, snapshot, zipped

from reverie_indexer.errors import PayloadTooLarge, ValidationFailed
from reverie_indexer.file_rules import check_path
from reverie_server.files.snapshot_format import (
    CORE_FILES,
    Snapshot,
    SnapshotFile,
    Writer,
    check_fits,
    in_order,
    is_snapshot_path,
    manifest_of,
    read_snapshot,
)
from reverie_server.files.strict_zip import Limits, NotAnArchive

MIB = 1024 * 1024
AT = datetime(2026, 4, 3, 12, 30, 15, tzinfo=UTC)
FILES = {"AGENTS.md": b"How to.\n", "memory/2026-04-03.md": b"# 2026-04-03\r\n\r\nlantern\r\n", "MEMORY.md": b""}


def read(archive: bytes, limits: Limits | None = None, max_file_bytes: int = MIB) -> Snapshot:
    return read_snapshot(io.BytesIO(archive), limits or Limits(), max_file_bytes=max_file_bytes)


def written(texts: dict[str, str], at: datetime = AT) -> bytes:
    from hashlib import sha256

    contents = {path: text.encode() for path, text in texts.items()}
    held = in_order(SnapshotFile(path, len(c), sha256(c).digest(), at) for path, c in contents.items())
    file = io.BytesIO()
    writer = Writer(file)
    writer.add("manifest.json", manifest_of(held, "wren", "Wren", at), at)
    for one in held:
        writer.add(one.path, contents[one.path], one.updated_at)
    writer.finish()
    return file.getvalue()


PATHS = st.sampled_from(CORE_FILES) | st.lists(
    st.text(st.characters(exclude_characters="/\\", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1).filter(
        lambda segment: segment not in (".", "..")
    ),
    min_size=1,
    max_size=3,
).map(lambda segments: f"memory/{'/'.join(segments)}.md").filter(lambda path: len(path.encode()) <= 512)
TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"))


@given(st.dictionaries(PATHS, TEXTS, max_size=8))
def test_what_is_written_is_read_again_to_the_letter(texts: dict[str, str]) -> None:
    assert all(check_path(path) == path for path in texts)
    assert read(written(texts)) == Snapshot(texts, {})


def test_line_ends_a_byte_order_mark_and_any_script_are_kept() -> None:
    texts = {"MEMORY.md": "\ufeffa\r\nb\rc\n\n\u2028\x0b\x1f", "memory/日記.md": "é 日本語 ไทย 🦉 e\u0301"}
    assert read(written(texts)).files == texts


def test_an_archive_is_the_same_bytes_for_the_same_files_in_any_order() -> None:
    texts = {"memory/b.md": "b", "MEMORY.md": "m", "memory/a.md": "a", "DREAMS.md": "d", "memory/B/a.md": "x"}
    archive = written(texts)
    assert archive == written(dict(reversed(texts.items())))
    with zipfile.ZipFile(io.BytesIO(archive)) as found:
        names = ["manifest.json", "MEMORY.md", "DREAMS.md", "memory/B/a.md", "memory/a.md", "memory/b.md"]
        assert found.namelist() == names
        assert found.testzip() is None
        assert found.infolist()[1].date_time == (2026, 4, 3, 12, 30, 14)
        listed = json.loads(found.read("manifest.json"))
    assert list(listed) == ["version", "exported_at", "agent_id", "agent_name", "files"]
    assert (listed["version"], listed["exported_at"]) == (1, "2026-04-03T12:30:15Z")
    assert [file["path"] for file in listed["files"]] == names[1:]
    assert listed["files"][0] == {
        "path": "MEMORY.md",
        "sha256": "62c66a7a5dd70c3146618063c344e531e6d4b59e379808443ce962b3abd63c5a",
        "size": 1,
    }


def test_times_are_utc_and_those_that_zip_cannot_say_do_no_harm() -> None:
    for at in (datetime(1970, 1, 1, tzinfo=UTC), AT.astimezone(timezone(timedelta(hours=9)))):
        with zipfile.ZipFile(io.BytesIO(written({"MEMORY.md": "x"}, at))) as found:
            assert found.infolist()[0].date_time[:4] in ((1980, 1, 1, 0), (2026, 4, 3, 12))


@pytest.mark.parametrize(
    "path", [*CORE_FILES, "memory.md", "memory/a.md", "memory/a/b c.md", "memory/.md", "memory/é/日.md"]
)
def test_what_a_snapshot_holds(path: str) -> None:
    assert is_snapshot_path(path)
    assert read(snapshot({path: "x"})) == Snapshot({path: "x"}, {})


@pytest.mark.parametrize(
    "path",
    [
        "notes/a.md",
        "Memory.md",
        "AGENTS.MD",
        "MEMORY_backup_2026-04-03_12-00-00.md",
        "memory/a.txt",
        "memory/a.MD",
        "memory/inner.zip",
        "MEMORY.json",
        "Memory/a.md",
        "x/memory/a.md",
        "_system/a.md",
        "__MACOSX/._AGENTS.md",
        ".DS_Store",
        "Manifest.json",
        f"memory/{'n' * 503}.md",
    ],
)
def test_what_it_does_not_hold_is_skipped_with_the_reason_even_if_the_manifest_names_it(path: str) -> None:
    assert not is_snapshot_path(path) or len(path) > 512
    found = read(snapshot({"AGENTS.md": "x", path: "y"}))
    assert found.files == {"AGENTS.md": "x"}
    assert found.skipped.keys() == {path}
    assert found.skipped[path] in ("not a file that a snapshot holds", "a path has 1 to 512 bytes; this one has 513")


def test_directories_and_what_the_manifest_does_not_name_are_skipped() -> None:
    archive = snapshot({"AGENTS.md": "x"}, Raw("memory/", method=0), Raw("memory/more.md", b"smuggled"))
    assert read(archive) == Snapshot(
        {"AGENTS.md": "x"}, {"memory/": "a directory", "memory/more.md": "the manifest does not name it"}
    )


def test_the_manifest_may_stand_anywhere_and_say_more() -> None:
    listed = manifest({"AGENTS.md": b"x"}, more={"a": 1})
    assert read(zipped([Raw("AGENTS.md", b"x"), Raw("manifest.json", listed)])).files == {"AGENTS.md": "x"}


def changed_file(**changed: Any) -> bytes:
    files = json.loads(manifest({"AGENTS.md": b"x"}))["files"]
    return manifest({}, files=[{**files[0], **changed}])


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b'{"version": 1}',
        b'{"files": []}',
        b'{"version": 1, "files": {}}',
        b'{"version": 1, "files": [1]}',
        b'{"version": 1, "files": [{}]}',
        b"[" * 100_000,
        b'{"files": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
        b'{"version": 1, "files": [' + b"{}," * 300_000 + b"{}]}",
        manifest({}, version=2),
        manifest({}, version="1"),
        manifest({}, version=1.5),
        manifest({}, version=True),
        manifest({}, version=10**400),
        manifest({}, agent_id=7),
        changed_file(path=7),
        changed_file(size=-1),
        changed_file(size="1"),
        changed_file(size=None),
        changed_file(sha256="x"),
        changed_file(sha256="0" * 64 + "\n"),
        changed_file(sha256=None),
    ],
    ids=lambda text: text[:30].decode("latin-1"),
)
def test_a_manifest_that_is_malformed_refuses_the_archive(text: bytes) -> None:
    with pytest.raises(ValidationFailed) as caught:
        read(zipped([Raw("manifest.json", text), Raw("AGENTS.md", b"x")]))
    assert len(caught.value.detail) < 300


def test_an_archive_without_a_manifest_is_no_snapshot() -> None:
    with pytest.raises(ValidationFailed, match=r"no manifest\.json"):
        read(zipped([Raw("AGENTS.md", b"x")]))
    with pytest.raises(ValidationFailed, match="twice"):
        read(zipped([Raw("manifest.json", manifest({}))] * 2))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (manifest({"AGENTS.md": b"x", "SOUL.md": b"y"}), r"'SOUL\.md', which is not in the archive"),
        (manifest({"AGENTS.md": b"x", "../up.md": b"y"}), "not in the archive"),
        (manifest({"AGENTS.md": b"x", "agents.md": b"x"}), "not in the archive"),
        (manifest({"AGENTS.md": b"y"}), "SHA-256"),
        (changed_file(size=2), "size"),
        (manifest({}, files=json.loads(manifest({"AGENTS.md": b"x"}))["files"] * 2), "twice"),
    ],
)
def test_a_manifest_that_is_not_true_refuses_the_archive(text: bytes, why: str) -> None:
    with pytest.raises(ValidationFailed, match=why):
        read(zipped([Raw("manifest.json", text), Raw("AGENTS.md", b"x")]))


def test_what_is_skipped_must_be_what_the_manifest_says_too() -> None:
    with pytest.raises(ValidationFailed, match="SHA-256"):
        read(snapshot({"notes.txt": "x"}, named={"notes.txt": b"y"}))


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"caf\xe9", "not UTF-8"), (b"\xed\xa0\x80", "not UTF-8"), (b"a\x00b", "NUL"), (zipped([Raw("a", b"x")]), "")],
    ids=["latin-1", "surrogate", "nul", "a zip"],
)
def test_a_file_that_is_no_text_refuses_the_archive(content: bytes, why: str) -> None:
    with pytest.raises(ValidationFailed, match=rf"'memory/a\.md'.*{why}"):
        read(snapshot({"memory/a.md": content, "MEMORY.md": "x"}))


@pytest.mark.parametrize("more", [Raw("../x.md"), Raw("notes.md", b"x", attributes=LINK), Raw("n.txt", b"x", crc=1)])
def test_what_smells_of_an_attack_refuses_all_even_beside_the_files(more: Raw) -> None:
    with pytest.raises(ValidationFailed):
        read(snapshot({"AGENTS.md": "x"}, more))


def test_the_limits_are_measured_over_all_entries() -> None:
    many = {f"memory/{number}.md": "x" for number in range(499)}
    assert read(snapshot(many)).files == many
    with pytest.raises(PayloadTooLarge, match="500 entries"):
        read(snapshot({**many, "MEMORY.md": "x"}))
    large = "x" * MIB
    assert read(snapshot({"memory/a.md": large})).files == {"memory/a.md": large}
    with pytest.raises(PayloadTooLarge, match="1048576 bytes"):
        read(snapshot({"memory/a.md": large + "x"}))
    with pytest.raises(PayloadTooLarge, match="1048576 bytes"):
        read(snapshot({"AGENTS.md": "x"}, Raw("photo.jpg", b"\x00" * (MIB + 1))))
    fifteen = {f"memory/{number}.md": large for number in range(15)}
    assert len(read(snapshot(fifteen)).files) == 15
    with pytest.raises(PayloadTooLarge, match="16777216 bytes"):
        read(snapshot({**fifteen, "memory/last.md": large}))


def test_a_server_with_smaller_files_takes_none_that_are_larger() -> None:
    archive = snapshot({"memory/a.md": "x" * 101})
    assert read(archive, max_file_bytes=101).files
    with pytest.raises(PayloadTooLarge, match=r"'memory/a\.md': a file holds at most 100 bytes"):
        read(archive, max_file_bytes=100)


def test_an_export_is_refused_when_its_import_would_be() -> None:
    limits = Limits(max_entries=4, max_entry_bytes=100, max_total_bytes=300)

    def held(*sizes: int) -> list[SnapshotFile]:
        return [SnapshotFile(f"memory/{number}.md", size, b"", AT) for number, size in enumerate(sizes)]

    check_fits(held(100, 50, 50), b"m" * 100, limits, max_file_bytes=1000)
    for files, manifest_bytes, most, why in (
        (held(1, 1, 1, 1), b"m", 1000, "4 entries, its manifest included"),
        (held(101), b"m", 1000, "has 101 bytes"),
        (held(51), b"m", 50, "at most 50"),
        (held(100, 100, 51), b"m" * 50, 1000, "at most 300 bytes, this one has 301"),
        (held(1), b"m" * 101, 1000, "at most"),
    ):
        with pytest.raises(PayloadTooLarge, match=why):
            check_fits(files, manifest_bytes, limits, max_file_bytes=most)


ORIGINAL = snapshot(FILES, Raw("memory/", method=0), Raw("notes.txt", b"note"))
TAKEN = {path: content.decode() for path, content in FILES.items()}


@settings(max_examples=600)
@given(st.data())
def test_a_damaged_archive_is_refused_or_brings_what_the_whole_one_brought(data: st.DataObject) -> None:
    """Never anything but an error of ours, and never a text that was not in the archive."""
    archive = bytearray(ORIGINAL)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(archive) - 1))
        match data.draw(st.sampled_from(["flip", "set", "cut", "insert", "copy", "end"])):
            case "flip":
                archive[at] ^= 1 << data.draw(st.integers(0, 7))
            case "set":
                archive[at] = data.draw(st.integers(0, 255))
            case "cut":
                del archive[at : at + data.draw(st.integers(1, 40))]
            case "insert":
                archive[at:at] = data.draw(st.binary(min_size=1, max_size=40))
            case "copy":
                start = data.draw(st.integers(0, len(archive) - 1))
                archive[at:at] = archive[start : start + data.draw(st.integers(1, 60))]
            case "end":
                del archive[max(at, 200) :]
    with suppress(ValidationFailed, PayloadTooLarge, NotAnArchive):
        assert read(bytes(archive)).files == TAKEN


@given(st.binary(max_size=400))
def test_any_bytes_at_all_are_refused(data: bytes) -> None:
    with pytest.raises(NotAnArchive):
        read(data)
