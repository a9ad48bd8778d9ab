"""Search, long-term memory, upkeep and tools through the Python client."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

import reverie_client

Connect = Callable[..., Any]


async def test_what_is_written_is_found(me: Any) -> None:
    before = datetime.now(UTC)
    written = await me.write("memory/2026-04-03.md", "# 2026-04-03\n\nAda moved the review to Thursday.\n")
    assert (written.path, written.created, written.version, written.embedded) == ("memory/2026-04-03.md", True, 1, True)
    found = await me.search("When do we meet Ada?", max_results=3)
    [hit] = [hit for hit in found if hit.scope == "personal"]
    assert (hit.path, hit.start_line, hit.end_line, hit.tier) == ("memory/2026-04-03.md", 1, 3, "document")
    assert "Ada moved the review to Thursday." in hit.text
    assert (hit.owner_key, hit.boost) == ("user:42", 1.2)
    assert 0 < hit.score <= 1.2
    assert before - timedelta(seconds=5) <= hit.updated_at <= datetime.now(UTC) + timedelta(seconds=5)
    assert (found.mode, found.warnings) == ("hybrid", ())
    assert found.timing_ms.total >= found.timing_ms.database > 0
    assert found[0] in found.results
    assert len(found) == len(found.results)


async def test_search_passes_every_parameter_on(me: Any) -> None:
    await me.write("a.md", "The kingfisher sits by the river.")
    await me.write("deep/b.md", "The kingfisher flew away.")
    by_words = await me.search("kingfisher", mode="text", path_prefix="deep/", tiers=["document"], explain=True)
    assert [hit.path for hit in by_words] == ["deep/b.md"]
    assert by_words.mode == "text"
    explained = by_words[0].explain
    assert explained.matched_terms == ("kingfish",)
    assert (explained.text_weight, explained.vector_weight) == (1.0, 0.0)
    assert explained.boosts == {"owner": 1.2}
    assert len(await me.search("kingfisher", max_results=1)) == 1
    assert (await me.search("kingfisher"))[0].explain is None
    assert len(await me.search("kingfisher", tiers=["episodic"])) == 0
    assert len(await me.search("a heron", mode="vector", min_score=1.0)) == 0
    assert len(await me.search("a heron", mode="vector", min_relevance=1.0)) == 0
    await me.write("c.md", "The kingfisher came back. #birds")
    assert [hit.path for hit in await me.search("kingfisher", tags=["birds"])] == ["c.md"]
    now = datetime.now(UTC)
    assert len(await me.search("kingfisher", since=now - timedelta(hours=1), until=now + timedelta(hours=1))) == 3
    assert len(await me.search("kingfisher", until=now - timedelta(hours=1))) == 0


async def test_search_finds_what_was_there_at_a_time(me: Any) -> None:
    await me.write("a.md", "The kingfisher sits by the river.")
    then = (await me.read("a.md")).updated_at
    await me.write("a.md", "The heron stands in the reeds.")
    assert "kingfisher" in (await me.search("kingfisher", mode="text", as_of=then))[0].text
    assert len(await me.search("kingfisher", mode="text")) == 0
    in_berlin = then.astimezone(timezone(timedelta(hours=2)))
    assert "kingfisher" in (await me.search("kingfisher", mode="text", as_of=in_berlin))[0].text
    with pytest.raises(reverie_client.ValidationError, match="as_of"):
        await me.search("kingfisher", as_of=then.replace(tzinfo=None))


@pytest.mark.parametrize(("form", "name_of"), [("openai", "function"), ("anthropic", None), ("mcp", None)])
async def test_the_tools_are_listed_for_a_model(reverie: Any, form: Any, name_of: str | None) -> None:
    listed = await reverie.tools(form)
    named = [tool[name_of] if name_of else tool for tool in listed]
    assert {"memory_search", "memory_get"} <= {tool["name"] for tool in named}
    assert all(tool["description"] for tool in named)


async def test_a_model_calls_a_tool_and_reads_the_answer(reverie: Any, me: Any) -> None:
    written = await me.call_tool("write_workspace_memory_file", {"filename": "a.md", "content": "A kingfisher."})
    assert (written.ok, written.error) == (True, None)
    assert (await me.read("a.md")).owner_key == "user:42"
    found = await me.call_tool("memory_search", {"query": "kingfisher"})
    assert "A kingfisher." in found.text()
    assert json.loads(found.text()) == {"ok": True, "result": found.result}
    failed = await me.call_tool("memory_get", {"path": "missing.md"})
    assert (failed.ok, failed.result, failed.error.code) == (False, None, "not_found")
    assert json.loads(failed.text())["error"] == {"code": "not_found", "message": failed.error.message}
    assert not (await me.call_tool("no_such_tool", {})).ok
    with pytest.raises(reverie_client.ValidationError):
        await me.call_tool("../memory/search", {})


async def test_words_are_found_by_line(reverie: Any, me: Any) -> None:
    await me.write("notes.md", "# Notes\n\nAda likes tea.\nBen likes tea and coffee.\n")
    await me.write("more.md", "tea", scope="team")
    found = await me.keyword_search("tea coffee", scope="personal", limit=1)
    assert (found.total_hits, len(found)) == (2, 1)
    assert [(hit.path, hit.line) for hit in found] == [("notes.md", 4)]
    assert found[0].snippet == "Ben likes [[tea]] and [[coffee]]."
    assert found[0].score > 0
    assert {hit.path for hit in await me.keyword_search("tea")} == {"notes.md", "more.md"}


async def test_long_term_memory_is_saved_and_corrected(me: Any) -> None:
    saved = await me.save("Prefers tea to coffee in the morning.", category="preferences")
    assert (saved.saved, saved.section) == (True, "Preferences")
    assert saved.preview == (await me.read("MEMORY.md")).content
    assert (await me.save("Something else entirely.")).section == "Notes"
    with pytest.raises(reverie_client.DuplicateDetected) as caught:
        await me.save("prefers TEA to coffee in the morning.")
    assert (caught.value.code, caught.value.status) == ("duplicate_detected", 409)
    updated = await me.update("tea to coffee", "coffee to tea")
    file = await me.read("MEMORY.md")
    assert "- Prefers coffee to tea in the morning." in file.content
    assert (updated.replacements, updated.version, updated.size_after) == (1, file.version, file.size)
    assert (await me.update("- Something else entirely.", "")).deleted
    with pytest.raises(reverie_client.NotFound):
        await me.update("not there", "x")
    with pytest.raises(reverie_client.ValidationError):
        await me.save("x" * 5001)


async def test_a_compaction_can_be_undone(me: Any) -> None:
    await me.write("MEMORY.md", "# Long-term Memory\n")
    idle = await me.compact()
    assert (idle.compacted, idle.backup, idle.version) == (False, None, 1)
    assert idle.reason
    assert await me.backups() == ()
    entries = "".join(
        f"- Entry {number} says something about the garden and its {number} trees.\n" for number in range(60)
    )
    before = f"# Long-term Memory\n\n## Notes\n\n{entries}- Entry 0 says something about the garden and its 0 trees.\n"
    await me.write("MEMORY.md", before)
    compacted = await me.compact()
    assert compacted.compacted, compacted.reason
    assert (compacted.method, compacted.size_before) == ("extractive", len(before))
    file = await me.read("MEMORY.md")
    assert (compacted.size_after, compacted.version) == (file.size, file.version)
    [backup] = await me.backups()
    assert (backup.name, backup.size) == (compacted.backup, len(before))
    assert backup.at.utcoffset() == timedelta(0)
    restored = await me.restore_backup(backup.name)
    assert (restored.restored, restored.name) == (True, backup.name)
    assert (await me.read("MEMORY.md")).content == before
    with pytest.raises(reverie_client.ReverieError) as caught:
        await me.restore_backup("MEMORY_backup_2001-01-01_00-00-00.md")
    assert caught.value.status == 404


async def test_what_is_forgotten_is_first_shown(me: Any) -> None:
    await me.write("notes.md", "# Notes\n\n- The code is quince.\n- Ada likes tea.\n")
    for target in ({"text": "the code is quince"}, {"query": "code quince"}):
        planned = await me.forget(**target)
        assert (planned.dry_run, [item.path for item in planned.items]) == (True, ["notes.md"])
    hit = (await me.search("quince", mode="text"))[0]
    assert [item.text for item in (await me.forget(id=hit.id)).items] == ["- The code is quince."]
    assert "quince" in (await me.read("notes.md")).content

    receipt = await me.forget(text="the code is quince", dry_run=False)
    [item] = receipt.items
    assert (receipt.dry_run, item.tier, item.present, item.versions) == (False, "document", True, 1)
    removed = receipt.removed["document"]
    assert (removed.files, removed.passages, removed.versions, removed.backups) == (1, 1, 1, 0)
    assert (receipt.tombstones, receipt.still_shared) == (1, ())
    assert "quince" not in (await me.read("notes.md")).content
    with pytest.raises(reverie_client.ValidationError):
        await me.forget()
    with pytest.raises(reverie_client.ValidationError):
        await me.forget(text="tea", id="1")


async def test_what_was_asked_to_be_forgotten_and_not_found_is_listed_and_dismissed(me: Any) -> None:
    await me.add_messages("web:1", [{"role": "user", "content": "Forget what I said about the zeppelin.", "id": "m-1"}])
    [request] = [each async for each in me.unmet_requests(page_size=1)]
    assert (request.session_id, request.seq, request.message_id, request.owner_key) == ("web:1", 1, "m-1", "user:42")
    assert await me.unmet_request(request.id) == request
    assert (await me.summary()).unmet_requests == 1
    await me.dismiss_unmet_request(request.id)
    assert [each async for each in me.unmet_requests()] == []
    with pytest.raises(reverie_client.NotFound):
        await me.dismiss_unmet_request(request.id)


async def test_clearing_is_dry_unless_told(me: Any) -> None:
    await me.write("memory/2026-04-03.md", "x")
    await me.write("notes.md", "x")
    planned = await me.clear(path_prefix="memory/", tiers=["document"])
    assert (planned.dry_run, planned.removed) == (True, {"document": 1})
    assert (await me.clear(path_prefix="notes", older_than_days=1)).removed["document"] == 0
    assert (await me.clear(path_prefix="memory/", dry_run=False)).removed["document"] == 1
    assert (await me.read("notes.md")).content == "x"
    with pytest.raises(reverie_client.NotFound):
        await me.read("memory/2026-04-03.md")


async def test_memory_is_indexed_anew(me: Any) -> None:
    await me.write("a.md", "one\n\ntwo")
    await me.write("b.md", "three", scope="team")
    done = await me.reindex()
    assert (done.documents, done.chunks, done.embedded, done.reused) == (1, 2, 0, 2)
    assert (await me.reindex(scope="team")).documents == 5
