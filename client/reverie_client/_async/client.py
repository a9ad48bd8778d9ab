"""The client of one server, and its view of one agent's memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any

import httpx

from reverie_client._async.administration import AsyncAdministration
from reverie_client._async.connection import AsyncConnection
from reverie_client._async.dreams import AsyncDreams
from reverie_client._async.episodes import AsyncEpisodes
from reverie_client._async.facts import AsyncFacts
from reverie_client._async.files import AsyncFiles
from reverie_client._async.graph import AsyncGraph
from reverie_client._async.longterm import AsyncLongTerm
from reverie_client._async.pipeline import AsyncPipeline
from reverie_client._async.recall import AsyncRecall
from reverie_client._async.snapshots import AsyncSnapshots
from reverie_client._async.tools import AsyncTools
from reverie_client._async.turns import AsyncTurns
from reverie_client._async.upkeep import AsyncUpkeep
from reverie_client.model import Agent, AgentPage, ToolFormat, ToolList
from reverie_client.request import DEFAULT_TIMEOUT_SECONDS, LIMITS, Call, checked_key, checked_url, segment, shown_url


class AsyncAgentMemory(
    AsyncFiles,
    AsyncRecall,
    AsyncTurns,
    AsyncLongTerm,
    AsyncEpisodes,
    AsyncGraph,
    AsyncFacts,
    AsyncDreams,
    AsyncPipeline,
    AsyncUpkeep,
    AsyncSnapshots,
    AsyncTools,
):
    """One agent's memory as one owner sees it; `AsyncReverie.agent` makes it, without asking the server."""


class AsyncReverie(AsyncAdministration):
    """A Reverie server. Leave it with `aclose`, or use it as a context manager.

    `base_url` is the server without `/api/v1` (else REVERIE_URL, else http://127.0.0.1:8077), `api_key` what
    `reverie keys create` printed (else REVERIE_API_KEY, else none). `timeout` is in seconds, or an httpx.Timeout. An
    `http_client` of one's own brings its own timeout and is not closed here; a `transport` goes into the client that
    is made here. Reads are repeated up to `max_retries` times where the connection breaks or the server asks for
    patience; a write only where it certainly never arrived. ValueError for arguments that cannot be.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        timeout: float | httpx.Timeout = DEFAULT_TIMEOUT_SECONDS,
        max_retries: int = 2,
        transport: httpx.AsyncBaseTransport | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        if http_client is not None and transport is not None:
            raise ValueError("give a transport or an http_client, not both")
        if max_retries < 0:
            raise ValueError("max_retries is 0 or more")
        url, key = checked_url(base_url), checked_key(api_key)
        self._own_http = None
        if http_client is None:
            http_client = self._own_http = httpx.AsyncClient(timeout=timeout, limits=LIMITS, transport=transport)
        self._connection = AsyncConnection(http_client, url, key, max_retries)

    async def __aenter__(self) -> AsyncReverie:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections, unless they are those of an `http_client` of one's own."""
        if self._own_http is not None:
            await self._own_http.aclose()

    def __repr__(self) -> str:
        # Without the key: what is shown may be logged.
        return f"{type(self).__name__}({shown_url(self._connection.base_url)!r})"

    def agent(self, agent_id: str, *, owner_key: str | None = None, end_user_id: str | None = None) -> AsyncAgentMemory:
        """A view of an agent's memory as an owner; with neither `owner_key` nor `end_user_id`, of what is shared.

        An admin's key may name `*`, which stands for everybody, for `files`, `episodes`, `pipeline`, `retry_pipeline`
        and `clear`. The agent need not exist: its first write makes it. ValidationError for an id that no URL can
        carry.
        """
        return AsyncAgentMemory(self._connection, agent_id, owner_key, end_user_id)

    def agents(self, q: str | None = None, *, page_size: int | None = None) -> AsyncIterator[Agent]:
        """The tenant's agents by id, of all or of those whose id or name has `q`; a bound key sees its own."""
        call = Call(method="GET", path="/agents", query={"q": q, "limit": page_size}, is_read=True)
        return self._connection.each(AgentPage, call)

    async def get_agent(self, agent_id: str) -> Agent:
        """One agent; NotFound where it is unknown."""
        return await self._connection.ask(Agent, Call(method="GET", path=_agent(agent_id), is_read=True))

    async def put_agent(
        self,
        agent_id: str,
        *,
        name: str | None = None,
        leader_agent_id: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Agent:
        """Create or replace an agent; what is not given is as if it had never been set. Needs an admin's key.

        `leader_agent_id` makes it a team member, whose memory is read-only.
        """
        body = {"name": name, "leader_agent_id": leader_agent_id, "settings": settings and dict(settings)}
        return await self._connection.ask(Agent, Call(method="PUT", path=_agent(agent_id), body=body))

    async def delete_agent(self, agent_id: str) -> None:
        """Delete an agent with all its memory, everybody's, history included. Needs an admin's key."""
        await self._connection.send(Call(method="DELETE", path=_agent(agent_id)))

    async def tools(self, format: ToolFormat = "openai") -> tuple[Mapping[str, Any], ...]:  # noqa: A002  # as on the wire
        """The tools to give to a model, each as the API of that format wants it."""
        call = Call(method="GET", path="/tools", query={"format": format}, is_read=True)
        return (await self._connection.ask(ToolList, call)).tools


def _agent(agent_id: str) -> str:
    return f"/agents/{segment(agent_id, 'an agent id')}"
