"""What was forgotten after a backup was made is not there when it is restored, in no row of any table."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from tests.backups import all_rows, beside, empty_database, serving, settings_of, shown_nowhere
from tests.consistency import assert_index_consistent
from tests.integration.test_forget import GRANT, MINE, PRINCIPAL, SECRET, TEAM, put
from tests.rows import leftovers

from reverie_indexer.change import Change
from reverie_indexer.errors import DatabaseUnavailable, NotFound, SetupError, Unauthorized
from reverie_indexer.model import Place
from reverie_indexer.resources import read_resource
from reverie_server.access.gate import Grant
from reverie_server.access.keys import Caller
from reverie_server.access.principal import Principal
from reverie_server.app.backups.backup import take_backup
from reverie_server.app.backups.forget_again import SQL as AGAIN
from reverie_server.app.backups.restore import Restored, RestoreOptions, restore_backup
from reverie_server.app.pending_jobs import drain
from reverie_server.app.stores import wire_stores
from reverie_server.facts.view import FactFilter
from reverie_server.forgettable import Selection
from reverie_server.forgetting.selection import Target
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage
from reverie_server.settings.agent import AgentSettings
from reverie_server.settings.server import Settings

pytestmark = pytest.mark.one_node

REPLACE = RestoreOptions(replace=True)
GLOBAL = Place("default", "wren", "global")
BEN = Place("default", "wren", "personal", "user:ben")
CROW = Place("acme", "crow", "team")
LONG = (
    "Ada keeps the spare key of the boat shed, the one with the quincered ribbon, in the third drawer on the left "
    "behind the box with old letters from Oslo"
)
Act = Callable[[Runtime], Awaitable[object]]


async def say(runtime: Runtime, session_id: str, *texts: str, owner_key: str = "user:1") -> None:
    """A conversation whose exchanges are also in the daily log, and of which an episode and facts are made."""
    principal = Principal("default", "wren", owner_key)
    place = Place("default", "wren", "personal", owner_key)
    grant = Grant(Caller("default", "member"), principal, AgentSettings())
    at = datetime.now(UTC) - timedelta(days=3)
    messages = []
    for number, text in enumerate(texts):
        messages += [NewMessage("user", text, f"u{number}", at), NewMessage("assistant", "I see.", f"a{number}", at)]
    await runtime.sessions.append(grant, place, session_id, messages)
    await runtime.sessions.complete(principal, session_id, "api")


async def live(runtime: Runtime) -> None:
    await put(runtime.pipeline, "MEMORY.md", f"# Long-term Memory\n\n- {SECRET}\n- Ada likes tea.\n")
    await put(runtime.pipeline, "MEMORY.md", f"# Long-term Memory\n\n- Ada likes tea.\n- {SECRET.upper()}\n")
    await put(runtime.pipeline, "old.md", f"Ada said: {SECRET} And then she left.")
    await runtime.pipeline.delete(MINE, "old.md", by="user", reason="delete")
    await put(runtime.pipeline, "long.md", f"Before. {LONG}; she told nobody.\n\nAda walks by the sea.\n")
    await put(runtime.pipeline, "shared.md", "The quincepress stands in the hall.\n\nThe hall is blue.\n", GLOBAL)
    await put(runtime.pipeline, "notes.md", "The quincejam of another tenant.\n\nIt is sweet.\n", CROW)
    await put(runtime.pipeline, "team.md", "The team meets on Monday.\n", TEAM)
    secret = f"Please remember: {SECRET} I like tea in the morning."
    await say(runtime, "web:1", secret, "My sister lives in Oslo.", "We sail on Sunday.", "I work at the harbour.")
    await drain(runtime)


async def forget(runtime: Runtime, text: str, place: Place = MINE) -> None:
    principal = Principal(place.tenant_id, place.agent_id, place.owner_key)
    grant = replace(GRANT, caller=Caller(place.tenant_id, "admin"), principal=principal)
    await runtime.forgetting.forget(grant, place, Target(text=text), dry_run=False)


async def restored_after(conninfo: str, tmp_path: Path, before: Act, *after: Act) -> Restored:
    """A backup of what was `before`, restored over what is there `after`."""
    settings = settings_of(conninfo, tmp_path)
    async with serving(settings) as runtime:
        await before(runtime)
    await take_backup(settings, tmp_path / "a.rvb", shown_nowhere)
    async with serving(settings) as runtime:
        for act in after:
            await act(runtime)
    restored = await restore_backup(settings, tmp_path / "a.rvb", REPLACE, shown_nowhere)
    assert beside(conninfo) == []
    assert_index_consistent(conninfo)
    return restored


async def test_texts_are_gone_from_every_row_of_every_table(conninfo: str, tmp_path: Path) -> None:
    async def forget_all(runtime: Runtime) -> None:
        assert {*leftovers(conninfo, "quince")} >= {"chunks", "episodes", "facts", "messages", "postings", "versions"}
        await forget(runtime, SECRET)
        await forget(runtime, LONG)
        await forget(runtime, "The quincepress stands in the hall.", GLOBAL)
        await forget(runtime, "The quincejam of another tenant.", CROW)
        assert leftovers(conninfo, "quince") == []

    restored = await restored_after(conninfo, tmp_path, live, forget_all)
    assert leftovers(conninfo, "quince") == []
    assert leftovers(conninfo, "vault") == []
    assert restored.acts == 4
    assert restored.forgotten["texts"] >= 4
    async with serving(settings_of(conninfo, tmp_path)) as runtime:
        memory = await runtime.workspace.read(PRINCIPAL, "MEMORY.md")
        assert memory.content.startswith("# Long-term Memory\n\n- Ada likes tea.\n")
        assert "Ada walks by the sea." in (await runtime.workspace.read(PRINCIPAL, "long.md")).content
        session = await runtime.sessions.find(PRINCIPAL, "web:1")
        said = [each.content for each in await runtime.sessions.messages(PRINCIPAL, session, after=0, limit=9)]
        assert "My sister lives in Oslo." in said
        # It is not learnt again, as it would not have been.
        without = await runtime.tombstones.without_forgotten(MINE)
        assert without(f"- {SECRET}\n- Ada likes tea.\n") == "- Ada likes tea.\n"
        assert (await runtime.receipts.page(PRINCIPAL, before=None, limit=9))[0].statements > 0


async def test_what_others_say_in_the_words_of_a_forgotten_fact_is_restored(conninfo: str, tmp_path: Path) -> None:
    ingrid = "Ingrid is my boss. She lives in Oslo."

    async def learn(runtime: Runtime) -> None:
        await say(runtime, "web:1", "Petra is my sister. She lives in Oslo.")
        await say(runtime, "web:2", ingrid)
        await drain(runtime)

    async def forget_petra(runtime: Runtime) -> None:
        every = await runtime.facts.view.facts(PRINCIPAL, FactFilter(), after=None, limit=9)
        [fact] = [each for each in every if each.subject == "Petra"]
        words = await runtime.facts.changes.wordings(MINE, fact)
        target = Target(statements=words.sentences, clauses=words.clauses, spared=words.spared)
        await runtime.forgetting.forget(GRANT, MINE, target, dry_run=False)

    restored = await restored_after(conninfo, tmp_path, learn, forget_petra)
    assert restored.acts == 1
    with psycopg.connect(conninfo) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', false)")
        said = connection.execute("SELECT content FROM messages WHERE role = 'user' ORDER BY session_key").fetchall()
        subjects = connection.execute("SELECT subject FROM facts WHERE object = 'Oslo'").fetchall()
    # Petra's is known by its whole message.
    assert (said, subjects) == ([("",), (ingrid,)], [("Ingrid",)])


async def test_what_was_forgotten_before_and_written_anew_stays(conninfo: str, tmp_path: Path) -> None:
    async def write_again(runtime: Runtime) -> None:
        await put(runtime.pipeline, "notes.md", SECRET)
        await forget(runtime, SECRET)
        await put(runtime.pipeline, "notes.md", f"{SECRET}\n")

    restored = await restored_after(conninfo, tmp_path, write_again)
    assert restored.acts == 0
    async with serving(settings_of(conninfo, tmp_path)) as runtime:
        assert (await runtime.workspace.read(PRINCIPAL, "notes.md")).content == f"{SECRET}\n"


async def test_tombstones_of_what_the_backup_never_had_are_there(conninfo: str, tmp_path: Path) -> None:
    async def begin(runtime: Runtime) -> None:
        await put(runtime.pipeline, "notes.md", "Ada likes tea.\n")

    async def learn_and_forget(runtime: Runtime) -> None:
        await put(runtime.pipeline, "late.md", SECRET)
        await forget(runtime, SECRET)

    await restored_after(conninfo, tmp_path, begin, learn_and_forget)
    async with serving(settings_of(conninfo, tmp_path)) as runtime:
        assert (await runtime.tombstones.without_forgotten(MINE))(f"{SECRET}\n\nTea.") == "Tea."


async def test_conversations_people_agents_episodes_and_what_was_cleared_are_gone(
    conninfo: str, tmp_path: Path
) -> None:
    async def begin(runtime: Runtime) -> None:
        for number, word in enumerate(("plumdeleted", "plumemptied", "plumkept")):
            await say(runtime, f"web:{number}", f"The {word} hangs in the hall.", "It is green.", "It is mine.")
        await say(runtime, "web:9", "The plumperson hangs in the hall.", owner_key="user:plumben")
        await put(runtime.pipeline, "notes.md", "The plumagent is blue.\n", Place("default", "plumwren", "team"))
        member = Place("default", "member", "team")
        await put(runtime.pipeline, "notes.md", "Of a member.\n", member)
        async with runtime.database.maintenance() as connection:
            await connection.execute("UPDATE agents SET leader_agent_id = 'plumwren' WHERE agent_id = 'member'")
        await put(runtime.pipeline, "plumfolder/a.md", "One.\n", TEAM)
        await put(runtime.pipeline, "plumkept.md", "Two.\n", TEAM)
        await put(runtime.pipeline, "memory/2020-01-01.md", "# 2020-01-01\n\nThe plumold note.\n", TEAM)
        await drain(runtime)

    words = ("plumdeleted", "plumperson", "plumben", "plumagent", "plumwren", "plumfolder", "plumold")
    left: dict[str, set[str]] = {}

    async def act(runtime: Runtime) -> None:
        await runtime.sessions.delete(PRINCIPAL, "web:0")
        await runtime.sessions.clear(PRINCIPAL, "web:1")
        await runtime.owners.delete("default", "user:plumben", dry_run=False)
        await runtime.agents.put("default", "member", None, None, {})
        await runtime.agents.delete("default", "plumwren")
        await runtime.clearing.clear(TEAM, Selection(None, "plumfolder/", ("document",)), dry_run=False)
        await runtime.clearing.clear(TEAM, Selection(365, None, ("document",)), dry_run=False)
        [kept] = [
            each
            for each in await runtime.consolidation.episodes.page(PRINCIPAL, before=None, limit=9)
            if each.episode.session_id == "web:2"
        ]
        await runtime.consolidation.episodes.delete(MINE, str(kept.episode.episode_id))
        left.update({word: {*leftovers(conninfo, word)} - {"audit"} for word in words})

    restored = await restored_after(conninfo, tmp_path, begin, act)
    assert dict(restored.forgotten) == {"session": 1, "messages": 1, "owner": 1, "agent": 1, "clear": 2, "episode": 1}
    rows = all_rows(conninfo)
    # The lines of notes that a conversation left stay when it is deleted.
    assert left == {word: {"chunks", "versions"} if word == "plumdeleted" else set() for word in words}
    assert {word: {*leftovers(conninfo, word)} - {"audit"} for word in words} == left
    assert not any("plumemptied" in row for row in rows["messages"])
    assert any("plumkept" in row for row in rows["messages"])
    assert not any("web:2" in row for row in rows["episodes"])
    async with serving(settings_of(conninfo, tmp_path)) as runtime:
        assert (await runtime.sessions.find(PRINCIPAL, "web:1")).message_count == 0
        assert await runtime.workspace.present(TEAM, ["plumkept.md"])
        assert (await runtime.agents.get("default", "member")).leader_agent_id is None


async def test_keys_that_were_revoked_and_browsers_that_signed_out_are_refused(conninfo: str, tmp_path: Path) -> None:
    given: dict[str, str] = {}
    tokens: dict[str, str] = {}

    async def begin(runtime: Runtime) -> None:
        for name in ("before", "after", "kept"):
            given[f"{name}_id"], given[name] = await runtime.keys.create("default", "member")
            caller = await runtime.keys.authenticate(f"Bearer {given[name]}")
            tokens[name], _ = await runtime.browser_sessions.open(caller)
        await runtime.keys.revoke(given["before_id"])

    async def revoke(runtime: Runtime) -> None:
        await runtime.keys.revoke(given["after_id"], "default")
        await runtime.browser_sessions.close(tokens["kept"])
        late_id, given["late"] = await runtime.keys.create("default", "admin")
        await runtime.keys.revoke(late_id)
        with pytest.raises(NotFound):
            await runtime.keys.revoke(given["after_id"])

    restored = await restored_after(conninfo, tmp_path, begin, revoke)
    # One was made since and is in no backup; what was refused is in no log.
    assert (restored.acts, dict(restored.forgotten)) == (2, {"key": 1})
    async with serving(settings_of(conninfo, tmp_path)) as runtime:
        for name in ("before", "after", "late"):
            with pytest.raises(Unauthorized):
                await runtime.keys.authenticate(f"Bearer {given[name]}")
        assert (await runtime.keys.authenticate(f"Bearer {given['kept']}")).key_id == given["kept_id"]
        with pytest.raises(Unauthorized):
            await runtime.browser_sessions.caller(tokens["kept"])
    assert given["after_id"] not in (tmp_path / "forgotten.log").read_text()


async def test_a_key_whose_revocation_cannot_be_noted_is_valid(conninfo: str, tmp_path: Path) -> None:
    settings = settings_of(conninfo, tmp_path)
    (tmp_path / "forgotten.log").mkdir()
    async with serving(settings) as runtime:
        key_id, key = await runtime.keys.create("default", "member")
        with pytest.raises(DatabaseUnavailable, match="the log of what was forgotten cannot be written"):
            await runtime.keys.revoke(key_id)
        assert (await runtime.keys.authenticate(f"Bearer {key}")).key_id == key_id


async def test_an_act_while_the_backup_is_made_is_applied(
    conninfo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Begun before the snapshot and committed after it: the backup has the text, whatever the clock says."""
    settings = settings_of(conninfo, tmp_path)
    async with serving(settings) as runtime:
        await put(runtime.pipeline, "notes.md", f"{SECRET}\n\nTea.\n")
        noted, taken = asyncio.Event(), asyncio.Event()
        tell = runtime.forgetting._forgotten_log
        assert tell is not None
        note_texts = tell.note_texts

        async def slow(*arguments: object) -> None:
            await note_texts(*arguments)  # type: ignore[arg-type]
            noted.set()
            await taken.wait()

        monkeypatch.setattr(tell, "note_texts", slow)
        forgetting = asyncio.create_task(forget(runtime, SECRET))
        await noted.wait()
        await asyncio.sleep(0.05)
        await take_backup(settings, tmp_path / "a.rvb", shown_nowhere)
        taken.set()
        await forgetting
    restored = await restore_backup(settings, tmp_path / "a.rvb", REPLACE, shown_nowhere)
    assert (restored.acts, leftovers(conninfo, "quince")) == (1, [])


