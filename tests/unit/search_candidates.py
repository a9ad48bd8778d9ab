"""Candidates of a search for the tests of ranking, from the fields of each passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reverie_server.search.candidates import NO_DOCUMENT, Candidates, term_matrix

_SPECIFICITY = {"personal": 0, "team": 1, "global": 2}


def candidates_of(
    proposed: Sequence[Mapping[str, Any]],
    neighbours: Sequence[Mapping[str, Any]],
    terms: Mapping[str, float],
    owner_key: str | None = None,
) -> Candidates:
    """Candidates with their neighbours; each passage names its `terms`, and a `similarity` of None is none."""
    both = [*proposed, *neighbours]
    numbers = {term: number for number, term in enumerate(terms, 1)}

    def column(name: str) -> list[Any]:
        return [passage[name] for passage in proposed]

    return Candidates(
        chunk_id=np.array([p["chunk_id"] for p in both], np.int64),
        slice_id=np.zeros(len(both), np.int64),
        document_id=np.array([NO_DOCUMENT if p["document_id"] is None else p["document_id"] for p in both], np.int64),
        ordinal=np.array([p["ordinal"] for p in both], np.int64),
        bm25=np.array([p["bm25"] for p in both], np.float64),
        similarity=np.array([np.nan if p["similarity"] is None else p["similarity"] for p in both], np.float64),
        has_term=term_matrix([[numbers[term] for term in p["terms"]] for p in both], len(terms)),
        tier=column("tier"),
        path=column("path"),
        start_line=column("start_line"),
        end_line=column("end_line"),
        text_key=[hash(text) for text in column("text")],
        text=column("text"),
        label=column("text"),
        asks=np.array([text.endswith("?") for text in column("text")], np.float64),
        specificity=np.array([_SPECIFICITY[scope] for scope in column("scope")], np.int64),
        is_owners=np.array([owner_key is not None and key == owner_key for key in column("owner_key")], np.bool_),
        updated_at=np.array([at.timestamp() for at in column("updated_at")], np.float64),
    )
