-- due: sessions of a slice that have completed messages which were not extracted, oldest first
SELECT session_key, slice_id, session_id, owner_key, state, metadata, last_seq, message_count, tokens,
       compactions, compacted_through, completed_through, summary, created_at, updated_at, extracted_through
FROM sessions
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND extracted_through < completed_through
  AND extraction_seen_through < completed_through AND NOT session_key = ANY(%(without)s::bigint[])
ORDER BY session_key LIMIT %(limit)s;

-- session: one session of a slice
SELECT session_key, slice_id, session_id, owner_key, state, metadata, last_seq, message_count, tokens,
       compactions, compacted_through, completed_through, summary, created_at, updated_at, extracted_through
FROM sessions
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND session_key = %(session_key)s;

-- messages: messages of a session from one number to another, in order
SELECT seq, role, content, at, tokens, message_id, extra FROM messages
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND slice_id = %(slice_id)s
  AND seq BETWEEN %(from_seq)s AND %(through_seq)s
ORDER BY seq LIMIT %(limit)s;

-- earlier: the number of messages of user and assistant before a message
SELECT count(*) AS count FROM messages
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND slice_id = %(slice_id)s
  AND seq < %(from_seq)s AND role IN ('user', 'assistant');

-- of_cron: the ranges of a session's messages that a scheduled job wrote
SELECT (payload ->> 'from_seq')::integer AS from_seq, (payload ->> 'through_seq')::integer AS through_seq FROM events
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND payload ->> 'trigger_source' = 'cron'
  AND payload ->> 'session_key' = %(session_key)s::text AND kind = 'session.completed'
ORDER BY event_id;

-- saved: the versions of a memory that tools wrote since a time, each with the version before it
SELECT v.content, coalesce(p.content, '') AS before
FROM versions v
LEFT JOIN versions p ON p.tenant_id = v.tenant_id AND p.document_id = v.document_id AND p.version = v.version - 1
WHERE v.tenant_id = %(tenant_id)s AND v.document_id = %(document_id)s AND v.reason = ANY(%(reasons)s::text[])
  AND v.at >= %(since)s AND NOT v.deleted
ORDER BY v.version DESC LIMIT %(limit)s;

-- said_at: for each line of a file that has an origin, the time of the newest message that it was made of
SELECT v.line_sha256, coalesce(max(s.at), max(v.at)) AS at
FROM documents d
JOIN derivations v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id
LEFT JOIN LATERAL (
    SELECT m.at
    FROM jsonb_array_elements(v.sources) AS o(source)
    CROSS JOIN LATERAL jsonb_array_elements(o.source -> 'messages') AS e(said)
    JOIN sessions t ON t.tenant_id = d.tenant_id AND t.slice_id = d.slice_id
                   AND t.session_id = o.source ->> 'session_id'
    JOIN messages m ON m.tenant_id = t.tenant_id AND m.session_key = t.session_key
                   AND m.seq = (e.said ->> 'seq')::integer
    WHERE o.source ->> 'kind' = 'messages'
) s ON true
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.path = %(path)s AND d.session_key IS NULL
GROUP BY v.line_sha256
ORDER BY v.line_sha256;

-- line_sources: the first source of some lines of a file that have an origin, by its newest record
SELECT DISTINCT ON (v.line_sha256) v.line_sha256, v.sources -> 0 AS source
FROM documents d
JOIN derivations v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.path = %(path)s AND d.session_key IS NULL
  AND v.line_sha256 = ANY(%(hashes)s::bytea[]) AND v.sources -> 0 IS NOT NULL
ORDER BY v.line_sha256, v.derivation_id DESC;

-- advance: mark a session as extracted up to a number, if its mark is still the one that was read
UPDATE sessions SET extracted_through = %(through_seq)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND session_key = %(session_key)s
  AND extracted_through = %(extracted_through)s AND last_seq >= %(through_seq)s
RETURNING session_key;

-- seen: mark that the completed messages of a session are too few to be extracted
UPDATE sessions SET extraction_seen_through = greatest(extraction_seen_through, %(through_seq)s)
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND session_key = %(session_key)s
  AND extracted_through = %(extracted_through)s;

-- retries: the retries that are due, or all of one session
SELECT session_key, from_seq, through_seq, attempts, noted_on FROM extraction_retries
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s
  AND CASE WHEN %(session_key)s::bigint IS NULL THEN due_at <= %(now)s ELSE session_key = %(session_key)s::bigint END
ORDER BY due_at, session_key, through_seq LIMIT %(limit)s;

-- add_retry: note that the model is to be asked again
INSERT INTO extraction_retries (tenant_id, session_key, through_seq, from_seq, slice_id, attempts, noted_on, reason, due_at)
VALUES (%(tenant_id)s, %(session_key)s, %(through_seq)s, %(from_seq)s, %(slice_id)s, %(attempts)s, %(noted_on)s,
        %(reason)s, %(due_at)s)
ON CONFLICT (tenant_id, session_key, through_seq) DO NOTHING;

-- postpone_retry: note that the model failed once more
UPDATE extraction_retries SET attempts = attempts + 1, reason = %(reason)s, due_at = %(due_at)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND session_key = %(session_key)s
  AND through_seq = %(through_seq)s AND attempts = %(attempts)s;

-- drop_retry: remove a retry: the model has answered, or is asked no more
DELETE FROM extraction_retries
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND session_key = %(session_key)s
  AND through_seq = %(through_seq)s AND attempts = %(attempts)s
RETURNING session_key;

-- waiting: whether a session is due, and when the next retry is
SELECT EXISTS (SELECT FROM sessions
               WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND extracted_through < completed_through
                 AND extraction_seen_through < completed_through) AS is_due,
       (SELECT min(due_at) FROM extraction_retries
        WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s) AS retry_at;

-- successors: of some facts those that hold and say how a thing is, each with the last message that states it
SELECT DISTINCT ON (f.fact_id) f.fact_id, f.text, s.session_id, s.seqs, s.message_ids
FROM facts f JOIN fact_sources s ON s.tenant_id = f.tenant_id AND s.fact_id = f.fact_id
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s AND f.fact_id = ANY(%(fact_ids)s::bigint[])
  AND f.state = 'current' AND coalesce(f.change ->> 'kind', '') <> 'ends' AND s.session_key IS NOT NULL
ORDER BY f.fact_id, s.said_at DESC, s.source_id DESC;
