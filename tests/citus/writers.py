"""Whoever writes to a tenant's memory while something happens to the nodes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from tests.citus.memories import Tenant


@dataclass
class Writer:
    """Writes one conversation after the other, and completes each; a request is repeated until it is answered well.

    `unseen` counts how often a session whose message was acknowledged was not there yet: its node was killed between
    the two phases of that commit, and Citus has not ended it (`docs/operations.md`). It comes to be seen, or the writer
    never ends.
    """

    tenant: Tenant
    said: list[str] = field(default_factory=list)
    refused: list[tuple[int, str | None]] = field(default_factory=list)
    unseen: int = 0

    async def write(self, ending: asyncio.Event) -> None:
        """Until `ending` is set, and then to the end of the conversation."""
        while not ending.is_set():
            session = f"chat:{len(self.said)}"
            message = {"id": "m1", "role": "user", "content": f"The heron of {self.tenant.name} was seen at {session}."}
            await self._until_done(f"sessions/{session}/messages", messages=[message])
            await self._until_done(f"sessions/{session}/complete", trigger_source="api")
            self.said.append(session)

    async def _until_done(self, path: str, **body: object) -> None:
        while (answer := await self.tenant.ask("POST", path, **body)).status_code >= 300:
            if answer.status_code == 404 and path.endswith("/complete"):
                self.unseen += 1
            else:
                self.refused.append((answer.status_code, answer.headers.get("retry-after")))
            await asyncio.sleep(0.1)
