-- exported: the living files of a place that a snapshot holds, without their content
SELECT d.document_id, d.path, d.updated_at, v.size, v.sha256
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.deleted_at IS NULL
  AND (d.path = ANY(%(core_files)s::text[]) OR (starts_with(d.path, %(folder)s::text) AND right(d.path, 3) = '.md'))
  AND (%(prefix)s::text IS NULL OR starts_with(d.path, %(prefix)s::text))
ORDER BY d.path
LIMIT %(limit)s;

-- contents: what some files hold now
SELECT d.document_id, v.content
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE d.tenant_id = %(tenant_id)s AND d.document_id = ANY(%(document_ids)s::bigint[])
ORDER BY d.document_id;

-- present: size and hash of the living files of a place at some paths
SELECT d.path, v.size, v.sha256
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = ANY(%(slice_ids)s::bigint[]) AND d.deleted_at IS NULL
  AND d.path = ANY(%(paths)s::text[])
ORDER BY d.path;

-- count_forgotten: how many tombstones a place has; there are never fewer
SELECT count(*) AS count FROM tombstones
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]);
