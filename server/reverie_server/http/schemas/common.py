"""Models of agents and files, and the bases of all models. Times are RFC 3339 in UTC; ids are strings."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from reverie_indexer.database.database import ALL_OWNERS
from reverie_indexer.errors import ValidationFailed
from reverie_indexer.file_rules import check_agent_id, check_owner_key
from reverie_indexer.model import Scope
from reverie_server.files.files import Strategy
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.fields import MAX_INT, LineNumber, Text

Body = TypeVar("Body", bound=BaseModel)
_FILE = {
    "path": "memory/2026-04-03.md",
    "scope": "personal",
    "owner_key": "user:42",
    "enabled": False,
    "sort_order": 100,
    "size": 49,
    "version": 3,
    "updated_at": "2026-04-03T09:30:00Z",
}
_VERSION = {
    "version": 3,
    "at": "2026-04-03T09:30:00Z",
    "by": "user",
    "reason": "append",
    "size": 49,
    "deleted": False,
}
_TEXT = "# 2026-04-03\n\nAda moved the review to Thursday."


def request_config(**fields: Any) -> ConfigDict:
    """The configuration of a body: unknown fields and other JSON types rejected, with an example."""
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"example": fields})


def response_config(**fields: Any) -> ConfigDict:
    """The configuration of a response, with an example for the OpenAPI document."""
    return ConfigDict(json_schema_extra={"example": fields})


def response_from(kind: type[Body], source: object, /, **others: Any) -> Body:
    """A response: the fields in `others`, and every other field from the attribute of `source` that has its name.

    AttributeError where `source` lacks an attribute and the field has no default.
    """
    fields = {
        name: getattr(source, name)
        for name, field in kind.model_fields.items()
        if name not in others and (field.is_required() or hasattr(source, name))
    }
    return kind.model_validate({**fields, **others}, from_attributes=True)


class Owner(BaseModel):
    """Whose memory. Neither field: only shared memory is seen."""

    model_config = ConfigDict(extra="forbid")

    owner_key: str | None = Field(
        None, description="`user:<id>`, `<channel>:<sender id>`, `api:<end user id>` or `system`"
    )
    end_user_id: str | None = Field(None, description="Short for owner_key `api:<end_user_id>`")

    def resolved_owner(self) -> str | None:
        """The owner key; ValidationFailed when both fields are given and differ, or it is malformed."""
        if self.end_user_id is None:
            return None if self.owner_key is None else check_owner_key(self.owner_key)
        key = check_owner_key(f"api:{self.end_user_id}")
        if self.owner_key not in (None, key):
            raise ValidationFailed("owner_key and end_user_id name different owners")
        return key


class ScopedOwner(Owner):
    """Whose memory is written. Default scope: personal when an owner is given, else team."""

    model_config = request_config(owner_key="user:42", scope="personal")

    scope: Scope | None = None


class Page(Owner):
    """A page of a list."""

    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: str | None = None


class PlainPage(BaseModel):
    """A page of a list that is nobody's in particular."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: str | None = None


class AgentPut(BaseModel):
    """An agent as it is to be. What is left out is as if it had never been set."""

    model_config = request_config(name="Wren", settings={"language": "german"})

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    leader_agent_id: Annotated[str, AfterValidator(check_agent_id)] | None = None
    settings: AgentSettings = AgentSettings()


class AgentBody(BaseModel):
    """An agent. `settings` are those that it sets itself; the others follow the server's."""

    model_config = response_config(
        agent_id="wren",
        name="Wren",
        leader_agent_id=None,
        settings={"language": "german"},
        created_at="2026-04-03T12:00:00Z",
        updated_at="2026-04-03T12:00:00Z",
    )

    agent_id: str
    name: str
    leader_agent_id: str | None
    settings: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class AgentsQuery(PlainPage):
    """Which agents: whose id or name has a text in it, in any case."""

    q: Annotated[Text, Field(min_length=1, max_length=200)] | None = None


class AgentList(BaseModel):
    """A page of agents."""

    model_config = response_config(agents=[], next_cursor=None)

    agents: list[AgentBody]
    next_cursor: str | None


class InScope(Owner):
    """Which of the files that an owner sees at a path."""

    scope: Scope | None = Field(None, description="The one of this scope; without it the most personal one")


class FileQuery(InScope):
    """Which lines of which file."""

    from_line: LineNumber | None = None
    lines: LineNumber | None = None


