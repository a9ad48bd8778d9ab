-- record: the provenance of lines, of existing files of a slice
INSERT INTO derivations (tenant_id, slice_id, document_id, line_sha256, stage, method, prompt, prompt_version, model, sources, at)
SELECT d.tenant_id, d.slice_id, d.document_id, x.line_sha256, x.stage, x.method, x.prompt, x.prompt_version, x.model,
       x.sources::jsonb, coalesce(%(at)s::timestamptz, now())
FROM unnest(%(paths)s::text[], %(hashes)s::bytea[], %(stages)s::text[], %(methods)s::text[], %(prompts)s::text[],
            %(prompt_versions)s::text[], %(models)s::text[], %(sources)s::text[])
     WITH ORDINALITY AS x(path, line_sha256, stage, method, prompt, prompt_version, model, sources, number)
JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.path = x.path AND d.session_key IS NULL
ORDER BY x.number
RETURNING 1;

-- machine_lines: the lines of a file that have an origin, of a stage or of any
SELECT DISTINCT v.line_sha256
FROM documents d
JOIN derivations v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.path = %(path)s AND d.session_key IS NULL
  AND (%(stage)s::text IS NULL OR v.stage = %(stage)s::text)
ORDER BY v.line_sha256;

-- origins, prepared: the provenance of some lines of files, oldest first
SELECT d.document_id, d.line_sha256, d.stage, d.method, d.prompt, d.prompt_version, d.model, d.sources, d.at
FROM (SELECT DISTINCT * FROM unnest(%(document_ids)s::bigint[], %(hashes)s::bytea[])) AS w(document_id, line_sha256)
CROSS JOIN LATERAL (
    SELECT derivation_id, document_id, line_sha256, stage, method, prompt, prompt_version, model, sources, at
    FROM derivations
    WHERE tenant_id = %(tenant_id)s AND document_id = w.document_id AND line_sha256 = w.line_sha256 OFFSET 0
) d
ORDER BY d.derivation_id;

-- delete_lines: the provenance of lines of a file that are gone
DELETE FROM derivations
WHERE tenant_id = %(tenant_id)s AND document_id = %(document_id)s AND line_sha256 = ANY(%(gone)s::bytea[]);

-- change_lines: the new hashes of lines of a file of which a part is left
UPDATE derivations v SET line_sha256 = x.new
FROM unnest(%(old)s::bytea[], %(new)s::bytea[]) AS x(old, new)
WHERE v.tenant_id = %(tenant_id)s AND v.document_id = %(document_id)s AND v.line_sha256 = x.old;
