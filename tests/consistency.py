"""Recount everything the index derives, from what it was derived from."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
from psycopg.rows import dict_row

from reverie_indexer.index.episode_index import passages_of_episode
from reverie_indexer.text.passages import Rules, passages_of, passages_of_message

Row = dict[str, Any]

_DOCUMENTS = """
SELECT d.tenant_id, d.document_id, d.slice_id, d.session_key, d.episode_id, d.expires_at, d.path, d.version,
       d.deleted_at IS NOT NULL AS deleted,
       v.content, v.sha256, v.size, v.deleted AS version_deleted,
       h.versions, h.newest, h.strays
FROM documents d
CROSS JOIN LATERAL (
    SELECT count(*) AS versions, max(o.version) AS newest, count(*) FILTER (WHERE o.slice_id <> d.slice_id) AS strays
    FROM versions o WHERE o.tenant_id = d.tenant_id AND o.document_id = d.document_id
) h
LEFT JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
"""
_CHUNKS = """
SELECT tenant_id, chunk_id, slice_id, tier::text AS tier, document_id, ordinal, start_line, end_line, char_start,
       char_end, heading_path, text, context, passage_sha256, terms, term_count, embedded, embed_error,
       valid_from, valid_to
FROM chunks ORDER BY tenant_id, document_id, ordinal, chunk_id
"""
_SESSIONS = """
SELECT s.*, a.settings, d.document_id, d.path, d.slice_id AS document_slice_id
FROM sessions s
JOIN agents a ON a.tenant_id = s.tenant_id AND a.agent_id = s.agent_id
LEFT JOIN documents d ON d.tenant_id = s.tenant_id AND d.session_key = s.session_key AND d.episode_id IS NULL
"""
_EPISODES = """
SELECT e.*, a.settings FROM episodes e JOIN agents a ON a.tenant_id = e.tenant_id AND a.agent_id = e.agent_id
"""
_FACTS = "SELECT tenant_id, fact_id, slice_id, chunk_id, state, text FROM facts"
_MESSAGES = "SELECT * FROM messages ORDER BY tenant_id, session_key, seq"
_POSTINGS = "SELECT tenant_id, chunk_id, slice_id, document_id, tier::text AS tier, term, tf, length FROM postings"
_SLICES = """
SELECT s.tenant_id, s.slice_id, s.past, s.chunk_count, s.term_total, s.partition_id, o.slice_id AS present_id
FROM slices s
LEFT JOIN slices o ON o.tenant_id = s.tenant_id AND o.agent_id IS NOT DISTINCT FROM s.agent_id
                  AND o.owner_key IS NOT DISTINCT FROM s.owner_key AND NOT o.past
"""
_VECTORS = """
SELECT v.tenant_id, v.chunk_id, v.slice_id, v.document_id, v.tier::text AS tier, v.partition_id, v.model_id,
       v.embedding::text IS NOT DISTINCT FROM coalesce(e.embedding, v.embedding)::text AS is_as_cached
FROM vectors v
LEFT JOIN chunks c ON c.tenant_id = v.tenant_id AND c.chunk_id = v.chunk_id
LEFT JOIN embedding_cache e ON e.tenant_id = v.tenant_id AND e.model_id = v.model_id
                           AND e.passage_sha256 = c.passage_sha256
