-- card, prepared: the reports of an owner's memory with an agent (null: the team's) that put something into the long-term memory
-- and that the viewer has not seen, the newest first
SELECT r.report_id, r.slice_id, r.promoted
FROM reports r
WHERE r.tenant_id = %(tenant_id)s AND r.mode <> 'dreaming' AND r.slice_id = ANY(ARRAY(
          SELECT slice_id FROM slices
          WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND owner_key = %(owner_key)s AND NOT past
          UNION ALL
          SELECT slice_id FROM slices
          WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND owner_key IS NULL AND NOT past
            AND %(owner_key)s::text IS NULL))
  AND r.status = 'success' AND r.promoted <> '[]'
  AND NOT EXISTS (SELECT FROM report_views v
                  WHERE v.tenant_id = %(tenant_id)s AND v.report_id = r.report_id AND v.viewer = %(viewer)s)
ORDER BY r.started_at DESC, r.report_id DESC
LIMIT %(limit)s;

-- see: record that a viewer has seen a report
INSERT INTO report_views (tenant_id, report_id, viewer, slice_id, at)
VALUES (%(tenant_id)s, %(report_id)s, %(viewer)s, %(slice_id)s, %(at)s)
ON CONFLICT DO NOTHING;

-- first_session: the session in which an owner's day began; no row before the first message
SELECT s.session_id
FROM sessions s
JOIN messages m ON m.tenant_id = s.tenant_id AND m.session_key = s.session_key
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = ANY(%(slice_ids)s::bigint[])
  AND (s.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND s.owner_key IS NULL)
  AND s.updated_at >= %(since)s AND m.role = 'user' AND m.at >= %(since)s AND m.at <= %(now)s
ORDER BY m.at, m.session_key, m.seq
LIMIT 1;
