-- session_of_id, prepared: the session of an agent and an owner (null: the shared one) with one id
-- The slice is looked up by its key (LIMIT 1): without statistics the planner would join the other way round.
WITH found AS MATERIALIZED (
    SELECT session_key, slice_id, session_id, owner_key, state, metadata, last_seq, message_count, tokens,
           compactions, compacted_through, completed_through, summary, created_at, updated_at
    FROM sessions
    WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s
      AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL)
    ORDER BY session_key
    LIMIT 1
)
SELECT f.session_key, f.slice_id, f.session_id, f.owner_key, f.state, f.metadata, f.last_seq, f.message_count, f.tokens,
       f.compactions, f.compacted_through, f.completed_through, f.summary, f.created_at, f.updated_at,
       l.owner_key AS slice_owner_key
FROM found f
CROSS JOIN LATERAL (
    SELECT owner_key FROM slices WHERE tenant_id = %(tenant_id)s AND slice_id = f.slice_id LIMIT 1
) l
ORDER BY f.session_key;

-- make_session: a session at its first use
INSERT INTO sessions (tenant_id, slice_id, agent_id, owner_key, session_id)
VALUES (%(tenant_id)s, %(slice_id)s, %(agent_id)s, %(owner_key)s, %(session_id)s)
ON CONFLICT (tenant_id, agent_id, session_id, owner_key) DO NOTHING
RETURNING session_key;

-- lock_session: a session, its writers kept out until the transaction ends
SELECT session_key, slice_id, session_id, owner_key, state, metadata, last_seq, message_count, tokens,
       compactions, compacted_through, completed_through, summary, created_at, updated_at
FROM sessions
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND session_id = %(session_id)s
  AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL)
FOR NO KEY UPDATE;