"""


def assert_index_consistent(conninfo: str, rules: Rules | None = None) -> None:
    """Fail with every contradiction in the database of `conninfo`: a login that owns the tables, or a superuser."""
    with psycopg.connect(conninfo) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        faults = contradictions(connection, rules)
    assert not faults, "\n".join([f"{len(faults)} contradictions in the index:", *faults[:20]])


def contradictions(connection: psycopg.Connection, rules: Rules | None = None) -> list[str]:
    """What is wrong in the database as this transaction sees it.

    Chunks are compared with what `rules` (default: the default ones) make of the current version of each file,
    postings and slice counts with the chunks, vectors with the chunks, the cache and the slices' partitions.
    """
    cursor = connection.cursor(row_factory=dict_row)
    cursor.execute("SELECT set_config('reverie.maintenance', 'on', true)")
    documents = cursor.execute(_DOCUMENTS).fetchall()
    chunks = cursor.execute(_CHUNKS).fetchall()
    postings = cursor.execute(_POSTINGS).fetchall()
    vectors = cursor.execute(_VECTORS).fetchall()
    slices = cursor.execute(_SLICES).fetchall()
    sessions = cursor.execute(_SESSIONS).fetchall()
    messages = cursor.execute(_MESSAGES).fetchall()
    episodes = cursor.execute(_EPISODES).fetchall()
    facts = cursor.execute(_FACTS).fetchall()
    active = cursor.execute("SELECT model_id FROM models WHERE active").fetchall()
    present = [chunk for chunk in chunks if chunk["valid_to"] is None]
    rules = rules or Rules()
    of_sessions = {(row["tenant_id"], row["document_id"]) for row in documents if row["session_key"] is not None}
    summed_up = [row for row in documents if row["episode_id"] is not None]
    of_episodes = {(row["tenant_id"], row["document_id"]) for row in summed_up}
    spoken = [chunk for chunk in chunks if (chunk["tenant_id"], chunk["document_id"]) in of_sessions - of_episodes]
    told = [chunk for chunk in chunks if (chunk["tenant_id"], chunk["document_id"]) in of_episodes]
    return [
        *_document_faults(
            [row for row in documents if row["session_key"] is None],
            [
                chunk
                for chunk in present
                if chunk["tier"] != "fact" and (chunk["tenant_id"], chunk["document_id"]) not in of_sessions
            ],
            rules,
        ),
        *_session_faults(sessions, messages, spoken, rules),
        *_episode_faults(episodes, summed_up, told, rules),
        *_fact_faults(facts, [chunk for chunk in chunks if chunk["tier"] == "fact"]),
        *_past_faults(documents, facts, chunks, slices),
        *_posting_faults(chunks, postings),
        *_slice_faults(slices, chunks),
        *_vector_faults(vectors, chunks, slices, [row["model_id"] for row in active]),
    ]


def _document_faults(documents: list[Row], chunks: list[Row], rules: Rules) -> list[str]:
    faults = []
    of_document: dict[tuple[str, int], list[Row]] = {}
    for chunk in chunks:
        of_document.setdefault((chunk["tenant_id"], chunk["document_id"]), []).append(chunk)
    for document in documents:
        name = f"{document['tenant_id']}/{document['path']}"
        content = document["content"]
        if content is None:
            faults.append(f"{name}: there is no version {document['version']}")
            continue
        # Retention may have removed old versions, never the present one.
        if document["version"] != document["newest"] or document["versions"] > document["newest"]:
            faults.append(f"{name}: at {document['version']} of {document['versions']}, newest {document['newest']}")
        if document["strays"]:
            faults.append(f"{name}: {document['strays']} versions of another slice")
        if document["deleted"] != document["version_deleted"]:
            faults.append(f"{name}: deleted and not deleted")
        if (document["size"], document["sha256"]) != (len(content.encode()), hashlib.sha256(content.encode()).digest()):
            faults.append(f"{name}: size or hash are not the content's")
        expected = [
            (
                passage.chunk.ordinal,
                passage.chunk.start_line,
                passage.chunk.end_line,
                passage.chunk.char_start,
                passage.chunk.char_end,
                list(passage.chunk.heading_path),
                passage.chunk.text,
                passage.context,
                passage.sha256,
                sorted(passage.terms),
                passage.term_count,
                document["slice_id"],
            )
            for passage in ([] if document["deleted"] else passages_of(document["path"], content, rules))
        ]
        actual = [
            (
                *(chunk[key] for key in ("ordinal", "start_line", "end_line", "char_start", "char_end")),
                *(chunk[key] for key in ("heading_path", "text", "context", "passage_sha256")),
                sorted(chunk["terms"]),
                chunk["term_count"],
                chunk["slice_id"],
            )
            for chunk in of_document.pop((document["tenant_id"], document["document_id"]), [])
        ]
        if expected != actual:
            faults.append(f"{name}: chunks are not those of its text\n  expected {expected}\n  actual   {actual}")
    faults += [f"{len(orphans)} chunks of no document {key}" for key, orphans in of_document.items()]
    return faults


def _session_faults(sessions: list[Row], messages: list[Row], chunks: list[Row], rules: Rules) -> list[str]:
    """A session counts its messages, and the index has the passages of each by the rules and the zone of its agent."""
    faults = []
    said: dict[tuple[str, int], list[Row]] = {}
    for message in messages:
        said.setdefault((message["tenant_id"], message["session_key"]), []).append(message)
    of_document: dict[tuple[str, int], list[Row]] = {}
    for chunk in chunks:
        of_document.setdefault((chunk["tenant_id"], chunk["document_id"]), []).append(chunk)
    for session in sessions:
        name = f"{session['tenant_id']}/{session['owner_key']}/sessions/{session['session_id']}"
        own = said.get((session["tenant_id"], session["session_key"]), [])
        counted = (len(own), sum(message["tokens"] for message in own))
        if counted != (session["message_count"], session["tokens"]):
            faults.append(f"{name}: counts {session['message_count']}, {session['tokens']}, recounted {counted}")
        if own and own[-1]["seq"] > session["last_seq"]:
            faults.append(f"{name}: a message {own[-1]['seq']} after the last, {session['last_seq']}")
        if max(session["compacted_through"], session["completed_through"]) > session["last_seq"]:
            faults.append(f"{name}: compacted or completed beyond its end")
        if session["summarised_through"] > session["completed_through"]:
            faults.append(f"{name}: summarised beyond what is complete")
        if any(message["slice_id"] != session["slice_id"] for message in own):
            faults.append(f"{name}: messages of another slice")
        if session["document_id"] is not None and (
            (session["path"], session["document_slice_id"])
            != (f"sessions/{session['session_id']}", session["slice_id"])
        ):
            faults.append(f"{name}: its document is {session['path']} in {session['document_slice_id']}")
        found = of_document.pop((session["tenant_id"], session["document_id"]), [])
        if [chunk["ordinal"] for chunk in found] != sorted({chunk["ordinal"] for chunk in found}):
            faults.append(f"{name}: two passages at one place")
        expected = _expected_of_session(session, own, rules)
        actual = [
            (
                *(chunk[key] for key in ("tier", "start_line", "end_line", "char_start", "char_end", "heading_path")),
                *(chunk[key] for key in ("text", "context", "passage_sha256", "term_count", "slice_id", "valid_from")),
                sorted(chunk["terms"]),
            )
            for chunk in found
        ]
        if expected != actual:
            faults.append(f"{name}: chunks are not those of its messages\n  expected {expected}\n  actual   {actual}")
    return faults + [f"{len(orphans)} chunks of no session {key}" for key, orphans in of_document.items()]


def _episode_faults(episodes: list[Row], documents: list[Row], chunks: list[Row], rules: Rules) -> list[str]:
    """Each episode has one document, and there the passages of its summary by the rules and the zone of its agent."""
    faults = []
    by_episode = {(row["tenant_id"], row["episode_id"]): row for row in documents}
    of_document: dict[tuple[str, int], list[Row]] = {}
    for chunk in chunks:
        of_document.setdefault((chunk["tenant_id"], chunk["document_id"]), []).append(chunk)
    for episode in episodes:
        name = (
            f"{episode['tenant_id']}/{episode['owner_key']}/episodes/{episode['session_id']}/{episode['through_seq']}"
        )
        document = by_episode.pop((episode["tenant_id"], episode["episode_id"]), None)
        if document is None:
            faults.append(f"{name}: no document")
            continue
        where = (document["path"], document["slice_id"], document["session_key"], document["expires_at"])
        path = f"episodes/{episode['session_id']}/{episode['through_seq']}"
        if where != (path, episode["slice_id"], episode["session_key"], episode["expires_at"]):
            faults.append(f"{name}: its document is {where}")
        own = episode["settings"]
        of_agent = rules.of_agent(own)
        day = episode["ended_at"].astimezone(ZoneInfo(own.get("time_zone", "UTC"))).date()
        expected = [
            ("episodic", p.chunk.ordinal, p.chunk.text, p.context, p.sha256, p.term_count, sorted(p.terms))
            for p in passages_of_episode(episode["summary"], episode["key_topics"], day, of_agent)
        ]
        found = of_document.get((document["tenant_id"], document["document_id"]), [])
        actual = [
            (
                *(chunk[key] for key in ("tier", "ordinal", "text", "context", "passage_sha256", "term_count")),
                sorted(chunk["terms"]),
            )
            for chunk in found
        ]
        if expected != actual:
            faults.append(f"{name}: chunks are not those of its summary\n  expected {expected}\n  actual   {actual}")
        if {(chunk["valid_from"], chunk["slice_id"]) for chunk in found} - {(episode["ended_at"], episode["slice_id"])}:
            faults.append(f"{name}: passages of another time or slice")
    return faults + [f"a document of no episode: {key}" for key in by_episode]


def _expected_of_session(session: Row, messages: list[Row], rules: Rules) -> list[tuple[Any, ...]]:
    own = session["settings"]
    if own.get("index_messages") is False:
        return []
    zone = ZoneInfo(own.get("time_zone", "UTC"))
    rules = rules.of_agent(own)
    return [
        (
            *("message", message["seq"], message["seq"], passage.chunk.char_start, passage.chunk.char_end),
            *(list(passage.chunk.heading_path), passage.chunk.text, passage.context, passage.sha256),
            *(passage.term_count, session["slice_id"], message["at"], sorted(passage.terms)),
        )
        for message in messages
        if message["role"] in ("user", "assistant")
        for passage in passages_of_message(
            message["content"], message["at"].astimezone(zone).date(), rules, message["extra"].get("name", "")
        )
    ]


def _fact_faults(facts: list[Row], chunks: list[Row]) -> list[str]:
    """Each fact has one passage, of its text and of no document, which is of the present while the fact holds."""
    faults = []
    by_key = {(chunk["tenant_id"], chunk["chunk_id"]): chunk for chunk in chunks}
    for fact in facts:
        name = f"{fact['tenant_id']}/fact-{fact['fact_id']}"
        chunk = by_key.pop((fact["tenant_id"], fact["chunk_id"]), None)
        if chunk is None:
            faults.append(f"{name}: no passage")
        elif (chunk["text"], chunk["document_id"]) != (fact["text"], None):
            faults.append(f"{name}: its passage is {chunk['text']!r} of document {chunk['document_id']}")
        elif (chunk["valid_to"] is None) != (fact["state"] == "current"):
            faults.append(f"{name}: {fact['state']}, and its passage valid to {chunk['valid_to']}")
    return [*faults, *(f"chunk {key} of no fact" for key in by_key)]


def _past_faults(documents: list[Row], facts: list[Row], chunks: list[Row], slices: list[Row]) -> list[str]:
    """A passage that its file no longer has is in the past twin of the file's slice, and nothing else is."""
    present_of = {(row["tenant_id"], row["slice_id"]): row["present_id"] for row in slices if row["past"]}
    slice_of = {(row["tenant_id"], row["document_id"]): row["slice_id"] for row in documents}
    slice_of_fact = {(row["tenant_id"], row["chunk_id"]): row["slice_id"] for row in facts}
    faults = []
    for chunk in chunks:
        name = f"chunk {chunk['tenant_id']}/{chunk['chunk_id']}"
        key = (chunk["tenant_id"], chunk["slice_id"])
        if (chunk["valid_to"] is None) == (key in present_of):
            faults.append(f"{name}: valid to {chunk['valid_to']} in slice {key}")
        of_document = slice_of.get((chunk["tenant_id"], chunk["document_id"]))
        home = slice_of_fact.get((chunk["tenant_id"], chunk["chunk_id"]), of_document)
        if key in present_of and present_of[key] != home:
            faults.append(f"{name}: in the past of another slice than its file's")
        if chunk["valid_to"] is not None and chunk["valid_to"] < chunk["valid_from"]:
            faults.append(f"{name}: valid from {chunk['valid_from']} to {chunk['valid_to']}")
    return faults


