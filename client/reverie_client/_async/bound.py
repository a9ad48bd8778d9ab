"""The base of a view of memory: one connection with one agent and one owner."""

from __future__ import annotations

from reverie_client._async.connection import AsyncConnection
from reverie_client.request import segment


class AsyncBound:
    """A connection bound to an agent and an owner, so that callers name them once."""

    def __init__(
        self, connection: AsyncConnection, agent_id: str, owner_key: str | None, end_user_id: str | None
    ) -> None:
        self._connection = connection
        self._agent_id = agent_id
        self._path = f"/agents/{segment(agent_id, 'an agent id')}"
        self._owner = {"owner_key": owner_key, "end_user_id": end_user_id}

    @property
    def agent_id(self) -> str:
        """The agent whose memory it is."""
        return self._agent_id

    @property
    def owner_key(self) -> str | None:
        """The owner as the server names it; None: only shared memory is seen."""
        end_user_id = self._owner["end_user_id"]
        return self._owner["owner_key"] if end_user_id is None else f"api:{end_user_id}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}(agent_id={self.agent_id!r}, owner_key={self.owner_key!r})"