async def test_another_cluster_and_the_logs_of_other_servers(conninfo: str, tmp_path: Path) -> None:
    """Two servers of one database each have a log; the restored database is in a cluster of its own."""
    one, other = settings_of(conninfo, tmp_path), settings_of(conninfo, tmp_path, "other.log")
    async with serving(one) as runtime:
        await put(runtime.pipeline, "notes.md", f"{SECRET}\n\nTea is for the quinceafternoon.\n\nWater.\n")
    await take_backup(one, tmp_path / "a.rvb", shown_nowhere)
    async with serving(one) as runtime:
        await forget(runtime, SECRET)
    async with serving(other) as runtime:
        await forget(runtime, "Tea is for the quinceafternoon.")
    with empty_database(conninfo) as target:
        there = settings_of(target, tmp_path)
        both = RestoreOptions(logs=(tmp_path / "other.log",))
        restored = await restore_backup(there, tmp_path / "a.rvb", both, shown_nowhere)
        assert (restored.acts, leftovers(target, "quince")) == (2, [])
        # What was forgotten is no longer in the backups of what was restored.
        await take_backup(there, tmp_path / "b.rvb", shown_nowhere)
        again = await restore_backup(there, tmp_path / "b.rvb", REPLACE, shown_nowhere)
        assert again.acts == 0
    with empty_database(conninfo) as target:
        only = RestoreOptions(logs=(tmp_path / "other.log",))
        elsewhere = settings_of(target, tmp_path, "nowhere.log")
        with pytest.raises(SetupError, match="not the one that the backup was made beside"):
            await restore_backup(elsewhere, tmp_path / "a.rvb", only, shown_nowhere)


