-- texts, prepared: the texts of some passages, and the slices that they are in
SELECT c.chunk_id, c.slice_id, c.text
FROM unnest(%(chunk_ids)s::bigint[]) AS k(chunk_id)
CROSS JOIN LATERAL (
    SELECT chunk_id, slice_id, text FROM chunks WHERE tenant_id = %(tenant_id)s AND chunk_id = k.chunk_id LIMIT 1
) c
ORDER BY c.chunk_id;
