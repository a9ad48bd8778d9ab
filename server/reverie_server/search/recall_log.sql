-- record: note recalled passages of any tenant; a passage that is gone meanwhile, or being removed, is left out
-- A passage that its remover has locked is not waited for: the log must not hold up a write.
WITH recalled AS MATERIALIZED (
    SELECT tenant_id, chunk_id, query_hash, score, source, at
    FROM unnest(%(tenant_ids)s::text[], %(chunk_ids)s::bigint[], %(query_hashes)s::bytea[], %(scores)s::real[],
                %(sources)s::text[], %(times)s::timestamptz[])
        AS s(tenant_id, chunk_id, query_hash, score, source, at)
), present AS MATERIALIZED (
    SELECT k.tenant_id, k.chunk_id, c.slice_id
    FROM (SELECT DISTINCT tenant_id, chunk_id FROM recalled) k
    CROSS JOIN LATERAL (
        SELECT slice_id FROM chunks WHERE tenant_id = k.tenant_id AND chunk_id = k.chunk_id
        LIMIT 1 FOR KEY SHARE SKIP LOCKED
    ) c
)
INSERT INTO recalls (tenant_id, chunk_id, slice_id, query_hash, score, source, at)
SELECT s.tenant_id, s.chunk_id, t.slice_id, s.query_hash, s.score, s.source, s.at
FROM recalled s
JOIN present t ON t.tenant_id = s.tenant_id AND t.chunk_id = s.chunk_id
ORDER BY s.at, s.tenant_id, s.chunk_id;
