-- add: that nothing was found for what a message asks; nothing where the message is gone
INSERT INTO unmet_requests (tenant_id, slice_id, session_key, seq, asked_at, for_model)
SELECT m.tenant_id, m.slice_id, m.session_key, m.seq, m.at, %(for_model)s FROM messages m
WHERE m.tenant_id = %(tenant_id)s AND m.session_key = %(session_key)s AND m.seq = %(seq)s
RETURNING request_id;

-- drop: what a message asks is done
DELETE FROM unmet_requests
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND seq = %(seq)s;

-- begin: what a message asks is being done: it stands on the list until that has ended, and no model is asked
INSERT INTO unmet_requests (tenant_id, slice_id, session_key, seq, asked_at, judged_at)
SELECT m.tenant_id, m.slice_id, m.session_key, m.seq, m.at, clock_timestamp() FROM messages m
WHERE m.tenant_id = %(tenant_id)s AND m.session_key = %(session_key)s AND m.seq = %(seq)s
ON CONFLICT (tenant_id, session_key, seq) DO UPDATE
SET unheard_since = NULL, for_model = false, judged_at = excluded.judged_at
RETURNING request_id;

-- drop_unheard: messages no longer wait for being heard
DELETE FROM unmet_requests
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND seq = ANY(%(seqs)s::int[]) AND unheard_since IS NOT NULL
RETURNING seq;

-- add_confirmed: what answers confirmed that have waited too long for being heard, by the messages before them
INSERT INTO unmet_requests (tenant_id, slice_id, session_key, seq, asked_at, for_model)
SELECT m.tenant_id, m.slice_id, m.session_key, m.seq, m.at, %(for_model)s
FROM unmet_requests r
JOIN messages a ON a.tenant_id = r.tenant_id AND a.session_key = r.session_key AND a.seq = r.seq AND a.role = 'assistant'
JOIN messages m ON m.tenant_id = r.tenant_id AND m.session_key = r.session_key AND m.seq = r.seq - 1 AND m.role = 'user'
WHERE r.tenant_id = %(tenant_id)s AND r.slice_id = ANY(%(slice_ids)s) AND r.unheard_since < %(before)s
ON CONFLICT (tenant_id, session_key, seq) DO NOTHING
RETURNING request_id;

-- drop_answers: the answers that have waited too long
DELETE FROM unmet_requests r USING messages m
WHERE r.tenant_id = %(tenant_id)s AND r.slice_id = ANY(%(slice_ids)s) AND r.unheard_since < %(before)s
  AND m.tenant_id = r.tenant_id AND m.session_key = r.session_key AND m.seq = r.seq AND m.role = 'assistant';

-- give_up_hearing: what has waited too long for being heard is on the list
UPDATE unmet_requests SET unheard_since = NULL, for_model = %(for_model)s
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s) AND unheard_since < %(before)s;

-- page: the requests of an owner's conversations, newest first
SELECT r.request_id, r.asked_at, s.session_id, r.seq, m.message_id, s.owner_key
FROM unmet_requests r
JOIN sessions s ON s.tenant_id = r.tenant_id AND s.session_key = r.session_key
JOIN messages m ON m.tenant_id = r.tenant_id AND m.session_key = r.session_key AND m.seq = r.seq
WHERE r.tenant_id = %(tenant_id)s AND NOT r.for_model AND r.unheard_since IS NULL AND s.agent_id = %(agent_id)s AND (s.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND s.owner_key IS NULL)
  AND (%(before)s::bigint IS NULL OR r.request_id < %(before)s::bigint)
ORDER BY r.request_id DESC LIMIT %(limit)s;

-- one: a request of an owner's conversations
SELECT r.request_id, r.asked_at, s.session_id, r.seq, m.message_id, s.owner_key
FROM unmet_requests r
JOIN sessions s ON s.tenant_id = r.tenant_id AND s.session_key = r.session_key
JOIN messages m ON m.tenant_id = r.tenant_id AND m.session_key = r.session_key AND m.seq = r.seq
WHERE r.tenant_id = %(tenant_id)s AND NOT r.for_model AND r.unheard_since IS NULL AND s.agent_id = %(agent_id)s AND (s.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND s.owner_key IS NULL)
  AND r.request_id = %(request_id)s;

-- dismiss: take a request of an owner's conversations from the list
DELETE FROM unmet_requests r USING sessions s, messages m
WHERE s.tenant_id = r.tenant_id AND s.session_key = r.session_key
  AND m.tenant_id = r.tenant_id AND m.session_key = r.session_key AND m.seq = r.seq
  AND r.tenant_id = %(tenant_id)s AND s.agent_id = %(agent_id)s AND (s.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND s.owner_key IS NULL)
  AND r.request_id = %(request_id)s AND r.unheard_since IS NULL
RETURNING r.request_id, r.asked_at, s.session_id, r.seq, m.message_id, s.owner_key;

-- not_judged: the requests of slices of which no model has been asked what they mean, the oldest first
SELECT r.request_id, r.seq, s.session_id, s.owner_key
FROM unmet_requests r
JOIN sessions s ON s.tenant_id = r.tenant_id AND s.session_key = r.session_key
WHERE r.tenant_id = %(tenant_id)s AND r.slice_id = ANY(%(slice_ids)s) AND r.judged_at IS NULL AND r.unheard_since IS NULL
ORDER BY r.request_id LIMIT %(limit)s;

-- judge: note that a model was asked, once; no row for a request that is gone or was judged
UPDATE unmet_requests SET judged_at = %(now)s, for_model = for_model AND NOT %(is_judged)s
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s) AND request_id = %(request_id)s AND judged_at IS NULL
RETURNING request_id;

-- meet: what a request asks is done, or it asks for nothing
DELETE FROM unmet_requests
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s) AND request_id = %(request_id)s;
