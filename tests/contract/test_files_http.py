"""Workspace files over HTTP: what each route does when all is well, and the names it does it by."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

SEEDS = ["AGENTS.md", "SOUL.md", "PROFILE.md", "MEMORY.md"]
WRITE_FIELDS = {
    *("path", "created", "overwritten", "enabled", "bytes_written"),
    *("version", "chunk_count", "embedded", "searchable"),
}
SUMMARY_FIELDS = {"path", "scope", "owner_key", "enabled", "sort_order", "size", "version", "updated_at"}


async def test_the_first_write_creates_and_answers_201(wren: Any) -> None:
    response = await wren.http.put(wren.url("files/notes/tea.md"), json={"content": "# Tea\n\nGrün, 80 °C.\n"})
    assert response.status_code == 201
    assert response.json() == {
        "path": "notes/tea.md", "created": True, "overwritten": False, "enabled": False,
        "bytes_written": len("# Tea\n\nGrün, 80 °C.\n".encode()), "version": 1, "chunk_count": 1, "embedded": True,
        "searchable": True,
    }  # fmt: skip
    assert response.headers["etag"] == '"1"'


async def test_a_second_write_overwrites_and_answers_200(wren: Any) -> None:
    await wren.put("a.md", "one")
    response = await wren.http.put(wren.url("files/a.md"), json={"content": "two"})
    assert response.status_code == 200
    body = response.json()
    assert (body["created"], body["overwritten"], body["version"], response.headers["etag"]) == (False, True, 2, '"2"')


async def test_a_file_is_read_as_it_was_written(wren: Any) -> None:
    before = datetime.now(UTC)
    text = "line\r\n\u2028é\U0001f600\n  trailing  \n\n\n"
    await wren.put("a.md", text, owner_key="user:42", sort_order=-3, enabled=True)
    response = await wren.get("files/a.md", owner_key="user:42")
    body = response.json()
    assert body["content"] == text
    assert body.keys() >= SUMMARY_FIELDS | {"content", "version", "etag", "resolved_from"}
    assert (body["path"], body["scope"], body["owner_key"]) == ("a.md", "personal", "user:42")
    assert (body["enabled"], body["sort_order"], body["size"]) == (True, -3, len(text.encode()))
    assert body["version"] == 1
    assert body["etag"] == '"1"' == response.headers["etag"]
    assert body["resolved_from"] == "personal"
    assert body["updated_at"].endswith("Z"), "times are in UTC"
    assert before <= datetime.fromisoformat(body["updated_at"]) <= datetime.now(UTC)


async def test_an_empty_file_may_be(wren: Any) -> None:
    assert (await wren.put("a.md", ""))["bytes_written"] == 0
    assert (await wren.read("a.md"))["content"] == ""


@pytest.mark.parametrize("name", ["data.json", "plain.txt", "config.yaml", "MEMORY.json"])
async def test_other_text_is_stored_and_never_found(wren: Any, name: str) -> None:
    written = await wren.put(name, "zanzibar: the word to find")
    assert (written["chunk_count"], written["embedded"], written["searchable"]) == (0, True, False)
    assert (await wren.read(name))["content"] == "zanzibar: the word to find"
    assert (await wren.write(name, "append", "more")).json()["searchable"] is False
    assert (await wren.put("notes.md", "to find"))["searchable"] is True
    assert name not in await wren.found_paths("zanzibar", mode="text")


async def test_the_first_write_seeds_the_agent(wren: Any) -> None:
    await wren.put("memory/2026-04-03.md", "Ada moved the review.", owner_key="user:42")
    listing = (await wren.get("files")).json()
    assert [file["path"] for file in listing["files"]] == SEEDS
    assert [file["sort_order"] for file in listing["files"]] == [0, 1, 2, 3]
    assert all(file["enabled"] and file["scope"] == "team" and file["version"] == 1 for file in listing["files"])
    assert all(file["size"] > 0 for file in listing["files"])


async def test_a_first_write_of_a_seed_wins_over_it(wren: Any) -> None:
    written = await wren.put("SOUL.md", "I am a lighthouse.")
    assert (written["created"], written["version"], written["enabled"]) == (True, 1, True)
    assert (await wren.read("SOUL.md"))["content"] == "I am a lighthouse."
    assert (await wren.get("files")).json()["count"] == 4


@pytest.mark.parametrize(
    ("path", "enabled"),
    [("MEMORY.md", True), ("DREAMS.md", False), ("memory/2026-04-03.md", False), ("KNOWLEDGE.md", False)],
)
async def test_only_the_core_files_start_enabled(wren: Any, path: str, enabled: bool) -> None:
    assert (await wren.put(path, "text", owner_key="user:1"))["enabled"] is enabled


async def test_flags_stay_when_a_write_does_not_name_them(wren: Any) -> None:
    await wren.put("a.md", "one", enabled=True, sort_order=7)
    assert (await wren.put("a.md", "two"))["enabled"] is True
    assert (await wren.read("a.md"))["sort_order"] == 7
    assert (await wren.put("a.md", "two", enabled=False))["enabled"] is False


async def test_lines_are_counted_from_one(wren: Any) -> None:
    await wren.put("a.md", "one\ntwo\r\nthree\u2028still three\nfour")
    whole = await wren.read("a.md")
    assert (whole["from_line"], whole["lines"], whole["total_lines"]) == (1, 4, 4)
    for query, expected in [
        ({"from_line": 2}, "two\r\nthree\u2028still three\nfour"),
        ({"lines": 2}, "one\ntwo\r\n"),
        ({"from_line": 3, "lines": 1}, "three\u2028still three\n"),
        ({"from_line": 4, "lines": 500}, "four"),
        ({"from_line": 5}, ""),
    ]:
        assert (await wren.read("a.md", **query))["content"] == expected, query


async def test_patch_replaces_one_passage(wren: Any) -> None:
    await wren.put("a.md", "The review is on Thursday.\n")
    response = await wren.patch("a.md", "on Thursday", "on Freitag")
    assert (response.status_code, response.headers["etag"]) == (200, '"2"')
    assert response.json() == {"replacements": 1, "size_after": len("The review is on Freitag.\n"), "version": 2}
    assert (await wren.read("a.md"))["content"] == "The review is on Freitag.\n"


async def test_patch_replaces_all_when_told(wren: Any) -> None:
    await wren.put("a.md", "tea, tea and tea")
    answer = (await wren.patch("a.md", "tea", "Tee", replace_all=True)).json()
    assert (answer["replacements"], answer["size_after"]) == (3, 16)
    answer = (await wren.patch("a.md", ", Tee and Tee", "")).json()
    assert (answer["replacements"], (await wren.read("a.md"))["content"]) == (1, "Tee")


async def test_patch_sets_the_flags_alone_or_with_a_passage(wren: Any) -> None:
    await wren.put("a.md", "The review is on Thursday.\n")
    url = wren.url("files/a.md")
    answer = await wren.http.patch(url, json={"enabled": True})
    assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
    assert answer.json() == {"replacements": 0, "size_after": 27, "version": 2}
    file = await wren.read("a.md")
    assert (file["enabled"], file["sort_order"], file["content"]) == (True, 100, "The review is on Thursday.\n")
    again = await wren.http.patch(url, json={"enabled": True})
    assert again.json()["version"] == 2, "what changes nothing adds no version"
    both = await wren.http.patch(
        url, json={"old_text": "Thursday", "new_text": "Friday", "enabled": False, "sort_order": 7}
    )
    assert both.json() == {"replacements": 1, "size_after": 25, "version": 3}
    file = await wren.read("a.md")
    assert (file["enabled"], file["sort_order"], file["content"]) == (False, 7, "The review is on Friday.\n")
    assert (await wren.http.patch(url, json={"sort_order": 0}, headers={"If-Match": '"2"'})).status_code == 412
    assert (await wren.http.patch(wren.url("files/none.md"), json={"enabled": True})).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"replace_all": True},
        {"replace_all": True, "enabled": True},
        {"old_text": "a"},
        {"new_text": "a", "enabled": True},
        {"enabled": None, "sort_order": None},
        {"enabled": "yes"},
        {"sort_order": 2**31},
    ],
)
async def test_a_patch_of_nothing_or_of_half_is_422(wren: Any, problem: Any, body: dict[str, Any]) -> None:
    await wren.put("a.md", "a")
    problem(await wren.http.patch(wren.url("files/a.md"), json=body), 422, "validation_error")
    assert (await wren.read("a.md"))["version"] == 1


async def test_a_patch_takes_text_literally(wren: Any) -> None:
    await wren.put("a.md", r"a.c \1 abc")
    assert (await wren.patch("a.md", "a.c", r"\g<0>\n")).json()["replacements"] == 1
    assert (await wren.read("a.md"))["content"] == r"\g<0>\n \1 abc"


async def test_the_strategies_write_in_the_server(wren: Any) -> None:
    first = await wren.write("notes.md", "append", "- one")
    assert (first.status_code, first.headers["etag"]) == (201, '"1"')
    assert first.json().keys() == WRITE_FIELDS
    second = await wren.write("notes.md", "append", "- two")
    assert (second.status_code, second.json()["version"]) == (200, 2)
    assert (await wren.read("notes.md"))["content"] == "- one\n\n- two\n"
    await wren.write("notes.md", "replace_section", "Ada: +49 30 1", section="Phones")
    assert (await wren.read("notes.md"))["content"] == "- one\n\n- two\n\n## Phones\n\nAda: +49 30 1\n"
    await wren.write("notes.md", "upsert_kv", "Ada: +49 30 2\nBen: +49 30 3")
    assert (await wren.read("notes.md"))["content"].endswith("## Phones\n\nAda: +49 30 2\nBen: +49 30 3\n")
    assert (await wren.write("notes.md", "overwrite", "fresh")).json()["overwritten"] is True
    assert (await wren.read("notes.md"))["content"] == "fresh"


async def test_a_new_daily_note_starts_with_its_date(wren: Any) -> None:
    await wren.write("memory/2026-04-03.md", "append", "Ada called.", owner_key="user:42")
    await wren.write("memory/2026-04-03.md", "append", "Ben called.", owner_key="user:42")
    content = (await wren.read("memory/2026-04-03.md", owner_key="user:42"))["content"]
    assert content == "# 2026-04-03\n\nAda called.\n\nBen called.\n"


async def test_delete_answers_204_and_the_file_is_gone_at_once(wren: Any, problem: Any) -> None:
    await wren.put("zanzibar.md", "The zanzibar passage.")
    assert (await wren.found_paths("zanzibar"))[:1] == ["zanzibar.md"]
    response = await wren.delete("zanzibar.md")
    assert (response.status_code, response.content) == (204, b"")
    assert "zanzibar.md" not in await wren.found_paths("zanzibar", max_results=100)
    assert "zanzibar.md" not in [file["path"] for file in (await wren.get("files")).json()["files"]]
    problem(await wren.get("files/zanzibar.md"), 404, "not_found")
    problem(await wren.delete("zanzibar.md"), 404, "not_found")
    problem(await wren.patch("zanzibar.md", "The", "A"), 404, "not_found")


async def test_a_deleted_file_is_new_again_when_written(wren: Any) -> None:
    await wren.put("a.md", "one", enabled=True, sort_order=1)
    await wren.delete("a.md")
    response = await wren.http.put(wren.url("files/a.md"), json={"content": "two"})
    assert (response.status_code, response.json()["created"], response.json()["version"]) == (201, True, 3)
    assert (response.json()["enabled"], (await wren.read("a.md"))["sort_order"]) == (False, 100)


async def test_a_rewrite_is_found_by_its_new_words_and_not_by_its_old(wren: Any) -> None:
    await wren.put("a.md", "The quagga grazes.")
    await wren.put("a.md", "The okapi grazes.")
    assert [r["text"] for r in (await wren.search("okapi", max_results=1))["results"]] == ["The okapi grazes."]
    assert all("quagga" not in r["text"] for r in (await wren.search("quagga", max_results=100))["results"])


async def test_a_repeated_write_of_the_same_text_adds_no_version(wren: Any) -> None:
    await wren.put("a.md", "same")
    again = await wren.put("a.md", "same")
    assert (again["version"], again["created"], again["overwritten"], again["embedded"]) == (1, False, True, True)


async def test_paths_in_any_script_and_percent_encoding_name_one_file(wren: Any, client: httpx.AsyncClient) -> None:
    await wren.put("notizen/grüße an 日本.md", "hello")
    response = await client.get("/agents/wren/files/notizen%2Fgr%C3%BC%C3%9Fe%20an%20%E6%97%A5%E6%9C%AC.md")
    assert (response.status_code, response.json()["path"]) == (200, "notizen/grüße an 日本.md")
