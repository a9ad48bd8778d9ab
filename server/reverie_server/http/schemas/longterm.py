"""Models of long-term memory: save, update, keyword search, compaction and backups."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from reverie_indexer.model import Scope
from reverie_server.http.schemas.common import Owner, request_config, response_config
from reverie_server.text.fields import Text

BACKUP = "MEMORY_backup_2026-04-03_02-00-00.md"


class MemoryOwner(Owner):
    """Whose memory. Neither field: the team's."""

    model_config = request_config(owner_key="user:42")


class SaveRequest(Owner):
    """An entry, of at most 5,000 characters. A category that there is not counts as notes."""

    model_config = request_config(content="Prefers tea to coffee.", category="preferences", owner_key="user:42")

    content: Text
    category: Text | None = Field("notes", description="profile, preferences, interests, workflow, projects or notes")


class SaveResult(BaseModel):
    """The section an entry went to, and the first 500 characters of what is stored."""

    model_config = response_config(saved=True, section="Preferences", preview="Prefers tea to coffee.")

    saved: Literal[True] = True
    section: str
    preview: str


class UpdateRequest(Owner):
    """The exact text to replace, which occurs once, and the new one; an empty one deletes."""

    model_config = request_config(old_text="tea to coffee", new_text="coffee to tea", owner_key="user:42")

    old_text: Text
    new_text: Text


class UpdateResult(BaseModel):
    """What an update did. `size_after` is in bytes, `version` the file's."""

    model_config = response_config(replacements=1, size_after=120, version=4, deleted=False)

    replacements: int
    size_after: int
    version: int
    deleted: bool


class KeywordRequest(Owner):
    """Words to look for."""

    model_config = request_config(query="tea coffee", owner_key="user:42", limit=10)

    query: Text
    scope: Scope | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 10


class KeywordHitBody(BaseModel):
    """A line that holds words of the query. `line` is 1-based."""

    path: str
    line: int
    snippet: str
    score: float


class KeywordResponse(BaseModel):
    """The best lines; `total_hits` is how many there are. At most 50 files, five lines of each."""

    model_config = response_config(
        total_hits=1,
        hits=[{"path": "MEMORY.md", "line": 7, "snippet": "- Prefers [[tea]] to [[coffee]].", "score": 2.0}],
    )

    total_hits: int
    hits: list[KeywordHitBody]


class CompactResult(BaseModel):
    """What a compaction did, or in `reason` why it did nothing. Sizes are in bytes; `version` is the file's.

    `fallback` is why a configured model was not used, or what it proposed was refused.
    """

    model_config = response_config(
        compacted=True,
        reason=None,
        method="llm",
        backup=BACKUP,
        size_before=3912,
        size_after=3104,
        version=18,
        fallback=None,
    )

    compacted: bool
    reason: str | None
    method: Literal["llm", "extractive"]
    backup: str | None
    size_before: int
    size_after: int
    version: int
    fallback: str | None


class BackupEntry(BaseModel):
    """A copy of MEMORY.md from before a compaction. `size` is in bytes."""

    name: str
    at: datetime
    size: int


class BackupList(BaseModel):
    """The backups, newest first; five are kept."""

    model_config = response_config(count=1, backups=[{"name": BACKUP, "at": "2026-04-03T02:00:00Z", "size": 3912}])

    count: int
    backups: list[BackupEntry]


class RestoreResult(BaseModel):
    """A backup's text is the memory's again, as a new version. `size_after` is in bytes."""

    model_config = response_config(restored=True, name=BACKUP, size_after=3912, version=19)

    restored: Literal[True] = True
    name: str
    size_after: int
    version: int
