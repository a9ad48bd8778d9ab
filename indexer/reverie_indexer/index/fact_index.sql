-- present: passages of facts that are not in the past yet
SELECT chunk_id, term_count FROM chunks
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND chunk_id = ANY(%(chunk_ids)s::bigint[])
ORDER BY chunk_id;

-- chunks: passages of facts, of now and of the past
SELECT chunk_id, slice_id, term_count FROM chunks
WHERE tenant_id = %(tenant_id)s AND chunk_id = ANY(%(chunk_ids)s::bigint[])
ORDER BY chunk_id;
