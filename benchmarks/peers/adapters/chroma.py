"""chromadb as an embedded database: `PersistentClient`, one collection, a `where` filter on the user.

Its open-source engine ranks by vectors alone. The search interface that fuses sparse and dense results answers
"Search is not implemented for Local Chroma" in 1.5.9, and `where_document` only filters, so neither is used.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from base import Adapter, Item, Opening, main

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

_COLLECTION = "memories"
_SEPARATOR = "\x1f"  # in no id of a user, so that two users may have items of the same id


class Chroma(Adapter):
    """All users in one collection; what belongs to whom is metadata."""

    notes = (
        "by vectors alone: hybrid search is not implemented in its local engine",
        "all users in one collection, kept apart by its `where` filter",
        "one HNSW graph (cosine, its defaults) for all users; it filters while it walks the graph",
    )

    _collection: Collection

    def open(self, opening: Opening) -> str:
        """Open the directory; telemetry is off before the import."""
        os.environ["ANONYMIZED_TELEMETRY"] = "False"
        import chromadb
        from chromadb.config import Settings

        settings = Settings(anonymized_telemetry=False)
        client = chromadb.PersistentClient(path=str(opening.directory / "chroma"), settings=settings)
        self._batch = client.get_max_batch_size()
        self._collection = client.get_or_create_collection(
            _COLLECTION, embedding_function=_embedding_function(), configuration={"hnsw": {"space": "cosine"}}
        )
        return str(chromadb.__version__)

    def write(self, user: str, items: Sequence[Item]) -> None:
        """Upsert; what it has logged is searched before it is in the graph."""
        for start in range(0, len(items), self._batch):
            batch = items[start : start + self._batch]
            self._collection.upsert(
                ids=[f"{user}{_SEPARATOR}{item.id}" for item in batch],
                documents=[item.text for item in batch],
                metadatas=[{"user": user, "item": item.id} for item in batch],
            )

    def search(self, user: str, query: str, k: int) -> list[str]:
        """The nearest of the user."""
        found = self._collection.query(query_texts=[query], n_results=k, where={"user": user}, include=["metadatas"])
        metadatas = found["metadatas"]
        return [str(metadata["item"]) for metadata in metadatas[0]] if metadatas else []


def _embedding_function() -> Any:
    """The shared embedder as chromadb wants it; its name is kept with the collection."""
    import embedder
    import numpy as np
    from chromadb import Documents, EmbeddingFunction, Embeddings

    class Shared(EmbeddingFunction[Documents]):  # type: ignore[misc]  # of no type where it is not installed
        def __init__(self) -> None:
            embedder.warm_up()

        def __call__(self, input: Documents) -> Embeddings:  # noqa: A002  # the library checks this very name
            return [np.asarray(vector, dtype=np.float32) for vector in embedder.embed_arrays(input)]

        @staticmethod
        def name() -> str:
            return "peers-shared"

        def get_config(self) -> dict[str, Any]:
            return {}

        @staticmethod
        def build_from_config(config: dict[str, Any]) -> EmbeddingFunction[Documents]:  # noqa: ARG004  # the interface
            return Shared()

    return Shared()


if __name__ == "__main__":
    main(Chroma)
