"""The settings of the reranker."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, SecretStr


class RerankSettings(BaseModel):
    """The settings of the server that concern the reranker."""

    reranker: Literal["none", "cross-encoder", "endpoint"] = "none"
    """What orders the best results of a search anew. `cross-encoder` is any of sentence-transformers
    (`pip install reverie[rerank]`), `endpoint` any with `/rerank` as Cohere, Jina, vLLM and llama.cpp have it."""
    reranker_model: str | None = None
    """Model's name; for `cross-encoder` also the path of its directory."""
    reranker_base_url: str | None = None
    """Address of the endpoint, without `/rerank`. It gets queries and passages."""
    reranker_api_key: SecretStr | None = None
    """Key of the endpoint."""
    reranker_candidates: Annotated[int, Field(ge=2, le=100)] = 30
    """The best results, which are ordered anew; then the list is cut to what was asked for."""
    reranker_timeout_seconds: Annotated[float, Field(gt=0, le=60)] = 2.0
    """Longest time for it. Then the list stays in the order without the reranker, which is left alone for a while."""
