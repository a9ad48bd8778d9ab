-- promoted: the entries that a report of some slices let into the memory
SELECT promoted FROM reports
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND report_id = %(report_id)s
  AND mode <> 'dreaming';

-- locked: the same, locked until the end of the transaction
SELECT promoted FROM reports
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND report_id = %(report_id)s
  AND mode <> 'dreaming'
FOR UPDATE;

-- change: the entries of a report, with what a person said of one
UPDATE reports SET promoted = %(promoted)s
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND report_id = %(report_id)s;

-- own_lines: lines that a person wrote are the person's, whoever had written the same before
DELETE FROM derivations v USING documents d
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.path = %(path)s
  AND v.tenant_id = d.tenant_id AND v.document_id = d.document_id AND v.line_sha256 = ANY(%(lines_sha256)s::bytea[]);

-- confirm_facts: somebody says that the facts which some sentences state are so
UPDATE facts f SET last_confirmed_at = %(at)s, confirmed_by = %(by)s
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = ANY(%(slice_ids)s::bigint[]) AND f.state = 'current'
  AND f.fact_id IN (SELECT s.fact_id FROM fact_sentences s
                    WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = ANY(%(slice_ids)s::bigint[])
                      AND s.sentence_sha256 = ANY(%(keys)s::bytea[]));
