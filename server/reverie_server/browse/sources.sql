-- passage: a passage of the visible slices, present or past, with the present text of its file
SELECT c.chunk_id, c.tier, c.start_line, c.end_line, c.text, c.valid_to IS NOT NULL AS is_past, d.document_id, d.path,
       d.session_key, d.episode_id, v.content
FROM chunks c
JOIN documents d ON d.tenant_id = c.tenant_id AND d.document_id = c.document_id
LEFT JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE c.tenant_id = %(tenant_id)s AND c.chunk_id = %(chunk_id)s AND c.slice_id = ANY(%(slice_ids)s::bigint[]);

-- message: one message of a session of the visible slices
SELECT s.session_id, m.seq, m.message_id, m.role, m.at
FROM messages m
JOIN sessions s ON s.tenant_id = m.tenant_id AND s.session_key = m.session_key
WHERE m.tenant_id = %(tenant_id)s AND m.session_key = %(session_key)s AND m.seq = %(seq)s
  AND m.slice_id = ANY(%(slice_ids)s::bigint[]);
