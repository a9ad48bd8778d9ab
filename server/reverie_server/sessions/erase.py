"""Erases texts from messages, from the summaries of messages, and from their passages in the index.

Every function works inside the caller's transaction, in which the slices are open.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.index import transcript
from reverie_indexer.index.document_index import forget_embeddings
from reverie_indexer.index.transcript import MessagePassages
from reverie_indexer.model import Place
from reverie_server.forgettable import Forgotten, MessageKey
from reverie_server.sessions import daily_log
from reverie_server.sessions.chunk import chunk_messages
from reverie_server.sessions.model import Message, path_of
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.redact import INVISIBLE, Targets, anchor_of
from reverie_server.text.statement_spans import statements
from reverie_server.text.tokens import CountTokens, message_tokens

SQL = Queries(__file__)
# A shorter rest of a text tells nothing of it.
_MIN_REMNANT_CHARS = 5
# A message that says nothing but a code or a name is no longer.
_MAX_SHORT_CHARS = 200


class Repetitions(Protocol):
    """Finds the statements of a message that repeat one of some texts, and say nothing else."""

    def __call__(self, content: str, texts: Sequence[str], *, is_answer: bool) -> list[str]:
        """The statements; `is_answer` where the message answers to one with a text."""


@dataclass(slots=True)
class MessageMatches:
    """The messages that hold the texts: their number by (path of the session, text), and that of their passages.

    `found` are the messages, by session and number. `remnants` are what lines of the daily log have of the texts where
    they cut the message. `lines` are the statements of messages that went, as they were, `stretches` the parts that go
    with the texts, `embeddings` how many cached vectors went. `repeated` are statements that go in their message alone,
    by (path of the session, statement), `whole` the messages that are nothing else, `repeating` the rows of both.
    """

    messages: Counter[tuple[str, str]] = field(default_factory=Counter)
    sessions: set[str] = field(default_factory=set)
    found: list[tuple[int, int]] = field(default_factory=list)
    count: int = 0
    passages: int = 0
    remnants: list[str] = field(default_factory=list)
    lines: set[str] = field(default_factory=set)
    stretches: set[str] = field(default_factory=set)
    embeddings: int = 0
    repeated: Counter[tuple[str, str]] = field(default_factory=Counter)
    whole: set[str] = field(default_factory=set)
    repeating: list[tuple[DictRow, list[str]]] = field(default_factory=list)

    def note(self, row: DictRow, texts: Sequence[str]) -> None:
        """Count a message that holds these texts."""
        path = path_of(row["session_id"])
        self.sessions.add(path)
        self.found.append((row["session_key"], row["seq"]))
        self.count += 1
        self.messages.update((path, text) for text in texts)
        cut = daily_log.cut_off(row["content"], texts)
        self.remnants += [rest for rest in cut if len(rest) >= _MIN_REMNANT_CHARS and rest not in self.remnants]

    def note_repetitions(self, row: DictRow, repeated: Sequence[str]) -> None:
        """Count a message with statements that go in it alone, and note the line of the daily log that has it."""
        self.note(row, ())
        self.repeating.append((row, list(repeated)))
        path = path_of(row["session_id"])
        self.repeated.update((path, text) for text in repeated)
        if len(repeated) == len(statements(row["content"])):
            self.whole.add(row["content"])
        is_of_user = row["role"] == "user"
        pair = (row["content"], row["answered"]) if is_of_user else (row["asked"], row["content"])
        line = daily_log.exchange_with(*pair, is_of_user=is_of_user)
        self.remnants += [line] if line and line not in self.remnants else []


async def survey(
    connection: Connection,
    tenant_id: str,
    slice_ids: Sequence[int],
    forgotten: Forgotten,
    goes_along: Callable[[str], bool] | None = None,
    repetitions: Repetitions | None = None,
) -> MessageMatches:
    """The messages and passages of some slices that hold one of the texts; `goes_along` is as for `Targets`.

    Of the sessions that have one, also the messages with `repetitions` of it.
    """
    matches = MessageMatches()
    holding: dict[int, dict[int, list[str]]] = {}
    async for row, of_row in _messages(connection, tenant_id, slice_ids, forgotten):
        matches.note(row, of_row)
        matches.stretches |= set(await asyncio.to_thread(Targets(of_row).stretches_in, row["content"], goes_along))
        holding.setdefault(row["session_key"], {})[row["seq"]] = of_row
    for row, repeated in await _repeating(connection, tenant_id, holding, forgotten, repetitions):
        matches.note_repetitions(row, repeated)
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids), **_anchors(forgotten.texts)}
    rows = await (await connection.execute(SQL["holding_passages"], params)).fetchall()
    matches.passages = await asyncio.to_thread(_count_holding, rows, forgotten)
    return matches


async def sessions_holding(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
) -> list[tuple[int, str, int]]:
    """The messages of some slices that hold one of the texts: key and id of the session, and number; in order."""
    return [
        (row["session_key"], row["session_id"], row["seq"])
        async for row, _ in _messages(connection, tenant_id, slice_ids, forgotten)
    ]


async def said_in(connection: Connection, tenant_id: str, session_keys: Sequence[int]) -> AsyncIterator[str]:
    """The texts of users in some sessions, message by message."""
    params = {"tenant_id": tenant_id, "session_keys": list(session_keys)}
    async with connection.cursor(name="said_in_sessions") as cursor:
        cursor.itersize = 50
        await cursor.execute(SQL["said_in"], params)
        async for row in cursor:
            yield row["content"]


def _count_holding(passages: Sequence[DictRow], forgotten: Forgotten) -> int:
    targets, everywhere = Targets(forgotten.texts), Targets(forgotten.everywhere)
    spared = forgotten.spared.messages
    return sum(
        bool((everywhere if (row["session_key"], row["seq"]) in spared else targets).found_in(row["text"]))
        for row in passages
    )


async def take_out(
    connection: Connection,
    place: Place,
    slice_: Slice,
    forgotten: Forgotten,
    settings: AgentSettings,
    count: CountTokens,
    repetitions: Repetitions | None = None,
) -> MessageMatches:
    """Take the texts out of the messages of a locked slice, of what stands for them, of the index and of the cache.

    A message keeps its number and id, whatever is left of it. What of it is indexed anew waits for its vector. With a
    text of a compacted message the summary goes, which may tell it in other words.
    """
    matches = await survey(connection, place.tenant_id, [slice_.slice_id], forgotten, repetitions=repetitions)
    everywhere = set(forgotten.everywhere)
    by_session: dict[int, list[DictRow]] = {}
    async for row, contained in _messages(connection, place.tenant_id, [slice_.slice_id], forgotten):
        by_session.setdefault(row["session_key"], []).append(row)
        if not everywhere.issuperset(contained):
            # Others say the same: a transcript that is sent again is known by the whole message.
            matches.lines.add(" ".join(row["content"].split()))
    repeated_in: dict[MessageKey, list[str]] = {}
    for row, repeated in matches.repeating:
        by_session[row["session_key"]].append(row)
        repeated_in[row["session_key"], row["seq"]] = repeated
    for session_key, rows in by_session.items():
        rewritten = []
        for row in sorted(rows, key=lambda row: row["seq"]):
            repeated = repeated_in.get((session_key, row["seq"]), [])
            texts = [*forgotten.texts_in(session_key, (row["seq"],)), *repeated]
            content = await asyncio.to_thread(without_texts, row["content"], texts)
            matches.lines |= set(statements(row["content"])) - set(statements(content)) - set(repeated)
            rewritten.append(await _rewrite(connection, place, {**row, "content": content}, texts, settings, count))
        path = path_of(rows[0]["session_id"])
        file = await transcript.find_transcript(connection, place, slice_, session_key, path)
        if file is not None:
            indexed = await transcript.replace_messages(connection, file, rewritten, None, only_present=True)
            hashes = {bytes(row["passage_sha256"]) for row in indexed.removed}
            matches.embeddings += await forget_embeddings(connection, place.tenant_id, hashes)
        if min(row["seq"] for row in rows) <= rows[0]["compacted_through"]:
            # It tells of the message, in whatever words.
            key = {"tenant_id": place.tenant_id, "session_key": session_key}
            await connection.execute(SQL["drop_summary"], key)
            await connection.execute(SQL["drop_compactions"], key)
    await _take_out_of_summaries(connection, place, slice_, forgotten, list(by_session))
    return matches


async def _rewrite(
    connection: Connection,
    place: Place,
    row: DictRow,
    texts: Sequence[str],
    settings: AgentSettings,
    count: CountTokens,
) -> MessagePassages:
    """Store a message whose text is rewritten already; the fields beside the text are rewritten here."""
    content = row["content"]
    extra = _without_in(row["extra"], lambda text: without_texts(text, texts, by_line=False))
    tokens = message_tokens(content, extra, count)
    params = {
        "tenant_id": place.tenant_id,
        "session_key": row["session_key"],
        "seq": row["seq"],
        "content": content,
        "extra": Jsonb(extra),
        "tokens": tokens,
        "difference": tokens - row["tokens"],
    }
    await connection.execute(SQL["rewrite_message"], params)
    await connection.execute(SQL["correct_tokens"], params)
    message = Message(row["seq"], row["role"], content, row["at"], tokens, extra=extra)
    # What is indexed of the message is, whatever of new ones would be.
    [passages] = await asyncio.to_thread(
        chunk_messages, settings.model_copy(update={"index_messages": True}), [message]
    )
    return MessagePassages(message.seq, message.at, passages)


async def _take_out_of_summaries(
    connection: Connection, place: Place, slice_: Slice, forgotten: Forgotten, changed: Sequence[int]
) -> None:
    """What stands for messages: a summary keeps the rest of its text; a prompt's is made anew."""
    params = {"tenant_id": place.tenant_id, "slice_id": slice_.slice_id, **_anchors(forgotten.texts)}
    of_others = {session_key for session_key, _ in forgotten.spared.messages} - set(changed)
    everywhere = forgotten.everywhere
    for row in await (await connection.execute(SQL["holding_sessions"], params)).fetchall():
        texts = everywhere if row["session_key"] in of_others else forgotten.texts
        summary = without_texts(row["summary"], texts)
        metadata = _without_in(row["metadata"], partial(without_texts, texts=texts, by_line=False))
        if (summary, metadata) != (row["summary"], row["metadata"]):
            of_row = {**params, "session_key": row["session_key"], "summary": summary, "metadata": Jsonb(metadata)}
            await connection.execute(SQL["rewrite_session"], of_row)
    for row in await (await connection.execute(SQL["holding_compactions"], params)).fetchall():
        texts = everywhere if row["session_key"] in of_others else forgotten.texts
        summary = without_texts(row["summary"], texts)
        of_row = {**params, "session_key": row["session_key"], "number": row["number"], "summary": summary}
        await connection.execute(SQL["rewrite_compaction"], of_row)
    await connection.execute(SQL["drop_window_summaries"], {**params, "session_keys": list(changed)})


