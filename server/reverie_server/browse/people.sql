-- page: a page of the owners of whom an agent has anything, the one whose memory changed last first, with counts by tier
-- Without isolation an owner's conversations are in the team's memory: the owner is the session's, not the slice's.
WITH own AS MATERIALIZED (
    SELECT slice_id, owner_key FROM slices
    WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND owner_key IS NOT NULL AND NOT past
), changes AS (
    SELECT owner_key, max(updated_at) AS at FROM sessions
    WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND owner_key IS NOT NULL
    GROUP BY owner_key
    UNION ALL
    SELECT o.owner_key, max(d.updated_at) FROM own o
    JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.slice_id = o.slice_id
    GROUP BY o.owner_key
), people AS (
    SELECT owner_key, max(at) AS at FROM changes GROUP BY owner_key
), page AS MATERIALIZED (
    SELECT owner_key, at FROM people
    WHERE (%(part)s::text IS NULL OR strpos(lower(owner_key), lower(%(part)s::text)) > 0)
      AND (%(before_at)s::timestamptz IS NULL
           OR (at, owner_key) < (%(before_at)s::timestamptz, %(before_owner)s::text COLLATE "C"))
    ORDER BY at DESC, owner_key DESC
    LIMIT %(limit)s
), of_episodes AS MATERIALIZED (
    SELECT owner_key, count(*) AS count FROM episodes
    WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s
      AND owner_key = ANY(ARRAY(SELECT owner_key FROM page))
    GROUP BY owner_key
)
SELECT p.owner_key, p.at AS updated_at,
       (SELECT count(*) FROM documents d JOIN own o ON o.slice_id = d.slice_id
        WHERE d.tenant_id = %(tenant_id)s AND o.owner_key = p.owner_key AND d.session_key IS NULL
          AND d.deleted_at IS NULL)::integer AS document,
       t.sessions, t.message,
       coalesce(e.count, 0)::integer AS episodic,
       (SELECT count(*) FROM facts f JOIN own o ON o.slice_id = f.slice_id
        WHERE f.tenant_id = %(tenant_id)s AND o.owner_key = p.owner_key AND f.state = 'current')::integer AS fact
FROM page p
LEFT JOIN of_episodes e ON e.owner_key = p.owner_key
CROSS JOIN LATERAL (
    SELECT count(*)::integer AS sessions, coalesce(sum(s.message_count), 0)::integer AS message FROM sessions s
    WHERE s.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND s.owner_key = p.owner_key
) t
ORDER BY p.at DESC, p.owner_key DESC;
