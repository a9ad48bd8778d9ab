-- said_passages: passages of the place, of now: of files, and of what an owner's messages as a user say, with when
SELECT c.chunk_id, c.text, c.tier, m.at FROM chunks c
LEFT JOIN documents d ON d.tenant_id = c.tenant_id AND d.document_id = c.document_id
LEFT JOIN messages m
    ON c.tier = 'message' AND m.tenant_id = c.tenant_id AND m.session_key = d.session_key AND m.seq = c.start_line
LEFT JOIN sessions s ON s.tenant_id = m.tenant_id AND s.session_key = m.session_key
WHERE c.tenant_id = %(tenant_id)s AND c.chunk_id = ANY(%(chunk_ids)s::bigint[])
  AND c.slice_id = ANY(%(slice_ids)s::bigint[])
  AND (d.expires_at IS NULL OR d.expires_at > %(now)s)
  AND (c.tier = 'document' OR (m.role = 'user' AND (s.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND s.owner_key IS NULL)))
ORDER BY c.chunk_id;

-- statements_between: what an owner's messages as a user say in some spans of time, so many of each, the newest first; of each
-- message so many characters
SELECT left(m.content, %(chars)s) AS content, m.at FROM unnest(%(since)s::timestamptz[], %(until)s::timestamptz[]) AS span(since, until)
CROSS JOIN LATERAL (
    SELECT m.content, m.at, m.session_key, m.seq FROM messages m
    JOIN sessions s ON s.tenant_id = m.tenant_id AND s.session_key = m.session_key
    WHERE m.tenant_id = %(tenant_id)s AND m.slice_id = ANY(%(slice_ids)s::bigint[]) AND m.tokens >= 0
      AND m.at >= span.since AND m.at < span.until AND m.role = 'user'
      AND (s.owner_key = %(owner_key)s::text OR %(owner_key)s::text IS NULL AND s.owner_key IS NULL)
    ORDER BY m.at DESC, m.session_key, m.seq DESC LIMIT %(limit)s
) m
ORDER BY m.at DESC, m.session_key, m.seq DESC;
