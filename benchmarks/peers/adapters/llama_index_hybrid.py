"""llama-index on its PGVectorStore, vectors and words fused outside the store, as its documentation does it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from base import Adapter, Item, Opening, main, sqlalchemy_url
from embedder import aembed, embed, warm_up

_DEPTH = 50  # of each channel, before they are fused; of 10 to 200 it finds most in the first 10


class LlamaIndex(Adapter):
    """The owner is metadata of a node and a filter of both retrievers."""

    notes = (
        "embedded library; the owner is a metadata filter",
        "QueryFusionRetriever over a vector and a text retriever, relative scores, one query, no language model",
    )

    def open(self, opening: Opening) -> str:
        from llama_index.core import Settings, VectorStoreIndex
        from llama_index.core.llms import MockLLM
        from llama_index.vector_stores.postgres import PGVectorStore

        Settings.llm = MockLLM()
        Settings.embed_model = _embedding()
        store = PGVectorStore.from_params(
            connection_string=sqlalchemy_url(opening.dsn, "psycopg2"),
            async_connection_string=sqlalchemy_url(opening.dsn, "asyncpg"),
            table_name="memories",
            embed_dim=opening.dimension,
            hybrid_search=True,
            text_search_config="english",
            use_jsonb=True,
            create_engine_kwargs={"pool_size": 8},
        )
        self._index = VectorStoreIndex.from_vector_store(store)
        warm_up()
        return version("llama-index-vector-stores-postgres")

    def write(self, user: str, items: Sequence[Item]) -> None:
        from llama_index.core.schema import TextNode

        hidden = ["owner", "item", "at"]
        nodes = [
            TextNode(
                text=item.text,
                id_=f"{user}/{item.id}",
                metadata={"owner": user, "item": item.id, **({"at": item.at} if item.at else {})},
                excluded_embed_metadata_keys=hidden,
            )
            for item in items
        ]
        self._index.insert_nodes(nodes)

    def search(self, user: str, query: str, k: int) -> list[str]:
        from llama_index.core.retrievers import QueryFusionRetriever
        from llama_index.core.vector_stores import ExactMatchFilter, MetadataFilters

        own = MetadataFilters(filters=[ExactMatchFilter(key="owner", value=user)])
        channels = [
            self._index.as_retriever(vector_store_query_mode=mode, similarity_top_k=_DEPTH, filters=own)
            for mode in ("default", "sparse")
        ]
        fusion = QueryFusionRetriever(
            channels,
            similarity_top_k=k,
            num_queries=1,
            mode="relative_score",
            use_async=False,
        )
        return [hit.node.metadata["item"] for hit in fusion.retrieve(query)]


def _embedding() -> Any:
    from llama_index.core.embeddings import BaseEmbedding

    class Shared(BaseEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            return embed([query])[0]

        def _get_text_embedding(self, text: str) -> list[float]:
            return embed([text])[0]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return embed(texts)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return (await aembed([query]))[0]

    return Shared(model_name="all-MiniLM-L6-v2", embed_batch_size=256)


if __name__ == "__main__":
    main(LlamaIndex)
