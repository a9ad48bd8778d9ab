"""Each form in a real browser: what it does, and what a person reads where it cannot do it."""

from __future__ import annotations

import re

import httpx
from tests.browser.conftest import LINE, NUMBER, Look, post, put
from tests.browser.sight import OWNER, Sight
from tests.jobs import deferred

from reverie_server.jobs.model import Work
from reverie_server.runtime import Runtime


async def fill(sight: Sight, name: str, value: str, *, within: str = "main") -> None:
    await sight.page.locator(within).locator(f"[name={name}]").first.fill(value)


async def test_search_from_any_page_says_why_and_whether_it_would_be_injected(
    lived: httpx.AsyncClient, look: Look
) -> None:
    sight = await look()
    await sight.visit("jobs")
    await fill(sight, "query", "Where does the heron keep its lantern?", within="header")
    await sight.send("Search", within="header")
    shown = await sight.text()
    assert LINE in shown
    assert "Would it be injected?" in shown
    assert "lantern" not in sight.page.url
    await sight.page.locator("[name=mode]").select_option("text")
    await fill(sight, "query", "zeppelin")
    await sight.send("Search")
    assert "Nothing." in await sight.text()
    # Without a query the browser itself sends nothing.
    await fill(sight, "query", "")
    await sight.page.locator("main").get_by_role("button", name="Search").click()
    assert "zeppelin" not in await sight.page.locator("main .ask [name=query]").input_value()
    assert await sight.page.locator("main .ask [name=query]:invalid").count() == 1


