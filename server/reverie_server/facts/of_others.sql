-- alike: facts of a slice of another subject than one fact, that are recognised by one of its sentences or say the same of
-- that subject; not of somebody who is the same to the user (`Petra`, `user's sister`)
SELECT o.fact_id, o.subject FROM facts f
JOIN facts o ON o.tenant_id = f.tenant_id AND o.slice_id = f.slice_id AND lower(o.subject) <> lower(f.subject)
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s AND f.fact_id = %(fact_id)s
  AND (lower(o.predicate) = lower(f.predicate) AND lower(o.object) = lower(f.object)
       OR EXISTS (SELECT FROM fact_sentences a
                  JOIN fact_sentences b ON b.tenant_id = a.tenant_id AND b.slice_id = a.slice_id
                                       AND b.sentence_sha256 = a.sentence_sha256 AND b.fact_id = o.fact_id
                  WHERE a.tenant_id = %(tenant_id)s AND a.slice_id = f.slice_id AND a.fact_id = f.fact_id))
  AND NOT EXISTS (SELECT FROM facts r
                  WHERE r.tenant_id = %(tenant_id)s AND r.slice_id = f.slice_id AND r.subject = 'user'
                    AND (lower(r.object), 'user''s ' || lower(r.predicate))
                        IN ((lower(f.subject), lower(o.subject)), (lower(o.subject), lower(f.subject))))
ORDER BY o.fact_id;

-- sources: where some facts are stated, each message with what the assistant said right behind it
SELECT s.fact_id, d.path, s.line_sha256, s.session_key, s.session_id, u.seq, a.seq AS answer_seq, a.content AS answer
FROM fact_sources s
LEFT JOIN documents d ON d.tenant_id = s.tenant_id AND d.document_id = s.document_id
LEFT JOIN LATERAL unnest(s.seqs) AS u(seq) ON true
LEFT JOIN messages a ON a.tenant_id = s.tenant_id AND a.session_key = s.session_key AND a.seq = u.seq + 1
                    AND a.role = 'assistant'
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = %(slice_id)s AND s.fact_id = ANY(%(fact_ids)s::bigint[])
ORDER BY s.source_id, u.seq;

-- lines_of_sessions: the lines of files of a slice that the server made of some sessions, each with every message that it
-- was made of (no number: a whole session)
SELECT d.path, x.line_sha256, o ->> 'session_id' AS session_id, (e ->> 'seq')::int AS seq
FROM derivations x
JOIN documents d ON d.tenant_id = x.tenant_id AND d.document_id = x.document_id
CROSS JOIN LATERAL jsonb_array_elements(x.sources) AS o
LEFT JOIN LATERAL jsonb_array_elements(o -> 'messages') AS e ON true
WHERE x.tenant_id = %(tenant_id)s AND x.slice_id = %(slice_id)s
  AND EXISTS (SELECT FROM jsonb_array_elements(x.sources) AS s(source)
              WHERE s.source ->> 'session_id' = ANY(%(session_ids)s::text[]))
ORDER BY d.path, x.line_sha256, x.derivation_id, seq;
