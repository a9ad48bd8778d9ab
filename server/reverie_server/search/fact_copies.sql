-- composed, prepared: the messages of sessions that state the facts of some sentences
SELECT k.slice_id, k.sentence_sha256, 'sessions/' || s.session_id AS path, seq AS first_line, seq AS last_line
FROM unnest(%(slice_ids)s::bigint[]) AS v(slice_id)
CROSS JOIN unnest(%(keys)s::bytea[]) AS b(sentence_sha256)
CROSS JOIN LATERAL (
    SELECT slice_id, sentence_sha256, fact_id FROM fact_sentences
    WHERE tenant_id = %(tenant_id)s AND slice_id = v.slice_id AND sentence_sha256 = b.sentence_sha256 OFFSET 0
) k
CROSS JOIN LATERAL (
    SELECT session_id, seqs FROM fact_sources
    WHERE tenant_id = %(tenant_id)s AND fact_id = k.fact_id AND session_key IS NOT NULL OFFSET 0
) s
CROSS JOIN LATERAL unnest(s.seqs) AS seq
ORDER BY k.sentence_sha256, path, first_line;
