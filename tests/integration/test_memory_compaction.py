"""Compaction of MEMORY.md by a language model, and what the guard makes of its proposals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from tests.scripted_model import Asked, Reply, ScriptedModel, fails, says, says_json
from tests.talks import ADA, Talk

from reverie_indexer.index.slices import own_slices
from reverie_server.app.wiring import assemble
from reverie_server.forgetting.selection import Target
from reverie_server.jobs.model import Outcome, Work
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.provenance.line_identity import Derived
from reverie_server.provenance.record import line_sha256
from reverie_server.runtime import Runtime

SECTIONS = ("Preferences", "Projects", "Notes")
BY_HAND = "- She wrote this line herself, and nobody else may change it.\n"
WORK = "- Works at the Acme observatory.\n"
NEW_WORK = "- Works at the Globex observatory since 2026-05-01.\n"


def noted(section: str, count: int) -> str:
    return "".join(f"- Fact {n} of {section} that the model noted of the user some day.\n" for n in range(count))


def memory(count: int = 18) -> str:
    sections = "\n".join(f"## {name}\n\n{noted(name, count)}" for name in SECTIONS)
    return f"# Long-term Memory\n\n{sections}{WORK}{NEW_WORK}{BY_HAND}"


def given(asked: Asked) -> str:
    return asked.texts("user").partition("<memory>\n")[2].partition("</memory>")[0]


def rewritten(asked: Asked, change: Callable[[str], str], **more: Any) -> Reply:
    return says_json({"memory": change(given(asked)), "replaced": [], **more})


async def remember(talk: Talk, text: str = "") -> str:
    """A memory of which all lines but that of a person are the server's."""
    text = text or memory()
    await talk.put("MEMORY.md", text)
    _, place = await talk.grant()
    lines = [line for line in text.splitlines() if line and line not in BY_HAND]
    from reverie_server.provenance.record import record

    async with talk.runtime.database.tenant("default") as connection:
        [slice_id] = await own_slices(connection, place)
        derived = Derived("MEMORY.md", lines, EXTRACTIVE, "extraction", [])
        await record(connection, "default", slice_id, [derived])
    return text


async def run(runtime: Runtime, trigger: Any = "cron", owner_key: str | None = ADA) -> Outcome:
    work = Work("compaction", "default", "wren", owner_key, trigger=trigger)
    return await runtime.consolidation.stages["compaction"].run(work)


async def text_of(talk: Talk, path: str = "MEMORY.md") -> str:
    _, place = await talk.grant()
    found = await talk.runtime.workspace.present(place, [path])
    return found[path][1] if path in found else ""


async def made(runtime: Runtime) -> list[dict[str, Any]]:
    async with runtime.database.maintenance() as connection:
        query = "SELECT method, prompt, version_before, version_after, reason FROM memory_compactions ORDER BY number"
        return list(await (await connection.execute(query)).fetchall())


