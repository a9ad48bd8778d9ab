"""Taking texts out of reports, and clearing reports. Every function works inside the caller's transaction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.model import Place
from reverie_server.forgettable import Findings, Forgettable, Forgotten, Item, Removed, Selection
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.redact import INVISIBLE, Targets, anchor_of

SQL = Queries(__file__)
_JSON = ("seen", "promoted", "rejected")
_PLAIN = ("topic", "reason", "diff")


@dataclass(frozen=True, slots=True)
class Held:
    """How many reports hold one of the texts, and how many hold each."""

    reports: int = 0
    texts: Counter[str] = field(default_factory=Counter)


class ForgettableReports(Forgettable):
    """The reports of nights. What they tell of files is as old as they are: they are cleared with files."""

    tables = frozenset({"reports"})
    cleared_with = "document"

    async def survey(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
    ) -> Findings:
        """The reports that hold one of the texts."""
        return _findings(await survey(connection, tenant_id, slice_ids, forgotten.texts))

    async def erase(
        self, connection: Connection, place: Place, slice_: Slice, forgotten: Forgotten, settings: AgentSettings
    ) -> Findings:
        """Rewrite the reports without the texts."""
        return _findings(await take_out(connection, place.tenant_id, slice_.slice_id, forgotten.texts))

    async def clear(
        self, connection: Connection, place: Place, slice_: Slice, selection: Selection, *, dry_run: bool
    ) -> int:
        """Remove reports by their age, unless the selection has a path; 0, since reports are no files."""
        if not selection.path_prefix:
            await clear(
                connection,
                place.tenant_id,
                slice_.slice_id,
                older_than_days=selection.older_than_days,
                dry_run=dry_run,
            )
        return 0


def _findings(held: Held) -> Findings:
    items = [Item("report", "reports", text, True, count) for text, count in sorted(held.texts.items())]
    return Findings("report", items, Removed(held.reports, 0, 0, 0) if held.reports else None)


async def survey(connection: Connection, tenant_id: str, slice_ids: Sequence[int], texts: Sequence[str]) -> Held:
    """What reports of some slices hold of the texts."""
    return _held([held for _, held in await _holding(connection, tenant_id, slice_ids, texts)])


async def take_out(connection: Connection, tenant_id: str, slice_id: int, texts: Sequence[str]) -> Held:
    """Take the texts out of the reports of a slice. A candidate of which nothing is left goes, of a diff its lines."""
    found = await _holding(connection, tenant_id, [slice_id], texts)
    for row, _ in found:
        params: dict[str, Any] = {
            "tenant_id": tenant_id,
            "report_id": row["report_id"],
            "topic": None if row["topic"] is None else _without(row["topic"], texts),
            "reason": _without(row["reason"], texts),
            "diff": _without(row["diff"], texts, by_line=True),
        }
        for name in _JSON:
            told = _told(row[name], lambda text: _without(text, texts))
            params[name] = Jsonb([one for one in told if one.get("text")] if isinstance(told, list) else told)
        await connection.execute(SQL["rewrite"], params)
    return _held([held for _, held in found])


async def clear(
    connection: Connection, tenant_id: str, slice_id: int, *, older_than_days: int | None, dry_run: bool
) -> int:
    """Remove the reports of a slice, or those older than so many days; how many there were."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "older_than_days": older_than_days}
    rows = await (await connection.execute(SQL["clearable"], params)).fetchall()
    if rows and not dry_run:
        await connection.execute(SQL["drop"], {**params, "report_ids": [row["report_id"] for row in rows]})
    return len(rows)


def _held(found: Sequence[Sequence[str]]) -> Held:
    return Held(len(found), Counter(text for texts in found for text in texts))


async def _holding(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], texts: Sequence[str]
) -> list[tuple[DictRow, list[str]]]:
    """The reports that hold one of the texts, each with those that it holds."""
    params = {
        "tenant_id": tenant_id,
        "slice_ids": list(slice_ids),
        # What stands in JSON has its quotation marks escaped.
        "anchors": [form for text in texts for form in _forms(anchor_of(text))],
        "invisible": INVISIBLE,
    }
    targets = Targets(texts)
    found = []
    for row in await (await connection.execute(SQL["holding"], params)).fetchall():
        parts = [row[name] for name in _PLAIN if row[name]] + [part for name in _JSON for part in _strings(row[name])]
        if held := targets.found_in(*parts):
            found.append((row, held))
    return found


def _forms(word: str) -> set[str]:
    return {word, json.dumps(word, ensure_ascii=False)[1:-1]}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def _told(value: Any, told: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return told(value)
    if isinstance(value, Mapping):
        return {name: _told(part, told) for name, part in value.items()}
    return [_told(part, told) for part in value] if isinstance(value, list) else value


def _without(text: str, texts: Sequence[str], *, by_line: bool = False) -> str:
    return Targets(texts).erase_from(text, by_line=by_line).text
