"""Upkeep of relevance by a model without constants: the labelled messages once a model, each memory as it grows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import numpy as np
import structlog

from reverie_indexer.database.database import Database
from reverie_indexer.embed.protocol import Vector
from reverie_indexer.errors import EmbeddingRejected
from reverie_indexer.model_slot import Ready
from reverie_server.search.calibration.scale import (
    Learnt,
    Matrix,
    State,
    has_constants,
    nearness_of,
    usual_between,
)
from reverie_server.search.calibration.store import (
    DueSlice,
    Neutral,
    Sample,
    due_slices,
    keep_learnt,
    keep_nearness,
    neutral_of,
    sample_of,
)
from reverie_server.search.labelled_messages import (
    IMPERSONAL,
    PERSONAL,
    Label,
    direction_of,
    labelled_messages,
)
from reverie_server.search.store import CHANNEL_LIMIT

log = structlog.get_logger()
# A call of the model has so many messages, a round measures so many slices.
_BATCH, _SLICES_A_ROUND = 64, 100
# Of a model that refuses more of a label's messages nothing is learnt.
_MOST_REFUSED = 0.5


class Calibration:
    """Learns of the model that is used, and measures memories with it, a round at a time.

    `state` says how far it is with the model. Several processes may do the same work at once, with the same result.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        # What the model of this id said so far; None where it refused.
        self._said: dict[str, Vector | None] = {}
        self._model_id: int | None = None
        self._neutral: Neutral | None = None
        self._after: DueSlice | None = None
        self.state: State = "none"

    async def renew(self, ready: Ready | None, may_go_on: Callable[[], bool] = lambda: True) -> int:
        """One round. Returns how many slices were measured.

        Stops early, after some work, when `may_go_on` says so. Raises EmbedderUnavailable; what was embedded is kept
        by this process until all is, and then in the database.
        """
        if ready is None:
            return 0
        if ready.model_id != self._model_id:
            self._said, self._neutral, self._after, self.state = {}, None, None, "waiting"
            self._model_id = ready.model_id
        if has_constants(ready.embedder.identity):
            self.state = "built_in"
        if self.state in ("built_in", "refused"):
            return 0
        neutral = self._neutral or await self._learn(ready, may_go_on)
        if neutral is None:
            return 0
        self._neutral, self.state = neutral, "learnt"
        return await self._measure(ready, neutral, may_go_on)

    async def _learn(self, ready: Ready, may_go_on: Callable[[], bool]) -> Neutral | None:
        """The neutral messages' vectors, from the database, or from the model that has now said all; else None."""
        dimension = ready.embedder.identity.dimension
        known = await neutral_of(self._database, ready.model_id, dimension)
        if known is not None:
            return known
        texts = [text for label in (*PERSONAL, *IMPERSONAL) for text in labelled_messages(label)]
        missing = [text for text in dict.fromkeys(texts) if text not in self._said]
        for start in range(0, len(missing), _BATCH):
            if start and not may_go_on():
                return None
            batch = missing[start : start + _BATCH]
            answers = await ready.embedder.embed(batch, "message")
            for text, answer in zip(batch, answers, strict=True):
                self._said[text] = None if isinstance(answer, EmbeddingRejected) else answer.copy()
        said, self._said = self._said, {}
        learnt = await asyncio.to_thread(_learnt, said)
        if learnt is None:
            self.state = "refused"
            log.warning("relevance_not_learnt", model=str(ready.embedder.identity))
            return None
        await keep_learnt(self._database, ready.model_id, *learnt)
        log.info("relevance_learnt", model=str(ready.embedder.identity))
        return await neutral_of(self._database, ready.model_id, dimension)

    async def _measure(self, ready: Ready, neutral: Neutral, may_go_on: Callable[[], bool]) -> int:
        """Measure the next slices that need it; the round after the last one begins anew."""
        due, is_more = await due_slices(self._database, ready.model_id, after=self._after, limit=_SLICES_A_ROUND)
        count = 0
        for each in due:
            if count and not may_go_on():
                return count
            sample = await sample_of(self._database, each, ready.model_id, ready.embedder.identity.dimension)
            if sample is not None:
                nearness = await asyncio.to_thread(_nearness, neutral, sample)
                await keep_nearness(self._database, each, ready.model_id, nearness, sample.chunk_count)
                count += 1
            self._after = each
        if not is_more:
            self._after = None
        return count


def _learnt(said: Mapping[str, Vector | None]) -> tuple[Learnt, Matrix] | None:
    """What a model makes of the labelled messages, and its vectors of the neutral ones; None: it refused too many."""
    of_label = {label: _vectors(said, label) for label in (*PERSONAL, *IMPERSONAL)}
    known = {label: vectors for label, vectors in of_label.items() if vectors is not None}
    if len(known) < len(of_label):
        return None
    personal = np.concatenate([known[label] for label in PERSONAL])
    impersonal = np.concatenate([known[label] for label in IMPERSONAL])
    others = np.concatenate([vectors for label, vectors in known.items() if label != "neutral"])
    direction = direction_of(personal, impersonal)
    return Learnt(direction, usual_between(known["neutral"], others)), known["neutral"]


def _vectors(said: Mapping[str, Vector | None], label: Label) -> Matrix | None:
    messages = labelled_messages(label)
    found = [vector for message in messages if (vector := said[message]) is not None]
    return np.stack(found).astype(np.float32) if len(found) >= len(messages) * (1 - _MOST_REFUSED) else None


def _nearness(neutral: Neutral, sample: Sample) -> float:
    share = len(sample.vectors) / max(sample.chunk_count, len(sample.vectors))
    candidates = max(1, round(CHANNEL_LIMIT * share))
    return nearness_of(neutral.vectors, sample.vectors, neutral.usual_similarity, candidates)