@pytest.mark.parametrize("lost", ["missing", "begun anew", "cut"])
async def test_without_the_log_it_is_refused_until_told(conninfo: str, tmp_path: Path, lost: str) -> None:
    settings = settings_of(conninfo, tmp_path)
    async with serving(settings) as runtime:
        await put(runtime.pipeline, "first.md", "The first secret of Ada.\n")
        await forget(runtime, "The first secret of Ada.")
        await put(runtime.pipeline, "notes.md", SECRET)
    await take_backup(settings, tmp_path / "a.rvb", shown_nowhere)
    async with serving(settings) as runtime:
        await forget(runtime, SECRET)
    log = tmp_path / "forgotten.log"
    lines = log.read_text().splitlines(keepends=True)
    log.unlink()
    if lost == "begun anew":
        async with serving(settings):
            assert len(log.read_text().splitlines()) == 1
    elif lost == "cut":
        log.write_text(lines[0])
    before = all_rows(conninfo)
    with pytest.raises(SetupError, match=r"would come back.*--without-forgotten-log"):
        await restore_backup(settings, tmp_path / "a.rvb", REPLACE, shown_nowhere)
    assert all_rows(conninfo) == before
    options = RestoreOptions(replace=True, without_log=True)
    assert (await restore_backup(settings, tmp_path / "a.rvb", options, shown_nowhere)).acts == 0
    assert leftovers(conninfo, "quince") == ["chunks", "postings", "versions"]


