-- message_vectors: the newest messages of users in a slice of which a model has a vector, not what scheduled jobs wrote
WITH newest AS MATERIALIZED (
    SELECT m.session_key, m.seq, m.at FROM messages m
    WHERE m.tenant_id = %(tenant_id)s AND m.slice_id = ANY(%(slice_ids)s::bigint[]) AND m.tokens >= 0 AND m.role = 'user'
      AND octet_length(m.content) <= %(bytes)s
      AND NOT EXISTS (SELECT FROM events e WHERE e.tenant_id = %(tenant_id)s AND e.slice_id = m.slice_id
                      AND e.payload ->> 'trigger_source' = 'cron' AND e.kind = 'session.completed'
                      AND e.payload ->> 'session_key' = m.session_key::text
                      AND m.seq BETWEEN (e.payload ->> 'from_seq')::integer
                                    AND (e.payload ->> 'through_seq')::integer)
    ORDER BY m.at DESC, m.session_key, m.seq LIMIT %(messages)s
), passages AS MATERIALIZED (
    -- By session, since no index has the messages of passages.
    SELECT d.session_key, c.start_line AS seq, c.ordinal, c.passage_sha256
    FROM (SELECT DISTINCT session_key FROM newest) s
    JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.session_key = s.session_key AND d.episode_id IS NULL
    JOIN chunks c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id
)
SELECT n.session_key, n.seq, n.at, e.embedding
FROM newest n
JOIN passages p ON p.session_key = n.session_key AND p.seq = n.seq
JOIN embedding_cache e ON e.tenant_id = %(tenant_id)s AND e.model_id = %(model_id)s
                      AND e.passage_sha256 = p.passage_sha256
ORDER BY n.at DESC, n.session_key, n.seq, p.ordinal LIMIT %(messages)s;

-- messages: some messages of a slice; `is_read`: the facts of it were read
SELECT m.session_key, m.slice_id, s.session_id, m.seq, m.role, m.content, m.at, m.tokens, m.message_id, m.extra,
       m.seq <= s.facts_through AS is_read
FROM unnest(%(session_keys)s::bigint[], %(seqs)s::int[]) AS w(session_key, seq)
JOIN messages m ON m.tenant_id = %(tenant_id)s AND m.session_key = w.session_key AND m.seq = w.seq
JOIN sessions s ON s.tenant_id = m.tenant_id AND s.session_key = m.session_key AND s.slice_id = m.slice_id
WHERE m.slice_id = ANY(%(slice_ids)s::bigint[])
ORDER BY m.session_key, m.seq;

-- stated: the texts of the facts that some sentences state, whether these hold or not; not those of marks
SELECT DISTINCT k.sentence_sha256, f.text
FROM unnest(%(slice_ids)s::bigint[]) AS v(slice_id)
CROSS JOIN unnest(%(keys)s::bytea[]) AS b(sentence_sha256)
CROSS JOIN LATERAL (
    SELECT sentence_sha256, fact_id FROM fact_sentences
    WHERE tenant_id = %(tenant_id)s AND slice_id = v.slice_id AND sentence_sha256 = b.sentence_sha256 OFFSET 0
) k
CROSS JOIN LATERAL (
    SELECT text, method, model
    FROM facts WHERE tenant_id = %(tenant_id)s AND fact_id = k.fact_id LIMIT 1
) f
WHERE (f.method = 'llm' OR f.model IS NULL)
ORDER BY k.sentence_sha256, f.text;

-- marked: what marks say that holds, of some sentences
SELECT k.sentence_sha256, f.subject, f.predicate, f.object, f.text, f.said_at, f.is_functional, f.about_user, f.category
FROM unnest(%(slice_ids)s::bigint[]) AS v(slice_id)
CROSS JOIN unnest(%(keys)s::bytea[]) AS b(sentence_sha256)
CROSS JOIN LATERAL (
    SELECT sentence_sha256, fact_id FROM fact_sentences
    WHERE tenant_id = %(tenant_id)s AND slice_id = v.slice_id AND sentence_sha256 = b.sentence_sha256 OFFSET 0
) k
CROSS JOIN LATERAL (
    SELECT fact_id, subject, predicate, object, text, said_at, is_functional, about_user, category, method, model, state, change
    FROM facts WHERE tenant_id = %(tenant_id)s AND fact_id = k.fact_id LIMIT 1
) f
WHERE f.method <> 'llm' AND f.model IS NOT NULL AND f.state = 'current' AND f.change ->> 'kind' IS DISTINCT FROM 'ends'
ORDER BY k.sentence_sha256, f.fact_id;
