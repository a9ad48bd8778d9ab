"""langgraph's PostgresStore with a vector index: the store of LangGraph's long-term memory."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from base import Adapter, Item, Opening, main
from embedder import embed, warm_up

_BATCH = 200


class LangGraph(Adapter):
    """The owner is the last part of the namespace, as its documentation does it."""

    notes = (
        "embedded library; vectors only, it has no search by words",
        "exact search (kind flat), which finds more than its default, HNSW, does among several users",
    )

    def open(self, opening: Opening) -> str:
        from langgraph.store.postgres import PostgresStore

        # A function of texts is one of the forms of `embed` that it documents.
        index = {
            "dims": opening.dimension,
            "embed": lambda texts: embed(list(texts)),
            "fields": ["text"],
            "ann_index_config": {"kind": "flat"},
        }
        self._context = PostgresStore.from_conn_string(
            opening.dsn, index=index, pool_config={"min_size": 1, "max_size": 8}
        )
        self._store = self._context.__enter__()
        self._store.setup()
        warm_up()
        return version("langgraph-checkpoint-postgres")

    def write(self, user: str, items: Sequence[Item]) -> None:
        from langgraph.store.base import PutOp

        for start in range(0, len(items), _BATCH):
            self._store.batch(
                [
                    PutOp(("memories", user), item.id, {"text": item.text, "at": item.at})
                    for item in items[start : start + _BATCH]
                ]
            )

    def search(self, user: str, query: str, k: int) -> list[str]:
        return [hit.key for hit in self._store.search(("memories", user), query=query, limit=k)]

    def close(self) -> None:
        self._context.__exit__(None, None, None)


if __name__ == "__main__":
    main(LangGraph)
