-- open_document: the document that the passages of a session belong to, made where new
INSERT INTO documents (tenant_id, slice_id, path, session_key, enabled, sort_order, version)
VALUES (%(tenant_id)s, %(slice_id)s, %(path)s, %(session_key)s, false, 0, 1)
ON CONFLICT (tenant_id, session_key) WHERE session_key IS NOT NULL AND episode_id IS NULL DO UPDATE SET updated_at = clock_timestamp()
RETURNING document_id;

-- document: the document of a session
SELECT document_id FROM documents
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND episode_id IS NULL;

-- next_ordinal: the first free place behind all passages of a document, or behind those of messages before one
SELECT coalesce((SELECT ordinal FROM chunks
                 WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s
                   AND (%(before_seq)s::int IS NULL OR start_line < %(before_seq)s::int)
                 ORDER BY ordinal DESC LIMIT 1) + 1, 0) AS ordinal;

-- chunks_of_messages: what the index holds of some messages
SELECT chunk_id, start_line, end_line, ordinal, char_start, char_end, slice_id, passage_sha256, term_count FROM chunks
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s AND start_line = ANY(%(seqs)s::int[])
ORDER BY ordinal, chunk_id;

-- make_room: move the passages of all later messages so many places on
UPDATE chunks SET ordinal = ordinal + %(by)s
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s AND start_line > %(seq)s;

-- chunks_of_session: what the index holds of a session, or of some of its messages
SELECT c.chunk_id, c.term_count, c.passage_sha256
FROM documents d
JOIN chunks c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id
WHERE d.tenant_id = %(tenant_id)s AND d.session_key = %(session_key)s AND d.episode_id IS NULL
  AND (%(seqs)s::int[] IS NULL OR c.start_line = ANY(%(seqs)s::int[]))
ORDER BY c.chunk_id;

-- forget_unshared: what models said of passages that nobody whom this transaction sees holds any more
DELETE FROM embedding_cache e
WHERE e.tenant_id = %(tenant_id)s AND e.passage_sha256 = ANY(%(hashes)s::bytea[])
  AND NOT EXISTS (SELECT FROM chunks c WHERE c.tenant_id = %(tenant_id)s AND c.passage_sha256 = e.passage_sha256);

-- remove_document: the document of a session
DELETE FROM documents WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND episode_id IS NULL;
