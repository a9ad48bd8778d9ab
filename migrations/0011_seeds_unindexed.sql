-- Take seed files that nobody has edited out of the index: an empty memory finds nothing.
SET LOCAL reverie.maintenance = 'on';
WITH seeds AS (
    SELECT DISTINCT d.path, v.sha256
    FROM documents d
    JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id
    WHERE d.path IN ('AGENTS.md', 'SOUL.md', 'PROFILE.md', 'MEMORY.md') AND v.by = 'server' AND v.reason = 'seed'
), gone AS (
    DELETE FROM chunks c
    USING documents d, versions v, seeds s
    WHERE d.path = s.path AND v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
      AND v.sha256 = s.sha256 AND c.tenant_id = d.tenant_id AND c.document_id = d.document_id AND c.valid_to IS NULL
    RETURNING c.tenant_id, c.slice_id, c.chunk_id, c.term_count
), gone_postings AS (
    DELETE FROM postings p USING gone g
    WHERE p.tenant_id = g.tenant_id AND p.slice_id = g.slice_id AND p.chunk_id = g.chunk_id
), gone_vectors AS (
    DELETE FROM vectors x USING gone g WHERE x.tenant_id = g.tenant_id AND x.chunk_id = g.chunk_id
)
UPDATE slices l SET chunk_count = l.chunk_count - g.chunks, term_total = l.term_total - g.terms
FROM (SELECT tenant_id, slice_id, count(*) AS chunks, sum(term_count) AS terms FROM gone GROUP BY tenant_id, slice_id) g
WHERE l.tenant_id = g.tenant_id AND l.slice_id = g.slice_id;
