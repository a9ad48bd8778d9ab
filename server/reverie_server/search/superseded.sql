-- superseded, prepared: those of some sentences that say what does not hold (any more), with what replaced it; with `as_of`: what did
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
             FROM (SELECT fact_id FROM fact_sentences
                   WHERE tenant_id = %(tenant_id)s AND slice_id = v.slice_id AND sentence_sha256 = k.sentence_sha256 OFFSET 0) r
             CROSS JOIN LATERAL (
                 SELECT fact_id, subject, predicate, object, text, change, state, valid_from, valid_to
                 FROM facts WHERE tenant_id = %(tenant_id)s AND fact_id = r.fact_id LIMIT 1
             ) h
             WHERE CASE WHEN %(as_of)s::timestamptz IS NULL THEN h.state = 'current' AND (h.valid_to IS NULL OR h.valid_to > %(now)s::timestamptz)
                        ELSE h.valid_from <= %(as_of)s AND (h.valid_to IS NULL OR h.valid_to > %(as_of)s) END
             ORDER BY h.fact_id LIMIT 4) AS holding
FROM unnest(%(slice_ids)s::bigint[]) AS v(slice_id)
CROSS JOIN unnest(%(keys)s::bytea[]) AS k(sentence_sha256)
CROSS JOIN LATERAL (
    SELECT sentence_sha256, fact_id FROM fact_sentences
    WHERE tenant_id = %(tenant_id)s AND slice_id = v.slice_id AND sentence_sha256 = k.sentence_sha256 OFFSET 0
) s
CROSS JOIN LATERAL (
    SELECT fact_id, valid_to, superseded_by, subject, object, state, closed_by, said_at
    FROM facts WHERE tenant_id = %(tenant_id)s AND fact_id = s.fact_id LIMIT 1
) f
LEFT JOIN LATERAL (
    SELECT change, method, model, confidence, confirmed_by, state, valid_to, text
    FROM facts WHERE tenant_id = %(tenant_id)s AND fact_id = f.superseded_by LIMIT 1
) n ON true
WHERE CASE WHEN %(as_of)s::timestamptz IS NULL THEN f.state <> 'current' OR f.valid_to <= %(now)s::timestamptz
           ELSE f.valid_to <= %(as_of)s::timestamptz END
ORDER BY s.sentence_sha256, f.said_at DESC, f.fact_id DESC;

-- elsewhere, prepared: where some sentences of facts that end say the same of another subject, of which it holds, and not the one that
-- ends ("She lives in Oslo"; "We got two weeks more, so it's 17 October for the lifts" says two things of one matter): a
-- message, by the document of its session and its number, or a line
SELECT DISTINCT s.sentence_sha256, h.fact_id, coalesce(o.document_id, t.document_id) AS document_id, u.seq, o.line_sha256
FROM unnest(%(slice_ids)s::bigint[]) AS v(slice_id)
CROSS JOIN unnest(%(keys)s::bytea[]) AS b(sentence_sha256)
CROSS JOIN LATERAL (
    SELECT sentence_sha256, fact_id FROM fact_sentences
    WHERE tenant_id = %(tenant_id)s AND slice_id = v.slice_id AND sentence_sha256 = b.sentence_sha256 OFFSET 0
) s
CROSS JOIN LATERAL (
    SELECT fact_id, subject, predicate, object, state, valid_to
    FROM facts WHERE tenant_id = %(tenant_id)s AND fact_id = s.fact_id LIMIT 1
) f
CROSS JOIN LATERAL (
    SELECT fact_id FROM fact_sentences
    WHERE tenant_id = %(tenant_id)s AND slice_id = v.slice_id AND sentence_sha256 = b.sentence_sha256 OFFSET 0
) k
CROSS JOIN LATERAL (
    SELECT fact_id, subject, predicate, object, state, valid_from, valid_to
    FROM facts WHERE tenant_id = %(tenant_id)s AND fact_id = k.fact_id LIMIT 1
) h
CROSS JOIN LATERAL (
    SELECT document_id, session_key, seqs, line_sha256
    FROM fact_sources WHERE tenant_id = %(tenant_id)s AND fact_id = h.fact_id OFFSET 0
) o
LEFT JOIN LATERAL (
    SELECT document_id FROM documents
    WHERE tenant_id = %(tenant_id)s AND session_key = o.session_key AND episode_id IS NULL OFFSET 0
) t ON true
LEFT JOIN LATERAL unnest(o.seqs) AS u(seq) ON true
WHERE (f.state <> 'current' OR f.valid_to IS NOT NULL)
  AND lower(h.subject) <> lower(f.subject) AND lower(h.predicate) = lower(f.predicate) AND lower(h.object) = lower(f.object)
  AND CASE WHEN %(as_of)s::timestamptz IS NULL THEN h.state = 'current' AND (h.valid_to IS NULL OR h.valid_to > %(now)s::timestamptz)
           ELSE h.valid_from <= %(as_of)s AND (h.valid_to IS NULL OR h.valid_to > %(as_of)s) END
  AND coalesce(o.document_id, t.document_id) IS NOT NULL
  AND NOT EXISTS (SELECT FROM (SELECT session_key, seqs, document_id, line_sha256
                               FROM fact_sources WHERE tenant_id = %(tenant_id)s AND fact_id = f.fact_id OFFSET 0) w
                  WHERE w.session_key = o.session_key AND w.seqs && o.seqs
                     OR w.document_id = o.document_id AND w.line_sha256 = o.line_sha256)
ORDER BY s.sentence_sha256, h.fact_id, document_id, u.seq, o.line_sha256;

-- preceding, prepared: the sentences of facts that others replaced, each with a sentence of the fact that did, of some
SELECT n.sentence_sha256 AS new_sha256, p.sentence_sha256 AS old_sha256
FROM unnest(%(slice_ids)s::bigint[]) AS v(slice_id)
CROSS JOIN unnest(%(keys)s::bytea[]) AS k(sentence_sha256)
CROSS JOIN LATERAL (
    SELECT sentence_sha256, fact_id FROM fact_sentences
    WHERE tenant_id = %(tenant_id)s AND slice_id = v.slice_id AND sentence_sha256 = k.sentence_sha256 OFFSET 0
) n
CROSS JOIN LATERAL (
    SELECT fact_id FROM facts
    WHERE tenant_id = %(tenant_id)s AND superseded_by = n.fact_id AND slice_id = v.slice_id OFFSET 0
) o
CROSS JOIN LATERAL (
    SELECT sentence_sha256 FROM fact_sentences WHERE tenant_id = %(tenant_id)s AND fact_id = o.fact_id OFFSET 0
) p
WHERE p.sentence_sha256 <> n.sentence_sha256
ORDER BY n.sentence_sha256, o.fact_id, p.sentence_sha256;

-- replacing, prepared: the sentences of some facts that replaced others
SELECT s.sentence_sha256, s.fact_id
FROM unnest(%(fact_ids)s::bigint[]) AS k(fact_id)
CROSS JOIN LATERAL (
    SELECT sentence_sha256, fact_id FROM fact_sentences WHERE tenant_id = %(tenant_id)s AND fact_id = k.fact_id OFFSET 0
) s
ORDER BY s.fact_id, s.sentence_sha256;
