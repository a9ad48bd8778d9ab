"""Erases texts from episodes: from those that hold them, and from those that were made of messages with them.

Every function works inside the caller's transaction, in which the slices are open, after the texts were erased from
the messages.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.document_index import forget_embeddings
from reverie_indexer.index.episode_index import index_episode
from reverie_indexer.model import Place
from reverie_server.episodes.make import EpisodeMaking, EpisodeText
from reverie_server.episodes.removal import EpisodeRemoval
from reverie_server.episodes.source import messages_of
from reverie_server.episodes.stage import defer_again, entry_of, passages_of, replacement_params
from reverie_server.episodes.store import SQL as EPISODES
from reverie_server.episodes.store import Episode, clearable, remove
from reverie_server.episodes.text import abstract_of
from reverie_server.forgettable import Findings, Forgettable, Forgotten, Item, Removed, Selection
from reverie_server.jobs.defer import Delays, publish
from reverie_server.jobs.model import Event
from reverie_server.llm.generation import Generation
from reverie_server.sessions.erase import without_texts
from reverie_server.sessions.spoken import spoken
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.redact import INVISIBLE, Targets, anchor_of, is_in

SQL = Queries(__file__)
# Why an episode was made without the model: its messages were changed by forgetting.
FORGOTTEN = "forgotten"


@dataclass(slots=True)
class MatchingEpisodes:
    """The episodes that hold one of the texts, or were made of messages that do.

    `texts` counts by (path, text). `passages` is the number of passages that hold a text, `embeddings` the number of
    cached vectors that were removed. `stretches` are the parts that go with the texts.
    """

    texts: Counter[tuple[str, str]] = field(default_factory=Counter)
    episode_ids: list[int] = field(default_factory=list)
    passages: int = 0
    embeddings: int = 0
    stretches: set[str] = field(default_factory=set)


class ForgettableEpisodes(Forgettable):
    """The episodes of sessions. `removal` removes those that are cleared."""

    tables = frozenset({"episodes"})
    cleared_with = "episodic"

    def __init__(self, making: EpisodeMaking, delays: Delays, removal: EpisodeRemoval) -> None:
        self._making = making
        self._delays = delays
        self._removal = removal

    async def survey(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
    ) -> Findings:
        """The episodes that hold one of the texts, or were made of a message that does."""
        return _findings(await survey(connection, tenant_id, slice_ids, forgotten))

    async def erase(
        self, connection: Connection, place: Place, slice_: Slice, forgotten: Forgotten, settings: AgentSettings
    ) -> Findings:
        """Make the episodes again without the texts."""
        matching = await erase_texts(connection, place, slice_, forgotten, settings, self._making, self._delays)
        return _findings(matching)

    async def clear(
        self, connection: Connection, place: Place, slice_: Slice, selection: Selection, *, dry_run: bool
    ) -> int:
        """Remove episodes by the time of their last message and their path; returns their number."""
        episode_ids = await clearable(
            connection,
            place.tenant_id,
            slice_.slice_id,
            older_than_days=selection.older_than_days,
            path_prefix=selection.path_prefix or None,
        )
        if not dry_run:
            await self._removal.remove(connection, place, slice_, episode_ids)
        return len(episode_ids)


def _findings(matching: MatchingEpisodes) -> Findings:
    removed = Removed(len(matching.episode_ids), matching.passages, 0, 0) if matching.episode_ids else None
    items = [Item("episodic", path, text, True, count) for (path, text), count in sorted(matching.texts.items())]
    return Findings(
        "episodic",
        items,
        removed,
        matching.embeddings,
        stretches=sorted(matching.stretches),
        episode_ids=matching.episode_ids,
    )


async def survey(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
) -> MatchingEpisodes:
    """The episodes of some slices that hold the texts, expired ones too."""
    matching = MatchingEpisodes()
    for episode, _ in await _matching_episodes(connection, tenant_id, slice_ids, forgotten):
        matching.episode_ids.append(episode.episode_id)
        contained = [text for text in _texts_of(episode, forgotten) if _contains(episode, text)]
        matching.texts.update((episode.path, text) for text in contained)
        matching.stretches |= set(await asyncio.to_thread(Targets(contained).stretches_in, episode.summary))
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids), "episode_ids": matching.episode_ids}
    rows = await (await connection.execute(SQL["passages"], params)).fetchall()
    matching.passages = sum(any(is_in(row["text"], text) for text in forgotten.texts) for row in rows)
    return matching


async def erase_texts(
    connection: Connection,
    place: Place,
    slice_: Slice,
    forgotten: Forgotten,
    settings: AgentSettings,
    making: EpisodeMaking,
    delays: Delays,
) -> MatchingEpisodes:
    """Make the episodes of a locked slice again without the texts and the model; remove those that become empty.

    An episode whose messages were changed is made of them again, since it may repeat the text in other words. An
    episode that only holds a text itself keeps its other lines. The graph gets an event. A configured model makes the
    former again later.
    """
    matching = await survey(connection, place.tenant_id, [slice_.slice_id], forgotten)
    fallback = FORGOTTEN if making.has_model else None
    for episode, is_of_changed in await _matching_episodes(connection, place.tenant_id, [slice_.slice_id], forgotten):
        texts = _texts_of(episode, forgotten)
        if is_of_changed:
            messages = await messages_of(connection, place.tenant_id, episode)
            text = await asyncio.to_thread(
                making.without_model, messages, partial(without_texts, texts=texts), fallback
            )
        else:
            text = await asyncio.to_thread(without, episode, texts)
        if text is None or any(_contains(_as(episode, text), one) for one in texts):
            await remove(connection, place.tenant_id, slice_, [episode.episode_id])
            continue
        params = {
            "tenant_id": place.tenant_id,
            **replacement_params(episode, text, attempts=0 if is_of_changed else episode.attempts),
        }
        await connection.execute(EPISODES["rewrite"], params)
        passages = await asyncio.to_thread(passages_of, settings, text, episode.ended_at)
        indexed = await index_episode(connection, place, slice_, entry_of(episode), passages, None)
        hashes = {bytes(row["passage_sha256"]) for row in indexed.removed}
        matching.embeddings += await forget_embeddings(connection, place.tenant_id, hashes)
        ids = (place.tenant_id, place.agent_id, place.owner_key, slice_.slice_id)
        payload = {"episode_id": episode.episode_id, "session_key": episode.session_key}
        await publish(connection, Event("episodic.created", *ids, payload), delays)
        if is_of_changed and making.has_model:
            await defer_again(connection, place, episode.session_key, attempts=0)
    return matching


def without(episode: Episode, texts: Sequence[str]) -> EpisodeText | None:
    """The texts of an episode without some texts; None where nothing is left. Pure."""
    lines = [line for line in without_texts(episode.summary, texts).splitlines() if not line.strip() or spoken(line)]
    summary = "\n".join(line for line in lines if not line.strip() or _has_statement(line)).strip()
    if not any(character.isalnum() for character in summary):
        return None
    topics = [
        topic
        for topic in episode.key_topics
        if not any(is_in(topic, text) for text in texts)
        # A name that only the forgotten text has.
        and (is_in(summary, topic) or not any(is_in(text, topic) for text in texts))
    ]
    generation = Generation(episode.method, episode.prompt, episode.prompt_version, episode.model)
    return EpisodeText(summary, abstract_of(summary), topics, generation, episode.fallback)


def _has_statement(line: str) -> bool:
    """Whether a line has more than its speaker."""
    statement = spoken(line)
    return any(character.isalnum() for character in statement) and statement not in ("User:", "Assistant:")


def _as(episode: Episode, text: EpisodeText) -> Episode:
    return replace(episode, summary=text.summary, abstract=text.abstract, key_topics=text.key_topics)


def _contains(episode: Episode, text: str) -> bool:
    return any(is_in(part, text) for part in (episode.summary, episode.abstract, *episode.key_topics))


async def _matching_episodes(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
) -> list[tuple[Episode, bool]]:
    """The episodes that match, each with whether it was made of a message that held a text."""
    params: dict[str, Any] = {
        "tenant_id": tenant_id,
        "slice_ids": list(slice_ids),
        "session_keys": [session_key for session_key, _ in forgotten.messages],
        "seqs": [seq for _, seq in forgotten.messages],
        "anchors": [anchor_of(text) for text in forgotten.texts],
        "invisible": INVISIBLE,
    }
    rows = await (await connection.execute(SQL["holding"], params)).fetchall()
    found = [(row.pop("is_of_changed"), Episode(**row)) for row in rows]
    return [
        (episode, is_of_changed)
        for is_of_changed, episode in found
        if is_of_changed or any(_contains(episode, text) for text in _texts_of(episode, forgotten))
    ]


def _texts_of(episode: Episode, forgotten: Forgotten) -> Sequence[str]:
    """The texts that go from an episode."""
    return forgotten.texts_in(episode.session_key, range(episode.from_seq, episode.through_seq + 1))
