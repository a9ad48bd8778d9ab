-- authenticate, prepared: the valid key of that id, and whether this server has ever had a key (from then on it is not open)
SELECT EXISTS (SELECT FROM keys) AS has_keys, k.tenant_id, k.key_id, k.secret_sha256, k.role, k.owner_key, k.agent_ids,
       k.name
FROM (SELECT) AS one_row
LEFT JOIN keys k ON k.key_id = %(key_id)s AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now());

-- use_key: note the use of a key, unless it was noted within the last minute; a crash may lose the note
WITH lazily AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
UPDATE keys SET last_used_at = now() FROM lazily
WHERE key_id = %(key_id)s AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute');

-- lock_keys: of several processes that find no first key, one makes it
LOCK TABLE keys IN SHARE ROW EXCLUSIVE MODE;

-- create_key: add a key; only the hash of its secret is stored. With `only_first`, add none if there ever was one
INSERT INTO keys (tenant_id, key_id, secret_sha256, role, owner_key, agent_ids, name, expires_at)
SELECT %(tenant_id)s, %(key_id)s, %(secret_sha256)s, %(role)s, %(owner_key)s, %(agent_ids)s::text[], %(name)s,
       %(expires_at)s::timestamptz
WHERE NOT %(only_first)s OR NOT EXISTS (SELECT FROM keys)
RETURNING tenant_id, key_id, role, owner_key, agent_ids, name, created_at, expires_at, last_used_at, revoked_at;

-- list_keys: all keys, or a tenant's, oldest first; with `valid_only` those that are not revoked, a page of them
SELECT tenant_id, key_id, role, owner_key, agent_ids, name, created_at, expires_at, last_used_at, revoked_at
FROM keys
WHERE (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s::text)
  AND (NOT %(valid_only)s OR revoked_at IS NULL)
  AND (%(after_at)s::timestamptz IS NULL OR (created_at, key_id) > (%(after_at)s::timestamptz, %(after_id)s::text))
ORDER BY created_at, key_id
LIMIT %(limit)s::int;

-- revoke_key: revoke a key; its row stays, so that a server without valid keys is closed and not open
UPDATE keys SET revoked_at = now()
WHERE key_id = %(key_id)s AND revoked_at IS NULL AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s::text)
RETURNING tenant_id;

-- valid_keys: ids and hashes, to recognise valid keys without a query for each
SELECT key_id, secret_sha256 FROM keys
WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) ORDER BY key_id;
