-- said_lately: what an owner said in other sessions of slices before a time, the newest first
SELECT m.content FROM messages m
JOIN sessions s ON s.tenant_id = m.tenant_id AND s.session_key = m.session_key
WHERE m.tenant_id = %(tenant_id)s AND m.slice_id = ANY(%(slice_ids)s) AND m.at <= %(until)s AND m.tokens >= 0
  AND m.role = 'user' AND m.session_key <> %(session_key)s AND (s.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND s.owner_key IS NULL)
ORDER BY m.at DESC LIMIT %(limit)s;
