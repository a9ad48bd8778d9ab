-- said_lately: what users said in other sessions of slices before a time, the newest first
SELECT m.content FROM messages m
WHERE m.tenant_id = %(tenant_id)s AND m.slice_id = ANY(%(slice_ids)s) AND m.at <= %(until)s AND m.tokens >= 0
  AND m.role = 'user' AND m.session_key <> %(session_key)s
ORDER BY m.at DESC LIMIT %(limit)s;
