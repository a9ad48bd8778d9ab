"""Forgetting in what was derived: episodes, graph and reports, in the transaction that forgets the texts themselves."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.model import Place
from reverie_server.episodes import erase as episode_forgetting
from reverie_server.episodes.erase import Forgotten, HeldEpisodes
from reverie_server.episodes.make import EpisodeMaking
from reverie_server.graph import erase as graph_forgetting
from reverie_server.jobs.defer import Delays
from reverie_server.nights import report_erase as reports_forgetting
from reverie_server.provenance.line_identity import entry_lines, line_sha256
from reverie_server.sessions.spoken import spoken
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.redact import INVISIBLE, Folded, anchor_of, is_telling, pattern_of

SQL = Queries(__file__)
# When a line of a file was learned.
_DATED = re.compile(r"\(\d{4}-\d\d-\d\d\)$")
DerivedTier = Literal["episodic", "fact", "report"]


@dataclass(frozen=True, slots=True)
class HeldTier:
    """What holds the texts in one tier: how many things, how many passages of them in the index, and each text by
    (where, text)."""

    count: int = 0
    passages: int = 0
    texts: Counter[tuple[str, str]] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class HeldDerived:
    """What holds the texts in what was derived, tiers that hold nothing left out; and how many cached vectors went."""

    tiers: Mapping[DerivedTier, HeldTier] = field(default_factory=dict)
    embeddings: int = 0


@dataclass(frozen=True, slots=True)
class DerivedForgetting:
    """Takes texts out of what was derived. `now` gives the time."""

    making: EpisodeMaking
    delays: Delays
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def sayings(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], texts: Sequence[str]
    ) -> list[str]:
        """What lines that the server wrote into files say of a text, where it says all of that: "Remember that I like
        tea." became "I like tea.", which the text is not found in. Each as the line has it, with and without its date.
        """
        params = {
            "tenant_id": tenant_id,
            "slice_ids": list(slice_ids),
            "words": sorted({anchor for text in texts for word in text.split() if (anchor := anchor_of(word))}),
            "invisible": INVISIBLE,
        }
        rows = await (await connection.execute(SQL["machine_written"], params)).fetchall()
        return await asyncio.to_thread(_said_in, rows, texts)

    async def survey(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
    ) -> HeldDerived:
        """What holds the texts in some slices."""
        episodes = await episode_forgetting.survey(connection, tenant_id, slice_ids, forgotten)
        graph = await graph_forgetting.survey(connection, tenant_id, slice_ids, forgotten.texts)
        reports = await reports_forgetting.survey(connection, tenant_id, slice_ids, forgotten.texts)
        return _held(episodes, graph, reports)

    async def take_out(
        self, connection: Connection, place: Place, slice_: Slice, forgotten: Forgotten, settings: AgentSettings
    ) -> HeldDerived:
        """Take the texts out of a locked slice, after they were taken out of its files and messages."""
        episodes = await episode_forgetting.take_out(
            connection, place, slice_, forgotten, settings, self.making, self.delays
        )
        graph = await graph_forgetting.take_out(
            connection, place, slice_, forgotten, episodes.episode_ids, at=self.now()
        )
        reports = await reports_forgetting.take_out(connection, place.tenant_id, slice_.slice_id, forgotten.texts)
        return _held(episodes, graph, reports)


def _said_in(rows: Sequence[DictRow], texts: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    folded = [Folded.of(text).text for text in texts]
    for row in rows:
        hashes = {bytes(sha256) for sha256 in row["hashes"]}
        for line in entry_lines(row["content"]):
            if line_sha256(line) not in hashes:
                continue
            said = spoken(line)
            core = _DATED.sub("", said).rstrip().rstrip(".!?。！？ ")
            # A word or two stand in many texts, and tell nothing of any.
            if is_telling(core) and any(map(pattern_of(core).search, folded)):
                found |= dict.fromkeys((said, core))
    return list(found)


def _held(episodes: HeldEpisodes, graph: graph_forgetting.Held, reports: reports_forgetting.Held) -> HeldDerived:
    where = Counter({("reports", text): count for text, count in reports.texts.items()})
    tiers: dict[DerivedTier, HeldTier] = {
        "episodic": HeldTier(len(episodes.episode_ids), episodes.passages, episodes.texts),
        "fact": HeldTier(graph.count, graph.passages, graph.texts),
        "report": HeldTier(reports.reports, 0, where),
    }
    return HeldDerived({name: tier for name, tier in tiers.items() if tier.count}, episodes.embeddings)
