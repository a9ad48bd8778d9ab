-- repeats: how often a message was recorded in a session, under its id or that of a repetition, and the time of the last
SELECT count(*) AS times, max(at) AS last_at
FROM messages
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s
  AND message_id >= %(message_id)s AND message_id < %(message_id)s || '/'
  AND (message_id = %(message_id)s OR message_id ~ '\.[0-9]+$');

-- session_with_message: of the newest sessions of an agent and an owner (null: the shared ones) that with a message
SELECT s.session_id FROM (
    SELECT session_key, session_id, updated_at FROM sessions
    WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND (owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND owner_key IS NULL)
    ORDER BY updated_at DESC, session_key DESC
    LIMIT %(limit)s
) s
CROSS JOIN LATERAL (
    SELECT FROM messages
    WHERE tenant_id = %(tenant_id)s AND session_key = s.session_key AND message_id = %(message_id)s LIMIT 1
) m
ORDER BY s.updated_at DESC, s.session_key DESC
LIMIT 1;
