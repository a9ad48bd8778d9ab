-- clearable: the sessions of a slice under a path, with the numbers of those of their messages that are old enough
SELECT s.session_key, s.slice_id, s.session_id, s.owner_key, s.state, s.metadata, s.last_seq, s.message_count, s.tokens,
       s.compactions, s.compacted_through, s.completed_through, s.summary, s.created_at, s.updated_at,
       %(older_than_days)s::float8 IS NULL OR s.updated_at < now() - make_interval(secs => 86400 * %(older_than_days)s::float8) AS is_old,
       ARRAY(SELECT m.seq FROM messages m
             WHERE m.tenant_id = %(tenant_id)s AND m.session_key = s.session_key
               AND (%(older_than_days)s::float8 IS NULL OR m.at < now() - make_interval(secs => 86400 * %(older_than_days)s::float8))
             ORDER BY m.seq) AS seqs
FROM sessions s
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s
  AND (%(path_prefix)s::text IS NULL OR starts_with('sessions/' || s.session_id, %(path_prefix)s::text))
ORDER BY s.session_key
FOR NO KEY UPDATE OF s;

-- whole_session: what was said in a session, and what the index has of it
SELECT s.session_id,
       ARRAY(SELECT m.content FROM messages m
             WHERE m.tenant_id = %(tenant_id)s AND m.session_key = s.session_key ORDER BY m.seq) AS messages,
       ARRAY(SELECT c.text FROM documents d
             JOIN chunks c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id
             WHERE d.tenant_id = %(tenant_id)s AND d.session_key = s.session_key AND d.episode_id IS NULL
             ORDER BY c.chunk_id) AS passages
FROM sessions s
WHERE s.tenant_id = %(tenant_id)s AND s.session_key = %(session_key)s::bigint;

-- remove_messages: delete messages of a session, and subtract them from its counts
WITH gone AS (
    DELETE FROM messages
    WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND seq = ANY(%(seqs)s::int[])
    RETURNING tokens
)
UPDATE sessions s SET message_count = s.message_count - g.count, tokens = s.tokens - g.tokens
FROM (SELECT count(*)::int AS count, coalesce(sum(tokens), 0) AS tokens FROM gone) AS g
WHERE s.tenant_id = %(tenant_id)s AND s.session_key = %(session_key)s;

-- drop_summary: empty the summary of a session some of whose messages are gone
UPDATE sessions SET summary = '' WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s;

-- meet_requests: what some messages asked to forget is no open request any more
DELETE FROM unmet_requests r
USING unnest(%(session_keys)s::bigint[], %(seqs)s::int[]) AS of(session_key, seq)
WHERE r.tenant_id = %(tenant_id)s AND r.session_key = of.session_key AND r.seq = of.seq AND r.unheard_since IS NULL;
