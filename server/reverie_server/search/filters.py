"""The filters of a search that go by single passages: tags, times, and a path that passages of facts can have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_server.search.request import SearchRequest
from reverie_server.text.front_matter import FRONT_MATTER_MARK, MAX_FRONT_MATTER_CHARS, front_matter_tags

SQL = Queries(__file__)
FACT_PATH = "facts/fact-"
_SPECIAL = re.compile(r"[^\w]")


def filters_passages(request: SearchRequest) -> bool:
    """Whether a filter of a request goes by single passages, or lets passages of facts through. Pure."""
    prefix = request.path_prefix
    reaches_facts = prefix is not None and (FACT_PATH.startswith(prefix) or prefix.startswith(FACT_PATH))
    return bool(request.tags) or request.since is not None or request.until is not None or reaches_facts


def tag_pattern(tag: str) -> str:
    """The pattern, of PostgreSQL, for `#tag` in a text: a whole word; `#a/b` has the tag `a` as well. Pure."""
    literal = _SPECIAL.sub(lambda match: f"\\{match[0]}", tag)
    return rf"(^|[^\w&#/])#{literal}(?![\w-])"


def day_of(instant: datetime, time_zone: str) -> date:
    """The calendar day of an instant in a time zone. Pure."""
    try:
        return instant.astimezone(ZoneInfo(time_zone)).date()
    except OverflowError:
        # The first or the last day of the calendar, pushed out of it by the zone.
        return instant.date()


async def passages_within(
    connection: Connection, request: SearchRequest, slice_ids: Sequence[int], time_zone: str
) -> list[int] | None:
    """The ids of the passages of some slices that pass the filters; None for a request without such a filter."""
    if not filters_passages(request):
        return None
    base: dict[str, Any] = {"tenant_id": request.tenant_id, "slice_ids": list(slice_ids), "as_of": request.as_of}
    tagged: list[tuple[int, str]] = []
    if request.tags:
        params = {**base, "mark": FRONT_MATTER_MARK, "max_chars": MAX_FRONT_MATTER_CHARS}
        rows = await (await connection.execute(SQL["front_matters"], params)).fetchall()
        tagged = [(row["document_id"], tag) for row in rows for tag in sorted(front_matter_tags(row["content"]))]
    params = {
        **base,
        "path_prefix": request.path_prefix,
        "tags": list(request.tags),
        "patterns": [tag_pattern(tag) for tag in request.tags],
        "tagged_documents": [document_id for document_id, _ in tagged],
        "document_tags": [tag for _, tag in tagged],
        "since": request.since,
        "until": request.until,
        "since_day": None if request.since is None else day_of(request.since, time_zone),
        "until_day": None if request.until is None else day_of(request.until, time_zone),
    }
    row = await (await connection.execute(SQL["passages_within"], params)).fetchone()
    return [] if row is None else list(row["chunk_ids"])
