"""The owners in the scale benchmark and the sizes of their slices.

At every size: owners of fixed sizes, the same passages each time, by which one sees what the table's growth costs
them; owners of fixed shares, the first of them large; and the rest by Zipf's law.
"""

from __future__ import annotations

from dataclasses import dataclass

from reverie_bench.synthetic.fill import Owner
from reverie_bench.synthetic.rows import CHUNKS_OF_FILE
from reverie_bench.synthetic.text import zipf_sizes
from reverie_indexer.errors import ValidationFailed

FIXED = (100, 500, 2000)
SHARES = (0.1, 0.01, 0.001, 0.0001)
OTHERS = 200
_ZIPF_RANKS = (1, 10, 100)
# Of the large owner's files, in folders of their own: what a search under a path has to find among the others.
FOLDERS = (0.1, 0.01)


@dataclass(frozen=True, slots=True)
class Asker:
    """An owner who is asked for: why, and the parts of their files that are asked for alone (prefix, share of them)."""

    owner: Owner
    why: str
    prefixes: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """Everyone at one size, those of fixed sizes first, and whom the measurements are of."""

    owners: tuple[Owner, ...]
    fixed: tuple[Asker, ...]
    others: tuple[Asker, ...]


def layout(chunks: int) -> Layout:
    """The owners of a table of `chunks` chunks. ValidationFailed below 1,000, where a tenth is hardly anything."""
    if chunks < 1000:
        raise ValidationFailed("the scale benchmark begins at 1000 chunks")
    fixed = [
        Asker(_owner(number, size), f"{size} chunks at every size")
        for number, size in enumerate(FIXED)
        if sum(FIXED[: number + 1]) <= chunks // 4
    ]
    # Fixed owners keep their numbers and what they are made of, whoever else is there.
    number = len(FIXED)
    shares = []
    for share in SHARES:
        size = round(chunks * share)
        if size >= 1:
            folders = _folders(size) if share == SHARES[0] else ()
            shares.append(Asker(_owner(number, size, folders), f"{share * 100:g} % of the table", folders))
        number += 1
    left = chunks - sum(asker.owner.chunks for asker in (*fixed, *shares))
    zipf = [_owner(number + rank, size) for rank, size in enumerate(zipf_sizes(left, min(OTHERS, left)))]
    by_rank = [Asker(zipf[rank - 1], f"rank {rank} by Zipf") for rank in _ZIPF_RANKS if rank <= len(zipf)]
    owners = (*(asker.owner for asker in (*fixed, *shares)), *zipf)
    return Layout(owners, tuple(fixed), (*shares, *by_rank))


def _owner(number: int, chunks: int, folders: tuple[tuple[str, float], ...] = ()) -> Owner:
    rest = 1 - sum(share for _, share in folders)
    return Owner(number, f"agent-{number}", f"user:{number}", chunks, (*folders, ("notes", rest)))


def _folders(chunks: int) -> tuple[tuple[str, float], ...]:
    """The folders that get a file at least."""
    files = chunks / CHUNKS_OF_FILE
    return tuple((f"part-{share * 100:g}", share) for share in FOLDERS if files * share >= 1)
