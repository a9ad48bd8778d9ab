"""Taking texts out of episodes: what they say in so many words, and what they were made of.

Every function works inside the caller's transaction, in which the slices are open, after the messages were told anew.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.document_index import forget_embeddings
from reverie_indexer.index.episode_index import index_episode
from reverie_indexer.model import Place
from reverie_server.episodes.make import EpisodeMaking, EpisodeText
from reverie_server.episodes.removal import EpisodeRemoval
from reverie_server.episodes.source import messages_of
from reverie_server.episodes.stage import defer_again, entry_of, passages_of, replaced
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
from reverie_server.text.redact import INVISIBLE, anchor_of, is_in

SQL = Queries(__file__)
# Why an episode was made without the model: what it was made of is not what it was.
FORGOTTEN = "forgotten"


@dataclass(slots=True)
class HeldEpisodes:
    """Episodes that hold the texts, or were made of messages that do: how often each text, by (path, text), which
    episodes, and how many passages hold a text. `embeddings` is how many cached vectors went."""

    texts: Counter[tuple[str, str]] = field(default_factory=Counter)
    episode_ids: list[int] = field(default_factory=list)
    passages: int = 0
    embeddings: int = 0


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
        held = await take_out(connection, place, slice_, forgotten, settings, self._making, self._delays)
        return _findings(held)

    async def clear(
        self, connection: Connection, place: Place, slice_: Slice, selection: Selection, *, dry_run: bool
    ) -> int:
        """Remove episodes by the time of their last message and their path; how many."""
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


def _findings(held: HeldEpisodes) -> Findings:
    removed = Removed(len(held.episode_ids), held.passages, 0, 0) if held.episode_ids else None
    items = [Item("episodic", path, text, True, count) for (path, text), count in sorted(held.texts.items())]
    return Findings("episodic", items, removed, held.embeddings, episode_ids=held.episode_ids)


async def survey(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
) -> HeldEpisodes:
    """What episodes of some slices hold of it, expired ones too."""
    held = HeldEpisodes()
    for episode, _ in await _holding(connection, tenant_id, slice_ids, forgotten):
        held.episode_ids.append(episode.episode_id)
        held.texts.update((episode.path, text) for text in forgotten.texts if _holds(episode, text))
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids), "episode_ids": held.episode_ids}
    rows = await (await connection.execute(SQL["passages"], params)).fetchall()
    held.passages = sum(any(is_in(row["text"], text) for text in forgotten.texts) for row in rows)
    return held


async def take_out(
    connection: Connection,
    place: Place,
    slice_: Slice,
    forgotten: Forgotten,
    settings: AgentSettings,
    making: EpisodeMaking,
    delays: Delays,
) -> HeldEpisodes:
    """Make the episodes of a locked slice again without the texts and a model; remove those of which nothing is left.

    One that was made of a message that is changed is made of what its messages are now: it may tell of it in other
    words. One that only holds a text itself keeps the rest of what it says. The graph is told, and a model that is
    configured makes the former again later.
    """
    held = await survey(connection, place.tenant_id, [slice_.slice_id], forgotten)
    fallback = FORGOTTEN if making.has_model else None
    for episode, is_of_changed in await _holding(connection, place.tenant_id, [slice_.slice_id], forgotten):
        if is_of_changed:
            messages = await messages_of(connection, place.tenant_id, episode)
            text = await asyncio.to_thread(
                making.without_model, messages, lambda said: without_texts(said, forgotten.texts), fallback
            )
        else:
            text = await asyncio.to_thread(without, episode, forgotten.texts)
        if text is None or any(_holds(_as(episode, text), one) for one in forgotten.texts):
            await remove(connection, place.tenant_id, slice_, [episode.episode_id])
            continue
        params = {
            "tenant_id": place.tenant_id,
            **replaced(episode, text, attempts=0 if is_of_changed else episode.attempts),
        }
        await connection.execute(EPISODES["rewrite"], params)
        passages = await asyncio.to_thread(passages_of, settings, text, episode.ended_at)
        indexed = await index_episode(connection, place, slice_, entry_of(episode), passages, None)
        hashes = {bytes(row["passage_sha256"]) for row in indexed.removed}
        held.embeddings += await forget_embeddings(connection, place.tenant_id, hashes)
        ids = (place.tenant_id, place.agent_id, place.owner_key, slice_.slice_id)
        payload = {"episode_id": episode.episode_id, "session_key": episode.session_key}
        await publish(connection, Event("episodic.created", *ids, payload), delays)
        if is_of_changed and making.has_model:
            await defer_again(connection, place, episode.session_key, attempts=0)
    return held


def without(episode: Episode, texts: Sequence[str]) -> EpisodeText | None:
    """What an episode says without some texts, made as it was; None where nothing is left. Pure."""
    lines = [line for line in without_texts(episode.summary, texts).splitlines() if not line.strip() or spoken(line)]
    summary = "\n".join(line for line in lines if not line.strip() or _says(line)).strip()
    if not any(character.isalnum() for character in summary):
        return None
    topics = [
        topic
        for topic in episode.key_topics
        if not any(is_in(topic, text) for text in texts)
        # A name out of what was forgotten, which nothing else in it has.
        and (is_in(summary, topic) or not any(is_in(text, topic) for text in texts))
    ]
    made = Generation(episode.method, episode.prompt, episode.prompt_version, episode.model)
    return EpisodeText(summary, abstract_of(summary), topics, made, episode.fallback)


def _says(line: str) -> bool:
    """Whether a line has more than who says it."""
    said = spoken(line)
    return any(character.isalnum() for character in said) and said not in ("User:", "Assistant:")


def _as(episode: Episode, text: EpisodeText) -> Episode:
    return replace(episode, summary=text.summary, abstract=text.abstract, key_topics=text.key_topics)


def _holds(episode: Episode, text: str) -> bool:
    return any(is_in(part, text) for part in (episode.summary, episode.abstract, *episode.key_topics))


async def _holding(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
) -> list[tuple[Episode, bool]]:
    """The episodes, each with whether it was made of a message that held a text."""
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
        if is_of_changed or any(_holds(episode, text) for text in forgotten.texts)
    ]
