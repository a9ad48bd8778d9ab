"""Extraction: what a completed conversation says goes into the files of its owner, once.

A stretch is read in rounds of some messages, oldest first (`extraction_run`). What a round comes to, and that it is
done, is one transaction, which compares all that it was made of with what is there (`extraction_writing`).
"""

from __future__ import annotations

from reverie_server.extraction.run import Run
from reverie_server.extraction.write import ExtractionTools
from reverie_server.jobs.model import Outcome, Work
from reverie_server.jobs.stage_guard import permitted


class Extraction:
    """The stage. What it leaves undone it defers."""

    def __init__(self, tools: ExtractionTools) -> None:
        self._tools = tools

    async def run(self, work: Work) -> Outcome:
        """Extract all completed conversations of a slice, or with `session_key` what one has said so far.

        By hand (`trigger` api) also where that does not happen by itself. Raises Conflict when others change what is
        extracted all the time, and what the database raises.
        """
        allowed = await permitted(self._tools.gate, work, "auto_summarize_enabled", is_asked=work.trigger == "api")
        if isinstance(allowed, Outcome):
            return allowed
        grant, place = allowed
        return await Run(self._tools, grant, place, work).all()
