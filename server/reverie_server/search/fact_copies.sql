-- composed: the messages of sessions that state the facts of some sentences
SELECT k.slice_id, k.sentence_sha256, 'sessions/' || s.session_id AS path, seq AS first_line, seq AS last_line
FROM fact_sentences k
JOIN fact_sources s ON s.tenant_id = k.tenant_id AND s.fact_id = k.fact_id
CROSS JOIN LATERAL unnest(s.seqs) AS seq
WHERE k.tenant_id = %(tenant_id)s AND k.slice_id = ANY(%(slice_ids)s::bigint[])
  AND k.sentence_sha256 = ANY(%(keys)s::bytea[]) AND s.session_key IS NOT NULL
ORDER BY k.sentence_sha256, path, first_line;
