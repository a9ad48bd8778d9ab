"""Extraction: what a completed conversation says goes into the files of its owner, once.

A stretch is read in rounds of some messages, oldest first (`extraction_run`). What a round comes to, and that it is
done, is one transaction, which compares all that it was made of with what is there (`extraction_writing`).
"""

from __future__ import annotations

from reverie_indexer.errors import MemoryDisabled, NotFound
from reverie_server.consolidate.extraction_run import Run
from reverie_server.consolidate.extraction_writing import ExtractionTools
from reverie_server.consolidate.model import Outcome, Work


class Extraction:
    """The stage. What it leaves undone it defers."""

    def __init__(self, tools: ExtractionTools) -> None:
        self._tools = tools

    async def run(self, work: Work) -> Outcome:
        """Extract all completed conversations of a slice, or with `session_key` what one has said so far.

        By hand (`trigger` api) also where that does not happen by itself. Raises Conflict when others change what is
        extracted all the time, and what the database raises.
        """
        try:
            grant, place = await self._tools.gate.for_stage(work.tenant_id, work.agent_id, work.owner_key)
        except (NotFound, MemoryDisabled) as error:
            return Outcome("skipped", error.code)
        if grant.reader.leader_agent_id is not None:
            return Outcome("skipped", "memory is read-only for team members")
        if not grant.settings.auto_summarize_enabled and work.trigger != "api":
            return Outcome("skipped", "auto_summarize_enabled is off")
        return await Run(self._tools, grant, place, work).all()
