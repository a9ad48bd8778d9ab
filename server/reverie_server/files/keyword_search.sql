-- candidates: the files in which terms may stand, and how many of them; of each path the copy that a read would give
-- `ranks` are the slices' places in the order of resolution. memory.md stands in for a MEMORY.md further down in it. The
-- characters of `ignored` divide no word.
WITH found AS MATERIALIZED (
    SELECT d.document_id, d.path, d.version, s.rank,
           min(s.rank) OVER (PARTITION BY d.path) AS first_rank,
           min(s.rank) FILTER (WHERE d.path IN ('MEMORY.md', 'memory.md')) OVER () AS memory_rank
    FROM unnest(%(slice_ids)s::bigint[], %(ranks)s::int[]) AS s(slice_id, rank)
    JOIN documents d ON d.tenant_id = %(tenant_id)s AND d.slice_id = s.slice_id
    WHERE d.deleted_at IS NULL AND d.session_key IS NULL
), visible AS MATERIALIZED (
    SELECT document_id, path, version FROM found
    WHERE rank = first_rank AND (path <> 'MEMORY.md' OR rank = memory_rank)
      AND right(path, 3) = '.md' AND path !~ %(backup_pattern)s::text AND NOT path = ANY(%(hidden_paths)s::text[])
)
SELECT f.document_id, f.path,
       (SELECT sum(p.terms) FROM unnest(%(patterns)s::text[], %(sizes)s::int[]) AS p(pattern, terms)
        WHERE t.content ~ p.pattern) AS terms
FROM visible f
CROSS JOIN LATERAL (
    -- To look for them first costs a tenth of taking them out of a text that has none.
    SELECT CASE WHEN content ~ ('[' || %(ignored)s::text || ']') THEN translate(content, %(ignored)s::text, '')
                ELSE content END AS content
    FROM versions
    WHERE tenant_id = %(tenant_id)s AND document_id = f.document_id AND version = f.version LIMIT 1
) t
WHERE t.content ~ %(any_pattern)s::text
ORDER BY f.path, f.document_id;

-- contents: the present texts of some files
SELECT d.document_id, d.path, v.content
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE d.tenant_id = %(tenant_id)s AND d.document_id = ANY(%(document_ids)s::bigint[])
ORDER BY d.path, d.document_id;
