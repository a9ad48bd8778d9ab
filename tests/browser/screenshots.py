"""Pictures of the pages over the sample memory, at a desk and on a phone: `make screenshots`."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import demo
from playwright.async_api import async_playwright
from sample import AGENT, PERSON, fill
from tests.browser.chromium import CHECKOUT, find
from tests.browser.sight import Sight

from reverie_client import Reverie

PLACE = CHECKOUT / "build" / "screenshots"
README = CHECKOUT / "docs" / "images"
PAGES = (
    *("overview", "memory", "memory/file?path=MEMORY.md", "facts", "contradictions", "conversations"),
    *("conversations/web:today", "turns", "graph", "nights", "forget", "jobs", "agent", "connect", "people", "keys"),
    *("audit", "timeline", "memory/lines?path=MEMORY.md", "nights/next", "snapshot"),
)
SHOWN = {"overview": "overview", "search": "search", "prompt": "prompt"}
QUESTION = "Where is the spare hardware token?"


async def shoot(root: str) -> None:
    """Take the pictures."""
    found = find()
    if found is None:
        sys.exit("screenshots: there is no Chromium (make browser)")
    PLACE.mkdir(parents=True, exist_ok=True)
    README.mkdir(parents=True, exist_ok=True)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=found.path, args=found.arguments, env={**os.environ, **found.environment}
        )
        for name, size, scheme in (
            ("desk", {"width": 1200, "height": 800}, "light"),
            ("dark", {"width": 1200, "height": 800}, "dark"),
            ("phone", {"width": 390, "height": 844}, "light"),
        ):
            context = await browser.new_context(viewport=size, color_scheme=scheme)
            sight = Sight(await context.new_page(), root, PERSON)
            for page in PAGES:
                await sight.visit(page)
                await keep(sight, page.partition("?")[0].replace("/", "-"), name)
            await sight.page.fill("#find", QUESTION)
            await sight.send("Search", within="header")
            await keep(sight, "search", name)
            await sight.visit("prompt")
            await sight.page.fill("main [name=message]", QUESTION)
            await sight.send("Show its prompt")
            await keep(sight, "prompt", name)
            await sight.visit("turns")
            await sight.press(sight.page.locator("main table a").first)
            await keep(sight, "turn", name)
            await sight.visit("graph")
            await sight.press(sight.page.get_by_role("link", name="Khru Pim", exact=True))
            await keep(sight, "graph-entity", name)
        await browser.close()


async def keep(sight: Sight, page: str, window: str) -> None:
    """One picture: what the window shows first, and at a desk for the README too."""
    await sight.page.screenshot(path=PLACE / f"{page}-{window}.png")
    if window == "desk" and page in SHOWN:
        await sight.page.screenshot(path=README / f"{SHOWN[page]}.png")


def main() -> None:
    """Fill a server of its own with the sample memory, and take the pictures of it."""
    with tempfile.TemporaryDirectory(prefix="reverie-screenshots-") as name:
        Path(name).chmod(0o755)
        with demo.server(Path(name) / "data") as root:
            demo.index(Path(name) / "data")
            with Reverie(root) as reverie:
                fill(reverie)
            asyncio.run(shoot(root))
    print(f"screenshots: of agent {AGENT} in {PLACE}, and of the README in {README}")


if __name__ == "__main__":
    main()
