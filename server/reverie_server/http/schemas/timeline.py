"""Models of the timeline."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from reverie_server.browse.timeline import TimelineKind
from reverie_server.http.schemas.common import Page, response_config
from reverie_server.text.fields import Instant

_ENTRY: dict[str, Any] = {
    "kind": "night",
    "id": "5f2c9a01d4b7e683",
    "at": "2026-04-03T02:00:00Z",
    "text": "2 of 9 candidates were promoted",
    "amount": 2,
    "status": "success",
    "session_id": None,
}
_DAY: dict[str, Any] = {"day": "2026-04-03", "counts": {"night": 1}, "entries": [_ENTRY]}


class TimelineQuery(Page):
    """Which days: since a time, up to a day, and of which kind of events."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20
    kind: TimelineKind | None = None
    since: Instant | None = Field(None, description="RFC 3339 with an offset")
    until: date | None = Field(None, description="The last day, in the agent's time zone")
    entries: bool = Field(True, description="Whether to say what happened, or only how much")


class TimelineEntryBody(BaseModel):
    """Something that happened; `id` is that of the conversation, episode, report, fact or receipt.

    `amount`: a conversation's messages of the day, an episode's messages, what a night promoted, how many texts were
    forgotten. `text` is cut after 240 characters, and "" for what was forgotten. `status`: a night's outcome, a fact's
    state, an episode's method, a receipt's kind.
    """

    model_config = response_config(**_ENTRY)

    kind: TimelineKind
    id: str
    at: datetime
    text: str
    amount: int
    status: str | None
    session_id: str | None


class DayBody(BaseModel):
    """A day on which something happened, in the agent's time zone: how much by kind, and `messages`.

    `entries` are by time, at most twelve of a kind.
    """

    model_config = response_config(**_DAY)

    day: date
    counts: dict[str, int]
    entries: list[TimelineEntryBody]


class TimelineBody(BaseModel):
    """A page of days, the newest first, as they are in a time zone."""

    model_config = response_config(days=[_DAY], time_zone="Europe/Berlin", next_cursor=None)

    days: list[DayBody]
    time_zone: str
    next_cursor: str | None
