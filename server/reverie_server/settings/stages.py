"""The settings of the stages: what conversations come to, MEMORY.md, nights, and the knowledge graph."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, Field, PositiveInt, model_validator

from reverie_server.settings.agent import Seconds, Share


class StageSettings(BaseModel):
    """The settings of the server that concern what becomes of conversations in the background."""

    # Episodes and extraction.
    episodic_timeout_seconds: Seconds = 30.0
    """Time of the language model for one part of an episode."""
    episodic_max_tokens: Annotated[int, Field(ge=100, le=100_000)] = 1024
    """Tokens of its answer."""
    extraction_cooldown_seconds: Annotated[float, Field(ge=0, le=31_536_000)] = 300.0
    """Least time between two extractions of one owner."""
    extraction_min_messages: PositiveInt = 4
    """Fewest messages of a conversation that is extracted."""
    extraction_min_chars: Annotated[int, Field(ge=0)] = 10
    """Fewest letters of the user's last words in an extracted conversation; a Chinese character counts as three."""
    extraction_max_messages: Annotated[int, Field(ge=2, le=1000)] = 30
    """Messages that the language model reads in one round."""
    extraction_message_chars: Annotated[int, Field(ge=100)] = 2000
    """Characters that it reads of one message."""
    extraction_max_tokens: Annotated[int, Field(ge=100, le=100_000)] = 1000
    """Tokens of its answer."""
    extraction_timeout_seconds: Seconds = 60.0
    """Time of the language model for one round."""

    # MEMORY.md.
    memory_max_chars: Annotated[int, Field(ge=1000)] = 8000
    """Longest MEMORY.md that background work may write."""
    memory_max_loss: Share = 0.25
    """Largest share of its entries that may leave it in one rewriting."""
    memory_max_growth: Annotated[float, Field(ge=0, le=100)] = 0.5
    """Largest share of its length that one night may add."""
    memory_compact_from_chars: Annotated[int, Field(ge=0, le=1_000_000_000)] = 3000
    """Length from which it is compacted once a day."""
    memory_backups_kept: Annotated[int, Field(ge=1, le=1000)] = 5
    """Backups that are kept."""
    memory_compact_timeout_seconds: Seconds = 120.0
    """Time of the language model for a compaction of it."""

    # Dreaming and nights.
    dreaming_debounce_seconds: Annotated[float, Field(ge=0, le=31_536_000)] = 600.0
    """Time between a new episode and the dreaming that reads it."""
    dreaming_min_episodes: PositiveInt = 5
    """Episodes that dreaming waits for."""
    dreaming_max_episodes: PositiveInt = 10
    """Episodes that one run of dreaming reads."""
    dreaming_max_tokens: Annotated[int, Field(ge=100, le=100_000)] = 4096
    """Tokens of these episodes."""
    nightly_hour: Annotated[int, Field(ge=0, le=23)] = 2
    """Hour of the agent's day at which the night begins."""
    emergence_days: Annotated[int, Field(ge=1, le=36_500)] = 7
    """Newest daily notes that a night reads."""
    emergence_min_recalls: Annotated[int, Field(ge=0)] = 3
    """Recalls that an entry needs."""
    emergence_min_queries: Annotated[int, Field(ge=0)] = 2
    """Different queries that an entry needs to have been recalled by."""
    emergence_max_age_days: Annotated[int, Field(ge=1, le=36_500)] = 30
    """Age from which an entry no longer enters MEMORY.md."""
    emergence_min_score: Share = 0.4
    """Score that an entry needs."""
    emergence_frequency_weight: Share = 0.30
    """Weight of the number of recalls in the score. The five weights sum to 1."""
    emergence_recency_weight: Share = 0.25
    """Weight of how recent the recalls are."""
    emergence_diversity_weight: Share = 0.20
    """Weight of the number of different queries."""
    emergence_freshness_weight: Share = 0.15
    """Weight of how recent the note is."""
    emergence_consolidation_weight: Share = 0.10
    """Weight of the number of days on which the entry came up."""
    emergence_half_life_days: Annotated[float, Field(gt=0, le=36_500)] = 7.0
    """Days in which the recency of a recall halves."""
    emergence_timeout_seconds: Seconds = 60.0
    """Time of the language model for a night."""
    dreams_max_chars: Annotated[int, Field(ge=2000, le=500_000)] = 20_000
    """Length of DREAMS.md from which its older entries move to archives."""

    # Knowledge graph.
    semantic_min_confidence: Share = 0.75
    """Least confidence of what enters the graph."""
    dedup_merge_cosine: Share = 0.98
    """Least cosine of two entities that are merged."""
    dedup_merge_names: Share = 0.85
    """Least Jaro-Winkler similarity of the names of two entities that are merged."""
    dedup_candidate_cosine: Share = 0.90
    """Least cosine of two entities that are put before a person."""
    dedup_nearest: Annotated[int, Field(ge=1, le=100)] = 3
    """Nearest entities with which each is compared."""
    graph_max_rows: Annotated[int, Field(ge=10, le=100_000)] = 2000
    """Relations that one graph search reads."""
    graph_timeout_seconds: Seconds = 5.0
    """Longest time of one statement of a graph search."""

    @model_validator(mode="after")
    def _emergence_weights_sum_to_one(self) -> Self:
        if abs(sum(self.emergence_weights.values()) - 1) > 1e-9:
            raise ValueError("the five emergence_*_weight must be 1 together")
        return self

    @property
    def emergence_weights(self) -> dict[str, float]:
        """The weights of a candidate's score, by part."""
        parts = ("frequency", "recency", "diversity", "freshness", "consolidation")
        return {part: getattr(self, f"emergence_{part}_weight") for part in parts}
