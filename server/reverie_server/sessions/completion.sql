-- publish: that a session has completed what it said since the last time; no row where it said nothing
WITH due AS (
    SELECT session_key, completed_through FROM sessions
    WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND completed_through < last_seq
    FOR NO KEY UPDATE
), done AS (
    UPDATE sessions s SET completed_through = s.last_seq
    FROM due WHERE s.tenant_id = %(tenant_id)s AND s.session_key = due.session_key
    RETURNING s.tenant_id, s.slice_id, s.agent_id, s.owner_key, s.session_key, s.session_id, s.compactions, s.last_seq,
              due.completed_through + 1 AS from_seq
), published AS (
    INSERT INTO events (tenant_id, slice_id, agent_id, kind, payload)
    SELECT tenant_id, slice_id, agent_id, 'session.completed',
           %(payload)s::jsonb || jsonb_build_object('session_key', session_key, 'session_id', session_id,
               'owner_key', owner_key, 'from_seq', from_seq, 'through_seq', last_seq, 'compactions', compactions)
    FROM done
    RETURNING tenant_id, slice_id, agent_id, payload
)
SELECT p.tenant_id, p.slice_id, p.agent_id, l.owner_key, p.payload
FROM published p
JOIN slices l ON l.tenant_id = p.tenant_id AND l.slice_id = p.slice_id;

-- idle: sessions of any tenant that nobody has written to for so long, those of longest ago first
SELECT tenant_id, session_key FROM sessions
WHERE completed_through < last_seq AND updated_at < now() - make_interval(secs => %(idle_seconds)s)
ORDER BY updated_at, tenant_id, session_key LIMIT %(limit)s;

-- publish_idle: as `publish`, of some sessions of a tenant, as far as they are silent still and nobody holds them
WITH due AS (
    SELECT session_key, completed_through FROM sessions
    WHERE tenant_id = %(tenant_id)s AND session_key = ANY(%(session_keys)s::bigint[])
      AND completed_through < last_seq AND updated_at < now() - make_interval(secs => %(idle_seconds)s)
    ORDER BY session_key
    FOR NO KEY UPDATE SKIP LOCKED
), done AS (
    UPDATE sessions s SET completed_through = s.last_seq
    FROM due WHERE s.tenant_id = %(tenant_id)s AND s.session_key = due.session_key
    RETURNING s.tenant_id, s.slice_id, s.agent_id, s.owner_key, s.session_key, s.session_id, s.compactions, s.last_seq,
              due.completed_through + 1 AS from_seq
), published AS (
    INSERT INTO events (tenant_id, slice_id, agent_id, kind, payload)
    SELECT tenant_id, slice_id, agent_id, 'session.completed',
           CASE WHEN starts_with(session_id, 'cron:') THEN %(of_cron)s::jsonb ELSE %(payload)s::jsonb END
               || jsonb_build_object('session_key', session_key, 'session_id', session_id,
               'owner_key', owner_key, 'from_seq', from_seq, 'through_seq', last_seq, 'compactions', compactions)
    FROM done
    RETURNING tenant_id, slice_id, agent_id, payload
)
SELECT p.tenant_id, p.slice_id, p.agent_id, l.owner_key, p.payload
FROM published p
JOIN slices l ON l.tenant_id = p.tenant_id AND l.slice_id = p.slice_id
ORDER BY p.slice_id;
