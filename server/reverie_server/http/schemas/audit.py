"""Models of the audit."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from reverie_server.access.audit import Action, AuditRow, Outcome
from reverie_server.http.schemas.common import Page, response_config, response_from
from reverie_server.text.fields import Instant

_ENTRY = {
    "id": "1204",
    "at": "2026-04-03T09:30:00Z",
    "action": "read",
    "outcome": "ok",
    "key_id": "3f9c2a71b04de586",
    "key_name": "shop",
    "agent_id": "wren",
    "owner_key": "user:42",
    "count": 6,
    "requests": 1,
    "request_id": "9f1c0a7be2d34c55",
}


class AuditQuery(Page):
    """Of whom, since when, and which kind; newest first."""

    since: Instant | None = Field(None, description="RFC 3339 with an offset")
    action: Action | None = None


class AuditEntry(BaseModel):
    """Who did what, when, by which key; `count` of how many things, in `requests` requests. Never a text.

    Without a key it was `system`, which works by itself, or, with no name either, whoever runs the server or asks one
    that is open. `owner_key` `*` stands for all owners.
    """

    model_config = response_config(**_ENTRY)

    id: str
    at: datetime
    action: Action
    outcome: Outcome
    key_id: str | None
    key_name: str | None
    agent_id: str | None
    owner_key: str | None
    count: int
    requests: int
    request_id: str | None


class AuditList(BaseModel):
    """A page of the audit, newest first."""

    model_config = response_config(entries=[_ENTRY], next_cursor=None)

    entries: list[AuditEntry]
    next_cursor: str | None


def audit_entry(row: AuditRow) -> AuditEntry:
    """An entry as a response model."""
    return response_from(AuditEntry, row, id=str(row.audit_id))
