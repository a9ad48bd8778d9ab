"""The first half of every stage's frame: checks whether the stage may work on a slice, before it reads the slice.

The other half is the runner's (`jobs/runner`): the time limit, the attempts, the record of the outcome.
"""

from __future__ import annotations

from typing import Literal, Protocol

from reverie_indexer.errors import MemoryDisabled, NotFound
from reverie_indexer.model import Place
from reverie_server.access.gate import Gate, Grant
from reverie_server.jobs.model import Outcome, Work

Switch = Literal["consolidation_enabled", "auto_summarize_enabled", "emergence_enabled", "compaction_enabled"]


class Stage(Protocol):
    """A stage of consolidation, over a slice that it may work on."""

    async def run(self, work: Work, grant: Grant, place: Place) -> Outcome:
        """Run a piece of work to its end.

        The same work may run twice, even at the same time: a run writes in one transaction that checks whether another
        one was faster. Raises ReverieError for a failure that may pass; the work is then run again later.
        """


class GuardedStage:
    """A stage that runs only where the slice's agent exists, remembers for itself, and has the stage switched on.

    `switch` is the agent's setting that turns the stage off. With `by_hand_anyway` a run that a person asked for
    (`trigger` api) does not depend on it.
    """

    def __init__(self, gate: Gate, stage: Stage, switch: Switch, *, by_hand_anyway: bool = False) -> None:
        self._gate = gate
        self._stage = stage
        self._switch = switch
        self._by_hand_anyway = by_hand_anyway

    async def run(self, work: Work) -> Outcome:
        """The outcome of the stage, or a skipped one with the reason. Raises what the stage raises."""
        try:
            grant, place = await self._gate.for_stage(work.tenant_id, work.agent_id, work.owner_key)
        except NotFound:
            return Outcome("skipped", "the agent is gone")
        except MemoryDisabled:
            return Outcome("skipped", "the memory of the agent is switched off")
        if grant.principal.leader_agent_id is not None:
            return Outcome("skipped", "memory is read-only for team members")
        is_by_hand = self._by_hand_anyway and work.trigger == "api"
        if not is_by_hand and not getattr(grant.settings, self._switch):
            return Outcome("skipped", f"{self._switch} is off")
        return await self._stage.run(work, grant, place)
