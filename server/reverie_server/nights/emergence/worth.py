"""How long the server's lines of MEMORY.md stay where it is full: by the trust in what they state, and its age.

The trust is that of facts: it grows with votes, and fades from the day on which something was last said, confirmed or
of use. Lines that somebody asked to remember, in a conversation or by a tool, have no worth: they do not leave.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_server.facts.model import trust_of
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.nights.emergence.model import MAX_LINES, MessageKey, messages_in
from reverie_server.provenance import record as derive
from reverie_server.text.redact import essence

SQL = Queries(__file__)
_DAY = timedelta(days=1)


async def worth_of_lines(
    connection: Connection, params: Mapping[str, Any], document_id: int, lines: Sequence[str]
) -> dict[str, tuple[float, datetime]]:
    """The worth of those of the server's lines of a document that may leave, by their essences; of the first ones.

    `params` name the slice, `now` and the `half_life_days` of trust.
    """
    lines = lines[:MAX_LINES]
    origins = await derive.origins(connection, params["tenant_id"], document_id, lines)
    known = await _known(connection, params, lines)
    requests = await _requests(connection, params, [row for rows in origins.values() for row in rows])
    worth: dict[str, tuple[float, datetime]] = {}
    for line in lines:
        rows = origins[derive.line_sha256(line)]
        # What a tool saved has no sources, and what somebody asked of the tool is not known.
        is_asked = any(not row["sources"] or requests.intersection(_messages(row)) for row in rows)
        facts = known[line]
        if is_asked or any(fact["is_request"] for fact in facts):
            continue
        ages = [fact["at"] for fact in facts] or [row["at"] for row in rows]
        worth[essence(line)] = (_trust(facts, max(ages), params), max(ages))
    return worth


def _trust(facts: Sequence[DictRow], at: datetime, params: Mapping[str, Any]) -> float:
    """The trust in a line: that of the fact which is trusted most; of a line without facts that of a new one."""
    if not facts:
        return trust_of(0, 0, (params["now"] - at) / _DAY, params["half_life_days"])
    return max(
        trust_of(fact["helpful"], fact["unhelpful"], (params["now"] - fact["at"]) / _DAY, params["half_life_days"])
        if fact["holds"]
        else 0.0
        for fact in facts
    )


async def _known(connection: Connection, params: Mapping[str, Any], lines: Sequence[str]) -> dict[str, list[DictRow]]:
    """The facts that the sentences of each line state."""
    keys = {line: {span.key for span in keyed_sentences(line)} for line in lines}
    sought = {**params, "keys": sorted({key for each in keys.values() for key in each})}
    by_key: dict[bytes, list[DictRow]] = defaultdict(list)
    for row in await (await connection.execute(SQL["known"], sought)).fetchall():
        by_key[bytes(row["sentence_sha256"])].append(row)
    return {line: [row for key in each for row in by_key[key]] for line, each in keys.items()}


async def _requests(
    connection: Connection, params: Mapping[str, Any], origins: Sequence[DictRow]
) -> frozenset[MessageKey]:
    """Those of the messages that lines come from in which something was asked to be remembered."""
    messages = sorted({key for row in origins for key in _messages(row)})
    sought = {**params, "session_ids": [session_id for session_id, _ in messages], "seqs": [seq for _, seq in messages]}
    rows = await (await connection.execute(SQL["requests"], sought)).fetchall()
    return frozenset((row["session_id"], row["seq"]) for row in rows)


def _messages(row: DictRow) -> list[MessageKey]:
    return [key for key, _ in messages_in(row["sources"])]
