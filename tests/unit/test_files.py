"""Which paths, agents, owners and texts there may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_indexer.errors import Forbidden, PayloadTooLarge, ValidationFailed
from reverie_indexer.file_rules import (
    check_agent_id,
    check_owner_key,
    check_path,
    check_text,
    is_searchable,
    new_file_flags,
    seed_files,
)
from reverie_indexer.model import Flags


@pytest.mark.parametrize(
    "path",
    ["a.md", "memory/2026-04-03.md", "日本/grüße an 😀.md", "a.b.json", "x.txt", "x.yaml", "..a.md", "a../b.md", ".md",
     "p" * 509 + ".md", "é" * 254 + "p.md", "_systems/a.md", "a/_system/b.md", "a b.md", "MEMORY.json"],
)  # fmt: skip
def test_a_path_that_may_be_is_given_back(path: str) -> None:
    assert check_path(path) == path


@pytest.mark.parametrize(
    "path",
    ["", "a", "a.exe", "a.MD", "a.md ", "a.md/", "/a.md", "//a.md", "a\\b.md", "\\a.md", "C:/a.md", "c:a.md", "../a.md",
     "a/../b.md", "a/..", "./a.md", "a/./b.md", "a//b.md", "a\x00.md", "a\n.md", "a.md\n", "a\t.md", "a\x7f.md",
     "a\x85.md", "a\u2028.md", "p" * 510 + ".md", "é" * 255 + ".md", "a\ud800.md", "_system/../a.md", ".."],
)  # fmt: skip
def test_a_path_that_may_not_be_is_refused(path: str) -> None:
    with pytest.raises(ValidationFailed):
        check_path(path)


def test_system_files_are_the_servers() -> None:
    with pytest.raises(Forbidden):
        check_path("_system/state.json")
    assert check_path("_system/state.json", by_server=True) == "_system/state.json"


@given(st.text(max_size=40))
def test_no_path_that_is_taken_leaves_its_folder(name: str) -> None:
    for path in (name, f"{name}.md", f"a/{name}/b.md"):
        try:
            taken = check_path(path, by_server=True)
        except ValidationFailed:
            continue
        assert not taken.startswith("/")
        assert not {"", ".", ".."} & set(taken.split("/"))
        assert not any(ord(character) < 32 or character == "\\" for character in taken)
        assert len(taken.encode()) <= 512


@pytest.mark.parametrize("agent_id", ["a", "A-z_0.9:", "x" * 128, "..", "-"])
def test_an_agent_id_that_may_be_is_given_back(agent_id: str) -> None:
    assert check_agent_id(agent_id) == agent_id


@pytest.mark.parametrize("agent_id", ["", "x" * 129, "a b", "a/b", "é", "a\n", "a\x00", "a@b", "٣"])
def test_an_agent_id_that_may_not_be_is_refused(agent_id: str) -> None:
    with pytest.raises(ValidationFailed):
        check_agent_id(agent_id)


@pytest.mark.parametrize(
    "owner", ["user:42", "api:ada", "telegram:-17", "system", "user:a:b c", "user:Ünï", "x:" + "y" * 255]
)
def test_an_owner_key_that_may_be_is_given_back(owner: str) -> None:
    assert check_owner_key(owner) == owner


@pytest.mark.parametrize(
    "owner",
    ["", "ada", "user:", "user: a", ":a", "User:a", "user:a\n", "user:\x00", "user:\ud800", "user:a\u202eb",
     "x:" + "y" * 256, "c" * 33 + ":a", "system:", "systems"],
)  # fmt: skip
def test_an_owner_key_that_may_not_be_is_refused(owner: str) -> None:
    with pytest.raises(ValidationFailed):
        check_owner_key(owner)


def test_a_text_is_measured_in_bytes() -> None:
    assert check_text("éé", max_bytes=4) == "éé"
    with pytest.raises(PayloadTooLarge):
        check_text("éé", max_bytes=3)


@pytest.mark.parametrize("text", ["a\x00", "a\ud800"])
def test_what_is_no_text_is_refused(text: str) -> None:
    with pytest.raises(ValidationFailed):
        check_text(text, max_bytes=100)


def test_only_markdown_is_searched() -> None:
    assert [is_searchable(name) for name in ("a.md", "a.json", "a.txt", "a.yaml", "a.md.txt")] == [True] + [False] * 4


def test_the_four_seeds_are_enabled_in_their_order_and_nothing_else_is() -> None:
    seeds = seed_files()
    assert list(seeds) == ["AGENTS.md", "SOUL.md", "PROFILE.md", "MEMORY.md"]
    assert [new_file_flags(path) for path in seeds] == [Flags(enabled=True, sort_order=order) for order in range(4)]
    assert all(text.strip() for text in seeds.values())
    for path in ("DREAMS.md", "memory/2026-04-03.md", "memory/MEMORY.md", "memory.md", "MEMORY.json"):
        assert new_file_flags(path).enabled is False
        assert new_file_flags(path).sort_order > 3