class FilesQuery(Page):
    """Which files. `owner_key=*`, for an admin's key that is bound to no owner: everybody's."""

    @property
    def is_everybody(self) -> bool:
        """Whether all owners' files are asked for."""
        return self.owner_key == ALL_OWNERS and self.end_user_id is None

    prefix: Text | None = None


class VersionsQuery(Page):
    """Which versions of which file."""

    scope: Scope | None = None
    diff_to: LineNumber | None = Field(None, description="Add the diff from the present text to this version's")


class FilePut(ScopedOwner):
    """A file's whole content."""

    model_config = request_config(content="# 2026-04-03\n\nAda moved the review to Thursday.\n", owner_key="user:42")

    content: Text
    enabled: bool | None = None
    sort_order: Annotated[int, Field(ge=-MAX_INT, le=MAX_INT)] | None = None


class FilePatch(ScopedOwner):
    """A passage to replace, or whether the file is in prompts and where, or both."""

    model_config = request_config(old_text="on Thursday", new_text="on Friday", owner_key="user:42")

    old_text: Text | None = None
    new_text: Text | None = None
    replace_all: bool = False
    enabled: bool | None = None
    sort_order: Annotated[int, Field(ge=-MAX_INT, le=MAX_INT)] | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if (self.old_text is None) != (self.new_text is None):
            raise ValueError("old_text and new_text go together")
        if self.replace_all and self.old_text is None:
            raise ValueError("replace_all goes with old_text and new_text")
        if self.old_text is None and self.enabled is None and self.sort_order is None:
            raise ValueError("nothing to change: old_text with new_text, enabled or sort_order")
        return self

    @property
    def replacement(self) -> tuple[str, str] | None:
        """The old text and the new; None where only flags change."""
        return None if self.old_text is None or self.new_text is None else (self.old_text, self.new_text)


class FileWrite(ScopedOwner):
    """A write by strategy."""

    model_config = request_config(strategy="append", content="- Ada prefers tea.", owner_key="user:42")

    strategy: Strategy
    content: Text
    section: Text | None = None


class FileSummary(BaseModel):
    """A file in a list. `size` is in bytes."""

    model_config = response_config(**_FILE)

    path: str
    scope: Scope
    owner_key: str | None
    enabled: bool
    sort_order: int
    size: int
    version: int
    updated_at: datetime


class FileList(BaseModel):
    """A page of files; `count` is how many there are in all."""

    model_config = response_config(count=1, files=[_FILE], next_cursor=None)

    count: int
    files: list[FileSummary]
    next_cursor: str | None


class FileContent(FileSummary):
    """A file. With `from_line` or `lines` asked for, `content` is those lines only."""

    model_config = response_config(
        **_FILE,
        content=f"{_TEXT}\n",
        etag='"3"',
        resolved_from="personal",
        from_line=1,
        lines=3,
        total_lines=3,
        created_at="2026-04-03T09:00:00Z",
    )

    content: str
    etag: str
    resolved_from: Literal["personal", "team", "global", "leader"]
    from_line: int
    lines: int
    total_lines: int
    created_at: datetime


class WriteResult(BaseModel):
    """What a write did. `embedded`: every chunk has its vector; if not, it will get one in the background.

    `searchable`: search finds files of this name. Only those in `.md` are searched; others are stored.
    """

    model_config = response_config(
        path="memory/2026-04-03.md",
        created=False,
        overwritten=True,
        enabled=False,
        bytes_written=49,
        version=3,
        chunk_count=1,
        embedded=True,
        searchable=True,
    )

    path: str
    created: bool
    overwritten: bool
    enabled: bool
    bytes_written: int
    version: int
    chunk_count: int
    embedded: bool
    searchable: bool


class PatchResult(BaseModel):
    """How often the passage was replaced, 0 where only flags were set. `size_after` is in bytes."""

    model_config = response_config(replacements=1, size_after=47, version=4)

    replacements: int
    size_after: int
    version: int


class VersionEntry(BaseModel):
    """One version of a file."""

    model_config = response_config(**_VERSION)

    version: int
    at: datetime
    by: str
    reason: str
    size: int
    deleted: bool


class VersionList(BaseModel):
    """A page of a file's history, newest first."""

    model_config = response_config(
        path=_FILE["path"], scope="personal", versions=[_VERSION], diff=None, next_cursor=None
    )

    path: str
    scope: Scope
    versions: list[VersionEntry]
    diff: str | None
    next_cursor: str | None
