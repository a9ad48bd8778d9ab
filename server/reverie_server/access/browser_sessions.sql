-- open: a session of a valid key; those of the key that are over go
WITH gone AS (
    DELETE FROM browser_sessions WHERE key_id = %(key_id)s AND expires_at <= now()
)
INSERT INTO browser_sessions (session_sha256, key_id, expires_at)
SELECT %(session_sha256)s, k.key_id, least(now() + %(lifetime)s::interval, k.expires_at)
FROM keys k
WHERE k.key_id = %(key_id)s AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
RETURNING expires_at;

-- key_of: the valid key of a session that is not over
SELECT k.tenant_id, k.key_id, k.role, k.owner_key, k.agent_ids, k.name
FROM browser_sessions b JOIN keys k USING (key_id)
WHERE b.session_sha256 = %(session_sha256)s AND b.expires_at > now()
  AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now());

-- close: a session that its person leaves
DELETE FROM browser_sessions WHERE session_sha256 = %(session_sha256)s;
