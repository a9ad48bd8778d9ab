-- add: one row for each entry, of the transaction's tenant
INSERT INTO audit (tenant_id, at, action, outcome, key_id, key_name, agent_id, owner_key, count, requests, request_id)
SELECT %(tenant_id)s, u.at, u.action, u.outcome, u.key_id, u.key_name, u.agent_id, u.owner_key, u.count, u.requests,
       u.request_id
FROM unnest(%(times)s::timestamptz[], %(actions)s::text[], %(outcomes)s::text[], %(key_ids)s::text[],
            %(key_names)s::text[], %(agent_ids)s::text[], %(owner_keys)s::text[], %(counts)s::integer[],
            %(requests)s::integer[], %(request_ids)s::text[])
     AS u (at, action, outcome, key_id, key_name, agent_id, owner_key, count, requests, request_id)
RETURNING 1;

-- page: entries, newest first
SELECT audit_id, at, action, outcome, key_id, key_name, agent_id, owner_key, count, requests, request_id
FROM audit
WHERE tenant_id = %(tenant_id)s
  AND (%(since)s::timestamptz IS NULL OR at >= %(since)s::timestamptz)
  AND (%(owner_key)s::text IS NULL OR owner_key = %(owner_key)s::text)
  AND (%(action)s::text IS NULL OR action = %(action)s::text)
  AND (%(before_at)s::timestamptz IS NULL OR (at, audit_id) < (%(before_at)s::timestamptz, %(before_id)s::bigint))
ORDER BY at DESC, audit_id DESC
LIMIT %(limit)s;

-- prune: delete a batch of expired entries of all tenants, the oldest first
DELETE FROM audit a
USING (
    SELECT tenant_id, at, audit_id FROM audit WHERE at < now() - make_interval(days => %(keep_days)s)
    ORDER BY at, audit_id LIMIT %(limit)s
) old
WHERE a.tenant_id = old.tenant_id AND a.at = old.at AND a.audit_id = old.audit_id;
