"""Models of forgetting, its receipts, and requests to forget for which nothing was found."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from reverie_indexer.model import Scope
from reverie_server.forgettable import ForgetTier
from reverie_server.forgetting.receipts import StoredReceipt, receipt_name
from reverie_server.forgetting.selection import MAX_ITEMS, Target
from reverie_server.forgetting.unmet import UnmetRequest, request_name
from reverie_server.http.schemas.common import Owner, request_config, response_config
from reverie_server.text.fields import Text

_ITEM = {
    "id": "1024-5f0c2be1a94d7730e1b2c3d4.1",
    "tier": "document",
    "path": "memory/2026-04-03.md",
    "text": "Ada moved the review to Thursday.",
    "present": True,
    "versions": 3,
}
_REMOVED = {"files": 1, "passages": 1, "versions": 3, "backups": 0}

_STORED = {
    "id": "rcp-12",
    "at": "2026-04-03T09:30:00Z",
    "by": "user",
    "kind": "items",
    "statements": 1,
    "removed": {"document": _REMOVED},
    "places": [{"tier": "document", "path": "memory/2026-04-03.md", "count": 3}],
    "embeddings": 1,
    "tombstones": 1,
    "scope": "personal",
    "owner_key": "user:42",
}
_UNMET = {
    "id": "ask-3",
    "asked_at": "2026-04-03T09:30:00Z",
    "session_id": "telegram:17",
    "seq": 12,
    "message_id": None,
    "owner_key": "user:42",
}


class Forget(Owner):
    """What to forget: one of `query`, `id` (of one passage), `text`, `entity_id` and `session_id`, or `items`.

    A query only ever lists statements; removing what it found takes `dry_run: false` with `items`.
    """

    model_config = request_config(text="Ada moved the review to Thursday.", owner_key="user:42", dry_run=False)

    query: Text | None = None
    id: Text | None = None
    text: Text | None = None
    entity_id: Text | None = None
    session_id: Text | None = None
    items: Annotated[list[Text], Field(min_length=1, max_length=MAX_ITEMS)] | None = Field(
        None, description="Ids of items that a dry run listed"
    )
    dry_run: bool = Field(True, description="Only say what would be removed")

    def target(self) -> Target:
        """What is meant."""
        return Target(self.query, self.id, self.text, self.entity_id, self.session_id, self.items)


class ForgottenItem(BaseModel):
    """One text in one file: whether the file holds it now, and how many of its versions do, now or before.

    Of the tier `message`, in one session: how many of its messages hold it. `text` is exactly what goes.
    """

    id: str
    tier: ForgetTier
    path: str
    text: str
    present: bool
    versions: int


class Removed(BaseModel):
    """Counts of one tier. Of `message`, `files` are sessions and `versions` messages; of `episodic`, `fact` and
    `report`, `files` are those that were made again, changed or removed."""

    files: int
    passages: int
    versions: int
    backups: int


class Receipt(BaseModel):
    """What would be, or was, removed where. Files named in `still_shared` hold it too and were not touched."""

    model_config = response_config(
        dry_run=False,
        items=[_ITEM],
        removed={"document": _REMOVED},
        embeddings=1,
        tombstones=1,
        still_shared=[],
        receipt_id="rcp-12",
    )

    dry_run: bool
    items: list[ForgottenItem]
    removed: dict[ForgetTier, Removed]
    embeddings: int
    tombstones: int
    still_shared: list[str]
    receipt_id: str | None


class ReceiptPlace(BaseModel):
    """Where something was forgotten: how often. The path is empty where it would tell."""

    tier: str
    path: str
    count: int


class StoredReceiptBody(BaseModel):
    """What was forgotten when, by whom, from where and how many; never the text. `kind`: how it was meant."""

    model_config = response_config(**_STORED)

    id: str
    at: datetime
    by: str
    kind: Literal["items", "id", "text", "entity", "session", "said"]
    statements: int
    removed: dict[str, Removed]
    places: list[ReceiptPlace]
    embeddings: int
    tombstones: int
    scope: Scope
    owner_key: str | None


class ReceiptList(BaseModel):
    """A page of receipts, newest first."""

    model_config = response_config(receipts=[_STORED], next_cursor=None)

    receipts: list[StoredReceiptBody]
    next_cursor: str | None


def stored_receipt(receipt: StoredReceipt) -> StoredReceiptBody:
    """A receipt as a response model."""
    return StoredReceiptBody.model_validate({**asdict(receipt), "id": receipt_name(receipt.receipt_id)}, strict=False)


class UnmetRequestBody(BaseModel):
    """A message that asks to forget something for which nothing was found: by its session and its number there."""

    model_config = response_config(**_UNMET)

    id: str
    asked_at: datetime
    session_id: str
    seq: int
    message_id: str | None
    owner_key: str | None


class UnmetRequestList(BaseModel):
    """A page of such requests, newest first."""

    model_config = response_config(requests=[_UNMET], next_cursor=None)

    requests: list[UnmetRequestBody]
    next_cursor: str | None


def unmet_request(request: UnmetRequest) -> UnmetRequestBody:
    """A request as a response model."""
    return UnmetRequestBody.model_validate({**asdict(request), "id": request_name(request.request_id)}, strict=False)