def without_texts(content: str, texts: Sequence[str], *, by_line: bool = True) -> str:
    """A text without others."""
    return Targets(texts).erase_from(content, by_line=by_line).text


async def _messages(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
) -> AsyncIterator[tuple[DictRow, list[str]]]:
    """The messages that hold one of the texts, one after the other: what was said may be larger than memory."""
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids), **_anchors(forgotten.texts)}
    async with connection.cursor(name="holding_messages") as cursor:
        cursor.itersize = 50
        await cursor.execute(SQL["holding_messages"], params)
        async for row in cursor:
            parts = [row["content"], *_strings(row["extra"])]
            texts = forgotten.texts_in(row["session_key"], (row["seq"],))
            contained = await asyncio.to_thread(_texts_in, parts, texts)
            if contained:
                yield row, contained


async def _repeating(
    connection: Connection,
    tenant_id: str,
    holding: Mapping[int, Mapping[int, Sequence[str]]],
    forgotten: Forgotten,
    repetitions: Repetitions | None,
) -> list[tuple[DictRow, list[str]]]:
    """The other messages of sessions that repeat a text which one of their messages is `holding`, by its number."""
    if repetitions is None or not holding:
        return []
    params = {"tenant_id": tenant_id, "session_keys": list(holding), "chars": _MAX_SHORT_CHARS}
    rows = await (await connection.execute(SQL["short_messages"], params)).fetchall()
    texts = {
        session_key: list({text: None for each in of_session.values() for text in each})
        for session_key, of_session in holding.items()
    }

    def find() -> list[tuple[DictRow, list[str]]]:
        found = []
        for row in rows:
            of_session = holding[row["session_key"]]
            if row["seq"] in of_session or (row["session_key"], row["seq"]) in forgotten.spared.messages:
                continue
            is_answer = row["role"] == "assistant" and row["previous_seq"] in of_session
            if repeated := repetitions(row["content"], texts[row["session_key"]], is_answer=is_answer):
                found.append((row, repeated))
        return found

    return await asyncio.to_thread(find)


def _texts_in(parts: Sequence[str], texts: Sequence[str]) -> list[str]:
    return Targets(texts).found_in(*parts)


def _strings(value: object) -> list[str]:
    """The texts in a JSON value, of any depth."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _strings(part)]


def _without_in(value: Any, rewrite: Callable[[str], str]) -> Any:
    """A JSON value with each of its texts rewritten."""
    if isinstance(value, str):
        return rewrite(value)
    if isinstance(value, Mapping):
        return {name: _without_in(part, rewrite) for name, part in value.items()}
    return [_without_in(part, rewrite) for part in value] if isinstance(value, list) else value


def _anchors(texts: Sequence[str]) -> dict[str, Any]:
    return {"anchors": [anchor_of(text) for text in texts], "invisible": INVISIBLE}
