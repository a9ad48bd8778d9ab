"""langchain-postgres: PGVectorStore with its HybridSearchConfig."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from base import Adapter, Item, Opening, main, sqlalchemy_url
from embedder import embed, warm_up

_DEPTH = 50  # of each channel, before they are fused
_TABLE = "memories"


class LangChain(Adapter):
    """The owner is a metadata column and a filter."""

    notes = (
        "embedded library; the owner is a metadata column and a filter",
        "its words go to plainto_tsquery: all of a question's words must be in one text",
        "fused by reciprocal ranks, as in its documentation's example; its default, the weighted sum, finds less here",
    )

    def open(self, opening: Opening) -> str:
        from langchain_core.embeddings import Embeddings
        from langchain_postgres import Column, PGEngine, PGVectorStore
        from sqlalchemy.exc import ProgrammingError

        class Shared(Embeddings):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return embed(texts)

            def embed_query(self, text: str) -> list[float]:
                return embed([text])[0]

        engine = PGEngine.from_connection_string(sqlalchemy_url(opening.dsn, "asyncpg"), pool_size=8)
        is_new = True
        try:
            engine.init_vectorstore_table(
                table_name=_TABLE,
                vector_size=opening.dimension,
                id_column=Column("langchain_id", "TEXT"),
                metadata_columns=[Column("owner", "TEXT"), Column("item", "TEXT"), Column("at", "TEXT")],
                hybrid_search_config=_hybrid(),
            )
        except ProgrammingError as error:
            if "already exists" not in str(error):
                raise
            is_new = False
        self._store = PGVectorStore.create_sync(
            engine=engine,
            table_name=_TABLE,
            embedding_service=Shared(),
            metadata_columns=["owner", "item", "at"],
            hybrid_search_config=_hybrid(),
        )
        if is_new:
            self._store.apply_hybrid_search_index()
        warm_up()
        return version("langchain-postgres")

    def write(self, user: str, items: Sequence[Item]) -> None:
        self._store.add_texts(
            [item.text for item in items],
            metadatas=[{"owner": user, "item": item.id, "at": item.at} for item in items],
            ids=[f"{user}/{item.id}" for item in items],
        )

    def search(self, user: str, query: str, k: int) -> list[str]:
        # A configuration of its own for each query: the store writes the query into it and keeps the first one.
        found = self._store.similarity_search(query, k=k, filter={"owner": user}, hybrid_search_config=_hybrid())
        return [document.metadata["item"] for document in found]


def _hybrid() -> Any:
    from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig, reciprocal_rank_fusion

    return HybridSearchConfig(
        tsv_column="content_tsv",
        tsv_lang="pg_catalog.english",
        fusion_function=reciprocal_rank_fusion,
        primary_top_k=_DEPTH,
        secondary_top_k=_DEPTH,
    )


if __name__ == "__main__":
    main(LangChain)
