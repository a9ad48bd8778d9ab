-- add: that nothing was found for what a message asks; nothing where the message is gone
INSERT INTO unmet_requests (tenant_id, slice_id, session_key, seq, asked_at)
SELECT m.tenant_id, m.slice_id, m.session_key, m.seq, m.at FROM messages m
WHERE m.tenant_id = %(tenant_id)s AND m.session_key = %(session_key)s AND m.seq = %(seq)s
ON CONFLICT (tenant_id, session_key, seq) DO NOTHING
RETURNING request_id;

-- drop: what a message asks is done
DELETE FROM unmet_requests
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND seq = %(seq)s;

-- page: the requests of an owner's conversations, newest first
SELECT r.request_id, r.asked_at, s.session_id, r.seq, m.message_id, s.owner_key
FROM unmet_requests r
JOIN sessions s ON s.tenant_id = r.tenant_id AND s.session_key = r.session_key
JOIN messages m ON m.tenant_id = r.tenant_id AND m.session_key = r.session_key AND m.seq = r.seq
WHERE r.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND s.owner_key IS NOT DISTINCT FROM %(owner_key)s::text
  AND (%(before)s::bigint IS NULL OR r.request_id < %(before)s::bigint)
ORDER BY r.request_id DESC LIMIT %(limit)s;

-- one: a request of an owner's conversations
SELECT r.request_id, r.asked_at, s.session_id, r.seq, m.message_id, s.owner_key
FROM unmet_requests r
JOIN sessions s ON s.tenant_id = r.tenant_id AND s.session_key = r.session_key
JOIN messages m ON m.tenant_id = r.tenant_id AND m.session_key = r.session_key AND m.seq = r.seq
WHERE r.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND s.owner_key IS NOT DISTINCT FROM %(owner_key)s::text
  AND r.request_id = %(request_id)s;

-- dismiss: take a request of an owner's conversations from the list
DELETE FROM unmet_requests r USING sessions s, messages m
WHERE s.tenant_id = r.tenant_id AND s.session_key = r.session_key
  AND m.tenant_id = r.tenant_id AND m.session_key = r.session_key AND m.seq = r.seq
  AND r.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND s.owner_key IS NOT DISTINCT FROM %(owner_key)s::text
  AND r.request_id = %(request_id)s
RETURNING r.request_id, r.asked_at, s.session_id, r.seq, m.message_id, s.owner_key;
