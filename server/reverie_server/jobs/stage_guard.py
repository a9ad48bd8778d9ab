"""Whether a stage may work on a slice at all: its agent is there, remembers for itself, and lets it."""

from __future__ import annotations

from typing import Literal

from reverie_indexer.errors import MemoryDisabled, NotFound
from reverie_indexer.model import Place
from reverie_server.access.gate import Gate, Grant
from reverie_server.jobs.model import Outcome, Work

Switch = Literal["consolidation_enabled", "auto_summarize_enabled", "emergence_enabled", "compaction_enabled"]


async def permitted(gate: Gate, work: Work, switch: Switch, *, is_asked: bool = False) -> tuple[Grant, Place] | Outcome:
    """What the stage may do, and the place of its slice; or why there is nothing to be done.

    `switch` is the agent's setting that turns the stage off; `is_asked` says that a person asked for this run, which
    then does not matter.
    """
    try:
        grant, place = await gate.for_stage(work.tenant_id, work.agent_id, work.owner_key)
    except NotFound:
        return Outcome("skipped", "the agent is gone")
    except MemoryDisabled:
        return Outcome("skipped", "the memory of the agent is switched off")
    if grant.principal.leader_agent_id is not None:
        return Outcome("skipped", "memory is read-only for team members")
    if not is_asked and not getattr(grant.settings, switch):
        return Outcome("skipped", f"{switch} is off")
    return grant, place
