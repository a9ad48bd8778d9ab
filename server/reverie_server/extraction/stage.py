"""Extraction: what a completed conversation says goes into the files of its owner, once.

A stretch is read in rounds of some messages, oldest first (`run`). What a round comes to, and that it is
done, is one transaction, which compares all that it was made of with what is there (`write`).
"""

from __future__ import annotations

from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.extraction.run import Run
from reverie_server.extraction.write import ExtractionDependencies
from reverie_server.jobs.model import Outcome, Work


class Extraction:
    """The stage. What it leaves undone it defers."""

    def __init__(self, dependencies: ExtractionDependencies) -> None:
        self._dependencies = dependencies

    async def run(self, work: Work, grant: Grant, place: Place) -> Outcome:
        """Extract all completed conversations of a slice, or with `session_key` what one has said so far.

        Raises Conflict when others change what is extracted all the time, and what the database raises.
        """
        return await Run(self._dependencies, grant, place, work).all()
