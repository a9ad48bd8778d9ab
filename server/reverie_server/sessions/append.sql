-- known_ids: which of some messages of the caller's a session has, and the numbers of those that nobody has heard yet
SELECT m.message_id, r.seq AS unheard FROM messages m
LEFT JOIN unmet_requests r ON r.tenant_id = m.tenant_id AND r.session_key = m.session_key AND r.seq = m.seq
  AND r.unheard_since IS NOT NULL
WHERE m.tenant_id = %(tenant_id)s AND m.session_key = %(session_key)s AND m.message_id = ANY(%(message_ids)s::text[])
ORDER BY m.message_id;

-- last_spoken: what was said last with words; from the user it waits for its answer, which no call of tools is
SELECT seq, role, content, at, tokens, message_id, extra FROM messages
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND role IN ('user', 'assistant')
  AND btrim(content, E' \t\r\n') <> '' AND NOT extra ? 'tool_calls'
ORDER BY seq DESC LIMIT 1;

-- add_messages: what was said, in order
INSERT INTO messages (tenant_id, session_key, seq, slice_id, message_id, role, content, extra, tokens, at)
SELECT %(tenant_id)s, %(session_key)s, m.seq, %(slice_id)s, m.message_id, m.role, m.content, m.extra::jsonb, m.tokens, m.at
FROM unnest(%(seqs)s::int[], %(message_ids)s::text[], %(roles)s::text[], %(contents)s::text[], %(extras)s::text[],
            %(token_counts)s::int[], %(ats)s::timestamptz[]) AS m(seq, message_id, role, content, extra, tokens, at)
RETURNING 1;

-- note_unheard: new messages that wait for being heard
INSERT INTO unmet_requests (tenant_id, slice_id, session_key, seq, asked_at, unheard_since)
SELECT %(tenant_id)s, %(slice_id)s, %(session_key)s, m.seq, m.at, clock_timestamp()
FROM unnest(%(unheard)s::int[], %(unheard_ats)s::timestamptz[]) AS m(seq, at)
RETURNING 1;

-- count_messages: the session after its messages were added
UPDATE sessions
SET last_seq = last_seq + %(count)s, message_count = message_count + %(count)s, tokens = tokens + %(tokens)s,
    updated_at = clock_timestamp()
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s
RETURNING session_key, slice_id, session_id, owner_key, state, metadata, last_seq, message_count, tokens,
          compactions, compacted_through, completed_through, summary, created_at, updated_at, forgets_after;

-- drop_superseded: the version before the present one of notes, where both are the log's and the present one goes on from it
-- Else a day of many exchanges would be stored once for each; what a line says is in every version from its own on.
DELETE FROM versions v USING documents d, versions n
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.path = ANY(%(paths)s::text[]) AND d.session_key IS NULL
  AND n.tenant_id = d.tenant_id AND n.document_id = d.document_id AND n.version = d.version AND n.reason = %(reason)s
  AND v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version - 1 AND v.reason = %(reason)s
  AND starts_with(n.content, rtrim(v.content, E' \t\r\n'));
