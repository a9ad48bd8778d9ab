"""The search use case behind route, tool and command: its results are counted for the audit and noted as recalled."""

from __future__ import annotations

from typing import Any

from reverie_server.access.audit import counted
from reverie_server.access.gate import Gate
from reverie_server.access.keys import Caller
from reverie_server.search.recall_log import RecallLog
from reverie_server.search.request import SearchOutcome, request_for, rules_for
from reverie_server.search.search import Search
from reverie_server.text.query import check_query


class MemorySearch:
    """Searches the memory that a caller may read."""

    def __init__(self, gate: Gate, search: Search, recalls: RecallLog) -> None:
        self._gate = gate
        self._search = search
        self._recalls = recalls

    async def find(
        self, caller: Caller, agent_id: str, owner_key: str | None, query: str, **options: Any
    ) -> SearchOutcome:
        """The passages that answer a query best, best first; `options` are the other fields of a `SearchRequest`.

        Raises ValidationFailed for an empty or overlong query, and the errors of `Gate.read` and `Search.search`.
        """
        query = check_query(query)
        self._search.begin(query, options.get("mode", "hybrid"))
        grant = await self._gate.read(caller, agent_id, owner_key)
        request = request_for(grant, query, is_reranked=True, **options)
        outcome = await self._search.search(request, rules_for(grant, self._search.rules))
        counted(len(outcome.results))
        self._recalls.note(caller.tenant_id, query, outcome.relevances(), "search")
        return outcome
