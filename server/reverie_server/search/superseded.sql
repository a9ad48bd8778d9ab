-- superseded: those of some sentences that say what does not hold (any more), with what replaced it; with `as_of`: what did
-- not hold at that time. What ends on a day is over from then on, settled or not (`now`). `holding` are up to four facts of the same sentence that hold; `is_likely`: no more
-- than likely, as what a mark of a model ends; `is_guessed`: not even that, as where the mark itself is not sure. `replacing`: the statement that replaced it, if that holds.
SELECT s.sentence_sha256, f.fact_id, f.valid_to, f.superseded_by, f.subject, f.object,
       coalesce(n.change ->> 'cue' IN ('likely', 'guessed') OR n.method <> 'llm' AND n.model IS NOT NULL, false)
           AND f.closed_by IS NULL AND n.confirmed_by IS NULL AS is_likely,
       coalesce(n.change ->> 'cue' = 'guessed' OR n.method <> 'llm' AND n.model IS NOT NULL AND n.confidence < 0.69, false)
           AND f.closed_by IS NULL AND n.confirmed_by IS NULL AS is_guessed,
       CASE WHEN CASE WHEN %(as_of)s::timestamptz IS NULL
                      THEN n.state = 'current' AND (n.valid_to IS NULL OR n.valid_to > %(now)s::timestamptz)
                      ELSE n.valid_to IS NULL OR n.valid_to > %(as_of)s END THEN n.text END AS replacing,
       ARRAY(SELECT jsonb_build_object('fact_id', h.fact_id, 'subject', h.subject, 'predicate', h.predicate, 'object', h.object, 'text', h.text,
                                         'is_end', coalesce(h.change ->> 'kind' = 'ends', false))
             FROM fact_sentences r JOIN facts h ON h.tenant_id = r.tenant_id AND h.fact_id = r.fact_id
             WHERE r.tenant_id = %(tenant_id)s AND r.slice_id = s.slice_id AND r.sentence_sha256 = s.sentence_sha256
               AND CASE WHEN %(as_of)s::timestamptz IS NULL THEN h.state = 'current' AND (h.valid_to IS NULL OR h.valid_to > %(now)s::timestamptz)
                        ELSE h.valid_from <= %(as_of)s AND (h.valid_to IS NULL OR h.valid_to > %(as_of)s) END
             ORDER BY h.fact_id LIMIT 4) AS holding
FROM fact_sentences s
JOIN facts f ON f.tenant_id = s.tenant_id AND f.fact_id = s.fact_id
LEFT JOIN facts n ON n.tenant_id = f.tenant_id AND n.fact_id = f.superseded_by
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = ANY(%(slice_ids)s::bigint[])
  AND s.sentence_sha256 = ANY(%(keys)s::bytea[])
  AND CASE WHEN %(as_of)s::timestamptz IS NULL THEN f.state <> 'current' OR f.valid_to <= %(now)s::timestamptz
           ELSE f.valid_to <= %(as_of)s::timestamptz END
ORDER BY s.sentence_sha256, f.said_at DESC, f.fact_id DESC;

-- elsewhere: where some sentences of facts that end say the same of another subject, of which it holds, and not the one that
-- ends ("She lives in Oslo"; "We got two weeks more, so it's 17 October for the lifts" says two things of one matter): a
-- message, by the document of its session and its number, or a line
SELECT DISTINCT s.sentence_sha256, h.fact_id, coalesce(o.document_id, t.document_id) AS document_id, u.seq, o.line_sha256
FROM fact_sentences s
JOIN facts f ON f.tenant_id = s.tenant_id AND f.fact_id = s.fact_id AND (f.state <> 'current' OR f.valid_to IS NOT NULL)
JOIN fact_sentences k ON k.tenant_id = s.tenant_id AND k.slice_id = s.slice_id AND k.sentence_sha256 = s.sentence_sha256
JOIN facts h ON h.tenant_id = k.tenant_id AND h.fact_id = k.fact_id AND lower(h.subject) <> lower(f.subject)
             AND lower(h.predicate) = lower(f.predicate) AND lower(h.object) = lower(f.object)
JOIN fact_sources o ON o.tenant_id = h.tenant_id AND o.fact_id = h.fact_id
LEFT JOIN documents t ON t.tenant_id = o.tenant_id AND t.session_key = o.session_key AND t.episode_id IS NULL
LEFT JOIN LATERAL unnest(o.seqs) AS u(seq) ON true
WHERE s.tenant_id = %(tenant_id)s AND s.slice_id = ANY(%(slice_ids)s::bigint[])
  AND s.sentence_sha256 = ANY(%(keys)s::bytea[])
  AND CASE WHEN %(as_of)s::timestamptz IS NULL THEN h.state = 'current' AND (h.valid_to IS NULL OR h.valid_to > %(now)s::timestamptz)
           ELSE h.valid_from <= %(as_of)s AND (h.valid_to IS NULL OR h.valid_to > %(as_of)s) END
  AND coalesce(o.document_id, t.document_id) IS NOT NULL
  AND NOT EXISTS (SELECT FROM fact_sources w
                  WHERE w.tenant_id = %(tenant_id)s AND w.fact_id = f.fact_id
                    AND (w.session_key = o.session_key AND w.seqs && o.seqs
                         OR w.document_id = o.document_id AND w.line_sha256 = o.line_sha256))
ORDER BY s.sentence_sha256, h.fact_id, document_id, u.seq, o.line_sha256;

-- preceding: the sentences of facts that others replaced, each with a sentence of the fact that did, of some
SELECT n.sentence_sha256 AS new_sha256, p.sentence_sha256 AS old_sha256
FROM fact_sentences n
JOIN facts o ON o.tenant_id = n.tenant_id AND o.slice_id = n.slice_id AND o.superseded_by = n.fact_id
JOIN fact_sentences p ON p.tenant_id = o.tenant_id AND p.fact_id = o.fact_id
WHERE n.tenant_id = %(tenant_id)s AND n.slice_id = ANY(%(slice_ids)s::bigint[])
  AND n.sentence_sha256 = ANY(%(keys)s::bytea[]) AND p.sentence_sha256 <> n.sentence_sha256
ORDER BY n.sentence_sha256, o.fact_id, p.sentence_sha256;

-- replacing: the sentences of some facts that replaced others
SELECT s.sentence_sha256, s.fact_id
FROM fact_sentences s
WHERE s.tenant_id = %(tenant_id)s AND s.fact_id = ANY(%(fact_ids)s::bigint[])
ORDER BY s.fact_id, s.sentence_sha256;
