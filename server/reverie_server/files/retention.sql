-- keepers: the agents whose files have a limited history, and the tenants' global files, which follow the server
SELECT s.tenant_id, s.slice_id,
       CASE WHEN a.settings ? 'version_keep_days' THEN (a.settings ->> 'version_keep_days')::int
            ELSE %(keep_days)s::int END AS keep_days,
       CASE WHEN a.settings ? 'version_keep_count' THEN (a.settings ->> 'version_keep_count')::int
            ELSE %(keep_count)s::int END AS keep_count
FROM slices s
LEFT JOIN agents a ON a.tenant_id = s.tenant_id AND a.agent_id = s.agent_id
WHERE NOT s.past
ORDER BY s.tenant_id, s.slice_id;

-- lock_slice: keep its writers out, as they keep each other out
UPDATE slices SET revision = revision + 1 WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s;

-- prune_versions: versions of a slice's files that were replaced too long ago, or are too many; never the present one
WITH history AS (
    SELECT v.document_id, v.version,
           lead(v.at) OVER (PARTITION BY v.document_id ORDER BY v.version) AS replaced_at,
           row_number() OVER (PARTITION BY v.document_id ORDER BY v.version DESC) AS place
    FROM documents d
    JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id
    WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s
)
DELETE FROM versions v USING history h
WHERE v.tenant_id = %(tenant_id)s AND v.document_id = h.document_id AND v.version = h.version AND h.place > 1
  AND (h.replaced_at < now() - make_interval(days => %(keep_days)s::int) OR h.place > %(keep_count)s::int);

-- outlived_chunks: passages of before that belong to no version that is left
SELECT c.chunk_id, c.slice_id, c.term_count, c.passage_sha256
FROM documents d
JOIN chunks c ON c.tenant_id = d.tenant_id AND c.document_id = d.document_id
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.session_key IS NULL AND c.valid_to <= (
    SELECT min(v.at) FROM versions v WHERE v.tenant_id = %(tenant_id)s AND v.document_id = d.document_id)
ORDER BY c.chunk_id;
