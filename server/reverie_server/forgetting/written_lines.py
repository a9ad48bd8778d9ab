"""Forgetting in lines that the server wrote out of conversations: they say a text in other words."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.model import Place
from reverie_server.facts.erase import facts_holding
from reverie_server.facts.model import public_id
from reverie_server.forgettable import Findings, Forgettable, Forgotten
from reverie_server.nights.soul.text import PATH as SOUL
from reverie_server.provenance.line_identity import entry_lines, line_sha256
from reverie_server.search.query_terms import meaning_of
from reverie_server.sessions import erase as session_erase
from reverie_server.sessions.append import LOG_REASON
from reverie_server.sessions.spoken import spoken
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.redact import INVISIBLE, Folded, Targets, anchor_of, is_distinctive, pattern_of, whole_sentence

SQL = Queries(__file__)
# The date at the end of a line, when it was learned.
_DATED = re.compile(r"\(\d{4}-\d\d-\d\d\)$")


class ForgettableWrittenLines(Forgettable):
    """The lines that the server wrote. They and their provenance are erased and cleared with their files."""

    tables = frozenset({"derivations"})

    async def remnants(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
    ) -> Collection[str]:
        """The statements of lines that the server wrote, where one of the texts contains the whole statement.

        "Remember that I like tea." became "I like tea.", in which the text is not found. Each is returned as a sentence
        with and without its date. Lines of SOUL.md that follow from a fact go with it, and lines made
        of messages in a model's own words, where one of these stands in the texts and nowhere else in what was said.
        """
        texts = forgotten.texts
        messages = await session_erase.sessions_holding(connection, tenant_id, slice_ids, forgotten)
        forgotten = replace(forgotten, messages=[(session_key, seq) for session_key, _, seq in messages])
        params = {
            "tenant_id": tenant_id,
            "slice_ids": list(slice_ids),
            "words": sorted({anchor for text in texts for word in text.split() if (anchor := anchor_of(word))}),
            "invisible": INVISIBLE,
        }
        lines = await _written_lines(connection, "machine_written", params)
        of_facts = await _lines_of_facts(connection, tenant_id, slice_ids, forgotten)
        of_messages = await _lines_of_messages(connection, tenant_id, slice_ids, texts, messages)
        return [*await asyncio.to_thread(_statements_in, lines, texts), *of_facts, *of_messages]

    async def survey(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
    ) -> Findings:
        """Nothing: the lines are counted with their files."""
        return Findings("document")

    async def erase(
        self, connection: Connection, place: Place, slice_: Slice, forgotten: Forgotten, settings: AgentSettings
    ) -> Findings:
        """Nothing to erase: the provenance of a line went with the version that had it.

        Lines that were written of forgotten facts since the survey are remnants, with which forgetting begins again.
        """
        found = await _lines_of_facts(connection, place.tenant_id, [slice_.slice_id], forgotten)
        return Findings("document", remnants=found)


async def _lines_of_facts(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
) -> list[str]:
    """The lines, as they stand or stood, that the server wrote of facts that hold one of the texts."""
    facts = await facts_holding(connection, tenant_id, slice_ids, forgotten)
    if not facts:
        return []
    params = {
        "tenant_id": tenant_id,
        "slice_ids": list(slice_ids),
        "path": SOUL,
        "fact_ids": [public_id("fact", fact["fact_id"]) for fact in facts],
    }
    lines = await _written_lines(connection, "of_facts", params)
    return list(dict.fromkeys(whole_sentence(spoken(line)) for line in lines))


async def _lines_of_messages(
    connection: Connection,
    tenant_id: str,
    slice_ids: Sequence[int],
    texts: Sequence[str],
    messages: Sequence[tuple[int, str, int]],
) -> list[str]:
    """The lines, as they stand or stood, made of messages with one of the texts, that have a word which these messages
    and the rest of what the user said in their sessions hold in the texts alone."""
    terms = await asyncio.to_thread(_terms_of, texts)
    if not messages or not terms:
        return []
    keys = sorted({session_key for session_key, _, _ in messages})
    async for content in session_erase.said_in(connection, tenant_id, keys):
        terms -= await asyncio.to_thread(_terms_besides, content, texts)
    params = {
        "tenant_id": tenant_id,
        "slice_ids": list(slice_ids),
        "session_ids": sorted({session_id for _, session_id, _ in messages}),
        "of_sessions": [session_id for _, session_id, _ in messages],
        "seqs": [seq for _, _, seq in messages],
        "log": LOG_REASON,
    }
    lines = await _written_lines(connection, "of_messages", params)
    return await asyncio.to_thread(_with_terms, lines, terms, texts)


async def _written_lines(connection: Connection, statement: str, params: Mapping[str, object]) -> list[str]:
    """The lines with one of the hashes in the texts that a statement gives with these; each once."""
    found: dict[str, None] = {}
    # A line is in most versions of its file, and is compared once.
    others: set[tuple[int, str]] = set()
    async with connection.cursor(name=statement) as cursor:
        # A history may be larger than memory.
        cursor.itersize = 20
        await cursor.execute(SQL[statement], params)
        async for row in cursor:
            await asyncio.to_thread(_note_lines, row, found, others)
    return list(found)


def _note_lines(row: DictRow, found: dict[str, None], others: set[tuple[int, str]]) -> None:
    hashes = {bytes(sha256) for sha256 in row["hashes"]}
    for line in entry_lines(row["content"]):
        if line in found or (row["document_id"], line) in others:
            continue
        if line_sha256(line) in hashes:
            found[line] = None
        else:
            others.add((row["document_id"], line))


def _terms_of(texts: Sequence[str]) -> set[str]:
    return {term for text in texts for term in meaning_of(text).terms}


def _terms_besides(content: str, texts: Sequence[str]) -> set[str]:
    return _terms_of([session_erase.without_texts(content, texts)])


def _with_terms(lines: Sequence[str], terms: Collection[str], texts: Sequence[str]) -> list[str]:
    """The statements of lines that have one of the terms. Those that hold a text lose it anyway."""
    targets = Targets(texts)
    said = [whole_sentence(spoken(line)) for line in lines]
    return [line for line in said if not meaning_of(line).terms.isdisjoint(terms) and not targets.found_in(line)]


def _statements_in(lines: Sequence[str], texts: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    folded = [Folded.of(text).text for text in texts]
    for statement in map(spoken, lines):
        undated = _DATED.sub("", statement).rstrip().rstrip(".!?。！？ ")
        # A statement of a word or two is in many texts by chance.
        if is_distinctive(undated) and any(map(pattern_of(undated).search, folded)):
            found |= dict.fromkeys(map(whole_sentence, (statement, undated)))
    return list(found)
