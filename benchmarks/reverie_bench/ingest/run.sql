-- indexed: how many files a folder brought, and the chunks of them
SELECT count(DISTINCT d.document_id) AS files, count(c.chunk_id) AS chunks,
       coalesce(array_agg(c.chunk_id) FILTER (WHERE c.chunk_id IS NOT NULL), '{}') AS chunk_ids,
       coalesce(max(d.version), 0) AS versions
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
LEFT JOIN chunks c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id AND c.valid_to IS NULL
WHERE d.tenant_id = %(tenant_id)s AND v.reason LIKE 'index of %%';

-- cached: how many passages a model has embedded
SELECT count(*) AS passages FROM embedding_cache WHERE tenant_id = %(tenant_id)s;
