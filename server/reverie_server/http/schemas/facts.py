"""Models of facts and contradictions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from reverie_indexer.model import Scope
from reverie_server.facts.lines import MAX_TEXT_CHARS
from reverie_server.facts.model import Contradiction, ContradictionState, Fact, FactState, Kept, Vote, public_id
from reverie_server.facts.view import FactFilter
from reverie_server.heuristics.stated_fact import Category
from reverie_server.http.schemas.common import Owner, Page, request_config, response_config, response_from
from reverie_server.text.fields import Instant, Text

_FACT = {
    "id": "fact-7",
    "subject": "user",
    "predicate": "lives_in",
    "object": "Bergen",
    "text": "I live in Bergen now.",
    "category": "profile",
    "confidence": 0.8,
    "trust": 0.5,
    "helpful": 0,
    "unhelpful": 0,
    "use_count": 2,
    "last_used_at": "2026-04-03T10:12:05Z",
    "last_confirmed_at": None,
    "confirmed_by": None,
    "said_at": "2026-04-01T09:00:00Z",
    "valid_from": "2026-04-01T09:00:00Z",
    "valid_to": None,
    "superseded_by": None,
    "state": "current",
    "scope": "personal",
    "owner_key": "user:42",
    "source": {"session_id": "web:7", "message_ids": ["m-12"], "messages": [12]},
    "method": "extractive",
    "prompt": None,
    "prompt_version": None,
    "model": None,
}
_CONTRADICTION = {
    "id": "con-3",
    "fact_a": _FACT,
    "fact_b": {**_FACT, "id": "fact-9", "object": "Oslo", "text": "I live in Oslo."},
    "description": 'user: "Bergen" vs "Oslo"',
    "state": "open",
    "keep": None,
    "found_at": "2026-04-03T10:12:05Z",
    "resolved_at": None,
    "by": None,
}


class FactsQuery(Page):
    """Which facts: of whom, with which words, of which kind, how trusted, valid when."""

    q: Annotated[str, Field(max_length=8000)] | None = Field(None, description="Words that a fact has, all of them")
    category: Category | None = None
    min_trust: Annotated[float, Field(ge=0, le=1)] | None = None
    as_of: Instant | None = Field(None, description="Facts that held then; RFC 3339")
    state: FactState | None = None

    def filter(self) -> FactFilter:
        """The query without owner and page."""
        return FactFilter(self.q, self.category, self.min_trust, self.as_of, self.state)


class FactFeedback(Owner):
    """Whether a fact was of use; `none` takes the vote back."""

    model_config = request_config(kind="helpful", turn_id="web:7#12", owner_key="user:42")

    kind: Vote
    turn_id: Annotated[str, Field(min_length=1, max_length=100)] | None = None


class FactOwner(Owner):
    """Whose fact."""

    model_config = request_config(owner_key="user:42")


class FactEdit(Owner):
    """The new words of a fact."""

    model_config = request_config(text="I live in Oslo since May.", owner_key="user:42")

    text: Annotated[Text, Field(max_length=MAX_TEXT_CHARS)]


class ContradictionsQuery(Page):
    """Which contradictions."""

    state: ContradictionState | Literal["all"] = "open"


class ContradictionResolve(Owner):
    """Which of the two holds; `merge` needs the text that takes the place of both, `ignore` lets both stand."""

    model_config = request_config(keep="a", owner_key="user:42")

    keep: Kept
    text: Annotated[Text, Field(max_length=MAX_TEXT_CHARS)] | None = None


class FactBody(BaseModel):
    """A fact. `valid_to` is null while it holds; `superseded_by` is the fact that took its place.

    `source` is its newest one: `path` with lines, or `session_id` with the caller's ids of messages and their numbers.
    """

    model_config = response_config(**_FACT)

    id: str
    subject: str
    predicate: str
    object: str
    text: str
    category: Category
    confidence: float
    trust: float
    helpful: int
    unhelpful: int
    use_count: int
    last_used_at: datetime | None
    last_confirmed_at: datetime | None
    confirmed_by: str | None
    said_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    superseded_by: str | None
    state: FactState
    scope: Scope
    owner_key: str | None
    source: dict[str, Any]
    method: Literal["llm", "extractive"]
    prompt: str | None
    prompt_version: str | None
    model: str | None


class FactChain(BaseModel):
    """A fact, and with it those that took each other's place, the one that held first first."""

    model_config = response_config(fact=_FACT, chain=[_FACT])

    fact: FactBody
    chain: list[FactBody]


class FactList(BaseModel):
    """A page of facts, the most trusted first."""

    model_config = response_config(facts=[_FACT], next_cursor=None)

    facts: list[FactBody]
    next_cursor: str | None


class ContradictionBody(BaseModel):
    """Two facts that cannot both hold. While it is open both stand; `by` decided it, and kept which."""

    model_config = response_config(**_CONTRADICTION)

    id: str
    fact_a: FactBody
    fact_b: FactBody
    description: str
    state: ContradictionState
    keep: Kept | None
    found_at: datetime
    resolved_at: datetime | None
    by: str | None


class ContradictionList(BaseModel):
    """A page of contradictions, the newest first."""

    model_config = response_config(contradictions=[_CONTRADICTION], next_cursor=None)

    contradictions: list[ContradictionBody]
    next_cursor: str | None


def fact_body(fact: Fact) -> FactBody:
    """A fact as it is answered."""
    successor = None if fact.superseded_by is None else public_id("fact", fact.superseded_by)
    return response_from(FactBody, fact, id=public_id("fact", fact.fact_id), superseded_by=successor)


def contradiction_body(contradiction: Contradiction) -> ContradictionBody:
    """A contradiction as it is answered."""
    return response_from(
        ContradictionBody,
        contradiction,
        id=public_id("contradiction", contradiction.contradiction_id),
        fact_a=fact_body(contradiction.fact_a),
        fact_b=fact_body(contradiction.fact_b),
        keep=contradiction.kept,
        by=contradiction.resolved_by,
    )