class TestTheModel:
    async def test_rewrites_the_whole_file_after_a_backup_and_what_leaves_is_archived(
        self, talking: Runtime, scripted: ScriptedModel
    ) -> None:
        talk = Talk(talking)
        before = await remember(talk, memory(36))
        gone = "- Fact 4 of Notes that the model noted of the user some day.\n"
        claim = {"old": WORK.removeprefix("- ").strip(), "new": NEW_WORK.removeprefix("- ").strip()}
        scripted.script = lambda asked: rewritten(
            asked, lambda text: text.replace(WORK, "").replace(gone, "").replace(BY_HAND, ""), replaced=[claim]
        )
        outcome = await run(talking)
        assert (outcome.status, outcome.method, outcome.fallback) == ("completed", "llm", None)
        # All of it was given, in parts.
        assert len(scripted.requests) > 1
        told = "".join(given(asked) for asked in scripted.requests)
        assert all(line in told for line in before.splitlines())
        after = await text_of(talk)
        assert after == before.replace(WORK, "").replace(gone, ""), "and what a person wrote is back"
        _, place = await talk.grant()
        [backup] = await talking.compaction.backups(place)
        assert await text_of(talk, backup.name) == before
        archive = await text_of(talk, f"memory/archive/{datetime.now(UTC):%Y-%m}.md")
        assert WORK in archive
        assert gone in archive
        [row] = await made(talking)
        assert (row["method"], row["prompt"], row["version_after"]) == ("llm", "compaction", row["version_before"] + 1)

    async def test_an_answer_that_loses_too_much_is_refused_and_the_extractive_way_taken(
        self, talking: Runtime, scripted: ScriptedModel
    ) -> None:
        """Seen elsewhere: what came back was written, whatever it had lost."""
        talk = Talk(talking)
        twice = memory() + "\n## Interests\n\n" + BY_HAND
        await remember(talk, twice)
        cut = {"part": 0}

        def script(asked: Asked) -> Reply:
            cut["part"] += 1
            return rewritten(asked, lambda text: text[: len(text) // 3])

        scripted.script = script
        outcome = await run(talking)
        assert (outcome.status, outcome.method) == ("completed", "extractive")
        assert outcome.fallback is not None
        assert outcome.fallback.startswith("refused: the result drops")
        after = await text_of(talk)
        assert set(memory().split("\n")) <= set(after.split("\n")) | {""}
        assert after.count(BY_HAND) == 1, "equal ones are one"

    @pytest.mark.parametrize(
        "answer",
        [fails(403), says("I am a teapot."), says_json({"memory": "", "replaced": []})],
        ids=["403", "garbage", "empty"],
    )
    async def test_without_a_usable_answer_nothing_is_lost(
        self, talking: Runtime, scripted: ScriptedModel, answer: Reply
    ) -> None:
        talk = Talk(talking)
        before = await remember(talk)
        scripted.script = lambda _: answer
        outcome = await run(talking)
        assert (outcome.status, outcome.reason) == ("skipped", "there is nothing to compact")
        assert outcome.fallback is not None
        assert await text_of(talk) == before
        assert [row["version_after"] for row in await made(talking)] == [None]

    async def test_a_contradiction_that_was_never_there_explains_nothing(
        self, talking: Runtime, scripted: ScriptedModel
    ) -> None:
        talk = Talk(talking)
        before = await remember(talk)
        lines = [line for line in before.splitlines() if line.startswith("- Fact")]
        invented = [{"old": line, "new": "Everything is different, the user said some day."} for line in lines]
        scripted.script = lambda asked: rewritten(
            asked,
            lambda text: "\n".join(
                line for n, line in enumerate(text.splitlines()) if n % 2 or not line.startswith("- ")
            ),
            replaced=invented[:50],
        )
        assert (await run(talking)).method == "extractive"
        assert set(lines) <= set((await text_of(talk)).splitlines())

    async def test_a_save_while_the_model_thinks_is_kept(self, talking: Runtime, scripted: ScriptedModel) -> None:
        talk = Talk(talking)
        await remember(talk)
        _, place = await talk.grant()
        gone = "- Fact 4 of Notes that the model noted of the user some day.\n"
        scripted.script = lambda asked: Reply(
            rewritten(asked, lambda text: text.replace(gone, "")).content,
            delay_seconds=0.3 if len(scripted.requests) == 1 else 0,
        )
        running = asyncio.create_task(run(talking))
        await scripted.arrived.wait()
        await talking.long_term.save(place, "She now has a locker with the number 4711.", None, by="user")
        assert (await running).method == "llm"
        after = await text_of(talk)
        assert "- She now has a locker with the number 4711." in after
        assert gone not in after

    async def test_what_is_forgotten_meanwhile_does_not_come_back(
        self, talking: Runtime, scripted: ScriptedModel
    ) -> None:
        talk = Talk(talking)
        secret = "- Fact 5 of Notes that the model noted of the user some day.\n"
        await remember(talk)
        scripted.script = lambda asked: Reply(
            rewritten(asked, lambda text: text + secret).content,
            delay_seconds=0.3 if len(scripted.requests) == 1 else 0,
        )
        running = asyncio.create_task(run(talking))
        await scripted.arrived.wait()
        grant, place = await talk.grant()
        await talking.forgetting.forget(grant, place, Target(text=secret.strip()), dry_run=False)
        await running
        assert secret.strip() not in await text_of(talk)
        for backup in await talking.compaction.backups(place):
            assert secret.strip() not in await text_of(talk, backup.name)

    async def test_killed_in_its_transaction_it_leaves_nothing(
        self, talking: Runtime, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        talk = Talk(talking)
        before = await remember(talk)
        gone = "- Fact 4 of Notes that the model noted of the user some day.\n"
        scripted.script = lambda asked: rewritten(asked, lambda text: text.replace(gone, ""))

        async def die(*_: Any, **__: Any) -> None:
            raise asyncio.CancelledError

        with monkeypatch.context() as patched:
            patched.setattr("reverie_server.long_term.stage.record", die)
            with pytest.raises(asyncio.CancelledError):
                await run(talking)
        _, place = await talk.grant()
        assert await text_of(talk) == before
        assert await talking.compaction.backups(place) == []
        assert await text_of(talk, f"memory/archive/{datetime.now(UTC):%Y-%m}.md") == ""
        assert await made(talking) == []
        assert (await run(talking)).status == "completed"


class TestWhenAndWhose:
    async def test_it_runs_from_a_length_on_once_a_day_and_not_where_it_is_switched_off(self, runtime: Runtime) -> None:
        clock = [datetime(2026, 4, 3, 12, tzinfo=UTC)]
        timed = assemble(runtime.settings, runtime.database, runtime.models, now=lambda: clock[0])
        talk = Talk(timed)
        assert (await run(timed)).reason == "the agent is gone"
        await talk.put("MEMORY.md", f"# Long-term Memory\n\n## Notes\n\n{BY_HAND}{BY_HAND}")
        assert (await run(timed)).reason == "it is short, or was compacted today"
        # By hand however short it is.
        assert (await run(timed, "api")).status == "completed"
        clock[0] += timedelta(days=1)
        await remember(talk, memory() + "\n## Notes\n\n" + BY_HAND)
        assert (await run(timed)).status == "completed"
        await remember(talk, memory() + "\n## Notes\n\n" + BY_HAND)
        assert (await run(timed)).reason == "it is short, or was compacted today"
        clock[0] += timedelta(days=1)
        await timed.agents.put("default", "wren", "wren", None, {"compaction_enabled": False})
        assert (await run(timed)).reason == "compaction_enabled is off"
        await timed.agents.put("default", "wren", "wren", None, {"memory_enabled": False})
        assert (await run(timed)).reason == "the memory of the agent is switched off"
        await timed.agents.put("default", "wren", "wren", None, {})
        assert (await run(timed)).status == "completed"
        # One with nothing to do counts as well.
        clock[0] += timedelta(days=1)
        assert (await run(timed)).reason == "there is nothing to compact"
        assert (await run(timed)).reason == "it is short, or was compacted today"

    async def test_the_route_asks_the_model_too_and_others_are_left_alone(
        self, talking: Runtime, scripted: ScriptedModel, serve_runtime: Any
    ) -> None:
        ada, bo = Talk(talking), Talk(talking, owner_key="user:bo")
        before = await remember(ada)
        theirs = await remember(bo, memory().replace("some day", "one night"))
        gone = "- Fact 4 of Notes that the model noted of the user some day.\n"
        merged = "- Fact 6 and 7 of Notes that the model noted of the user some day.\n"
        scripted.script = lambda asked: rewritten(asked, lambda text: text.replace(gone, merged))
        async with httpx.AsyncClient(base_url=await serve_runtime(talking), timeout=30) as client:
            answer = await client.post("/api/v1/agents/wren/memory/compact", json={"owner_key": ADA})
        told = answer.json()
        assert (told["compacted"], told["method"], told["reason"], told["fallback"]) == (True, "llm", None, None)
        assert await text_of(ada) == before.replace(gone, merged)
        assert await text_of(bo) == theirs
        assert "one night" not in "".join(given(asked) for asked in scripted.requests)
        async with talking.database.maintenance() as connection:
            query = "SELECT stage, method, prompt, model, sources FROM derivations WHERE line_sha256 = %s"
            [row] = await (await connection.execute(query, (line_sha256(merged),))).fetchall()
        assert (row["stage"], row["method"], row["prompt"], row["model"]) == (
            "compaction",
            "llm",
            "compaction",
            "scripted",
        )
        assert {source["kind"] for source in row["sources"]} == {"lines"}
        versions = await talking.workspace.present((await ada.grant())[1], ["MEMORY.md"])
        assert versions["MEMORY.md"][0].version == told["version"]


async def test_compaction_merges_repeats_among_what_tools_saved(runtime: Runtime) -> None:
    """Of 36 entries that tools had saved, a third of them repeats, all stayed: they counted as a person's words."""
    talk = Talk(runtime)
    _, place = await talk.grant()
    for number in range(24):
        await runtime.long_term.save(
            place, f"The user keeps the key of room {number} in drawer {number}.", None, by="x"
        )
    for number in range(12):
        await runtime.long_term.save(
            place, f"The user keeps the room {number} key in drawer {number} now.", None, by="x"
        )
    compacted = await runtime.compaction.compact(place, by="test")
    assert compacted.compacted
    found = await runtime.long_term.current(place)
    assert found is not None
    assert found[1].count("\n- ") == 24
