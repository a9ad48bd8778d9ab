-- authenticate: the key of that id, and whether this server has ever had a key (from then on it is not open)
SELECT EXISTS (SELECT FROM keys) AS has_keys, k.tenant_id, k.key_id, k.secret_sha256, k.role, k.owner_key, k.agent_ids
FROM (SELECT) AS one_row
LEFT JOIN keys k ON k.key_id = %(key_id)s AND k.revoked_at IS NULL;

-- create_key: a new key; of the secret its hash alone is stored
INSERT INTO keys (tenant_id, key_id, secret_sha256, role, owner_key, agent_ids)
VALUES (%(tenant_id)s, %(key_id)s, %(secret_sha256)s, %(role)s, %(owner_key)s, %(agent_ids)s);

-- list_keys: all keys, or a tenant's, oldest first
SELECT tenant_id, key_id, role, owner_key, agent_ids, created_at, revoked_at FROM keys
WHERE %(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s::text
ORDER BY created_at, key_id;

-- revoke_key: not accepted any more; the row stays, so that a server without valid keys is closed and not open
UPDATE keys SET revoked_at = now() WHERE key_id = %(key_id)s AND revoked_at IS NULL
RETURNING key_id;

-- valid_keys: ids and hashes, to tell a valid key from a wrong one without asking for each
SELECT key_id, secret_sha256 FROM keys WHERE revoked_at IS NULL ORDER BY key_id;
