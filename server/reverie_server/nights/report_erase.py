"""Erases texts from reports, and clears reports. Every function works inside the caller's transaction."""

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
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.heuristics.spoken_sentences import leading_end
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.redact import INVISIBLE, Targets, anchor_of

SQL = Queries(__file__)
_JSON = ("seen", "promoted", "rejected")
_PLAIN = ("topic", "reason", "diff")
# What is shorter, as a gate or the name of a file, is no quotation. A Chinese character has three bytes.
_FEWEST_BYTES = 15
_EDGES = " .!?。！？…"


@dataclass(frozen=True, slots=True)
class MatchingReports:
    """The number of reports that hold one of the texts, and the number of reports that hold each text."""

    reports: int = 0
    texts: Counter[str] = field(default_factory=Counter)


class ForgettableReports(Forgettable):
    """The reports of nights. They quote files, and are cleared together with them."""

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
        return _findings(await erase_texts(connection, place.tenant_id, slice_.slice_id, forgotten.texts))

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


def _findings(matching: MatchingReports) -> Findings:
    items = [Item("report", "reports", text, True, count) for text, count in sorted(matching.texts.items())]
    return Findings("report", items, Removed(matching.reports, 0, 0, 0) if matching.reports else None)


async def survey(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], texts: Sequence[str]
) -> MatchingReports:
    """The reports of some slices that hold the texts."""
    return _counted([report_texts for _, report_texts in await _matching_rows(connection, tenant_id, slice_ids, texts)])


async def erase_texts(connection: Connection, tenant_id: str, slice_id: int, texts: Sequence[str]) -> MatchingReports:
    """Erase the texts from the reports of a slice: whole lines of a diff, and candidates that become empty."""
    found = await _matching_rows(connection, tenant_id, [slice_id], texts)
    sought = _Sought.of(texts)
    for row, _ in found:
        params: dict[str, Any] = {
            "tenant_id": tenant_id,
            "report_id": row["report_id"],
            "topic": None if row["topic"] is None else sought.without(row["topic"]),
            "reason": sought.without(row["reason"]),
            "diff": sought.without(row["diff"], by_line=True),
        }
        for name in _JSON:
            value = _map_strings(row[name], sought.without)
            params[name] = Jsonb([one for one in value if one.get("text")] if isinstance(value, list) else value)
        await connection.execute(SQL["rewrite"], params)
    return _counted([report_texts for _, report_texts in found])


async def clear(
    connection: Connection, tenant_id: str, slice_id: int, *, older_than_days: float | None, dry_run: bool
) -> int:
    """Remove the reports of a slice, with `older_than_days` only older ones; returns their number."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "older_than_days": older_than_days}
    rows = await (await connection.execute(SQL["clearable"], params)).fetchall()
    if rows and not dry_run:
        await connection.execute(SQL["drop"], {**params, "report_ids": [row["report_id"] for row in rows]})
    return len(rows)


def _counted(found: Sequence[Sequence[str]]) -> MatchingReports:
    return MatchingReports(len(found), Counter(text for texts in found for text in texts))


async def _matching_rows(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], texts: Sequence[str]
) -> list[tuple[DictRow, list[str]]]:
    """The reports that hold one of the texts, each with the texts that it holds."""
    sought = _Sought.of(texts)
    params = {
        "tenant_id": tenant_id,
        "slice_ids": list(slice_ids),
        # Quotation marks are escaped in JSON.
        "anchors": sorted({form for target in sought.text_of for form in _forms(anchor_of(target))}),
        "invisible": INVISIBLE,
    }
    found = []
    for row in await (await connection.execute(SQL["holding"], params)).fetchall():
        parts = [row[name] for name in _PLAIN if row[name]] + [part for name in _JSON for part in _strings(row[name])]
        if report_texts := sought.found_in(parts):
            found.append((row, report_texts))
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


def _map_strings(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _map_strings(part, change) for name, part in value.items()}
    return [_map_strings(part, change) for part in value] if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class _Sought:
    """The texts, and the sentences of each: a night quotes lines, and a line may be one of what was said together.

    `text_of` has the text that each of these is of.
    """

    targets: Targets
    text_of: Mapping[str, str]

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Sought:
        text_of = {text: text for text in texts}
        for text in texts:
            for span in keyed_sentences(text):
                sentence = text[span.start : span.end].strip(_EDGES)
                sentence = sentence[leading_end(sentence) :]
                if len(sentence.encode()) >= _FEWEST_BYTES:
                    text_of.setdefault(sentence, text)
        return cls(Targets(list(text_of)), text_of)

    def found_in(self, parts: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(self.text_of[target] for target in self.targets.found_in(*parts)))

    def without(self, text: str, *, by_line: bool = False) -> str:
        return self.targets.erase_from(text, by_line=by_line).text
