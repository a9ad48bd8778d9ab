"""Facts among the candidates: each competes as one with the message or the line that states it.

So does a line of the long-term memory that states a fact in words of the server's own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from reverie_indexer.database.database import Connection
from reverie_indexer.database.messages import Statement, in_one_message
from reverie_indexer.database.queries import Queries
from reverie_indexer.model import Tier
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.search.candidates import Candidates, files_with
from reverie_server.search.copied_lines import written_by_server
from reverie_server.search.copies import Origins
from reverie_server.search.derived_files import is_long_term
from reverie_server.search.fact_source import FactSource
from reverie_server.search.hot.answer import need_texts
from reverie_server.search.known_facts import KnownFacts
from reverie_server.search.request import SearchRequest
from reverie_server.text.redact import body_of

SQL = Queries(__file__)


async def fact_copies(facts: KnownFacts, candidates: Candidates) -> dict[int, list[int]]:
    """For each row of a fact the rows of the messages that state it, or else of the passages of files."""
    fact_rows = [row for row, tier in enumerate(candidates.tier) if tier == "fact"]
    if not fact_rows:
        return {}
    by_path = _rows_by_path(candidates, "message", "document")
    found: dict[int, list[int]] = {}
    for row, sources in zip(fact_rows, await facts.sources(fact_rows), strict=True):
        if rows := [stating for source in sources for stating in _rows_of(candidates, by_path, source)]:
            found[row] = _messages_first(candidates, rows)
    return found


async def composed_copies(
    connection: Connection, request: SearchRequest, candidates: Candidates, origins: Origins
) -> dict[int, list[int]]:
    """For each row of the long-term memory that states facts alone, and that the server wrote, the rows of the messages
    that state all of them. `origins` are those of `ComparedTexts`."""
    rows = files_with(candidates, is_long_term)
    if not rows:
        return {}
    await need_texts(connection, request, candidates, rows)
    keys_of = {row: {each.key for each in keyed_sentences(body_of(candidates.text[row]))} for row in rows}
    params = {
        "tenant_id": request.tenant_id,
        "slice_ids": sorted({int(candidates.slice_id[row]) for row in keys_of}),
        "keys": sorted(set[bytes]().union(*keys_of.values())),
    }
    by_path = _rows_by_path(candidates, "message")
    found: defaultdict[tuple[int, bytes], list[int]] = defaultdict(list)
    [sources] = await in_one_message(connection, [Statement(SQL["composed"], params)])
    for stating in sources:
        key = bytes(stating.pop("sentence_sha256"))
        found[stating["slice_id"], key] += _rows_of(candidates, by_path, FactSource(**stating))
    copies: dict[int, list[int]] = {}
    for row, keys in keys_of.items():
        stated = [found.get((int(candidates.slice_id[row]), key), []) for key in sorted(keys)]
        if stated and all(stated):
            copies[row] = sorted(set[int]().union(*stated))
    by_server = await written_by_server(connection, request, candidates, copies, origins)
    return {row: originals for row, originals in copies.items() if row in by_server}


def _rows_by_path(candidates: Candidates, *tiers: Tier) -> Mapping[tuple[int, str], Sequence[int]]:
    """The rows of some tiers, by memory and path."""
    by_path: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    slice_id = candidates.slice_id[: candidates.proposed_count].tolist()
    for row, (tier, place) in enumerate(zip(candidates.tier, zip(slice_id, candidates.path, strict=True), strict=True)):
        if tier in tiers:
            by_path[place].append(row)
    return by_path


def _rows_of(candidates: Candidates, by_path: Mapping[tuple[int, str], Sequence[int]], source: FactSource) -> list[int]:
    """The rows with lines of a source."""
    return [
        row
        for row in by_path.get((source.slice_id, source.path), ())
        if candidates.start_line[row] <= source.last_line and source.first_line <= candidates.end_line[row]
    ]


def _messages_first(candidates: Candidates, rows: list[int]) -> list[int]:
    messages = [row for row in rows if candidates.tier[row] == "message"]
    return messages or rows
