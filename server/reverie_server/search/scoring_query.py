"""A request with what is made of its query before anything is searched, and the query as scoring takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from reverie_indexer.text.analyse import QueryTerms
from reverie_server.heuristics.grounding_names import capitalises_nouns
from reverie_server.heuristics.own_question import asks_about_self
from reverie_server.search.calibration.known import UNMEASURED, Measure
from reverie_server.search.query_terms import meaning_of
from reverie_server.search.rank import Query, idf
from reverie_server.search.relevance import personal_score
from reverie_server.search.request import SearchRequest, SearchRules
from reverie_server.search.store import Corpus, QueryVector


@dataclass(frozen=True, slots=True)
class AnalysedRequest:
    """A request at a time, with the terms and the vector of its query; no vector: it is searched by words alone.

    `measure` is what its passages are judged by.
    """

    request: SearchRequest
    rules: SearchRules
    query: str
    terms: QueryTerms
    vector: QueryVector | None
    at: datetime
    warnings: Sequence[str]
    measure: Measure = UNMEASURED


def scoring_query(analysed: AnalysedRequest, corpus: Corpus) -> Query:
    """The query as `rank.score` takes it, with the IDFs of its terms in this corpus."""
    count = corpus.chunk_count
    idfs = np.array([idf(df, count) for df in corpus.frequencies.values()], np.float64)
    unknown = set(analysed.terms.terms) - set(corpus.frequencies)
    meaning = meaning_of(analysed.query, analysed.rules.language)
    scale = analysed.measure.scale
    plane = scale.unasked if analysed.request.is_unasked else scale.asked
    about_self = asks_about_self(analysed.query)
    # Where every noun has a capital, a word that is unknown is no name. "Am I still going to Rome?" is about oneself.
    may_name = not about_self and not capitalises_nouns(analysed.query, analysed.rules.language)
    meaning_idfs = idfs * [term in meaning.terms for term in corpus.frequencies]
    return Query(
        analysed.query,
        idfs,
        float(idfs.sum()) + len(unknown) * idf(0, count),
        meaning_idfs=meaning_idfs,
        name_idfs=idfs * [term in meaning.names for term in corpus.frequencies],
        meaning_idf=float(meaning_idfs.sum()) + len(unknown & meaning.terms) * idf(0, count),
        plane=plane,
        usual_similarity=scale.usual_similarity,
        personal=_personal(analysed, about_self=about_self),
        has_unknown_name=may_name and bool(unknown & meaning.names),
        about_self=about_self,
    )


def _personal(analysed: AnalysedRequest, *, about_self: bool) -> float:
    """How personal the query is. What asks about one's own life in so many words is no less than undecided."""
    found = 0.0 if analysed.vector is None else personal_score(analysed.measure.direction, analysed.vector.vector)
    return max(found, 0.0) if about_self else found
