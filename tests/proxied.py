"""Chat completions by the `openai` client, through the proxy of a server over real HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
import openai

from reverie_server.runtime import Runtime

FACT = "Ada moved the review of the parser to Thursday."
QUESTION = "When is the review of the parser with Ada?"
OWNER = "user:42"


@dataclass
class Served:
    """A server with a proxy: its API for the owner's memory, and clients of the protocol."""

    base_url: str
    api: httpx.AsyncClient
    runtime: Runtime

    def client(self, *, key: str = "unused", **headers: str) -> openai.AsyncOpenAI:
        """A client for agent wren and the owner, unless the headers say otherwise."""
        sent = {
            "X-Reverie-Agent": "wren",
            "X-Reverie-Owner": OWNER,
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        given = {name: value for name, value in sent.items() if value}
        return openai.AsyncOpenAI(base_url=f"{self.base_url}/v1", api_key=key, max_retries=0, default_headers=given)

    async def remember(self, text: str = FACT, path: str = "memory/2026-04-03.md") -> None:
        answer = await self.api.put(f"/agents/wren/files/{path}", json={"content": f"{text}\n", "owner_key": OWNER})
        assert answer.status_code in (200, 201), answer.text

    async def said(self, session_id: str, owner: str | None = OWNER) -> list[tuple[str, str]]:
        proxy = self.runtime.proxy
        assert proxy is not None
        await proxy.idle()
        params = {} if owner is None else {"owner_key": owner}
        answer = await self.api.get(f"/agents/wren/sessions/{session_id}/messages", params=params)
        assert answer.status_code in (200, 404), answer.text
        return [(message["role"], message["content"]) for message in answer.json().get("messages", [])]


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


async def ask(client: openai.AsyncOpenAI, *messages: dict[str, Any], **options: Any) -> Any:
    """The raw answer: `.headers`, and `.parse()` for the completion."""
    async with client:
        return await client.chat.completions.with_raw_response.create(
            model="m", messages=list(messages) or [user(QUESTION)], **options
        )
