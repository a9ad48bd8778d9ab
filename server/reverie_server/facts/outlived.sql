-- made_after: those of some sessions that were made from a time on
SELECT s.session_key FROM sessions s
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.session_key = ANY(%(session_keys)s::bigint[])
  AND s.created_at >= %(latest)s;
