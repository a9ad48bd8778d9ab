-- record: memories that were shown to somebody, of any tenant; what is gone meanwhile, or going, is left out
-- A passage that is locked by who removes it is not waited for: nothing here may hold up a write.
WITH shown AS MATERIALIZED (
    SELECT tenant_id, chunk_id, query_hash, score, source, at
    FROM unnest(%(tenant_ids)s::text[], %(chunk_ids)s::bigint[], %(query_hashes)s::bytea[], %(scores)s::real[],
                %(sources)s::text[], %(times)s::timestamptz[])
        AS s(tenant_id, chunk_id, query_hash, score, source, at)
), there AS MATERIALIZED (
    SELECT k.tenant_id, k.chunk_id, c.slice_id
    FROM (SELECT DISTINCT tenant_id, chunk_id FROM shown) k
    CROSS JOIN LATERAL (
        SELECT slice_id FROM chunks WHERE tenant_id = k.tenant_id AND chunk_id = k.chunk_id
        LIMIT 1 FOR KEY SHARE SKIP LOCKED
    ) c
)
INSERT INTO recalls (tenant_id, chunk_id, slice_id, query_hash, score, source, at)
SELECT s.tenant_id, s.chunk_id, t.slice_id, s.query_hash, s.score, s.source, s.at
FROM shown s
JOIN there t ON t.tenant_id = s.tenant_id AND t.chunk_id = s.chunk_id
ORDER BY s.at, s.tenant_id, s.chunk_id;
