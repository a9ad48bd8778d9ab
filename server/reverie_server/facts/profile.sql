-- of_user: what holds of the user of a slice and what messages say, each with the newest message that says it; the
-- surest of them, the newest first
SELECT f.fact_id, f.predicate, f.object, f.text AS said, f.said_at, f.confidence >= %(sure)s::real AS is_sure,
       f.model IS NOT NULL AND f.method <> 'llm' AS is_marked, s.session_id, s.seqs, s.message_ids
FROM facts f
CROSS JOIN LATERAL (
    SELECT session_id, seqs, message_ids FROM fact_sources
    WHERE tenant_id = %(tenant_id)s AND fact_id = f.fact_id AND session_key IS NOT NULL
    ORDER BY said_at DESC, source_id DESC LIMIT 1) s
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s AND f.subject = %(self)s AND f.about_user
  AND f.state = 'current' AND (f.valid_to IS NULL OR f.valid_to > %(at)s) AND f.valid_from <= %(at)s
  AND f.predicate = ANY(%(predicates)s::text[]) AND coalesce(f.change ->> 'kind', '') <> 'ends'
ORDER BY is_sure DESC, f.said_at DESC, f.fact_id DESC LIMIT %(limit)s;

-- dead: the names of whom the facts of a slice say that they died, by when they were said, the newest first
SELECT subject FROM facts
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND predicate = 'died' AND subject <> %(self)s
  AND state <> 'retracted'
ORDER BY said_at DESC, fact_id DESC LIMIT %(limit)s;

-- drop_lines: the provenance of lines that the server took out again
DELETE FROM derivations v USING documents d
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.path = %(path)s AND d.session_key IS NULL
  AND v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.line_sha256 = ANY(%(lines)s::bytea[])
  AND v.stage = %(stage)s;
