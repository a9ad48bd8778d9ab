"""The search that somebody asks for, whatever it comes by: what it shows is counted, and noted as recalled."""

from __future__ import annotations

from typing import Any

from reverie_server.access.audit import counted
from reverie_server.access.gate import Gate
from reverie_server.access.keys import Caller
from reverie_server.search.recall_log import Recalls
from reverie_server.search.request import Outcome, request_for, rules_for
from reverie_server.search.search import Search
from reverie_server.text.query import check_query
from reverie_server.text.spans import span


class MemorySearch:
    """The use case behind the route, the tool and the command."""

    def __init__(self, gate: Gate, search: Search, recalls: Recalls) -> None:
        self._gate = gate
        self._search = search
        self._recalls = recalls

    async def find(self, caller: Caller, agent_id: str, owner_key: str | None, query: str, **options: Any) -> Outcome:
        """The passages that answer a query best, best first; `options` are the other fields of a `Request`.

        Raises ValidationFailed for a query that may not be, what `Gate.read` raises, and what `Search.search` raises.
        """
        query = check_query(query)
        with span("gate"):
            grant = await self._gate.read(caller, agent_id, owner_key)
        outcome = await self._search.search(request_for(grant, query, **options), rules_for(grant, self._search.rules))
        counted(len(outcome.results))
        self._recalls.note(caller.tenant_id, query, outcome.shown(), "search")
        return outcome
