"""Models of provenance: where each line of a memory comes from."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from reverie_indexer.model import Tier
from reverie_server.http.schemas.common import response_config

_SOURCE = {
    "kind": "messages",
    "session_id": "web:42",
    "messages": [{"seq": 3, "id": "m-3"}, {"seq": 5, "id": None}],
}


class LineSource(BaseModel):
    """A line and where it comes from. `at` is when it was recorded, or said."""

    line: int
    text: str
    written_by: str = Field(
        description="person (or an application acting for one), a stage of the background work such as extraction, "
        "or of a message its role"
    )
    method: Literal["llm", "extractive"] | None = Field(description="null for what nobody derived")
    prompt: str | None
    prompt_version: str | None
    model: str | None
    at: datetime | None
    sources: list[dict[str, Any]] = Field(
        description="messages of a session by number and the caller's id, lines of a file, an episode, or a fact"
    )


class MemorySources(BaseModel):
    """What a memory is made of, line by line; headings are left out. The lines of a message are its number."""

    model_config = response_config(
        id="1204",
        tier="document",
        path="MEMORY.md",
        start_line=5,
        end_line=5,
        lines=[
            {
                "line": 5,
                "text": "- Prefers tea to coffee.",
                "written_by": "extraction",
                "method": "llm",
                "prompt": "extraction",
                "prompt_version": "1",
                "model": "a-model",
                "at": "2026-04-03T09:30:00Z",
                "sources": [_SOURCE],
            }
        ],
    )

    id: str
    tier: Tier
    path: str
    start_line: int
    end_line: int
    lines: list[LineSource]
