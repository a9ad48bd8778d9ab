"""The difference between the passages that a text has now and the rows of its chunks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from psycopg.rows import DictRow

from reverie_indexer.model import Passage

_POSITION = ("ordinal", "start_line", "end_line", "char_start", "char_end")


@dataclass(frozen=True, slots=True)
class Difference:
    """`added` are new passages, `moved` the new positions of chunks that stay, `removed` the rows without a passage."""

    added: list[Passage]
    moved: list[dict[str, int]]
    removed: list[DictRow]


def difference(passages: Iterable[Passage], rows: Sequence[DictRow], *, shift: int = 0) -> Difference:
    """The difference between passages and the rows of a text, whose ordinals grew by `shift` since they were read.

    Of equal passages the first takes the first row.
    """
    by_hash: defaultdict[bytes, list[DictRow]] = defaultdict(list)
    for row in reversed(rows):
        by_hash[bytes(row["passage_sha256"])].append(row)
    added: list[Passage] = []
    moved: list[dict[str, int]] = []
    for passage in passages:
        if not (equal_rows := by_hash[passage.sha256]):
            added.append(passage)
            continue
        row = equal_rows.pop()
        position = {name: getattr(passage.chunk, name) for name in _POSITION}
        if position != {name: row[name] + (shift if name == "ordinal" else 0) for name in _POSITION}:
            moved.append({"chunk_id": row["chunk_id"], **position})
    return Difference(added, moved, [row for equal_rows in by_hash.values() for row in equal_rows])
