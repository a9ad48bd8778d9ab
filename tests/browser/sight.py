"""What a person has of a page: where they go, what they see, what they press."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page, Request

OWNER = "user:1"
PAGES = (
    *("overview", "memory", "memory/file?path=MEMORY.md", "facts", "contradictions", "conversations"),
    *("conversations/web:1", "search", "turns", "prompt", "graph", "nights", "forget", "jobs", "agent", "connect"),
    *("people", "keys", "audit", "timeline", "memory/lines?path=MEMORY.md", "nights/next", "snapshot"),
    "which?person=user",
)


@dataclass
class Sight:
    """A window of a browser at the pages of an agent, as an owner."""

    page: Page
    root: str
    owner: str | None
    # What no page may do: errors of the console, requests elsewhere, dialogs.
    wrong: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Note what no page may do."""
        self.page.on("console", lambda message: message.type == "error" and self._note("console", message.text))
        self.page.on("pageerror", lambda error: self._note("error", str(error)))
        self.page.on("request", self._check)
        self.page.on("dialog", lambda dialog: self._note("dialog", dialog.message))

    def _check(self, request: Request) -> None:
        if not request.url.startswith((self.root, "data:")):
            self._note("elsewhere", request.url)

    def _note(self, kind: str, what: str) -> None:
        # A refusal has its status, which the console repeats.
        if not what.startswith("Failed to load resource: the server responded with a status of 4"):
            self.wrong.append(f"{kind}: {what[:200]}")

    def address(self, page: str) -> str:
        """The address of a page, with the owner."""
        name, _, query = page.partition("?")
        whose = urlencode({"owner": self.owner}) if self.owner else ""
        return f"{self.root}/browser/wren/{quote(name)}?{'&'.join(filter(None, (whose, query)))}"

    async def visit(self, page: str) -> int:
        """Go to a page; the status of its answer."""
        answer = await self.page.goto(self.address(page))
        assert answer is not None
        return answer.status

    async def press(self, button: Locator) -> None:
        """Press what sends a form or leads on, and wait for the next page."""
        async with self.page.expect_navigation():
            await button.click()

    async def send(self, name: str, *, within: str = "main") -> None:
        """Press the first button of a name, and wait for the next page."""
        await self.press(self.page.locator(within).get_by_role("button", name=name, exact=True).first)

    async def press_enter(self, field: str) -> None:
        """Press Enter in the first field of a selector, which sends its form, and wait for the next page."""
        async with self.page.expect_navigation():
            await self.page.locator(field).first.press("Enter")

    async def text(self, selector: str = "main") -> str:
        """What stands on the page."""
        return await self.page.locator(selector).inner_text()

    async def width(self) -> tuple[int, int]:
        """How wide the page is, and how wide the window."""
        wide, seen = await self.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        return wide, seen

    @property
    def path(self) -> str:
        """Where the window is, without the query."""
        return urlsplit(self.page.url).path.removeprefix("/browser/wren/")
