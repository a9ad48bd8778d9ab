"""The places where the words of a fact tell of somebody else: "She lives in Oslo." is said of one's boss, too."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_indexer.text.analyse import fold
from reverie_server.facts.model import Fact
from reverie_server.forgettable import MessageKey, Spared
from reverie_server.heuristics.stated_fact import SELF
from reverie_server.text.redact import is_in

SQL = Queries(__file__)
_WORD = re.compile(r"[^\W_]{2,}")


async def places_of_others(connection: Connection, tenant_id: str, fact: Fact) -> Spared:
    """Where a fact's words tell of somebody else: what states a fact of another subject, and does not state this one.

    Nowhere for a fact of the user, whose sentences say so. A place is a message, with the answer to it where that does
    not name whom the fact tells of, a line that a person wrote, or one that the server made of such messages alone.
    """
    if fact.subject == SELF:
        return Spared()
    names = _names(fact.subject)
    params: dict[str, Any] = {"tenant_id": tenant_id, "slice_id": fact.slice_id, "fact_id": fact.fact_id}
    rows = await (await connection.execute(SQL["alike"], params)).fetchall()
    others = [row["fact_id"] for row in rows if not is_same_subject(fact.subject, row["subject"])]
    if not others:
        return Spared()
    params["fact_ids"] = [fact.fact_id, *others]
    sources = await (await connection.execute(SQL["sources"], params)).fetchall()
    own = _Stated.of(row for row in sources if row["fact_id"] == fact.fact_id)
    of_others = _Stated.of(row for row in sources if row["fact_id"] != fact.fact_id).with_answers(sources, names)
    params["session_ids"] = sorted({session_id for session_id, _ in of_others.said})
    derived = await (await connection.execute(SQL["lines_of_sessions"], params)).fetchall()
    lines = (of_others.lines | of_others.made_of(derived)) - own.lines - own.made_of(derived)
    by_path: defaultdict[str, set[bytes]] = defaultdict(set)
    for path, sha256 in lines:
        by_path[path].add(sha256)
    return Spared(
        names,
        of_others.messages - own.messages,
        {path: frozenset(hashes) for path, hashes in by_path.items()},
        frozenset(others),
    )


def is_same_subject(subject: str, other: str) -> bool:
    """Whether two subjects may be one: they share a name, or, where one of them has none, a word. Pure."""
    return not {fold(name) for name in _names(subject)}.isdisjoint(fold(name) for name in _names(other))


def _names(subject: str) -> list[str]:
    """The names in a subject; the words, without the user, where it has none (`user's sister`)."""
    words = [word for word in _WORD.findall(subject) if word != SELF] or [subject]
    return [word for word in words if word[0].isupper()] or words


@dataclass(frozen=True, slots=True)
class _Stated:
    """Where some facts are stated: messages, by the key of their session and as provenance has them, and lines."""

    messages: frozenset[MessageKey]
    said: frozenset[tuple[str, int | None]]
    lines: frozenset[tuple[str, bytes]]

    @classmethod
    def of(cls, sources: Iterable[DictRow]) -> _Stated:
        rows = list(sources)
        heard = [row for row in rows if row["seq"] is not None]
        return cls(
            frozenset((row["session_key"], row["seq"]) for row in heard),
            # What was made of a conversation as a whole was made of its messages.
            frozenset((row["session_id"], seq) for row in heard for seq in (row["seq"], None)),
            frozenset((row["path"], bytes(row["line_sha256"])) for row in rows if row["path"] is not None),
        )

    def with_answers(self, sources: Sequence[DictRow], names: Sequence[str]) -> _Stated:
        """With the answers to these messages that have none of some names."""
        answers = {
            (row["session_key"], row["answer_seq"])
            for row in sources
            if (row["session_key"], row["seq"]) in self.messages
            and row["answer"] is not None
            and not any(is_in(row["answer"], name) for name in names)
        }
        return _Stated(self.messages | answers, self.said, self.lines)

    def made_of(self, derived: Iterable[DictRow]) -> set[tuple[str, bytes]]:
        """Those of the lines that the server made of these messages."""
        return {
            (row["path"], bytes(row["line_sha256"])) for row in derived if (row["session_id"], row["seq"]) in self.said
        }
