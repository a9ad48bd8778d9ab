-- page: a page of the sessions of an agent and an owner (null: the team's), the one changed last first
SELECT session_key, slice_id, session_id, owner_key, state, metadata, last_seq, message_count, tokens,
       compactions, compacted_through, completed_through, summary, created_at, updated_at
FROM sessions
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL)
  AND (%(state)s::text IS NULL OR state = %(state)s::text)
  AND (%(since)s::timestamptz IS NULL OR updated_at >= %(since)s::timestamptz)
  AND (%(before_at)s::timestamptz IS NULL
       OR (updated_at, session_key) < (%(before_at)s::timestamptz, %(before_key)s::bigint))
ORDER BY updated_at DESC, session_key DESC
LIMIT %(limit)s;