async def test_a_file_is_edited_compared_and_restored(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("memory")
    # All people share files of the same names: a person's own come first, and each row leads to its own.
    own, shared = await sight.page.get_by_role("link", name="MEMORY.md", exact=True).all()
    await sight.press(shared)
    assert "Alma" not in await sight.text("article")
    assert "This is the shared file" in await sight.text()
    await sight.visit("memory")
    assert (await sight.page.locator("main h2").all_inner_texts()) == [OWNER, "Shared by all people"]
    await sight.press(own)
    assert await sight.page.locator("article h2").inner_text() == "Long-term Memory"
    await sight.press(sight.page.get_by_role("link", name="Edit", exact=True))
    text = await sight.page.get_by_label("Text").input_value()
    await sight.page.get_by_label("Text").fill(f"{text}- The oars are in the shed.\n")
    await sight.send("Save")
    assert "The oars are in the shed." in await sight.text("article")
    await sight.press(sight.page.get_by_role("link", name="Compare").first)
    assert "-- The oars are in the shed." in await sight.text(".diff")
    await sight.press(sight.page.get_by_role("button", name=re.compile("^Restore")).first)
    assert "The oars are in the shed." not in await sight.text("article")
    await sight.visit("memory/file?path=AGENTS.md&edit=1")
    assert f"What you save is a file of {OWNER} alone" in await sight.text()
    await sight.visit("memory/file?path=none.md")
    assert "Not found" in await sight.text()


async def test_two_people_edit_at_once_and_neither_loses_words(lived: httpx.AsyncClient, look: Look) -> None:
    hers, his = await look(), await look()
    for sight in (hers, his):
        await sight.visit("memory/file?path=MEMORY.md&edit=1")
    await hers.page.get_by_label("Text").fill("# Long-term Memory\n\n- Hers.\n")
    await hers.send("Save")
    await his.page.get_by_label("Text").fill("# Long-term Memory\n\n- His.\n")
    await his.send("Save")
    assert "Somebody else changed this file meanwhile" in await his.text()
    assert "Hers." in await his.text(".diff")
    assert await his.page.get_by_label("Text").input_value() == "# Long-term Memory\n\n- His.\n"
    await his.page.get_by_label("Text").fill("# Long-term Memory\n\n- Hers.\n- His.\n")
    await his.send("Save")
    both = await his.text("article")
    assert "Hers." in both
    assert "His." in both


async def test_a_fact_is_confirmed_rated_changed_and_forgotten(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("facts")
    await fill(sight, "q", "Bergen")
    await sight.send("Filter")
    assert "I live in Bergen." in await sight.text(".facts")
    for button, what in (("Confirm", "confirmed "), ("Helpful", "1 helpful"), ("Not helpful", "0 helpful, 1 not")):
        await sight.visit("facts?q=Bergen")
        await sight.page.get_by_text("Correct, confirm or forget", exact=True).first.click()
        await sight.send(button)
        await sight.visit("facts?q=Bergen")
        assert what in await sight.text(".facts"), button
    await sight.page.get_by_text("Correct, confirm or forget", exact=True).first.click()
    await fill(sight, "text", "I live in Narvik.", within=".fact[open], .fact")
    await sight.send("Save")
    assert "holds from now on" in await sight.text(".done")
    assert "q=Bergen" in sight.page.url, "the list stays filtered as it was"
    await sight.visit("facts?q=Narvik")
    assert "I live in Narvik." in await sight.text(".facts")
    await sight.page.get_by_text("Correct, confirm or forget", exact=True).first.click()
    await sight.send("Forget")
    assert "Forgotten: rcp-" in await sight.text()
    await sight.visit("facts?q=Narvik")
    assert "No fact fits." in await sight.text()
    await sight.visit("facts?min_trust=7")
    assert "That did not work" in await sight.text()


async def test_a_contradiction_is_kept_merged_or_left(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("overview")
    await sight.press(sight.page.locator(".trustbar").get_by_role("link", name="1 contradiction"))
    assert "The budget is 300 euros." in await sight.text(".pair")
    await fill(sight, "text", "The budget is 450 euros.")
    await sight.send("Write this instead")
    assert "Decided" in await sight.text(".done")
    assert "None: no two facts" in await sight.text()
    await sight.visit("contradictions?state=resolved")
    assert "written anew" in await sight.text()
    await sight.visit("facts?q=budget&state=current")
    shown = await sight.text(".facts")
    assert "450 euros" in shown
    assert "300 euros" not in shown


async def test_enter_writes_what_was_typed_in_the_place_of_both(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("contradictions")
    await fill(sight, "text", "The budget is 450 euros.")
    await sight.press_enter("main [name=text]")
    await sight.visit("facts?q=budget&state=current")
    shown = await sight.text(".facts")
    assert "450 euros" in shown
    assert "300 euros" not in shown
    assert "500 euros" not in shown


async def test_enter_saves_the_entry_of_the_card_that_was_put_right(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("overview")
    await fill(sight, "content", "The heron keeps its lantern in the west boathouse.")
    await sight.press_enter("form.entry [name=content]")
    await sight.visit("memory/file?path=MEMORY.md")
    shown = await sight.text("article")
    assert "west boathouse" in shown
    assert "east boathouse" not in shown


async def test_the_morning_card_is_edited_confirmed_and_dismissed(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("overview")
    entries = sight.page.locator("form.entry")
    count = await entries.count()
    assert count
    first = entries.first
    text = await first.locator("[name=content]").input_value()
    await sight.press(first.get_by_role("button", name="Confirm"))
    await sight.visit("memory/file?path=MEMORY.md")
    assert text in await sight.text("article")
    await sight.visit("overview")
    if await sight.page.locator("form.entry").count():
        await sight.send("Dismiss these")
    assert await sight.page.locator("form.entry").count() == 0


async def test_forgetting_is_ticked_done_and_proven(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("forget")
    await fill(sight, "query", "phone number")
    await sight.send("Look for it")
    assert NUMBER in await sight.text(".ticks")
    await sight.send("Forget what is ticked")
    assert "nothing was removed" in await sight.text()
    await sight.visit("forget")
    await fill(sight, "query", "phone number")
    await sight.send("Look for it")
    ticks = sight.page.locator(".ticks li", has_text=NUMBER)
    for index in range(await ticks.count()):
        await ticks.nth(index).get_by_role("checkbox").check()
    await sight.send("Forget what is ticked")
    assert "Forgotten: rcp-" in await sight.text()
    assert NUMBER not in await sight.page.content()
    await fill(sight, "query", NUMBER)
    await sight.send("Look for it")
    assert NUMBER not in await sight.text()
    for page in ("conversations/web:1", "facts", "memory/file?path=MEMORY.md", "overview"):
        await sight.visit(page)
        assert NUMBER not in await sight.page.content(), page


async def test_what_was_asked_and_not_found_is_shown_looked_for_and_dismissed(
    lived: httpx.AsyncClient, look: Look
) -> None:
    for session, content in (("web:8", "lo de los dineros, olvídalo"), ("web:9", "Forget that.")):
        await post(lived, f"agents/wren/sessions/{session}/messages", messages=[{"role": "user", "content": content}])
    sight = await look()
    await sight.visit("overview")
    waiting = sight.page.locator("section", has=sight.page.get_by_role("heading", name="What needs you"))
    assert "lo de los dineros, olvídalo" in await waiting.inner_text()
    assert "forgotten: Forget that." in await waiting.inner_text()
    link = waiting.get_by_role("listitem").filter(has_text="dineros").get_by_role("link")
    await sight.press(link)
    # The message as it stands in its conversation, an empty form, and no text in the address.
    assert "lo de los dineros, olvídalo" in await sight.text("blockquote")
    assert await sight.page.locator("main [name=query]").input_value() == ""
    assert "dineros" not in sight.page.url
    await sight.press(sight.page.get_by_role("link", name="In its conversation"))
    assert "lo de los dineros, olvídalo" in await sight.text(".talk")
    await sight.visit("forget")
    assert "lo de los dineros, olvídalo" in await sight.text()
    await sight.press(sight.page.get_by_role("listitem").filter(has_text="dineros").get_by_role("button"))
    assert "Taken from the list" in await sight.text(".done")
    assert "dineros" not in await sight.text()
    other = sight.page.get_by_role("listitem").filter(has_text="Forget that.")
    await sight.press(other.get_by_role("link", name="Look for it"))
    await sight.send("Dismiss")
    assert "Forget that." not in await sight.text()
    await sight.visit("overview")
    assert "forgotten: Forget that." not in await sight.text()
    await sight.visit("conversations/web:8")
    assert "lo de los dineros, olvídalo" in await sight.text(".talk")


async def test_a_conversation_is_completed_cleared_and_deleted(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("conversations")
    await sight.press(sight.page.get_by_role("link", name="web:2", exact=True))
    assert "I live in Bergen." in await sight.text(".talk")
    await sight.send("Complete")
    await sight.send("Clear")
    await sight.visit("conversations/web:2")
    assert "Nothing was said." in await sight.text()
    await sight.send("Delete")
    await sight.visit("conversations/web:2")
    assert "Not found" in await sight.text()


async def test_why_a_line_is_in_a_prompt(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("prompt")
    await fill(sight, "message", "Where does the heron keep its lantern?")
    await fill(sight, "session", "web:1")
    await sight.send("Show its prompt")
    assert LINE in await sight.text(".prompt")
    await sight.visit("turns")
    await sight.press(sight.page.get_by_role("link", name="Where is the heron's lantern?").first)
    assert "Where is the heron's lantern?" in await sight.text()
    await sight.send("The whole prompt, as it would be now")
    assert "what is known" in await sight.text("table")
    await sight.send("What was found, and why")
    assert LINE in await sight.text(".hits")
    await sight.press(sight.page.get_by_role("button", name="Forget something of this…"))
    assert LINE in await sight.text(".ticks")
    await sight.visit("prompt")
    await fill(sight, "message", "Hello")
    await fill(sight, "session", "no such:session id")
    await sight.send("Show its prompt")
    assert "That did not work" in await sight.text()


async def test_a_night_by_topic_leaves_a_report(lived: httpx.AsyncClient, look: Look, runtime: Runtime) -> None:
    sight = await look()
    await sight.visit("nights")
    await fill(sight, "topic", "the budget")
    await sight.send("Run")
    await sight.visit("nights")
    assert "Notes on a topic: the budget" in await sight.text("table")
    await sight.press(sight.page.locator("main table a").first)
    assert "the budget" in await sight.text()


async def test_a_night_is_undone_from_the_overview(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("overview")
    entered = await sight.page.locator("form.entry [name=content]").first.input_value()
    await sight.press(sight.page.get_by_role("link", name="What it changed, and undo").first)
    assert entered in await sight.text(".diff")
    assert "has been changed since" not in await sight.text()
    night = sight.page.url
    await sight.press(sight.page.get_by_role("button", name=re.compile("^Undo")))
    assert "the present one again" in await sight.text(".done")
    assert entered not in await sight.text("article")
    await sight.page.goto(night)
    assert "has been changed since" in await sight.text()


async def test_why_memory_added_nothing(lived: httpx.AsyncClient, look: Look, runtime: Runtime) -> None:
    for message in ("What is Alma?", "Hello!"):
        await post(lived, "agents/wren/context", message=message)
    await runtime.turn_log.flush()
    sight = await look()
    await sight.visit("turns")
    assert "small talk" in await sight.page.locator("tr", has_text="Hello!").inner_text()
    assert "in the prompt already" in await sight.page.locator("tr", has_text="What is Alma?").inner_text()
    await sight.press(sight.page.get_by_role("link", name="What is Alma?"))
    assert "what fits best stands in the prompt already" in await sight.text()
    assert "red rowing boat" in await sight.text()


async def test_a_day_of_the_past_is_chosen_by_a_slider(lived: httpx.AsyncClient, look: Look) -> None:
    for has_script in (False, True):
        sight = await look(java_script_enabled=has_script)
        await sight.visit("facts?q=Bergen")
        assert "I live in Bergen." in await sight.text(".facts")
        slider = sight.page.get_by_role("slider")
        await slider.focus()
        # A page up or down is a tenth of it.
        await slider.press("PageDown")
        if has_script:
            shown = await sight.text(".time output")
            assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", shown)
            assert shown == await slider.get_attribute("aria-valuetext")
        await sight.send("Show this day")
        assert "No fact fits." in await sight.text()
        assert await sight.page.locator("main [name=q]").first.input_value() == "Bergen"
        await sight.press(sight.page.get_by_role("link", name="now", exact=True))
        assert "I live in Bergen." in await sight.text(".facts")
    await sight.visit("graph")
    await sight.press(sight.page.get_by_role("link", name="Petra Lind", exact=True))
    await fill(sight, "as_of", "2020-01-01")
    await sight.send("Show")
    assert await sight.page.locator("svg.graph .other").count() == 0
    await sight.visit("facts?at=many&from=2020-01-01")
    assert "That did not work" in await sight.text()


async def test_settings_of_an_agent(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("agent")
    await fill(sight, "episodic_ttl_days", "many")
    await sight.send("Save")
    assert "episodic_ttl_days" in await sight.text()
    await sight.visit("agent")
    await fill(sight, "episodic_ttl_days", "7")
    await sight.send("Save")
    await sight.visit("agent")
    assert await sight.page.locator("[name=episodic_ttl_days]").input_value() == "7"


async def test_an_entity_and_its_drawing(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("graph")
    await sight.press(sight.page.get_by_role("link", name="Petra Lind", exact=True))
    assert await sight.page.locator("svg.graph").is_visible()
    assert "Petra Lind" in await sight.text("table")


async def test_a_person_is_exported_and_deleted(lived: httpx.AsyncClient, look: Look) -> None:
    await put(lived, "notes/a.md", "Hers.\n", owner="user:2")
    sight = await look()
    await sight.visit("people")
    row = sight.page.locator("tr", has_text="user:2")
    async with sight.page.expect_download() as download:
        await row.get_by_role("button", name="Export").click()
    assert (await download.value).suggested_filename.endswith(".zip")
    await sight.visit("people")
    await sight.press(sight.page.locator("tr", has_text="user:2").get_by_role("button", name=re.compile("^Delete")))
    await fill(sight, "confirm", "user:1")
    await sight.send("Delete for good")
    assert "All of this would go" in await sight.text()
    await fill(sight, "confirm", "user:2")
    await sight.send("Delete for good")
    assert "All of this is gone" in await sight.text()
    await sight.visit("people")
    assert "user:2" not in await sight.text("table")
    assert OWNER in await sight.text("table")


async def test_signing_in_what_a_key_may_and_signing_out(
    lived: httpx.AsyncClient, look: Look, runtime: Runtime
) -> None:
    await put(lived, "notes/hers.md", "Hers alone.\n", owner="user:2")
    _, bound = await runtime.keys.create("default", "member", owner_key=OWNER)
    _, viewer = await runtime.keys.create("default", "viewer")
    sight = await look(owner=None)
    await sight.visit("memory")
    assert sight.page.url.endswith("/browser/login?next=/browser/wren/memory")
    await sight.page.get_by_label("API key").fill("rv_0123456789abcdef_" + "A" * 43)
    await sight.send("Sign in")
    assert "not valid" in await sight.text()
    await sight.page.get_by_label("API key").fill(bound)
    await sight.send("Sign in")
    assert sight.path == "memory"
    assert "MEMORY.md" in await sight.text()
    assert "notes/hers.md" not in await sight.text()
    sight.owner = "user:2"
    assert await sight.visit("memory") == 403
    assert "Not permitted" in await sight.text()
    sight.owner = None
    assert await sight.visit("people") == 403
    await sight.visit("memory")
    await sight.send("Sign out", within="header")
    assert "/browser/login" in sight.page.url
    await sight.page.go_back()
    assert "MEMORY.md" not in await sight.text(), "what was shown is gone with the session"
    await sight.visit("memory")
    await sight.page.get_by_label("API key").fill(viewer)
    await sight.send("Sign in")
    sight.owner = OWNER
    for page in ("facts", "contradictions", "conversations/web:1", "memory/file?path=MEMORY.md", "nights"):
        await sight.visit(page)
        names = await sight.page.locator("main").get_by_role("button").all_inner_texts()
        assert {name for name in names if name not in ("Filter", "Search", "Show this day")} == set(), page


async def test_a_key_is_made_shown_once_and_revoked(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("keys")
    await fill(sight, "name", "Ada's laptop")
    assert await sight.page.get_by_label("Role").input_value() == "admin"
    await fill(sight, "person", OWNER)
    await sight.send("Make a key")
    assert "the first key has to be an administrator's" in await sight.text()
    await sight.visit("keys")
    await fill(sight, "name", "Ada's laptop")
    await sight.send("Make a key")
    key = await sight.page.locator("main pre").first.inner_text()
    await sight.visit("keys")
    assert "/browser/login" in sight.page.url
    await sight.page.get_by_label("API key").fill(key)
    await sight.send("Sign in")
    await sight.visit("keys")
    assert key not in await sight.page.content()
    assert "Ada's laptop" in await sight.text("table")
    # A client for one person: the key, and what to write into the client with it.
    await sight.visit("connect")
    await sight.send(f"Make a key for {OWNER} alone")
    hers = await sight.page.locator("main pre").first.inner_text()
    snippet = await sight.page.locator("main pre").nth(1).inner_text()
    assert f"Bearer {hers}" in snippet
    assert "/mcp/wren" in snippet
    assert OWNER in await sight.page.locator("tr", has_text="member").inner_text()
    await sight.press(sight.page.get_by_role("button", name=re.compile("^Revoke")).first)
    assert "/browser/login" in sight.page.url


async def test_two_entities_are_made_one_and_two_again(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("graph")
    await sight.press(sight.page.get_by_role("link", name="Petra Lind", exact=True))
    await sight.page.get_by_text("The same as another person?").click()
    await sight.page.get_by_label("It is also").select_option("Ines")
    await sight.send("Make them one")
    assert "Ines" in await sight.text("main > p:nth-of-type(2)")
    await sight.send("Undo")
    assert "Ines" in await sight.text("table")
    await sight.visit("graph/ent-999999")
    assert "Not found" in await sight.text()


async def test_a_job_that_failed_is_tried_again(lived: httpx.AsyncClient, look: Look, runtime: Runtime) -> None:
    work = Work("dedup", "default", "wren", OWNER)
    await deferred(runtime.database, work, after_seconds=3600)
    async with runtime.database.maintenance() as connection:
        await connection.execute(
            b"UPDATE procrastinate_jobs SET status = 'failed' WHERE task_name = 'dedup' AND status = 'todo'"
        )
    sight = await look()
    await sight.visit("overview")
    assert "1 job failed" in await sight.text(".trustbar")
    await sight.visit("jobs")
    await sight.press(sight.page.get_by_role("button", name=re.compile("^Try again job")))
    assert "None." in await sight.text()
    assert "failed" not in await sight.text(".trustbar")


async def test_a_long_conversation_is_compacted_and_says_where(lived: httpx.AsyncClient, look: Look) -> None:
    messages = [{"role": "user", "content": f"The boat needs plank {n}."} for n in range(30)]
    await lived.post("/agents/wren/sessions/web:3/messages", json={"messages": messages, "owner_key": OWNER})
    sight = await look()
    await sight.visit("conversations/web:3")
    assert "Compacted up to here" not in await sight.text()
    await sight.send("Compact")
    assert "Compacted up to here" in await sight.text(".talk")
    assert "The boat needs plank 0." in await sight.text(".talk")


async def test_days_lead_to_what_happened(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("timeline")
    assert "I live in Bergen." in await sight.text()
    await sight.page.get_by_label("Show").select_option("forgotten")
    await sight.send("Filter")
    assert "I live in Bergen." not in await sight.text()
    await sight.press(sight.page.locator("main .happened a").first)
    assert sight.path.startswith("forget/rcp-")
    await sight.visit("timeline")
    await fill(sight, "topic", "the budget")
    await sight.send("Run")
    assert sight.path.startswith("nights")


async def test_where_a_line_comes_from(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("memory/file?path=MEMORY.md")
    await sight.press(sight.page.get_by_role("link", name=re.compile("^Line by line")))
    own = sight.page.locator("tr", has_text="red rowing boat")
    assert "a person" in await own.inner_text()
    await sight.visit("memory/lines?path=PROFILE.md")
    derived = sight.page.locator("tr", has_text="Petra Lind").filter(has_text="learned from").first
    await sight.press(derived.get_by_role("link").first)
    assert sight.path.startswith("conversations/web")
    assert await sight.page.locator("li.message:target").count() == 1


async def test_an_archive_is_looked_at_and_brought_in(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("snapshot")
    async with sight.page.expect_download() as download:
        await sight.page.get_by_role("button", name="Export", exact=True).click()
    archive = await (await download.value).path()
    await put(lived, "MEMORY.md", "# Long-term Memory\n\n- Nothing.\n")
    await sight.page.locator("[name=file]").set_input_files(archive)
    await sight.send("Look at it")
    assert "Would change (1)" in await sight.text()
    await sight.send("Bring it in")
    assert "Changed (1)" in await sight.text()
    await sight.visit("memory/file?path=MEMORY.md")
    assert "red rowing boat" in await sight.text("article")
    await sight.visit("snapshot")
    await sight.page.locator("[name=file]").set_input_files(
        {"name": "a.zip", "mimeType": "a/b", "buffer": b"no archive"}
    )
    await sight.send("Look at it")
    assert "That did not work" in await sight.text()


async def test_an_agent_and_a_person_are_found_by_a_part_of_their_names(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look(None)
    await sight.visit("overview")
    await fill(sight, "person", "1", within="header")
    await sight.send("Show", within="header")
    await sight.press(sight.page.locator("main").get_by_role("link", name=OWNER, exact=True))
    assert OWNER in await sight.text("h1")
    await fill(sight, "agent", "nobody", within="header")
    await sight.send("Show", within="header")
    assert "There is no agent nobody." in await sight.text()


async def test_dark_or_light_is_a_choice(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look(color_scheme="light")
    await sight.visit("memory")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = await sight.page.evaluate(ground)
    await sight.press(sight.page.get_by_role("button", name=re.compile("^Dark")))
    assert sight.path == "memory"
    assert await sight.page.evaluate(ground) != light
    await sight.visit("facts")
    assert await sight.page.evaluate(ground) != light
    await sight.press(sight.page.get_by_role("button", name=re.compile("^Light")))
    assert await sight.page.evaluate(ground) == light