async def test_what_cannot_be_noted_is_not_forgotten(conninfo: str, tmp_path: Path) -> None:
    settings = settings_of(conninfo, tmp_path)
    (tmp_path / "forgotten.log").mkdir()
    async with serving(settings) as runtime:
        await put(runtime.pipeline, "notes.md", SECRET)
        before = all_rows(conninfo)
        with pytest.raises(DatabaseUnavailable, match="the log of what was forgotten cannot be written"):
            await forget(runtime, SECRET)
        assert all_rows(conninfo) == before
    with pytest.raises(SetupError, match="REVERIE_FORGOTTEN_LOG"):
        await take_backup(settings, tmp_path / "a.rvb", shown_nowhere)


async def test_the_log_has_no_word_of_what_was_forgotten(conninfo: str, tmp_path: Path) -> None:
    async def act(runtime: Runtime) -> None:
        await forget(runtime, SECRET)
        await runtime.sessions.delete(PRINCIPAL, "web:1")
        await runtime.owners.delete("default", "user:1", dry_run=False)
        await runtime.clearing.clear(TEAM, Selection(None, "team", ("document",)), dry_run=False)

    await restored_after(conninfo, tmp_path, live, act)
    text = (tmp_path / "forgotten.log").read_text().casefold()
    # No word that a hash may spell by chance, such as "4711".
    for word in ("quince", "vault", "user:1", "web:1", "wren", "team.md", "default"):
        assert word not in text


