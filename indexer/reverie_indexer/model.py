"""The values that pass between the stages of the pipeline. Frozen, without behaviour, without I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Scope = Literal["personal", "team", "global"]
Tier = Literal["document", "episodic", "message", "fact"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """One searchable passage of a source text.

    `text` is `source[char_start:char_end]`, as written. Lines are 1-based and inclusive; characters are
    code points, half-open. `ordinal` counts from 0 in source order. `heading_path` holds the headings above
    the passage, outermost first, its own heading included.
    """

    ordinal: int
    text: str
    start_line: int
    end_line: int
    char_start: int
    char_end: int
    heading_path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """The identity of a model: only vectors of equal identities may be compared."""

    provider: str
    name: str
    revision: str
    dimension: int
    normalised: bool

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}@{self.revision} ({self.dimension}-d)"


@dataclass(frozen=True, slots=True)
class Place:
    """The target of a write: a tenant's agent, and there one person's memory or everybody's.

    `owner_key` is set exactly when `scope` is personal. `agent_id` is set for global too: the agent through
    which it is written, which may have to be created.
    """

    tenant_id: str
    agent_id: str
    scope: Scope
    owner_key: str | None = None


def embedded_text(context: str, text: str) -> str:
    """The text that a model embeds for a passage: its context line, a line feed, and the text as written."""
    return f"{context}\n{text}" if context else text


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as the index takes it.

    `context` is the line of headings that is embedded and analysed before the text. `sha256` is over all that
    decides vector and terms. `terms` counts the analysed terms; `term_count` is their sum, BM25's length. Where not
    `is_analysed` there are none: the index has the passage already, with its terms.
    """

    chunk: Chunk
    context: str
    sha256: bytes
    terms: Mapping[str, int]
    term_count: int
    is_analysed: bool = True

    @property
    def text(self) -> str:
        """The text that the model embeds."""
        return embedded_text(self.context, self.chunk.text)


@dataclass(frozen=True, slots=True)
class Document:
    """A file as it stands, without its content. `size` is in bytes of UTF-8."""

    document_id: int
    slice_id: int
    path: str
    scope: Scope
    owner_key: str | None
    enabled: bool
    sort_order: int
    version: int
    size: int
    sha256: bytes
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a write.

    `reused` chunks stayed as they were. `embedded` is whether every chunk has its vector; if not, the back-fill will
    see to it.
    """

    path: str
    created: bool
    overwritten: bool
    enabled: bool
    bytes_written: int
    version: int
    chunk_count: int
    reused: int
    embedded: bool


@dataclass(frozen=True, slots=True)
class Flags:
    """The `enabled` and `sort_order` a new file starts with."""

    enabled: bool
    sort_order: int
