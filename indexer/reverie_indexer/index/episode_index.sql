-- open_document: the document that the passages of an episode belong to, made where new
INSERT INTO documents (tenant_id, slice_id, path, session_key, episode_id, expires_at, enabled, sort_order, version,
                       created_at, updated_at)
VALUES (%(tenant_id)s, %(slice_id)s, %(path)s, %(session_key)s, %(episode_id)s, %(expires_at)s, false, 0, 1,
        %(at)s, %(at)s)
ON CONFLICT (tenant_id, episode_id) WHERE episode_id IS NOT NULL DO UPDATE SET expires_at = excluded.expires_at
RETURNING document_id;

-- chunks_of_episodes: what the index holds of some episodes of a slice
SELECT c.chunk_id, c.slice_id, c.term_count, c.passage_sha256, c.ordinal, c.start_line, c.end_line, c.char_start, c.char_end
FROM documents d
JOIN chunks c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.episode_id = ANY(%(episode_ids)s::bigint[])
ORDER BY c.ordinal, c.chunk_id;

-- remove_documents: the documents of some episodes
DELETE FROM documents
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND episode_id = ANY(%(episode_ids)s::bigint[]);
