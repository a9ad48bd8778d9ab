-- sources: where some facts, by their passages, are stated: messages of sessions, and lines of files
SELECT f.chunk_id, f.slice_id, 'sessions/' || s.session_id AS path, seq AS first_line, seq AS last_line
FROM facts f
JOIN fact_sources s ON s.tenant_id = f.tenant_id AND s.fact_id = f.fact_id
CROSS JOIN LATERAL unnest(s.seqs) AS seq
WHERE f.tenant_id = %(tenant_id)s AND f.chunk_id = ANY(%(chunk_ids)s::bigint[]) AND s.session_key IS NOT NULL
UNION ALL
SELECT f.chunk_id, f.slice_id, s.path, s.start_line, s.end_line
FROM facts f
JOIN fact_sources s ON s.tenant_id = f.tenant_id AND s.fact_id = f.fact_id
WHERE f.tenant_id = %(tenant_id)s AND f.chunk_id = ANY(%(chunk_ids)s::bigint[]) AND s.document_id IS NOT NULL
ORDER BY chunk_id, path, first_line;
