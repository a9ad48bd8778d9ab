"""Models of the deletion of a person's memory."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from reverie_server.browse.people import Person
from reverie_server.forgetting.owners import OwnerReceipt
from reverie_server.http.schemas.common import PlainPage, response_config, response_from
from reverie_server.jobs.scheduled_backups import Standing
from reverie_server.text.fields import Text

_COUNTS = {
    "files": 5,
    "sessions": 2,
    "messages": 41,
    "episodes": 3,
    "facts": 4,
    "entities": 7,
    "relations": 6,
    "reports": 1,
}

_TIERS = {"document": 5, "message": 41, "episodic": 3, "fact": 4}
_OWNER = {"owner_key": "user:42", "updated_at": "2026-04-03T09:30:07Z", "sessions": 2, "counts": _TIERS}

_SUMMARY = {
    "files": 5,
    "sessions": 2,
    "messages": 41,
    "episodes": 3,
    "entities": 7,
    "facts": 4,
    "trusted": 1,
    "doubted": 0,
    "old": 0,
    "contradictions": 1,
    "duplicates": 0,
    "unmet_requests": 0,
    "card": 2,
    "failed_jobs": 0,
    "open_jobs": 1,
    "language_model": "llama-3.1-8b-instruct",
    "model_paused": False,
    "embedder": "ready",
    "database": "ok",
    "backup": "ok",
}


class OwnersQuery(PlainPage):
    """Which owners: whose key has a text in it, in any case."""

    q: Annotated[Text, Field(min_length=1, max_length=200)] | None = None


class TierCounts(BaseModel):
    """How many files, messages, episodes and facts that hold."""

    model_config = response_config(**_TIERS)

    document: int
    message: int
    episodic: int
    fact: int


class ListedOwner(BaseModel):
    """An owner of whom an agent has anything. `updated_at`: when a file or a conversation last changed."""

    model_config = response_config(**_OWNER)

    owner_key: str
    updated_at: datetime
    sessions: int
    counts: TierCounts


class OwnerList(BaseModel):
    """A page of owners, the one whose memory changed last first."""

    model_config = response_config(owners=[_OWNER], next_cursor=None)

    owners: list[ListedOwner]
    next_cursor: str | None


class SummaryBody(BaseModel):
    """Counts of what an owner and all share have with an agent, and how the server is.

    `facts` hold now: `trusted` have more trust than they began with, `doubted` less than half of that, `old` were said
    or confirmed half a year ago. `contradictions` and `duplicates` wait for a decision, and so do `unmet_requests` to
    forget, for which nothing was found. `card`: how many new entries of MEMORY.md the owner has not seen.
    `language_model` is its name, null without one; `model_paused`: it fails. `backup`: how the backups by the clock
    stand (`none`: the first is not made yet), null where none are to be made.
    """

    model_config = response_config(**_SUMMARY)

    files: int
    sessions: int
    messages: int
    episodes: int
    entities: int
    facts: int
    trusted: int
    doubted: int
    old: int
    contradictions: int
    duplicates: int
    unmet_requests: int
    card: int
    failed_jobs: int
    open_jobs: int
    language_model: str | None
    model_paused: bool
    embedder: str
    database: Literal["ok", "degraded"]
    backup: Standing | None


class OwnerDelete(BaseModel):
    """Whether only to say what would be removed."""

    model_config = ConfigDict(extra="forbid")

    dry_run: bool = True


class OwnerCounts(BaseModel):
    """How many things of each kind."""

    model_config = response_config(**_COUNTS)

    files: int
    sessions: int
    messages: int
    episodes: int
    facts: int
    entities: int
    relations: int
    reports: int


class OwnerHomeBody(OwnerCounts):
    """What one agent has of a person."""

    model_config = response_config(agent_id="wren", **_COUNTS)

    agent_id: str


class OwnerDeleted(BaseModel):
    """What of a person was, or with `dry_run` would be, removed, by agent and in all; `keys` that were bound to them.

    `receipt_id` is the `request_id` by which the audit tells of it.
    """

    model_config = response_config(
        owner_key="user:42",
        dry_run=True,
        removed=_COUNTS,
        keys=1,
        agents=[{"agent_id": "wren", **_COUNTS}],
        receipt_id="9f1c0a7be2d34c55",
    )

    owner_key: str
    dry_run: bool
    removed: OwnerCounts
    keys: int
    agents: list[OwnerHomeBody]
    receipt_id: str | None


def owner_deleted(receipt: OwnerReceipt, receipt_id: str | None) -> OwnerDeleted:
    """A receipt as a response model."""
    return OwnerDeleted(
        owner_key=receipt.owner_key,
        dry_run=receipt.dry_run,
        removed=OwnerCounts(**receipt.removed),
        keys=receipt.keys,
        agents=[response_from(OwnerHomeBody, home) for home in receipt.agents],
        receipt_id=receipt_id,
    )


def listed_owner(person: Person) -> ListedOwner:
    """An owner as a response model."""
    return response_from(ListedOwner, person, counts=response_from(TierCounts, person))
