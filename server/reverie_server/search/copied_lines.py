"""Which passages that say what others say are copies of these: what the server made of them, and no line of a person.

A line of a file is a copy of the messages that its provenance names. Any other message that has its words, as one that
asks about it or denies it, is a result beside it. Where none of those messages is a candidate, a line of one owner's
memory is a copy of what its owner said to the word; in shared memory somebody else may have said it, and more against
it. A passage of an episode is a copy of what was said in the conversation that it sums up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from reverie_indexer.database.database import Connection
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.provenance.line_identity import entry_lines
from reverie_server.provenance.record import origins_of_lines
from reverie_server.search.candidates import Candidates
from reverie_server.search.copies import EqualLine, Origins, log_line
from reverie_server.search.request import SearchRequest
from reverie_server.search.speakers import speakers_of
from reverie_server.text.redact import body_of

_SESSIONS, _EPISODES = "sessions/", "episodes/"
_PERSONAL = 0
# The sessions and numbers of messages that a line was made of; None for any message of a session.
_Messages: TypeAlias = frozenset[tuple[str, int | None]]


async def copies(
    connection: Connection,
    request: SearchRequest,
    candidates: Candidates,
    equal: Mapping[int, Sequence[EqualLine]],
    known: Origins,
) -> dict[int, list[int]]:
    """For each row of `equal` that is a copy, the rows of its originals, in its order; each of its lines has one."""
    pairs = [_Pair(row, each.line, source) for row, lines in equal.items() for each in lines for source in each.sources]
    wanted = {place: None for pair in pairs if (place := _line_of_file(candidates, pair)) is not None}
    origins = await _origins(connection, request, wanted, known)
    made_of = {place: _messages_of(origins[place]) for place in wanted}
    original = {pair for pair in pairs if _is_made_of(candidates, pair, made_of)}
    derived = {(pair.row, pair.line) for pair in original}
    said = [pair for pair in pairs if (pair.row, pair.line) not in derived and _says_the_same(candidates, pair)]
    speakers = await speakers_of(connection, request, candidates, {pair.source for pair in said})
    original.update(pair for pair in said if pair.source in speakers and speakers[pair.source].role == "user")
    found: dict[int, list[int]] = {}
    for row, lines in equal.items():
        of_lines = [[source for source in each.sources if _Pair(row, each.line, source) in original] for each in lines]
        if all(of_lines):
            found[row] = list(dict.fromkeys(source for sources in of_lines for source in sources))
    return found


async def written_by_server(
    connection: Connection,
    request: SearchRequest,
    candidates: Candidates,
    rows: Collection[int],
    known: Origins,
) -> set[int]:
    """Those of some rows of files of which the server wrote every line. `known` is that of `ComparedTexts`."""
    places = {
        row: [(int(candidates.document_id[row]), line) for line in entry_lines(body_of(candidates.text[row]))]
        for row in rows
    }
    origins = await _origins(connection, request, (place for of_row in places.values() for place in of_row), known)
    return {row for row, of_row in places.items() if all(origins[place] for place in of_row)}


async def _origins(
    connection: Connection, request: SearchRequest, places: Iterable[tuple[int, str]], known: Origins
) -> Origins:
    """`known`, with the provenance of the lines at these places; none of a line that the server did not write."""
    missing = [place for place in dict.fromkeys(places) if place not in known]
    if missing:
        found = await origins_of_lines(connection, request.tenant_id, missing)
        known.update((place, found.get(place, ())) for place in missing)
    return known


@dataclass(frozen=True, slots=True)
class _Pair:
    """A line of the passage at `row`, and the row of what has its words."""

    row: int
    line: str
    source: int


def _line_of_file(candidates: Candidates, pair: _Pair) -> tuple[int, str] | None:
    """The document and the line whose provenance tells whether the pair is one of copy and original."""
    if candidates.tier[pair.row] != "episodic":
        return int(candidates.document_id[pair.row]), pair.line
    if candidates.tier[pair.source] == "message":
        return None
    return int(candidates.document_id[pair.source]), log_line(candidates.text[pair.source])


def _is_made_of(candidates: Candidates, pair: _Pair, made_of: Mapping[tuple[int, str], _Messages]) -> bool:
    place = _line_of_file(candidates, pair)
    messages: _Messages = frozenset() if place is None else made_of.get(place, frozenset())
    session_id = candidates.path[pair.source].removeprefix(_SESSIONS)
    if candidates.tier[pair.row] != "episodic":
        return not messages.isdisjoint({(session_id, candidates.start_line[pair.source]), (session_id, None)})
    summed_up = candidates.path[pair.row].removeprefix(_EPISODES).rpartition("/")[0]
    return session_id == summed_up if place is None else any(of == summed_up for of, _ in messages)


def _messages_of(origins: Iterable[Mapping[str, Any]]) -> _Messages:
    """The messages that a line was made of by its provenance; of an episode any message of its session."""
    sources = [source for origin in origins for source in origin["sources"] if "session_id" in source]
    return frozenset(
        (source["session_id"], message["seq"] if message else None)
        for source in sources
        for message in source.get("messages", [None])
    )


def _says_the_same(candidates: Candidates, pair: _Pair) -> bool:
    """Whether the line is one of a personal file, and the statements of a message have it to the word."""
    if candidates.tier[pair.row] != "document" or candidates.specificity[pair.row] != _PERSONAL:
        return False
    keys = {each.key for each in keyed_sentences(pair.line)}
    return bool(keys) and keys <= {each.key for each in keyed_sentences(candidates.text[pair.source])}
