-- due_sessions: sessions of a slice with messages in which no facts were read yet; what is said all the time waits last
SELECT session_key, slice_id, session_id, last_seq, facts_through FROM sessions
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND facts_through < last_seq
ORDER BY updated_at, session_key LIMIT %(limit)s;

-- messages: what was said in a session from one number on, in order
SELECT seq, role, content, at, tokens, message_id, extra FROM messages
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND slice_id = %(slice_id)s AND seq >= %(from_seq)s
ORDER BY seq LIMIT %(limit)s;

-- of_cron: the ranges of a session's messages after a number that a scheduled job wrote
SELECT (payload ->> 'from_seq')::integer AS from_seq, (payload ->> 'through_seq')::integer AS through_seq FROM events
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND payload ->> 'trigger_source' = 'cron'
  AND payload ->> 'session_key' = %(session_key)s::text AND kind = 'session.completed'
  AND (payload ->> 'through_seq')::integer > %(after)s
ORDER BY 1, event_id;

-- acquaintances: what people are to the user of a slice, since and until when, in that order; the newest are read, not
-- what a mark that is not sure says
SELECT object, predicate, valid_from, valid_to, is_functional FROM (
    SELECT fact_id, object, predicate, valid_from, is_functional,
           CASE WHEN change ->> 'kind' = 'ends' THEN valid_from ELSE valid_to END AS valid_to
    FROM facts
    WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND subject = 'user' AND predicate = ANY(%(roles)s)
      AND state <> 'retracted' AND (method = 'llm' OR model IS NULL OR confidence > 0.69)
    ORDER BY valid_from DESC, fact_id DESC LIMIT %(limit)s) AS newest
ORDER BY valid_from, fact_id;

-- namesakes: whom else the facts of a slice tell of by some first names in small letters, and since when
SELECT subject, min(valid_from) AS since FROM facts
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND NOT about_user AND subject <> 'user'
  AND split_part(lower(subject), ' ', 1) = ANY(%(names)s) AND state <> 'retracted'
GROUP BY subject ORDER BY since, subject LIMIT %(limit)s;

-- due_documents: files of a slice that changed since facts were read in them; what is written all the time waits last
SELECT d.document_id, d.path, d.version, d.facts_version, d.note_day, d.deleted_at IS NOT NULL AS is_deleted,
       d.updated_at, v.content, v.reason
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.facts_version < d.version AND d.session_key IS NULL
ORDER BY d.updated_at, d.document_id LIMIT %(limit)s;

-- versions: what a file held before, of the newest versions the oldest first
SELECT version, at, content FROM (
    SELECT version, at, content FROM versions
    WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s AND NOT deleted
    ORDER BY version DESC LIMIT %(limit)s) AS newest
ORDER BY version;

-- known_lines: when the lines of a file in which facts were read before were said
SELECT line_sha256, min(said_at) AS said_at FROM fact_sources
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND document_id = %(document_id)s
GROUP BY line_sha256;

-- derived_lines: the lines of a file that the server wrote, the stage, when the newest message behind them was said, and
-- whether they were made of something: what a tool saves is of nothing else
SELECT r.line_sha256, min(r.stage) AS stage, max(m.at) AS said_at, bool_and(r.sources <> '[]'::jsonb) AS is_made
FROM derivations r
LEFT JOIN LATERAL (
    SELECT s.session_key, (e ->> 'seq')::int AS seq
    FROM jsonb_array_elements(r.sources) AS o
    JOIN sessions s ON s.tenant_id = %(tenant_id)s AND s.slice_id = r.slice_id AND s.session_id = o ->> 'session_id'
    CROSS JOIN LATERAL jsonb_array_elements(o -> 'messages') AS e
    WHERE o ->> 'kind' = 'messages'
) AS f ON true
LEFT JOIN LATERAL (
    SELECT at FROM messages WHERE tenant_id = %(tenant_id)s AND session_key = f.session_key AND seq = f.seq OFFSET 0
) m ON true
WHERE r.tenant_id = %(tenant_id)s AND r.slice_id = %(slice_id)s AND r.document_id = %(document_id)s
GROUP BY r.line_sha256;