def _posting_faults(chunks: list[Row], postings: list[Row]) -> list[str]:
    known = {(chunk["tenant_id"], chunk["chunk_id"]): chunk for chunk in chunks}
    terms: dict[tuple[str, int], set[str]] = {key: set() for key in known}
    lengths: Counter[tuple[str, int]] = Counter()
    faults = []
    for posting in postings:
        key = (posting["tenant_id"], posting["chunk_id"])
        chunk = known.get(key)
        if chunk is None:
            faults.append(f"posting {posting['term']!r} of no chunk {key}")
            continue
        terms[key].add(posting["term"])
        lengths[key] += posting["tf"]
        expected = tuple(chunk[name] for name in ("slice_id", "document_id", "tier", "term_count"))
        if expected != tuple(posting[name] for name in ("slice_id", "document_id", "tier", "length")):
            faults.append(f"posting {posting['term']!r} contradicts its chunk {key}")
    for key, chunk in known.items():
        if terms[key] != set(chunk["terms"]) or lengths[key] != chunk["term_count"]:
            faults.append(f"postings of chunk {key} are not its terms: {sorted(terms[key])} {sorted(chunk['terms'])}")
    return faults


def _slice_faults(slices: list[Row], chunks: list[Row]) -> list[str]:
    counts: Counter[tuple[str, int]] = Counter()
    totals: Counter[tuple[str, int]] = Counter()
    for chunk in chunks:
        counts[chunk["tenant_id"], chunk["slice_id"]] += 1
        totals[chunk["tenant_id"], chunk["slice_id"]] += chunk["term_count"]
    faults = []
    for row in slices:
        key = (row["tenant_id"], row["slice_id"])
        kept, recount = (row["chunk_count"], row["term_total"]), (counts.pop(key, 0), totals[key])
        if kept != recount:
            faults.append(f"slice {key} keeps {kept}, recounted {recount}")
    return faults + [f"{count} chunks of no slice {key}" for key, count in counts.items()]


