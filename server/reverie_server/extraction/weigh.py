"""What is heard in a conversation, weighed by the model of what sentences are worth."""

from __future__ import annotations

import asyncio

from reverie_indexer.model_slot import ModelSlot
from reverie_server.extraction.basis import Basis
from reverie_server.heuristics.line_worth import LineWorth, to_weigh, weighed
from reverie_server.heuristics.memorable import Heard
from reverie_server.search.worth import passing_of, persons_among


async def weighed_memorable(models: ModelSlot, basis: Basis) -> Heard:
    """What is worth keeping of a conversation: nothing of no use in a month, and also who the user is."""
    heard, introductions = await asyncio.to_thread(lambda: (basis.memorable, basis.maybe_introductions))
    persons = await persons_among(models, [line.statement.sentence for line in introductions])
    return weighed(heard, introductions, LineWorth(await passing_of(models, to_weigh(heard)), persons))
