"""Forgetting and clearing in conversations: messages, the summaries that stand for them, and their passages."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.index import transcript
from reverie_indexer.model import Place
from reverie_server.episodes.store import has_episodes
from reverie_server.facts.erase import forget_cleared
from reverie_server.forgettable import Findings, Forgettable, Forgotten, Item, Removed, Selection
from reverie_server.forgetting.echoes import repetitions
from reverie_server.heuristics.requests.requested_lines import asks_for_previous
from reverie_server.sessions import erase as session_erase
from reverie_server.sessions.model import Session, path_of
from reverie_server.sessions.sessions import SQL as SESSIONS
from reverie_server.sessions.sessions import empty
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.redact import Targets
from reverie_server.text.tokens import CountTokens, estimate_tokens

SQL = Queries(__file__)


class ForgettableMessages(Forgettable):
    """The messages of sessions. A session that clearing leaves without messages and episodes is removed too."""

    tables = frozenset({"sessions", "messages", "compactions", "window_summaries", "unmet_requests"})
    cleared_with = "message"

    def __init__(self, count_tokens: CountTokens = estimate_tokens) -> None:
        self._count_tokens = count_tokens

    async def remnants(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
    ) -> Collection[str]:
        """The parts of the texts in lines of the daily log that cut their message, and lines of answers that repeat a
        code or a name of them."""
        matches = await session_erase.survey(connection, tenant_id, slice_ids, forgotten, repetitions=repetitions)
        return matches.remnants

    async def survey(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
    ) -> Findings:
        """The messages that hold one of the texts, and those of a session that goes.

        A request to remember what goes is no request without it.
        """
        matches = await session_erase.survey(
            connection, tenant_id, slice_ids, forgotten, asks_for_previous, repetitions
        )
        rest = await _rest_of_session(connection, tenant_id, forgotten)
        return _with_rest(_findings(matches, forgotten.texts), rest)

    async def erase(
        self, connection: Connection, place: Place, slice_: Slice, forgotten: Forgotten, settings: AgentSettings
    ) -> Findings:
        """Rewrite the messages, and the summaries that stand for them; what they asked to forget is done by it.

        Those of a session that goes are counted here, and removed by whoever asks for it.
        """
        rest = await _rest_of_session(connection, place.tenant_id, forgotten)
        matches = await session_erase.take_out(
            connection, place, slice_, forgotten, settings, self._count_tokens, repetitions
        )
        if matches.found:
            session_keys, seqs = zip(*matches.found, strict=True)
            params = {"tenant_id": place.tenant_id, "session_keys": list(session_keys), "seqs": list(seqs)}
            await connection.execute(SQL["meet_requests"], params)
        return _with_rest(_findings(matches, forgotten.texts), rest)

    async def clear(
        self, connection: Connection, place: Place, slice_: Slice, selection: Selection, *, dry_run: bool
    ) -> int:
        """Remove messages by their age and the path of their session; how many.

        With a message that was compacted its summary is removed, too: it may repeat the message.
        """
        params = {
            "tenant_id": place.tenant_id,
            "slice_id": slice_.slice_id,
            "older_than_days": selection.older_than_days,
            "path_prefix": selection.path_prefix or None,
        }
        rows = await (await connection.execute(SQL["clearable"], params)).fetchall()
        count = 0
        for row in rows:
            seqs, is_old = row.pop("seqs"), row.pop("is_old")
            count += len(seqs)
            session = Session(**row)
            if dry_run:
                continue
            # An empty session that is in use, by a change of its state, say, stays.
            if len(seqs) == session.message_count and (seqs or is_old):
                await empty(connection, place, slice_, session)
                # Dropping the session would delete its episodes, which are another tier.
                if not await has_episodes(connection, place.tenant_id, session.session_key):
                    key = {"tenant_id": place.tenant_id, "session_key": session.session_key}
                    await connection.execute(SESSIONS["drop_session"], key)
            elif seqs:
                await _remove_some(connection, place, slice_, session, seqs)
        if count and not dry_run:
            await forget_cleared(connection, place, slice_)
        return count


def _findings(matches: session_erase.MessageMatches, texts: Sequence[str]) -> Findings:
    items = [
        Item("message", path, text, True, count)
        for text in texts
        for (path, message_text), count in sorted(matches.messages.items())
        if message_text == text
    ]
    items += [
        Item("message", path, text, True, count, is_alone=True)
        for (path, text), count in sorted(matches.repeated.items())
    ]
    return Findings(
        "message",
        items,
        Removed(len(matches.sessions), matches.passages, matches.count, 0) if matches.count else None,
        matches.embeddings,
        lines=matches.lines,
        stretches=sorted(matches.stretches),
        remnants=matches.remnants,
        messages=matches.found,
        whole_messages=sorted(matches.whole),
    )


async def _rest_of_session(connection: Connection, tenant_id: str, forgotten: Forgotten) -> tuple[str, Removed] | None:
    """The path of a session that goes, and what it has beside what holds one of the texts; None where none goes."""
    params = {"tenant_id": tenant_id, "session_key": forgotten.session_key}
    row = await (await connection.execute(SQL["whole_session"], params)).fetchone()
    if row is None:
        return None
    targets = Targets(forgotten.texts)
    messages = await asyncio.to_thread(_without, targets, row["messages"])
    passages = await asyncio.to_thread(_without, targets, row["passages"])
    return path_of(row["session_id"]), Removed(int(messages == len(row["messages"])), passages, messages, 0)


def _without(targets: Targets, texts: Sequence[str]) -> int:
    return sum(not targets.found_in(text) for text in texts)


def _with_rest(findings: Findings, rest: tuple[str, Removed] | None) -> Findings:
    if rest is None:
        return findings
    path, counts = rest
    removed = counts if findings.removed is None else findings.removed + counts
    unlisted = [Item("message", path, "", True, counts.versions)] if counts.versions else []
    return replace(findings, unlisted=unlisted, removed=removed)


async def _remove_some(
    connection: Connection, place: Place, slice_: Slice, session: Session, seqs: Sequence[int]
) -> None:
    params = {"tenant_id": place.tenant_id, "session_key": session.session_key, "seqs": list(seqs)}
    await transcript.remove_messages(connection, place, slice_, session.session_key, seqs)
    await connection.execute(SQL["remove_messages"], params)
    await connection.execute(SESSIONS["drop_window_summary"], params)
    if min(seqs) <= session.compacted_through:
        await connection.execute(SESSIONS["drop_compactions"], params)
        await connection.execute(SQL["drop_summary"], params)
