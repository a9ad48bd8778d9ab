"""Models of provenance: where each line of a memory comes from."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from reverie_indexer.model import Scope, Tier
from reverie_server.http.schemas.common import InScope, response_config
from reverie_server.text.fields import LineNumber

_SOURCE = {
    "kind": "messages",
    "session_id": "web:42",
    "messages": [{"seq": 3, "id": "m-3"}, {"seq": 5, "id": None}],
}


_LINE = {
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
        lines=[_LINE],
    )

    id: str
    tier: Tier
    path: str
    start_line: int
    end_line: int
    lines: list[LineSource]


class FileSourcesQuery(InScope):
    """Which lines of which file."""

    from_line: LineNumber = 1
    lines: Annotated[int, Field(ge=1, le=500)] = 200


class FileLineSource(LineSource):
    """A line of a file. `holds` is false where nothing that it says does any more.

    Then `valid_to` is until when it did, where that is known, and `superseded_by` the fact that took its place.
    """

    holds: bool
    valid_to: datetime | None
    superseded_by: str | None


class FileSources(BaseModel):
    """The lines of a file with their origins; headings and empty lines are left out.

    `line_count` lines were looked at, of `total_lines`.
    """

    model_config = response_config(
        path="MEMORY.md",
        scope="personal",
        owner_key="user:42",
        version=3,
        from_line=1,
        line_count=7,
        total_lines=7,
        lines=[{**_LINE, "holds": True, "valid_to": None, "superseded_by": None}],
    )

    path: str
    scope: Scope
    owner_key: str | None
    version: int
    from_line: int
    line_count: int
    total_lines: int
    lines: list[FileLineSource]
