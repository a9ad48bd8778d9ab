-- agents: all agents
SELECT tenant_id, agent_id FROM agents ORDER BY tenant_id, agent_id;

-- owners: everybody who has something in some memory, of whatever tenant
SELECT DISTINCT tenant_id, owner_key FROM (
    SELECT tenant_id, owner_key FROM slices UNION ALL SELECT tenant_id, owner_key FROM sessions
    UNION ALL SELECT tenant_id, owner_key FROM turns UNION ALL SELECT tenant_id, owner_key FROM keys
    UNION ALL SELECT tenant_id, nullif(viewer, '') FROM report_views
    UNION ALL SELECT tenant_id, payload ->> 'owner_key' FROM events) AS everywhere
WHERE owner_key IS NOT NULL ORDER BY tenant_id, owner_key;

-- keys: the keys that are not revoked
SELECT key_id FROM keys WHERE revoked_at IS NULL ORDER BY key_id;

-- sessions: all conversations
SELECT tenant_id, agent_id, owner_key, session_id FROM sessions ORDER BY tenant_id, session_key;

-- episodes: all episodes, each with the memory it is in
SELECT e.tenant_id, e.agent_id, e.episode_id, s.owner_key FROM episodes e JOIN slices s USING (tenant_id, slice_id)
ORDER BY e.tenant_id, e.episode_id;

-- memories: all memories; one that a tenant shares has any agent of it
SELECT s.tenant_id, s.owner_key, s.slice_id, s.agent_id IS NULL AS is_global,
       coalesce(s.agent_id, (SELECT min(a.agent_id) FROM agents a WHERE a.tenant_id = s.tenant_id)) AS agent_id
FROM slices s WHERE NOT s.past
  AND (s.agent_id IS NOT NULL OR EXISTS (SELECT FROM agents a WHERE a.tenant_id = s.tenant_id))
ORDER BY s.tenant_id, s.slice_id;

-- without_leader: the members of an agent that goes have none any more
UPDATE agents SET leader_agent_id = NULL WHERE tenant_id = %(tenant_id)s AND leader_agent_id = %(agent_id)s;

-- settings: what an agent sets
SELECT settings FROM agents WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s;

-- paths: by what a memory is cleared in parts
SELECT path FROM documents WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND session_key IS NULL
UNION SELECT 'sessions/' || session_id FROM sessions WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s
UNION SELECT 'episodes/' || session_id || '/' || through_seq FROM episodes
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s
UNION SELECT path FROM fact_sources WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND path IS NOT NULL
ORDER BY path;

-- texts: every text of a memory, of now and of before
WITH own AS MATERIALIZED (
    SELECT o.slice_id FROM slices s JOIN slices o ON o.tenant_id = s.tenant_id
     AND o.agent_id IS NOT DISTINCT FROM s.agent_id AND o.owner_key IS NOT DISTINCT FROM s.owner_key
    WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s
), held AS (
    SELECT t.slice_id, t.content AS text, NULL::jsonb AS fields FROM versions t WHERE t.tenant_id = %(tenant_id)s
    UNION ALL SELECT t.slice_id, concat_ws(E'\n', array_to_string(t.heading_path, E'\n'), t.text), NULL
    FROM chunks t WHERE t.tenant_id = %(tenant_id)s
    UNION ALL SELECT t.slice_id, t.content, t.extra FROM messages t WHERE t.tenant_id = %(tenant_id)s
    UNION ALL SELECT t.slice_id, t.summary, t.metadata FROM sessions t WHERE t.tenant_id = %(tenant_id)s
    UNION ALL SELECT t.slice_id, t.summary, NULL FROM compactions t WHERE t.tenant_id = %(tenant_id)s
    UNION ALL SELECT t.slice_id, t.summary, NULL FROM window_summaries t WHERE t.tenant_id = %(tenant_id)s
    UNION ALL SELECT t.slice_id, concat_ws(E'\n', t.summary, t.abstract, array_to_string(t.key_topics, E'\n')), NULL
    FROM episodes t WHERE t.tenant_id = %(tenant_id)s
    UNION ALL SELECT t.slice_id, concat_ws(E'\n', t.subject, t.predicate, t.object, t.text), NULL
    FROM facts t WHERE t.tenant_id = %(tenant_id)s
    UNION ALL SELECT t.slice_id, concat_ws(E'\n', t.name, t.description, array_to_string(t.aliases, E'\n')), t.properties
    FROM entities t WHERE t.tenant_id = %(tenant_id)s
    UNION ALL SELECT t.slice_id, concat_ws(E'\n', t.name, t.description, array_to_string(t.aliases, E'\n')), t.properties
    FROM mentions t WHERE t.tenant_id = %(tenant_id)s
    UNION ALL SELECT t.slice_id, concat_ws(E'\n', t.topic, t.reason, t.diff, t.path),
                     jsonb_build_array(t.seen, t.promoted, t.rejected)
    FROM reports t WHERE t.tenant_id = %(tenant_id)s
    UNION ALL SELECT t.slice_id, t.asked, NULL FROM turns t WHERE t.tenant_id = %(tenant_id)s
)
SELECT concat_ws(E'\n', h.text, (SELECT string_agg(value #>> '{}', E'\n')
                                 FROM jsonb_path_query(h.fields, 'strict $.**') AS value
                                 WHERE jsonb_typeof(value) = 'string')) AS text
FROM own JOIN held h USING (slice_id);
