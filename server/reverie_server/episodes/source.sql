-- session: a session of some slices, and how far it is completed and summarised
SELECT session_key, slice_id, session_id, owner_key, compactions, completed_through, summarised_through
FROM sessions
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND slice_id = ANY(%(slice_ids)s::bigint[]);

-- of_cron: the ranges of a session's messages after a number that a scheduled job wrote
SELECT (payload ->> 'from_seq')::integer AS from_seq, (payload ->> 'through_seq')::integer AS through_seq FROM events
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND payload ->> 'trigger_source' = 'cron'
  AND payload ->> 'session_key' = %(session_key)s::text AND kind = 'session.completed'
  AND (payload ->> 'through_seq')::integer > %(after)s
ORDER BY 1, event_id LIMIT 1;

-- compacted: the summary of the last compaction within a range, if it covers exactly the first messages of the range
-- A summary covers all messages compacted before it, too: it fits where the first of them begins the range.
SELECT c.number, c.through_seq, c.summary, c.method, c.prompt, c.prompt_version, c.model
FROM compactions c
WHERE c.tenant_id = %(tenant_id)s AND c.session_key = %(session_key)s AND c.slice_id = %(slice_id)s
  AND c.through_seq BETWEEN %(from_seq)s AND %(through_seq)s AND c.summary <> ''
  AND (SELECT min(f.from_seq) FROM compactions f
       WHERE f.tenant_id = %(tenant_id)s AND f.session_key = c.session_key) = %(from_seq)s
ORDER BY c.number DESC LIMIT 1;

-- has_compaction: whether a compaction has this summary
SELECT EXISTS (SELECT FROM compactions
               WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND number = %(number)s
                 AND summary = %(summary)s) AS found;

-- forgotten_mark: a value that changes whenever something is forgotten in a slice
SELECT count(*) AS count, max(at) AS at FROM tombstones
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]);

-- move_cursor: mark a session as summarised up to a number, if nobody was faster
UPDATE sessions SET summarised_through = %(through)s
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND slice_id = %(slice_id)s
  AND summarised_through = %(summarised_through)s AND completed_through >= %(through)s
RETURNING session_key;
