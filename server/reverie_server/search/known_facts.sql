-- sources, prepared: where some facts, by their passages, are stated: messages of sessions, and lines of files
SELECT f.chunk_id, f.slice_id, CASE WHEN s.document_id IS NULL THEN 'sessions/' || s.session_id ELSE s.path END AS path,
       coalesce(m.seq, s.start_line) AS first_line, coalesce(m.seq, s.end_line) AS last_line
FROM unnest(%(chunk_ids)s::bigint[]) AS k(chunk_id)
CROSS JOIN LATERAL (
    SELECT chunk_id, slice_id, fact_id FROM facts WHERE tenant_id = %(tenant_id)s AND chunk_id = k.chunk_id LIMIT 1
) f
CROSS JOIN LATERAL (
    SELECT document_id, path, start_line, end_line, session_id, seqs FROM fact_sources
    WHERE tenant_id = %(tenant_id)s AND fact_id = f.fact_id OFFSET 0
) s
LEFT JOIN LATERAL unnest(s.seqs) AS m(seq) ON true
WHERE s.document_id IS NOT NULL OR m.seq IS NOT NULL
ORDER BY chunk_id, path, first_line;
