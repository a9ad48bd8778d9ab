-- change_session: what is given (null: nothing) replaces what is there
UPDATE sessions
SET state = coalesce(%(state)s, state), metadata = coalesce(%(metadata)s::jsonb, metadata), updated_at = clock_timestamp()
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s
RETURNING session_key, slice_id, session_id, owner_key, state, metadata, last_seq, message_count, tokens,
          compactions, compacted_through, completed_through, summary, created_at, updated_at;

-- forget_after: that the message `seq` asks to forget what is said next (0: none does)
UPDATE sessions SET forgets_after = %(seq)s
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND slice_id = %(slice_id)s;

-- messages: a page of a session's messages in order, after a number; it ends before it is over so many bytes, if given
SELECT seq, role, content, at, tokens, message_id, extra FROM (
    SELECT seq, role, content, at, tokens, message_id, extra,
           sum(octet_length(content)) OVER (ORDER BY seq) - octet_length(content) AS bytes_before
    FROM messages
    WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND slice_id = %(slice_id)s AND seq > %(after)s
    ORDER BY seq LIMIT %(limit)s
) m
WHERE %(max_bytes)s::bigint IS NULL OR m.bytes_before < %(max_bytes)s::bigint
ORDER BY seq;

-- live_messages, prepared: those of the session of an agent and an owner (null: the shared one) with one id that are not compacted,
-- in order
WITH found AS MATERIALIZED (
    SELECT session_key, slice_id, compacted_through, last_seq
    FROM sessions
    WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s
      AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL)
    ORDER BY session_key
    LIMIT 1
)
SELECT m.seq, m.role, m.content, m.at, m.tokens, m.message_id, m.extra
FROM found f
CROSS JOIN LATERAL (
    SELECT seq, role, content, at, tokens, message_id, extra
    FROM messages
    WHERE tenant_id = %(tenant_id)s AND session_key = f.session_key AND slice_id = f.slice_id
      AND seq > f.compacted_through
    ORDER BY seq
    LIMIT greatest(0, f.last_seq - f.compacted_through)
) m
ORDER BY m.seq;

-- compact_session: mark messages and keep what stands for them, if nobody was faster
UPDATE sessions
SET compactions = compactions + 1, compacted_through = %(through_seq)s, summary = %(summary)s
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND compactions = %(compactions)s
  AND compacted_through = %(compacted_through)s AND last_seq >= %(through_seq)s
RETURNING compactions;

-- add_compaction: what a compaction did
INSERT INTO compactions (tenant_id, session_key, number, slice_id, from_seq, through_seq, summary, flushed, method,
                         prompt, prompt_version, model)
VALUES (%(tenant_id)s, %(session_key)s, %(number)s, %(slice_id)s, %(from_seq)s, %(through_seq)s, %(summary)s, %(flushed)s,
        %(method)s, %(prompt)s, %(prompt_version)s, %(model)s);

-- drop_window_summary: a prompt's summary of a session, once its messages are compacted, changed or gone
DELETE FROM window_summaries WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s;

-- drop_compactions: what the compactions of a session left
DELETE FROM compactions WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s;

-- drop_events: what was published of a session
DELETE FROM events
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND payload ->> 'session_key' = %(session_key)s::text;

-- drop_messages: what was said
DELETE FROM messages WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s;

-- empty_session: a session without messages; its numbers go on, so that no compaction under way fits any more
UPDATE sessions
SET message_count = 0, tokens = 0, compacted_through = last_seq, completed_through = last_seq,
    summarised_through = last_seq, extracted_through = last_seq, facts_through = last_seq,
    facts_asked_through = last_seq, facts_attempts = 0, facts_retry_at = NULL, summary = '', updated_at = clock_timestamp()
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s;

-- drop_session: the session
DELETE FROM sessions WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s;
