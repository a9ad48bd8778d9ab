"""txtai as a library: `Embeddings(hybrid=True, content=True)`, BM25 and vectors, the scores of BM25 as probabilities.

An index of its own for every user: txtai's filters are SQL conditions on what the index has found already, so in a
shared index another user's better matches would take the places, and BM25 would count everybody's documents.

An index lives in memory and in an open transaction until `save`. An acknowledged write has to outlive a SIGKILL, so
every write saves the user's index to its directory, as the documentation shows.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from base import Adapter, Item, Opening, main  # needs the path as it now is

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from txtai.embeddings import Embeddings

# A bound parameter, since a question that begins with "select" would be read as SQL.
_QUERY = "select id from txtai where similar(:query)"


@dataclass(slots=True)
class _Index:
    """One user's; the searches of one index share a SQLite cursor, and txtai leaves the locking to its caller."""

    embeddings: Embeddings
    lock: threading.Lock = field(default_factory=threading.Lock)


class Txtai(Adapter):
    """One saved index a user, loaded when the user is first asked for."""

    notes = (
        "scores normalised by its option `bb25`, which finds more here than what `hybrid` alone sets; equal weights",
        "an index of its own for every user, loaded when first needed: its filters apply after the search",
        "every write saves the user's whole index, as nothing less outlives a kill",
        "a kill during a save may leave it torn: it writes file after file over the old ones",
        "searches of one user wait for each other: they share a cursor",
    )

    def open(self, opening: Opening) -> str:
        """Nothing is read yet; the hub is switched off."""
        os.environ["HF_HUB_OFFLINE"] = "1"
        import embedder
        import txtai  # noqa: F401  # loads torch, which belongs to the start and not to the first write

        embedder.warm_up()
        self._home = opening.directory / "txtai"
        self._indexes: dict[str, _Index] = {}
        self._loading = threading.Lock()
        return version("txtai")

    def write(self, user: str, items: Sequence[Item]) -> None:
        """Upsert and save."""
        index = self._index(user) or _Index(_new_embeddings())
        with index.lock:
            index.embeddings.upsert([(item.id, item.text) for item in items])
            index.embeddings.save(str(self._place(user)))
        self._indexes[user] = index

    def search(self, user: str, query: str, k: int) -> list[str]:
        """The first `k` of the fused list."""
        index = self._index(user)
        if index is None:
            return []
        with index.lock:
            found = index.embeddings.search(_QUERY, k, parameters={"query": query})
        return [str(each["id"]) for each in found]

    def close(self) -> None:
        """Close the indexes; they are saved already."""
        for index in self._indexes.values():
            index.embeddings.close()

    def _index(self, user: str) -> _Index | None:
        with self._loading:
            place = self._place(user)
            if user not in self._indexes and place.exists():
                loaded = _new_embeddings().load(str(place), config={"transform": _vectors})
                self._indexes[user] = _Index(loaded)
            return self._indexes.get(user)

    def _place(self, user: str) -> Path:
        return self._home / hashlib.sha256(user.encode()).hexdigest()


def _new_embeddings() -> Any:
    from txtai.embeddings import Embeddings

    scoring = {"method": "bm25", "terms": True, "normalize": "bb25"}
    return Embeddings(hybrid=True, content=True, scoring=scoring, method="external", transform=_vectors)


def _vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    import embedder
    import numpy as np

    return np.asarray(embedder.embed_arrays(texts), dtype=np.float32)


if __name__ == "__main__":
    main(Txtai)
