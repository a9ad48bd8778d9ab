-- record: note recalled passages of a tenant; a passage that is gone meanwhile, or being removed, is left out
-- A passage that its remover has locked is not waited for: the log must not hold up a write.
WITH recalled AS MATERIALIZED (
    SELECT chunk_id, query_hash, score, source, at
    FROM unnest(%(chunk_ids)s::bigint[], %(query_hashes)s::bytea[], %(scores)s::real[], %(sources)s::text[],
                %(times)s::timestamptz[])
        AS s(chunk_id, query_hash, score, source, at)
), present AS MATERIALIZED (
    SELECT k.chunk_id, c.slice_id
    FROM (SELECT DISTINCT chunk_id FROM recalled) k
    CROSS JOIN LATERAL (
        SELECT slice_id FROM chunks WHERE tenant_id = %(tenant_id)s AND chunk_id = k.chunk_id
        LIMIT 1 FOR KEY SHARE SKIP LOCKED
    ) c
)
INSERT INTO recalls (tenant_id, chunk_id, slice_id, query_hash, score, source, at)
SELECT %(tenant_id)s, s.chunk_id, t.slice_id, s.query_hash, s.score, s.source, s.at
FROM recalled s
JOIN present t ON t.chunk_id = s.chunk_id
ORDER BY s.at, s.chunk_id
RETURNING 1;

-- use_facts: note the use of facts of a tenant: of those that were shown, and of those that a passage that was shown states
-- Once for each showing, however many of its passages state the fact. A fact that somebody changes is not waited for.
WITH recalled AS MATERIALIZED (
    SELECT DISTINCT s.chunk_id, s.query_hash, s.at
    FROM unnest(%(chunk_ids)s::bigint[], %(query_hashes)s::bytea[], %(scores)s::real[], %(times)s::timestamptz[])
        AS s(chunk_id, query_hash, score, at)
    WHERE s.score >= %(from_relevance)s
), shown AS MATERIALIZED (
    SELECT r.query_hash, r.at, c.chunk_id, c.document_id, c.start_line, c.end_line, c.tier, d.session_key
    FROM recalled r
    CROSS JOIN LATERAL (
        SELECT chunk_id, document_id, start_line, end_line, tier FROM chunks
        WHERE tenant_id = %(tenant_id)s AND chunk_id = r.chunk_id LIMIT 1
    ) c
    LEFT JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.document_id = c.document_id
), used AS (
    SELECT f.fact_id, s.query_hash, s.at FROM shown s
    JOIN facts f ON f.tenant_id = %(tenant_id)s AND f.chunk_id = s.chunk_id
    UNION
    SELECT o.fact_id, s.query_hash, s.at FROM shown s
    JOIN fact_sources o ON o.tenant_id = %(tenant_id)s AND o.document_id = s.document_id
                       AND o.start_line BETWEEN s.start_line AND s.end_line
    WHERE s.tier = 'document'
    UNION
    SELECT o.fact_id, s.query_hash, s.at FROM shown s
    JOIN fact_sources o ON o.tenant_id = %(tenant_id)s AND o.session_key = s.session_key
                       AND s.start_line = ANY(o.seqs)
    WHERE s.tier = 'message'
), counted AS (
    SELECT fact_id, count(*) AS uses, max(at) AS at FROM used GROUP BY fact_id
), free AS (
    SELECT f.fact_id, c.uses, c.at FROM facts f
    JOIN counted c ON c.fact_id = f.fact_id
    WHERE f.tenant_id = %(tenant_id)s
    ORDER BY f.fact_id FOR NO KEY UPDATE OF f SKIP LOCKED
)
UPDATE facts f SET use_count = f.use_count + u.uses, last_used_at = greatest(f.last_used_at, u.at)
FROM free u WHERE f.tenant_id = %(tenant_id)s AND f.fact_id = u.fact_id;
