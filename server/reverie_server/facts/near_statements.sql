-- message_vectors: the newest messages of users in a slice of which a model has a vector, not what scheduled jobs wrote
SELECT m.session_key, m.seq, m.at, e.embedding
FROM sessions s
JOIN messages m ON m.tenant_id = s.tenant_id AND m.session_key = s.session_key AND m.slice_id = s.slice_id
JOIN documents d ON d.tenant_id = s.tenant_id AND d.session_key = s.session_key AND d.episode_id IS NULL
JOIN chunks c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id AND c.start_line = m.seq
JOIN embedding_cache e ON e.tenant_id = c.tenant_id AND e.model_id = %(model_id)s AND e.passage_sha256 = c.passage_sha256
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = ANY(%(slice_ids)s::bigint[]) AND m.role = 'user'
  AND octet_length(m.content) <= %(bytes)s
  AND NOT EXISTS (SELECT FROM events e WHERE e.tenant_id = s.tenant_id AND e.slice_id = s.slice_id
                  AND e.payload ->> 'trigger_source' = 'cron' AND e.kind = 'session.completed'
                  AND e.payload ->> 'session_key' = s.session_key::text
                  AND m.seq BETWEEN (e.payload ->> 'from_seq')::integer AND (e.payload ->> 'through_seq')::integer)
ORDER BY m.at DESC, m.session_key, m.seq, c.ordinal LIMIT %(messages)s;

-- messages: some messages of a slice
SELECT m.session_key, m.slice_id, s.session_id, m.seq, m.role, m.content, m.at, m.tokens, m.message_id, m.extra
FROM unnest(%(session_keys)s::bigint[], %(seqs)s::int[]) AS w(session_key, seq)
JOIN messages m ON m.tenant_id = %(tenant_id)s AND m.session_key = w.session_key AND m.seq = w.seq
JOIN sessions s ON s.tenant_id = m.tenant_id AND s.session_key = m.session_key AND s.slice_id = m.slice_id
WHERE m.slice_id = ANY(%(slice_ids)s::bigint[])
ORDER BY m.session_key, m.seq;

-- stated: the texts of the facts that some sentences state, whether these hold or not
SELECT DISTINCT k.sentence_sha256, f.text
FROM fact_sentences k
JOIN facts f ON f.tenant_id = k.tenant_id AND f.fact_id = k.fact_id
WHERE k.tenant_id = %(tenant_id)s AND k.slice_id = ANY(%(slice_ids)s::bigint[])
  AND k.sentence_sha256 = ANY(%(keys)s::bytea[])
ORDER BY k.sentence_sha256, f.text;
