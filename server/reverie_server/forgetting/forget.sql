-- passage: a passage of the place, of now or of the past
SELECT c.text, c.tier FROM chunks c
JOIN documents d ON d.tenant_id = c.tenant_id AND d.document_id = c.document_id
WHERE c.tenant_id = %(tenant_id)s AND c.chunk_id = %(chunk_id)s AND c.slice_id = ANY(%(slice_ids)s::bigint[])
  AND (d.expires_at IS NULL OR d.expires_at > %(now)s);