def _vector_faults(vectors: list[Row], chunks: list[Row], slices: list[Row], active: list[int]) -> list[str]:
    known = {(chunk["tenant_id"], chunk["chunk_id"]): chunk for chunk in chunks}
    partitions = {(row["tenant_id"], row["slice_id"]): row["partition_id"] for row in slices}
    with_active: Counter[tuple[str, int]] = Counter()
    faults = []
    for vector in vectors:
        key = (vector["tenant_id"], vector["chunk_id"])
        chunk = known.get(key)
        if chunk is None:
            faults.append(f"vector of no chunk {key}")
            continue
        if any(vector[name] != chunk[name] for name in ("slice_id", "document_id", "tier")):
            faults.append(f"vector of chunk {key} contradicts its chunk")
        if vector["partition_id"] != partitions[vector["tenant_id"], vector["slice_id"]]:
            faults.append(f"vector of chunk {key} is in partition {vector['partition_id']}, not its slice's")
        if not vector["is_as_cached"]:
            faults.append(f"vector of chunk {key} is not the one of its passage")
        with_active[key] += vector["model_id"] in active
    for key, chunk in known.items():
        if with_active[key] != int(chunk["embedded"]):
            faults.append(f"chunk {key}: embedded={chunk['embedded']}, vectors of the active model: {with_active[key]}")
    return faults
