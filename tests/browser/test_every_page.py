"""Each page in a real browser: nothing serious for axe, in both colours, on a phone, by keyboard, without script."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.browser.conftest import LINE, Look, put
from tests.browser.sight import PAGES, Sight

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1200, "height": 900}


async def findings(sight: Sight) -> list[str]:
    """What axe finds that is serious or critical."""
    from axe_playwright_python.async_playwright import Axe

    found = await Axe().run(sight.page)
    return [
        f"{violation['id']}: {violation['nodes'][0]['html'][:200]}"
        for violation in found.response["violations"]
        if violation["impact"] in ("serious", "critical")
    ]


async def own_pages(lived: httpx.AsyncClient) -> list[str]:
    """The pages of single things of the memory."""
    whose = {"owner_key": "user:1"}
    found = []
    for path, name, page in (
        ("agents/wren/turns", "turns", "turns"),
        ("agents/wren/receipts", "receipts", "forget"),
        ("agents/wren/graph/entities", "entities", "graph"),
    ):
        listed = (await lived.get(path, params=whose)).json()[name]
        assert listed, path
        found.append(f"{page}/{listed[0]['id']}")
    reports = (await lived.get("memory/wren/dream/reports", params=whose)).json()["data"]["reports"]
    return [*found, f"nights/{reports[0]['id']}"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
async def test_every_page_is_readable_and_has_no_serious_fault(
    lived: httpx.AsyncClient, look: Look, scheme: str, size: dict[str, Any]
) -> None:
    sight = await look(viewport=size, color_scheme=scheme)
    for page in [*PAGES, *await own_pages(lived)]:
        assert await sight.visit(page) == 200, page
        assert await findings(sight) == [], page
        wide, seen = await sight.width()
        assert wide <= seen, f"{page} is wider than the window"
        assert await sight.page.locator("h1").count() == 1, page
        assert await sight.page.title()


# The buttons that Enter in a field presses, and that leave unread what was typed there: a form's first button.
DEAF = """[...document.forms].filter(form => form.querySelector("input:not([type=hidden]):not([type=checkbox])"))
    .map(form => [...form.elements].find(each => each.type === "submit"))
    .filter(button => button && (button.hasAttribute("formaction") || button.formNoValidate))
    .map(button => button.textContent)"""


async def test_enter_in_a_field_presses_the_button_that_reads_it(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    for page in [*PAGES, *await own_pages(lived)]:
        await sight.visit(page)
        assert await sight.page.evaluate(DEAF) == [], page


async def test_every_page_works_without_script(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look(java_script_enabled=False)
    for page in PAGES:
        assert await sight.visit(page) == 200, page
    await sight.page.fill("#find", "Where is the heron's lantern?")
    await sight.send("Search", within="header")
    assert LINE in await sight.text()
    await sight.visit("contradictions")
    await sight.send("Keep A")
    assert "None: no two facts" in await sight.text()


async def test_by_keyboard_alone(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look()
    await sight.visit("overview")
    keyboard = sight.page.keyboard
    await keyboard.press("Tab")
    assert await sight.page.evaluate("document.activeElement.textContent") == "Skip to the page"
    await keyboard.press("Enter")
    assert await sight.page.evaluate("document.activeElement.id") == "main"
    await reach(sight, "#find", "Shift+Tab")
    await keyboard.type("heron lantern")
    async with sight.page.expect_navigation():
        await keyboard.press("Enter")
    assert LINE in await sight.text()
    await sight.visit("contradictions")
    await reach(sight, "button[value=b]")
    assert await outlined(sight), "where the keyboard is must be seen"
    async with sight.page.expect_navigation():
        await keyboard.press("Enter")
    assert "None: no two facts" in await sight.text()
    # All that can be pressed is reached, and nothing keeps the focus.
    await sight.visit("facts")
    for _ in range(200):
        await keyboard.press("Tab")
        if await sight.page.evaluate("document.activeElement === document.body"):
            break
    else:
        raise AssertionError("the focus never left the page")


async def test_all_pages_are_two_presses_away_on_a_phone_without_script(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look(viewport=PHONE, java_script_enabled=False)
    await sight.visit("facts")
    pages = sight.page.get_by_role("navigation", name="Pages")
    assert not await pages.is_visible()
    opener = sight.page.get_by_role("button", name="Pages")
    await opener.focus()
    await sight.page.keyboard.press("Enter")
    assert await pages.is_visible()
    assert await pages.get_by_role("list").count() == 5
    assert await pages.locator("[aria-current=page]").inner_text() == "Facts"
    await sight.page.keyboard.press("Escape")
    assert not await pages.is_visible()
    await opener.click()
    await sight.press(pages.get_by_role("link", name="Forget", exact=True))
    assert sight.path == "forget"


async def test_all_pages_are_in_sight_at_a_desk(lived: httpx.AsyncClient, look: Look) -> None:
    sight = await look(viewport=DESK)
    await sight.visit("facts")
    pages = sight.page.get_by_role("navigation", name="Pages")
    assert await pages.get_by_role("link").count() == 19
    assert not await sight.page.get_by_role("button", name="Pages").is_visible()
    # One line of groups, so that the page itself begins high up.
    boxes = [await group.bounding_box() for group in await pages.locator("> div").all()]
    assert len({box["y"] for box in boxes if box}) == 1


async def reach(sight: Sight, selector: str, key: str = "Tab") -> None:
    """Press a key until something has the focus."""
    for _ in range(120):
        if await sight.page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        await sight.page.keyboard.press(key)
    raise AssertionError(f"the keyboard does not reach {selector}")


async def outlined(sight: Sight) -> bool:
    """Whether what has the focus looks so."""
    return bool(await sight.page.evaluate("getComputedStyle(document.activeElement).outlineStyle !== 'none'"))


HOSTILE = (
    "# <script>document.title='taken'</script>\n\n<img src=x onerror=\"document.title='taken'\"> "
    "[link](http://evil.example/x) ![pixel](http://evil.example/p.png) \u202etxet neddih\u202c "
    "<style>body{display:none}</style> <form action=http://evil.example><input name=key></form>\n\n"
    "```\n</pre></textarea><script>document.title='taken'</script>\n~~~\n\n{{ 7*7 }} {% raw %} \x07\n"
)


async def test_a_hostile_memory_does_nothing_on_any_page(client: httpx.AsyncClient, look: Look) -> None:
    await put(client, "MEMORY.md", HOSTILE)
    await put(client, "notes/<img src=x onerror=alert(1)>.md", f"- My boss is {HOSTILE}\n")
    await put(client, "notes/long.md", "w" * 1_000_000)
    messages = [{"role": "user", "content": HOSTILE, "name": "<b>x</b>"[:8]}, {"role": "assistant", "content": "{{x}}"}]
    answer = await client.post(
        "agents/wren/sessions/web:1/messages", json={"owner_key": "user:1", "messages": messages}
    )
    if answer.status_code == 422:
        messages[0].pop("name")
        answer = await client.post(
            "agents/wren/sessions/web:1/messages", json={"owner_key": "user:1", "messages": messages}
        )
    assert answer.status_code < 300, answer.text
    await client.post("agents/wren/context", json={"owner_key": "user:1", "message": HOSTILE, "session_id": "web:1"})
    sight = await look(viewport=PHONE)
    for page in (*PAGES, "memory/file?path=notes/long.md", "memory/file?path=MEMORY.md&edit=1"):
        assert await sight.visit(page) == 200, page
        assert "taken" not in await sight.page.title()
        assert await sight.page.locator("main").is_visible()
        assert await sight.page.locator("main script, main img, main style, form[action^='http']").count() == 0, page
        wide, seen = await sight.width()
        assert wide <= seen, f"{page} is wider than the window"
    for page, field, button in (("search", "query", "Search"), ("prompt", "message", "Show its prompt")):
        await sight.visit(page)
        await sight.page.fill(f"main [name={field}]", HOSTILE[:400].replace("\n", " "))
        await sight.send(button)
        assert "taken" not in await sight.page.title()
