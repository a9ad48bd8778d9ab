-- sources: where facts of a slice are stated, the newest last
SELECT s.fact_id, s.document_id, d.path, s.line_sha256, s.session_key, s.seqs, s.said_at
FROM fact_sources s
LEFT JOIN documents d ON d.tenant_id = s.tenant_id AND d.document_id = s.document_id AND d.deleted_at IS NULL
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.fact_id = ANY(%(fact_ids)s::bigint[])
ORDER BY s.said_at, s.source_id;

-- alike: what some facts state, and the facts of a slice that hold, the newest
SELECT fact_id, subject, predicate, object, is_functional FROM facts
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND (state = 'current' OR fact_id = ANY(%(fact_ids)s::bigint[]))
ORDER BY fact_id = ANY(%(fact_ids)s::bigint[]) DESC, said_at DESC, fact_id DESC LIMIT %(limit)s;

-- keys: by which sentences a fact is recognised
SELECT sentence_sha256 FROM fact_sentences
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND fact_id = %(fact_id)s ORDER BY sentence_sha256;

-- messages: what was said in the messages of a fact
SELECT m.content FROM fact_sources s
JOIN messages m ON m.tenant_id = s.tenant_id AND m.session_key = s.session_key AND m.seq = ANY(s.seqs)
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.fact_id = %(fact_id)s
ORDER BY m.session_key, m.seq;

-- lines: the present texts of the files of a fact
SELECT v.content FROM documents d
JOIN versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.version = d.version
WHERE d.tenant_id = %(tenant_id)s AND d.deleted_at IS NULL
  AND d.document_id IN (SELECT document_id FROM fact_sources
                        WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND fact_id = %(fact_id)s)
ORDER BY d.document_id;

-- close: a person says that facts hold no longer, and which one does
UPDATE facts
SET state = CASE WHEN %(superseded_by)s::bigint IS NULL THEN 'retracted' ELSE 'superseded' END,
    superseded_by = %(superseded_by)s::bigint, valid_to = coalesce(valid_to, %(at)s), closed_by = 'person',
    updated_at = %(at)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND fact_id = ANY(%(fact_ids)s::bigint[])
  AND fact_id IS DISTINCT FROM %(superseded_by)s::bigint;

-- reopen: a person writes a fact anew, whatever was decided of it before
UPDATE facts SET state = 'current', valid_to = NULL, superseded_by = NULL, closed_by = NULL
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND fact_id = %(fact_id)s AND closed_by = 'person';

-- decide: what a person says of a pair, once
UPDATE contradictions SET state = %(state)s, kept = %(kept)s, resolved_at = %(at)s, resolved_by = %(by)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND contradiction_id = %(contradiction_id)s AND state = 'open'
RETURNING contradiction_id;

-- document: a file of a slice at its version
SELECT d.document_id, d.path FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.path = %(path)s AND d.session_key IS NULL;
