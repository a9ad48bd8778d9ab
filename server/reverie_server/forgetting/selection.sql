-- passages: passages of the place, of now or of the past
SELECT c.chunk_id, c.text, c.tier, c.valid_to FROM chunks c
LEFT JOIN documents d ON d.tenant_id = c.tenant_id AND d.document_id = c.document_id
WHERE c.tenant_id = %(tenant_id)s AND c.chunk_id = ANY(%(chunk_ids)s::bigint[])
  AND c.slice_id = ANY(%(slice_ids)s::bigint[])
  AND (d.expires_at IS NULL OR d.expires_at > %(now)s)
ORDER BY c.chunk_id;

-- exchanges: what an owner said with some texts in it, and the assistant's answer, the newest first
SELECT m.content AS said, a.content AS answer FROM messages m
JOIN sessions s ON s.tenant_id = m.tenant_id AND s.session_key = m.session_key
JOIN messages a ON a.tenant_id = m.tenant_id AND a.session_key = m.session_key AND a.seq = m.seq + 1
WHERE m.tenant_id = %(tenant_id)s AND m.slice_id = ANY(%(slice_ids)s::bigint[]) AND m.tokens >= 0 AND m.role = 'user'
  AND a.role = 'assistant' AND (s.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND s.owner_key IS NULL)
  AND EXISTS (SELECT FROM unnest(%(texts)s::text[]) AS t(text) WHERE strpos(m.content, t.text) > 0)
ORDER BY m.at DESC, m.session_key, m.seq DESC LIMIT %(limit)s;

-- names: the names of an entity, and of those that were merged into it or that it was merged into
SELECT e.name, e.aliases FROM entities e
WHERE e.tenant_id = %(tenant_id)s AND e.slice_id = ANY(%(slice_ids)s::bigint[])
  AND (e.entity_id = %(entity_id)s OR e.merged_into = %(entity_id)s)
ORDER BY e.entity_id <> %(entity_id)s, e.entity_id;

-- said: what was said in the sessions of some slices
SELECT m.session_key, m.content FROM sessions s
JOIN messages m ON m.tenant_id = s.tenant_id AND m.session_key = s.session_key
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = ANY(%(slice_ids)s::bigint[])
ORDER BY m.session_key, m.seq;
