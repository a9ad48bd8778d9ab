-- of_user: what holds of the user of a slice and what messages say, or a person has confirmed, and that no line of
-- PROFILE.md states, each with the newest place that says it, a message before a line; the surest of them, the newest
-- first; not what ends on a day: the line would stand there until the facts are read again. There is none where several
-- people talk in the slice.
SELECT f.fact_id, f.predicate, f.object, f.text AS said, f.said_at,
       f.confidence >= %(sure)s::real OR f.confirmed_by IS NOT NULL AS is_sure,
       f.model IS NOT NULL AND f.method <> 'llm' AS is_marked, f.method, f.prompt, f.prompt_version, f.model,
       s.session_id, s.seqs, s.message_ids, s.path, s.start_line, s.end_line
FROM facts f
CROSS JOIN LATERAL (
    SELECT session_id, seqs, message_ids, path, start_line, end_line FROM fact_sources
    WHERE tenant_id = %(tenant_id)s AND fact_id = f.fact_id
      AND (session_key IS NOT NULL OR f.confirmed_by IS NOT NULL)
    ORDER BY session_key IS NULL, said_at DESC, source_id DESC LIMIT 1) s
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s AND f.subject = %(self)s AND f.about_user
  AND f.state = 'current' AND f.valid_to IS NULL AND f.valid_from <= %(at)s
  AND (f.confidence >= %(least)s::real OR f.method = 'llm' OR f.model IS NULL OR f.confirmed_by IS NOT NULL)
  AND f.predicate = ANY(%(predicates)s::text[]) AND coalesce(f.change ->> 'kind', '') <> 'ends'
  AND NOT EXISTS (
      SELECT FROM facts g JOIN fact_sources o ON o.tenant_id = g.tenant_id AND o.fact_id = g.fact_id
      WHERE g.tenant_id = %(tenant_id)s AND g.slice_id = %(slice_id)s AND g.subject = f.subject
        AND g.predicate = f.predicate AND lower(g.object) = lower(f.object) AND g.state = 'current'
        AND o.path = %(path)s)
  AND (SELECT count(DISTINCT coalesce(owner_key, '')) FROM sessions
       WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s) <= 1
ORDER BY is_sure DESC, f.said_at DESC, f.fact_id DESC LIMIT %(limit)s;

-- dead: the names of whom the facts of a slice say that they died, by when they were said, the newest first
SELECT subject FROM facts
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND predicate = 'died' AND subject <> %(self)s
  AND state <> 'retracted'
ORDER BY said_at DESC, fact_id DESC LIMIT %(limit)s;

-- mark_read: nothing is to be read in a file that was read but for the lines that facts made
UPDATE documents SET facts_version = version
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND path = %(path)s AND session_key IS NULL
  AND facts_version = version - 1;

-- versions: the newest versions of PROFILE.md and who wrote them, the newest first
SELECT v.content, v.by FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.path = %(path)s AND d.session_key IS NULL
  AND v.size <= %(max_bytes)s
ORDER BY v.version DESC LIMIT %(limit)s;
