"""The texts a new agent starts with are listed and never speak, until somebody edits them."""

from __future__ import annotations

from typing import Any

import pytest

from reverie_indexer.file_rules import seed_files

ADA = {"owner_key": "user:ada"}
SEEDS = ["AGENTS.md", "SOUL.md", "PROFILE.md", "MEMORY.md"]
# Words of the templates.
WORDS = "memory outlasts this conversation; admit mistakes plainly; what to call them; user profile"
ASKED = "How do you use your memory, and do you admit mistakes plainly?"


async def prompt(wren: Any, **who: Any) -> str:
    response = await wren.http.post(wren.url("context"), json={"message": ASKED, **who})
    assert response.status_code == 200, response.text
    return response.json()["system_prompt"]


async def found(wren: Any, query: str = WORDS, **who: Any) -> list[str]:
    hybrid = [await wren.found_paths(query, mode=mode, max_results=100, **who) for mode in ("hybrid", "text")]
    lines = await wren.http.post(wren.url("memory/keyword-search"), json={"query": query, "limit": 50, **who})
    assert lines.status_code == 200, lines.text
    return sorted({*hybrid[0], *hybrid[1], *(hit["path"] for hit in lines.json()["hits"])})


async def settings(wren: Any, **own: Any) -> None:
    assert (await wren.http.put("/agents/wren", json={"settings": own})).status_code in (200, 201)


@pytest.mark.parametrize("who", [{}, ADA])
async def test_an_empty_memory_finds_nothing_and_says_nothing(wren: Any, who: dict[str, str]) -> None:
    await settings(wren)
    assert await found(wren, **who) == []
    assert await prompt(wren, **who) == ""
    injected = await wren.http.post(wren.url("memory/inject"), json={"message": ASKED, **who})
    assert (injected.json()["section"], injected.json()["top_score"]) == ("", 0)
    listed = (await wren.get("files", **who)).json()["files"]
    assert [(file["path"], file["enabled"], file["sort_order"]) for file in listed] == [
        (path, True, order) for order, path in enumerate(SEEDS)
    ]
    assert (await wren.read("SOUL.md"))["content"] == seed_files()["SOUL.md"]


async def test_an_agent_may_have_them_in_its_prompt_and_still_does_not_find_them(wren: Any) -> None:
    await settings(wren, seeds_in_prompt=True)
    said = await prompt(wren)
    # MEMORY.md has nothing but headings yet, and what is empty leaves no heading.
    assert [f"--- {path} ---" in said for path in SEEDS] == [True, True, True, False]
    assert await found(wren) == []


async def test_an_edited_seed_is_found_and_in_the_prompt_at_once_and_put_back_it_is_a_seed(wren: Any) -> None:
    await settings(wren)
    answer = await wren.patch("SOUL.md", "admit mistakes plainly", "admit mistakes gladly")
    assert answer.status_code == 200, answer.text
    assert await found(wren) == ["SOUL.md"]
    said = await prompt(wren)
    assert [f"--- {path} ---" in said for path in SEEDS] == [False, True, False, False]
    back = await wren.http.post(wren.url("files/SOUL.md/versions/1/restore"))
    assert (back.status_code, back.json()["chunk_count"], back.json()["enabled"]) == (200, 0, True)
    assert await found(wren) == []
    assert await prompt(wren) == ""


async def test_flags_alone_are_no_edit(wren: Any) -> None:
    await settings(wren)
    answer = await wren.http.patch(wren.url("files/AGENTS.md"), json={"sort_order": 9})
    assert answer.json()["version"] == 2
    assert (await found(wren), await prompt(wren)) == ([], "")


async def test_what_is_saved_speaks_for_its_file(wren: Any) -> None:
    saved = await wren.http.post(wren.url("memory/save"), json={"content": "The lighthouse is closed on Mondays."})
    assert saved.status_code == 201, saved.text
    assert await found(wren, "lighthouse") == ["MEMORY.md"]
    said = await prompt(wren)
    assert ("lighthouse" in said, "--- MEMORY.md ---" in said, "--- SOUL.md ---" in said) == (True, True, False)


async def test_a_personal_copy_of_a_template_is_a_template(wren: Any) -> None:
    await wren.put("SOUL.md", seed_files()["SOUL.md"], **ADA)
    assert (await found(wren, **ADA), await prompt(wren, **ADA)) == ([], "")
    await wren.put("SOUL.md", "You are Wren. You admit mistakes plainly.", **ADA)
    assert await found(wren, **ADA) == ["SOUL.md"]
    assert "You are Wren." in await prompt(wren, **ADA)
    assert await prompt(wren) == ""


async def test_a_snapshot_takes_seeds_along_as_seeds(wren: Any, agent_of: Any) -> None:
    await wren.put("PROFILE.md", "# Profile\n\n- Name: Ada Lovelace\n")
    archive = await wren.get("workspace/memory/export")
    assert archive.status_code == 200
    crow = agent_of("crow")
    await crow.http.put("/agents/crow", json={})
    done = await crow.http.post(
        crow.url("workspace/memory/import"), content=archive.content, headers={"Content-Type": "application/zip"}
    )
    assert done.status_code == 200, done.text
    assert await found(crow, f"{WORDS} Lovelace") == ["PROFILE.md"]
    said = await prompt(crow)
    assert [f"--- {path} ---" in said for path in SEEDS] == [False, False, True, False]