def test_every_table_with_texts_of_people_is_looked_through() -> None:
    """The others hold ids, hashes and words of these texts, and go with them."""
    derived = {
        "postings", "vectors", "embedding_cache", "recalls", "derivations", "documents", "contradictions", "statements",
        "fact_sources", "fact_sentences", "fact_votes", "entity_names", "entity_terms", "entity_vectors", "relations",
        "duplicates", "merges", "unmet_requests",
    }  # fmt: skip
    looked = set(re.findall(r"\bFROM (\w+) t\b", AGAIN["texts"].decode()))
    stores = wire_stores(None, None).forgettable  # type: ignore[arg-type]
    of_stores = {table for each in stores for table in each.tables}
    assert looked <= set(re.findall(r"^CREATE TABLE IF NOT EXISTS (\w+)", read_resource("schema.sql"), re.MULTILINE))
    assert of_stores - looked - derived == set()


async def test_a_log_begins_with_the_server(conninfo: str, tmp_path: Path) -> None:
    settings: Settings = settings_of(conninfo, tmp_path)
    async with serving(settings) as runtime:
        await runtime.pipeline.write(MINE, Change("a.md", lambda _: "Tea.", "user", "put"))
    assert (tmp_path / "forgotten.log").read_text().startswith('{"forgotten_log":"')
    with psycopg.connect(conninfo) as connection:
        secret = connection.execute("SELECT encode(secret, 'hex') FROM tombstone_key").fetchone()
    assert secret is not None
    assert str(secret[0]) not in (tmp_path / "forgotten.log").read_text()
