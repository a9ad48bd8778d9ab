-- complete: that a session has completed what it said since the last time; no row where it said nothing
WITH due AS (
    SELECT session_key, completed_through FROM sessions
    WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND completed_through < last_seq
    FOR NO KEY UPDATE
)
UPDATE sessions s SET completed_through = s.last_seq
FROM due, slices l
WHERE s.tenant_id = %(tenant_id)s AND s.session_key = due.session_key
  AND l.tenant_id = %(tenant_id)s AND l.slice_id = s.slice_id
RETURNING s.tenant_id, s.slice_id, s.agent_id, s.owner_key, l.owner_key AS slice_owner, s.session_key, s.session_id,
          due.completed_through + 1 AS from_seq, s.last_seq AS through_seq, s.compactions;

-- idle: sessions of any tenant that nobody has written to for so long, those of longest ago first
SELECT tenant_id, session_key FROM sessions
WHERE completed_through < last_seq AND updated_at < now() - make_interval(secs => %(idle_seconds)s)
ORDER BY updated_at, tenant_id, session_key LIMIT %(limit)s;

-- complete_idle: as `complete`, of some sessions of a tenant, as far as they are silent still and nobody holds them
WITH due AS (
    SELECT session_key, completed_through FROM sessions
    WHERE tenant_id = %(tenant_id)s AND session_key = ANY(%(session_keys)s::bigint[])
      AND completed_through < last_seq AND updated_at < now() - make_interval(secs => %(idle_seconds)s)
    ORDER BY session_key
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE sessions s SET completed_through = s.last_seq
FROM due, slices l
WHERE s.tenant_id = %(tenant_id)s AND s.session_key = due.session_key
  AND l.tenant_id = %(tenant_id)s AND l.slice_id = s.slice_id
RETURNING s.tenant_id, s.slice_id, s.agent_id, s.owner_key, l.owner_key AS slice_owner, s.session_key, s.session_id,
          due.completed_through + 1 AS from_seq, s.last_seq AS through_seq, s.compactions;
