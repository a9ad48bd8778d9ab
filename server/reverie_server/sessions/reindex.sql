-- sessions: all sessions of some slices
SELECT session_key, slice_id, session_id, owner_key, state, metadata, last_seq, message_count, tokens,
       compactions, compacted_through, completed_through, summary, created_at, updated_at
FROM sessions
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
ORDER BY session_key;
