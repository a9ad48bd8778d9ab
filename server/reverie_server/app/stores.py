"""The part of the composition root that lists the stores that forgetting and clearing reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from reverie_server.episodes.erase import ForgettableEpisodes
from reverie_server.episodes.make import EpisodeMaking
from reverie_server.episodes.removal import EpisodeRemoval
from reverie_server.facts.erase import ForgettableFacts
from reverie_server.forgettable import Forgettable
from reverie_server.forgetting.files import ForgettableFiles
from reverie_server.forgetting.messages import ForgettableMessages
from reverie_server.forgetting.written_lines import ForgettableWrittenLines
from reverie_server.graph.erase import ForgettableGraph
from reverie_server.jobs.defer import Delays
from reverie_server.nights.report_erase import ForgettableReports
from reverie_server.prompt.turn_erase import ForgettableTurns
from reverie_server.text.tokens import CountTokens, estimate_tokens


@dataclass(frozen=True, slots=True)
class Stores:
    """All stores with texts of people, in the order in which they are reached; and what removes episodes."""

    forgettable: Sequence[Forgettable]
    episode_removal: EpisodeRemoval


def wire_stores(
    making: EpisodeMaking,
    delays: Delays,
    count_tokens: CountTokens = estimate_tokens,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Stores:
    """The stores. One that derives from episodes is added to `derived`, and nowhere else."""
    derived: list[Forgettable] = [ForgettableGraph(now), ForgettableReports()]
    removal = EpisodeRemoval(derived)
    forgettable = [
        ForgettableFiles(),
        ForgettableMessages(count_tokens),
        ForgettableWrittenLines(),
        ForgettableFacts(now),
        ForgettableEpisodes(making, delays, removal),
        *derived,
        ForgettableTurns(),
    ]
    return Stores(forgettable, removal)
