-- note: record a compaction of a memory, with the reason where it changed nothing
INSERT INTO memory_compactions (tenant_id, slice_id, document_id, version_before, version_after, method, prompt,
                                prompt_version, model, reason, at)
SELECT d.tenant_id, d.slice_id, d.document_id, %(version_before)s, %(version_after)s, %(method)s, %(prompt)s,
       %(prompt_version)s, %(model)s, %(reason)s, %(at)s
FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.document_id = %(document_id)s
RETURNING 1;

-- last: when a memory was last compacted, or a compaction was tried
SELECT max(at) AS at FROM memory_compactions
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]);
