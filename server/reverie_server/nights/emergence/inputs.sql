-- notes: the newest daily notes of a slice up to a day, and not before another
SELECT d.document_id, d.path, d.version, d.note_day AS day, v.content
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.session_key IS NULL AND d.deleted_at IS NULL
  AND d.path >= 'memory/' AND d.path < 'memory0' AND d.path NOT LIKE 'memory/%%/%%'
  AND d.note_day <= %(today)s AND d.note_day >= %(since)s
ORDER BY d.note_day DESC, d.document_id
LIMIT %(limit)s;

-- consolidated: the newest files of dreaming of a slice
SELECT d.document_id, d.path, d.version, v.content
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.session_key IS NULL AND d.deleted_at IS NULL
  AND d.path >= '_system/dreaming/' AND d.path < '_system/dreaming0'
ORDER BY d.path DESC, d.document_id
LIMIT %(limit)s;

-- recalled: the passages of messages and of some files of a slice that were recalled since a time; below min_relevance are
-- rows that an earlier release noted
SELECT c.chunk_id, d.path, c.start_line, c.end_line, c.terms, c.tier::text AS tier, s.session_id
FROM chunks c
JOIN documents d ON d.tenant_id = c.tenant_id AND d.document_id = c.document_id
LEFT JOIN sessions s ON s.tenant_id = d.tenant_id AND s.session_key = d.session_key
WHERE c.tenant_id = %(tenant_id)s AND c.slice_id = %(slice_id)s
  AND c.chunk_id = ANY(ARRAY(
      SELECT DISTINCT chunk_id FROM recalls
      WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND at >= %(since)s AND at <= %(now)s
        AND score >= %(min_relevance)s))
  AND (c.tier = 'message' OR (c.tier = 'document' AND c.document_id = ANY(%(document_ids)s::bigint[])))
ORDER BY c.chunk_id;

-- recalls: those of some passages of a slice, since a time
SELECT chunk_id, query_hash, at FROM recalls
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND at >= %(since)s AND at <= %(now)s
  AND score >= %(min_relevance)s AND chunk_id = ANY(%(chunk_ids)s::bigint[])
ORDER BY chunk_id, at, recall_id;

-- passages: some passages of a slice, of messages and of some files
SELECT c.chunk_id, d.path, c.start_line, c.end_line, c.terms, c.tier::text AS tier, s.session_id
FROM chunks c
JOIN documents d ON d.tenant_id = c.tenant_id AND d.document_id = c.document_id
LEFT JOIN sessions s ON s.tenant_id = d.tenant_id AND s.session_key = d.session_key
WHERE c.tenant_id = %(tenant_id)s AND c.slice_id = %(slice_id)s AND c.chunk_id = ANY(%(chunk_ids)s::bigint[])
  AND (c.tier = 'message' OR (c.tier = 'document' AND d.path = ANY(%(paths)s::text[])))
ORDER BY c.chunk_id;

-- corrections: the versions of the long-term memory that a person wrote since a time, newest first, each with the one
-- before
SELECT v.at, v.content AS after, p.content AS before
FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id
JOIN versions p ON p.tenant_id = v.tenant_id AND p.document_id = v.document_id AND p.version = v.version - 1
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.session_key IS NULL
  AND d.path = ANY(%(paths)s::text[])
  AND v.at >= %(since)s AND v.by <> 'server' AND v.reason NOT IN ('compaction', 'forget')
ORDER BY v.at DESC, d.document_id, v.version DESC;

-- superseded: those of some sentences that state only what no longer holds
SELECT s.sentence_sha256 FROM fact_sentences s
JOIN facts f ON f.tenant_id = s.tenant_id AND f.fact_id = s.fact_id
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.sentence_sha256 = ANY(%(keys)s::bytea[])
GROUP BY s.sentence_sha256
HAVING bool_and(f.state <> 'current')
ORDER BY s.sentence_sha256;

-- stated: those of some sentences all of whose facts that hold are stated by lines of the lasting files, too
SELECT s.sentence_sha256 FROM fact_sentences s
JOIN facts f ON f.tenant_id = s.tenant_id AND f.fact_id = s.fact_id AND f.state = 'current'
LEFT JOIN LATERAL (
    SELECT o.fact_id FROM fact_sources o
    WHERE o.tenant_id = %(tenant_id)s AND o.fact_id = f.fact_id AND o.path = ANY(%(paths)s::text[]) LIMIT 1) AS l ON true
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.sentence_sha256 = ANY(%(keys)s::bytea[])
GROUP BY s.sentence_sha256
HAVING bool_and(l.fact_id IS NOT NULL)
ORDER BY s.sentence_sha256;
