-- due: the next session of a slice with completed messages that a model was not asked about; of those that failed, in time or
-- in a retry, since that is a job of its time
SELECT session_key, slice_id, session_id, facts_asked_through, facts_attempts, completed_through FROM sessions
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND facts_asked_through < completed_through
  AND (facts_retry_at IS NULL OR facts_retry_at <= %(now)s OR %(is_retry)s) AND session_key <> ALL(%(failed)s::bigint[])
ORDER BY session_key LIMIT 1;

-- waiting: when the next session of a slice is due; null where none is
SELECT min(coalesce(facts_retry_at, %(now)s::timestamptz)) AS at FROM sessions
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND facts_asked_through < completed_through;

-- messages: messages of a session after a number, in order
SELECT seq, role, content, at, tokens, message_id, extra FROM messages
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND session_key = %(session_key)s
  AND seq > %(after)s AND seq <= %(through_seq)s
ORDER BY seq LIMIT %(limit)s;

-- of_cron: the ranges of a session's messages after a number that a scheduled job wrote
SELECT (payload ->> 'from_seq')::integer AS from_seq, (payload ->> 'through_seq')::integer AS through_seq FROM events
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND payload ->> 'trigger_source' = 'cron'
  AND payload ->> 'session_key' = %(session_key)s::text AND kind = 'session.completed'
  AND (payload ->> 'through_seq')::integer > %(after)s
ORDER BY 1, event_id;

-- stored: the newest facts of a slice that hold
SELECT fact_id, subject, predicate, object, text, category, is_functional, is_request, about_user, said_at, valid_from,
       confirmed_by IS NOT NULL OR closed_by IS NOT DISTINCT FROM 'person' AS is_decided
FROM facts
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND state = 'current'
ORDER BY said_at DESC, fact_id DESC LIMIT %(limit)s;

-- near: of the newest facts of a slice that hold, those nearest to messages of the user in a session, by a model's vectors
WITH said AS MATERIALIZED (
    SELECT e.embedding FROM documents d
    JOIN chunks c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id
    JOIN messages m ON m.tenant_id = d.tenant_id AND m.session_key = d.session_key AND m.seq = c.start_line
    JOIN embedding_cache e ON e.tenant_id = c.tenant_id AND e.passage_sha256 = c.passage_sha256
    WHERE d.tenant_id = %(tenant_id)s AND d.session_key = %(session_key)s AND d.episode_id IS NULL
      AND m.seq > %(after)s AND m.seq <= %(through_seq)s AND m.role = 'user' AND e.model_id = %(model_id)s
    ORDER BY c.ordinal LIMIT %(passages)s
), known AS MATERIALIZED (
    SELECT f.fact_id, c.passage_sha256 FROM facts f
    JOIN chunks c ON c.tenant_id = f.tenant_id AND c.chunk_id = f.chunk_id
    WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s AND f.state = 'current'
    ORDER BY f.said_at DESC, f.fact_id DESC LIMIT %(limit)s
)
SELECT k.fact_id FROM known k
JOIN embedding_cache e ON e.tenant_id = %(tenant_id)s AND e.model_id = %(model_id)s AND e.passage_sha256 = k.passage_sha256
CROSS JOIN said s
GROUP BY k.fact_id ORDER BY min(e.embedding <#> s.embedding), k.fact_id LIMIT %(nearest)s;

-- are_there: facts of a slice, of some ids, that a model may still close or say again
SELECT fact_id FROM facts
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND fact_id = ANY(%(fact_ids)s::bigint[]) AND state = 'current';

-- mark: up to where a model was asked in a session, if that is where it was
UPDATE sessions SET facts_asked_through = %(through_seq)s, facts_attempts = 0, facts_retry_at = NULL
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND session_key = %(session_key)s
  AND facts_asked_through = %(asked_through)s AND facts_attempts = %(attempts)s
RETURNING session_key;

-- postpone: a model that was asked in a session gave no answer, and is asked again later
UPDATE sessions SET facts_attempts = facts_attempts + 1, facts_retry_at = %(retry_at)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND session_key = %(session_key)s
  AND facts_asked_through = %(asked_through)s AND facts_attempts = %(attempts)s
RETURNING session_key;

-- drop_sources: what a model read before in messages of a session
DELETE FROM fact_sources
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND session_key = %(session_key)s
  AND seqs[1] > %(asked_through)s AND seqs[1] <= %(through_seq)s AND method = 'llm';
