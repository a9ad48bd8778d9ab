"""Extraction: what a completed conversation says goes into the files of its owner, once.

Messages are read in rounds, oldest first (`run`). The results of a round and its mark are written in one transaction,
which first compares the inputs of the round with the database (`write`).
"""

from __future__ import annotations

from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.extraction.run import Run
from reverie_server.extraction.write import ExtractionDependencies
from reverie_server.jobs.model import Outcome, Work


class Extraction:
    """The stage `extraction`. It defers the work that a run does not reach."""

    def __init__(self, dependencies: ExtractionDependencies) -> None:
        self._dependencies = dependencies

    async def run(self, work: Work, grant: Grant, place: Place) -> Outcome:
        """Extract all completed conversations of a slice, or with `session_key` what one has said so far.

        Raises Conflict when others change what is extracted all the time, and what the database raises.
        """
        await self._dependencies.first(grant, place)
        return await Run(self._dependencies, grant, place, work).run()
