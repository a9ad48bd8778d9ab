"""Models of events."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel

from reverie_server.browse.events import StreamedKind
from reverie_server.http.schemas.common import response_config

_TURN = {"kind": "context", "session_id": "web:7", "outcome": "injected", "tokens": 61}


class EventBody(BaseModel):
    """Something that happened. `turn` and `report` name theirs by `id`; `jobs` are the counts as they are now.

    Never a text of a memory: whoever wants that asks for the turn or the report.
    """

    model_config = response_config(kind="turn", id="5f2c9a01d4b7e683", at="2026-04-03T09:30:00Z", data=_TURN)

    kind: StreamedKind
    id: str | None
    at: datetime | None
    data: dict[str, Any]
