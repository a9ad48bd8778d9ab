"""A candidate as a result, with all that is told of it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from psycopg.rows import DictRow

from reverie_indexer.index.slices import scope_of
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.search.candidates import Candidates, Integers, message_of
from reverie_server.search.rank import Scores, holds_exact
from reverie_server.search.request import Copy, PassageEpisode, SearchResult
from reverie_server.search.scoring_query import AnalysedRequest
from reverie_server.search.store import Corpus
from reverie_server.search.superseded_text import Superseded, ended_at, places_of

MAX_COPIES = 10


@dataclass(frozen=True, slots=True)
class ScoredCandidates:
    """The candidates with their scores; `standing` has for each the row of the candidate whose scores these are.

    `hnsw_slice_ids` are the slices whose HNSW index was searched, `superseded` the sentences of the results that do not
    hold, `stands_for` the rows of the copies of each result.
    """

    candidates: Candidates
    scores: Scores
    standing: Integers
    superseded: Mapping[bytes, Superseded]
    hnsw_slice_ids: Collection[int]
    stands_for: Mapping[int, Sequence[int]]


def result_of(
    analysed: AnalysedRequest, corpus: Corpus, scored: ScoredCandidates, index: int, passage: DictRow
) -> SearchResult:
    """The candidate at `index` as a result, with the row of its passage."""
    candidates = scored.candidates
    slice_ = corpus.slice_of(int(candidates.slice_id[index]))
    standing = int(scored.standing[index])
    similarity = float(candidates.similarity[standing])
    return SearchResult(
        chunk_id=int(candidates.chunk_id[index]),
        tier=candidates.tier[index],
        path=candidates.path[index],
        start_line=candidates.start_line[index],
        end_line=candidates.end_line[index],
        text=passage["text"],
        headings=tuple(passage["heading_path"]),
        scope=scope_of(slice_.agent_id, slice_.owner_key),
        owner_key=slice_.owner_key,
        updated_at=passage["updated_at"],
        bm25=float(candidates.bm25[standing]),
        matched=tuple(t for t, has in zip(corpus.frequencies, candidates.has_term[standing], strict=True) if has),
        is_exact=holds_exact(candidates.path[index], passage["text"], analysed.terms.exact),
        similarity=None if math.isnan(similarity) else similarity,
        plan="hnsw" if slice_.slice_id in scored.hnsw_slice_ids else "exact",
        slice_chunks=slice_.chunk_count,
        episode=_episode_of(passage),
        superseded=_superseded_in(passage["text"], scored.superseded, candidates, index),
        copies=[
            Copy(int(candidates.chunk_id[row]), candidates.path[row], candidates.start_line[row])
            for row in scored.stands_for.get(index, [])[:MAX_COPIES]
        ],
        **scored.scores.of(index),
    )


def _superseded_in(
    text: str, superseded: Mapping[bytes, Superseded], candidates: Candidates, index: int
) -> dict[bytes, Superseded]:
    """Those of the sentences that the text of a candidate has, and that do not hold there."""
    keys = [sentence.key for sentence in keyed_sentences(text)] if superseded else []
    found = {key: superseded[key] for key in keys if key in superseded}
    if not any(fact.elsewhere for fact in found.values()):
        return found
    return ended_at(found, places_of(int(candidates.document_id[index]), text, message_of(candidates, index)))


def _episode_of(passage: DictRow) -> PassageEpisode | None:
    if passage["episode_id"] is None:
        return None
    return PassageEpisode(**{name: passage[name] for name in PassageEpisode.__slots__})
